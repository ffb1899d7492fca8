"""What a trainer is told of its tensors: a name, axes and dtypes for each, from tuples of sizes or from annotations."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from shaped.errors import AnnotationError, ShapeError
from shaped.runtime.checked.scope import closure_of
from shaped.runtime.tensor_types import array_annotation, is_array_annotation, type_of
from shaped.spec.annotation import ArrayAnnotation, Fixed, parse
from shaped.spec.context import Context
from shaped.spec.matching import match

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torch import Tensor

    from shaped.spec.binding import Bindings

Shapes: TypeAlias = Any
"""A sequence of shapes, or a type `TList[...]` of annotations.

A shape is an annotation (`Float[Tensor, "8 2"]`), or a tuple with a size, or the name of any size, for each axis.
"""


@dataclass(frozen=True)
class Declared:
    """What is said of one tensor.

    Args:
        role: what it is to the trainer, `parameter`, `input` or `integer input`.
        name: its name.
        annotation: its axes and dtypes.
    """

    role: str
    name: str
    annotation: ArrayAnnotation

    @property
    def called(self) -> str:
        """The tensor in a message: `parameter w1`."""
        return f"{self.role} {self.name}"

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """The shape, None where an axis may have several sizes."""
        sizes = [axis.size for axis in self.annotation.axes if isinstance(axis, Fixed) and not axis.broadcastable]
        return tuple(sizes) if len(sizes) == len(self.annotation.axes) else None

    def check(self, value: Tensor, bindings: Bindings) -> None:
        """Check the shape and the dtype of a tensor; bind the names of axes to its sizes.

        Raises:
            ShapeError: a size or the number of axes differs.
            DtypeError: the dtype is none of those declared.
        """
        match(self.annotation, type_of(value), bindings, Context(), what=self.called)


def declare(shapes: Shapes, role: str, names: Sequence[str] | None, word: str) -> tuple[Declared, ...]:
    """Read the shapes of the parameters, or of the inputs.

    Args:
        shapes: a sequence of axes and annotations, or a type of annotations.
        role: what they are to the trainer.
        names: their names; `0`, `1`, ... if not given.
        word: jaxtyping's word for the dtypes of tensors that are given by their axes only.

    >>> for each in declare([(8, 2), ("batch",)], "parameter", ["w", "b"], "Float"):
    ...     print(each.called, each.annotation)
    parameter w Float[Tensor, "8 2"]
    parameter b Float[Tensor, "batch"]

    Raises:
        AnnotationError: one of them cannot be read.
        ValueError: there are more or fewer names than shapes, or two are equal.
    """
    members = members_of(shapes)
    if members is None:
        raise AnnotationError(
            f"shapes of the {role}s",
            f"{shapes!r} is no list of shapes",
            hint='[(8, 2), (8,)] or TList[Float[Tensor, "8 2"]]',
        )
    names = [str(number) for number in range(len(members))] if names is None else list(names)
    if len(names) != len(members):
        raise ValueError(f"{len(names)} names ({', '.join(names)}) for {len(members)} {role}s: give one for each")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two {role}s have the name {twice}: give each its own")
    return tuple(Declared(role, name, _annotation(role, name, each, word)) for name, each in zip(names, members))


def members_of(shapes: Shapes) -> tuple[Any, ...] | None:
    """The elements of a sequence of shapes, or of a `TList[...]` or `tuple[...]` of annotations; None if it is none."""
    items = getattr(shapes, "types", None)
    if isinstance(items, tuple):
        return items
    origin: object = typing.get_origin(shapes)
    if origin is tuple:
        arguments = typing.get_args(shapes)
        return None if Ellipsis in arguments else arguments
    if isinstance(shapes, (list, tuple)):
        return tuple(shapes)
    return None


def _annotation(role: str, name: str, axes: Any, word: str) -> ArrayAnnotation:
    if is_array_annotation(axes):
        return array_annotation(axes)
    if isinstance(axes, int) and not isinstance(axes, bool):
        raise AnnotationError(f"{role} {name}", f"{axes} is a size, no shape", hint=f"({axes},)")
    if isinstance(axes, torch.Tensor):
        reason = f"a tensor of shape {tuple(axes.shape)} is no shape"
        raise AnnotationError(f"{role} {name}", reason, hint="params=TList(...) gives first values")
    if not isinstance(axes, (list, tuple)) or not all(_is_axis(axis) for axis in axes):
        raise AnnotationError(f"{role} {name}", f"{axes!r} is no shape", hint="(8, 2)")
    return parse(word, " ".join(map(str, axes)))


def _is_axis(axis: object) -> bool:
    if isinstance(axis, str):
        return axis.isidentifier()
    return isinstance(axis, int) and not isinstance(axis, bool) and axis >= 0


def annotated_shapes(loss: Callable[..., object], place: int) -> Shapes | None:
    """The annotation of a parameter of a loss, by its place; None if it has none.

    Raises:
        AnnotationError: the annotation is text that cannot be evaluated.
    """
    plain = inspect.unwrap(loss)
    try:
        parameters = list(inspect.signature(plain).parameters.values())
    except (TypeError, ValueError):
        return None
    if place >= len(parameters) or parameters[place].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ):
        return None
    written = parameters[place].annotation
    if written is inspect.Parameter.empty:
        return None
    while isinstance(plain, functools.partial):
        plain = plain.func
    function = getattr(plain, "__func__", plain)
    if not hasattr(function, "__globals__"):
        function = type(plain).__call__
    holder = types.SimpleNamespace(__annotations__={"it": written})
    try:
        return typing.get_type_hints(holder, getattr(function, "__globals__", {}), closure_of(function))["it"]
    except Exception as problem:  # whatever evaluating the user's text raises
        raise AnnotationError(
            f"parameter {parameters[place].name} of the loss",
            f"the annotation {written!r} cannot be read: {problem}",
            hint="define the names in it at the top level of the module, or give param_shapes and input_shapes",
        ) from None


def require_sizes(declared: Iterable[Declared]) -> list[tuple[int, ...]]:
    """The shapes of tensors that are to be made.

    Raises:
        ShapeError: an axis of one has no size.
    """
    shapes = []
    for each in declared:
        sizes = each.sizes
        if sizes is None:
            raise ShapeError(
                each.called,
                f"{each.annotation} has an axis without a size",
                hint="a number for each axis, or give params",
            )
        shapes.append(sizes)
    return shapes
