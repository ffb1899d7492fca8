"""`TList`: an immutable list of tensors, each with a type of its own.

`TList[Float[Tensor, "8 2"], Float[Tensor, "8"]]` is one type for a type checker and for `shaped check`, and a class at
run time: it makes lists whose items it has checked, and `isinstance` asks whether a list is of the type.
"""

from __future__ import annotations

import copyreg
import operator
import types
import typing
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, TypeVarTuple

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from shaped.runtime.checked.failure import ShapeRefusal
from shaped.runtime.tlist_items import counted, fit, identity, is_open, require, require_tensor_type, shown, written

if TYPE_CHECKING:
    from typing import Self

Ts = TypeVarTuple("Ts")


class TListType(type):
    """The type of `TList` and of `TList[...]`; `types` are the annotations of the items."""

    types: tuple[Any, ...]

    def __instancecheck__(cls, value: object) -> bool:
        """Whether a value is a list of these items.

        In a call that jaxtyping checks, the names of the annotations are those of the call.
        """
        if cls is TList or not isinstance(value, TList):
            return type.__instancecheck__(cls, value)
        return len(value) == len(cls.types) and fit(cls.types, value)

    def __repr__(cls) -> str:
        return cls.__name__


class TList(tuple[*Ts], metaclass=TListType):
    """An immutable list of tensors: a tuple whose type says what each item is.

    It is a pytree: `torch.func`, `torch.compile` and `torch.export` take it and give it back.

    >>> from jaxtyping import Float
    >>> Params = TList[Float[Tensor, "out in"], Float[Tensor, "out"]]
    >>> params = Params(torch.zeros(8, 2), torch.zeros(8))
    >>> params
    TList(Float32 (8, 2), Float32 (8,))
    >>> weight, bias = params
    >>> params.map(torch.ones_like)[1:]
    TList(Float32 (8,))
    >>> isinstance(params, Params), isinstance(params[1:], Params)
    (True, False)
    >>> Params(torch.zeros(8, 2), torch.zeros(4))
    Traceback (most recent call last):
    shaped.runtime.checked.failure.ShapeRefusal: TList item 1: (4,) does not match "out": axis 0 is 4, not out=8
    """

    __slots__ = ()

    def __new__(cls, *items: *Ts) -> Self:
        given = typing.cast("tuple[object, ...]", items)
        for position, item in enumerate(given):
            # What speaks torch is a tensor as well: the symbolic ones of shaped.spec.
            if not isinstance(item, Tensor) and not hasattr(type(item), "__torch_function__"):
                raise ShapeRefusal(f"TList item {position}", f"{type(item).__name__} is not a tensor")
        return tuple.__new__(cls, given)

    def map(self, function: Callable[[Tensor], Tensor]) -> TList[*Ts]:
        """The list of what a function gives for each item.

        Raises:
            ShapeError: it gives something that is no tensor; it is a `TypeError` too.
        """
        items: Any = map(function, typing.cast("tuple[Tensor, ...]", self))
        mapped: TList[*Ts] = TList(*items)
        return mapped

    def zip(self, other: tuple[Tensor, ...]) -> tuple[tuple[Tensor, Tensor], ...]:
        """The pairs of items that belong together.

        Raises:
            ShapeError: the lists have different lengths.
        """
        if len(self) != len(other):
            raise ShapeRefusal("TList.zip", f"{counted(len(self))} and {counted(len(other))} are no pairs")
        return tuple(zip(typing.cast("tuple[Tensor, ...]", self), other))

    def detach(self) -> TList[*Ts]:
        """The items without their history."""
        return self.map(Tensor.detach)

    def clone(self) -> TList[*Ts]:
        """Copies of the items."""
        return self.map(Tensor.clone)

    def zeros_like(self) -> TList[*Ts]:
        """Zeros of the shapes and dtypes of the items."""
        return self.map(torch.zeros_like)

    def to(self, *args: Any, **kwargs: Any) -> TList[*Ts]:
        """The items on another device or of another dtype: the arguments are those of `Tensor.to`."""
        return self.map(lambda item: item.to(*args, **kwargs))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TList):
            return False
        return len(self) == len(other) and all(map(_is_equal, self, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __contains__(self, item: object) -> bool:
        return any(_is_equal(own, item) for own in self)

    def __hash__(self) -> int:
        return hash(tuple((item.shape, item.dtype) if isinstance(item, Tensor) else item for item in self))

    def __repr__(self) -> str:
        return f"TList({', '.join(map(shown, self))})"

    # Type checkers follow items through slices and sums of tuples by themselves, further than a signature can say.
    if not TYPE_CHECKING:

        def __class_getitem__(cls, items: object) -> object:
            items = items if isinstance(items, tuple) else (items,)
            return _OpenTList(TList, items) if any(map(is_open, items)) else _typed(items)

        def __getitem__(self, key):
            picked = tuple.__getitem__(self, key)
            return _of(picked) if isinstance(key, slice) else picked

        def __add__(self, other):
            if not isinstance(other, TList):
                return tuple.__add__(self, other)
            return _of((*self, *other))

        def __getnewargs__(self):
            return tuple(self)


def _of(items: tuple[object, ...]) -> Any:
    """The list of items that need not be tensors: torch maps them to sizes, dtypes, flags."""
    return tuple.__new__(TList, items)


def _is_equal(a: object, b: object) -> bool:
    """Whether two items are the same tensor, or tensors of the same device, dtype, shape and elements."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a is b or ((a.device, a.dtype) == (b.device, b.dtype) and torch.equal(a, b))
    return a is b or bool(a == b)


# `TList[...]`: the type with its items.


class _OpenTList(types.GenericAlias):
    """`TList[*Ts]` in a generic class or function: a list of items that are not known yet."""

    def __getitem__(self, items: Any) -> Any:
        given: tuple[Any, ...] = super().__getitem__(items).__args__
        return TList[given]  # type: ignore[valid-type]  # found at run time


_TYPES: dict[Hashable, TListType] = {}


def _typed(annotations: tuple[Any, ...]) -> TListType:
    """The class of the lists of items with these annotations, the same for equal ones."""
    key = tuple(map(identity, annotations))
    if key not in _TYPES:
        for position, annotation in enumerate(annotations):
            require_tensor_type(annotation, f"TList item {position}")
        name = f"TList[{', '.join(map(written, annotations))}]"
        body = {"__slots__": (), "__module__": __name__, "__new__": _checked_list, "types": annotations}
        _TYPES[key] = TListType(name, (TList,), body)
    return _TYPES[key]


def _checked_list(cls: TListType, *items: Tensor) -> TList[*tuple[Tensor, ...]]:
    """A plain list of the items, which fit the annotations of `cls`.

    Raises:
        ShapeError: an item, or their number, does not; it is a `TypeError` too.
        DtypeError: the dtype of an item does not; it is a `TypeError` too.
    """
    made = TList(*items)
    # Annotations are checked where code runs eagerly: what jaxtyping looks at is no part of a graph.
    if not torch.compiler.is_compiling():
        require(cls.types, made)
    return made


# TList for pickle and for torch.


def _pickled(cls: TListType) -> str | tuple[object, ...]:
    return cls.__name__ if cls is TList else (operator.getitem, (TList, cls.types))


copyreg.pickle(TListType, _pickled)  # type: ignore[arg-type]  # a string is the name of a global
torch.serialization.add_safe_globals([TList])  # torch.load(weights_only=True) makes lists of tensors, nothing else


def _flatten(items: TList[*tuple[Any, ...]]) -> tuple[list[Any], None]:
    return list(items), None


def _flatten_with_keys(items: TList[*tuple[Any, ...]]) -> tuple[list[tuple[pytree.KeyEntry, Any]], None]:
    return [(pytree.SequenceKey(position), item) for position, item in enumerate(items)], None


def _unflatten(items: Iterable[Any], context: object) -> TList[*tuple[Any, ...]]:
    return _of(tuple(items))  # type: ignore[no-any-return]  # see there


pytree.register_pytree_node(
    TList,
    _flatten,
    _unflatten,
    serialized_type_name="shaped.TList",
    flatten_with_keys_fn=_flatten_with_keys,
)
