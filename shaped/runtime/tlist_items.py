"""Whether tensors are what the items of a `TList[...]` say: jaxtyping says whether, shaped says why not."""

from __future__ import annotations

import types
import typing
from collections.abc import Hashable, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar, TypeVarTuple

from jaxtyping import _storage, jaxtyped  # no public name gives the sizes that the call under way has bound
from torch import Tensor

from shaped.errors import AnnotationError, Fault
from shaped.runtime.checked.failure import ShapeRefusal
from shaped.runtime.tensor_types import (
    array_annotation,
    as_refusal,
    dtype_name,
    is_array_annotation,
    type_of,
)
from shaped.spec.binding import Bindings
from shaped.spec.context import Context
from shaped.spec.dtypes import JAXTYPING
from shaped.spec.matching import match

_UNIONS = (typing.Union, types.UnionType)


def is_open(annotation: object) -> bool:
    """Whether an annotation stands for others: a type variable, or what is unpacked."""
    is_unpacked = getattr(annotation, "__unpacked__", False) or typing.get_origin(annotation) is typing.Unpack
    is_variable = isinstance(annotation, (TypeVar, TypeVarTuple))
    return bool(is_unpacked or is_variable or getattr(annotation, "__parameters__", ()))


def require_tensor_type(annotation: object, subject: str) -> None:
    """Refuse what is no type of a tensor.

    Raises:
        AnnotationError: it is none; says how to write one.
    """
    options = typing.get_args(annotation) if typing.get_origin(annotation) in _UNIONS else (annotation,)
    for option in options:
        if not is_array_annotation(option) and not (isinstance(option, type) and issubclass(option, Tensor)):
            raise AnnotationError(subject, f"{written(annotation)} is no type of a tensor", hint='Float[Tensor, "b d"]')


def identity(annotation: Any) -> Hashable:
    """What is equal for annotations that are written alike: each `Float[Tensor, "b"]` is a class of its own."""
    if typing.get_origin(annotation) in _UNIONS:
        return (typing.Union, *map(identity, typing.get_args(annotation)))
    if is_array_annotation(annotation):
        return annotation.dtype, annotation.array_type, annotation.dim_str
    return typing.cast(Hashable, annotation)


def written(annotation: object) -> str:
    """An annotation as it is written."""
    if is_array_annotation(annotation):
        return str(array_annotation(annotation))
    return annotation.__name__ if isinstance(annotation, type) else repr(annotation)


_WORDS = {next(iter(names)): word for word, names in JAXTYPING.items() if len(names) == 1}


def shown(item: object) -> str:
    """A tensor by its dtype and shape: `Float32 (8, 2)`; anything else as Python shows it."""
    if not isinstance(item, Tensor):
        return repr(item)
    name = dtype_name(item.dtype)
    return f"{_WORDS.get(name, name.capitalize())} {tuple(item.shape)}"


def counted(items: int) -> str:
    """`2 items`."""
    return "1 item" if items == 1 else f"{items} items"


def fit(annotations: Sequence[Any], items: Sequence[object]) -> bool:
    """Whether each item is what its annotation says, with one size for each name.

    In a call that jaxtyping checks, the names are those of the call; they are bound only if all items fit.
    """
    memos = _memos()
    # Outside of a call, jaxtyping gives a new memo each time.
    in_call = _memos()[0] is memos[0]
    before = [memo.copy() for memo in memos]
    with nullcontext() if in_call else jaxtyped("context"):
        all_fit = all(map(isinstance, items, annotations))
    if in_call and not all_fit:
        _storage.set_shape_memo(*before)
    return all_fit


def _memos() -> tuple[dict[str, Any], ...]:
    memos: tuple[dict[str, Any], ...] = _storage.get_shape_memo()  # type: ignore[no-untyped-call]  # jaxtyping's
    return memos


def require(annotations: Sequence[Any], items: Sequence[Tensor]) -> None:
    """Refuse items that are not what their annotations say; the names are those of these annotations only.

    Raises:
        ShapeError: their number or a shape is wrong; it is a `TypeError` too.
        DtypeError: a dtype is wrong; it is a `TypeError` too.
    """
    if len(items) != len(annotations):
        raise ShapeRefusal("TList", f"it has {counted(len(items))}, not {len(annotations)}")
    with jaxtyped("context"):
        all_fit = fit(annotations, items)
    if not all_fit:
        raise _fault(annotations, items)


def _fault(annotations: Sequence[Any], items: Sequence[Tensor]) -> Fault:
    """Why items do not fit: the first that does not, in the words of the static checker."""
    bindings, context = Bindings(), Context()
    for position, (annotation, item) in enumerate(zip(annotations, items)):
        subject = f"TList item {position}"
        if not is_array_annotation(annotation):
            if not isinstance(item, annotation):
                return ShapeRefusal(subject, f"{shown(item)} does not match {written(annotation)}")
            continue
        try:
            match(array_annotation(annotation), type_of(item), bindings, context, what=subject)
        except Fault as fault:
            return as_refusal(fault)
    return ShapeRefusal("TList", f"{', '.join(map(shown, items))} do not match {', '.join(map(written, annotations))}")
