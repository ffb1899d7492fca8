"""What the annotations of a function say of its tensors: shapes as dims, kinds of numbers, defaults.

The annotations are jaxtyping's own objects (`Float[Tensor, "b t d"]`), also as strings. A tuple of tensors, as a
backward takes it for a forward with several outputs, has one leaf each: `grad[0]`, `grad[1]`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shaped.errors import AnnotationError
from shaped.spec.annotation import (
    AnnotatedAxis,
    Anonymous,
    AnonymousPack,
    Fixed,
    Named,
    NamedPack,
)
from shaped.spec.axis_arithmetic import Computed
from shaped.spec.dims import Dim
from shaped.verify.hints import Hints
from shaped.verify.parameters import MISSING, NumberKind, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

__all__ = ["MISSING", "NumberKind", "Parameter", "Signature"]


@dataclass(frozen=True)
class Signature:
    """A function's parameters and what it returns, as its annotations say.

    Args:
        name: the function, as the user calls it.
        parameters: those passed by position, in order, without the `ctx` of a `torch.autograd.Function`.
        returns: what it returns; its leaves are the outputs.

    >>> from jaxtyping import Float
    >>> from torch import Tensor
    >>> def scores(q: Float[Tensor, "b t d"], k: Float[Tensor, "b s d"]) -> Float[Tensor, "b t s"]: ...
    >>> signature = Signature.of(scores)
    >>> signature.dims
    ('b', 't', 'd', 's')
    >>> signature.shapes({"b": 2, "t": 3, "d": 5, "s": 7})
    {'q': (2, 3, 5), 'k': (2, 7, 5)}
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: Parameter

    @staticmethod
    def of(function: Callable[..., object], *, name: str = "", skip_context: bool = False) -> Signature:
        """Read the annotations of a function.

        Args:
            function: any function; parameters without an annotation are kept and listed in `unannotated`.
            name: the name for messages, else the function's own.
            skip_context: the first parameter is the `ctx` of a `torch.autograd.Function`.

        Raises:
            AnnotationError: an annotation cannot be read: which, and how to write it.
        """
        name = name or getattr(function, "__qualname__", "") or repr(function)
        name = name.rpartition("<locals>.")[2]
        try:
            declared = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            raise AnnotationError(name, "has no signature: pass a Python function with annotated parameters") from None
        hints = Hints(name, function)
        parameters = []
        for parameter in declared[1 if skip_context else 0 :]:
            if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                continue  # inputs are passed by position
            read = hints.read(parameter.name, parameter.name)
            parameters.append(replace(read, default=parameter.default))
        return Signature(name, tuple(parameters), hints.read("return", "return"))

    @property
    def leaves(self) -> tuple[Parameter, ...]:
        """The parameters, each tuple as its elements."""
        return tuple(leaf for parameter in self.parameters for leaf in parameter.leaves)

    @property
    def tensors(self) -> tuple[Parameter, ...]:
        """The leaves that are tensors by their annotations."""
        return tuple(leaf for leaf in self.leaves if leaf.annotation is not None)

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """What is returned, each tuple as its elements."""
        return self.returns.leaves

    @property
    def unannotated(self) -> tuple[str, ...]:
        """The leaves without an annotation of a tensor, which are known by their default only or not at all."""
        return tuple(leaf.name for leaf in self.leaves if leaf.annotation is None and not leaf.is_none)

    @property
    def dims(self) -> tuple[str, ...]:
        """The sizes to choose, in order: names, and `x[0]` for an axis of `x` without a name."""
        return tuple(dict.fromkeys(name for leaf in self.tensors for name in _dims(leaf)))

    @property
    def packs(self) -> tuple[str, ...]:
        """The `*name`s to choose, in order, without the star; `x[...]` for the `...` of `x`."""
        return tuple(dict.fromkeys(name for leaf in self.tensors for name in _packs(leaf)))

    @property
    def stretched(self) -> tuple[str, ...]:
        """The leaves that have an axis which may also be 1 (`#b`)."""
        return tuple(leaf.name for leaf in self.tensors if _is_stretched(leaf))

    def shapes(
        self,
        sizes: Mapping[str, int],
        packs: Mapping[str, tuple[int, ...]] | None = None,
        *,
        ones: Collection[str] = (),
    ) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor, by name.

        Args:
            sizes: one for each of `dims`.
            packs: the sizes that each of `packs` stands for; none (a pack without axes) where it is not given.
            ones: the leaves whose `#` axes have size 1.

        Raises:
            AnnotationError: a size is missing, or arithmetic gives no size (`n-1` for `n = 0`).
        """
        return {leaf.name: self._shape(leaf, sizes, packs or {}, leaf.name in ones) for leaf in self.tensors}

    def _shape(
        self, leaf: Parameter, sizes: Mapping[str, int], packs: Mapping[str, tuple[int, ...]], ones: bool
    ) -> tuple[int, ...]:
        shape: list[int] = []
        for i, axis in enumerate(leaf.annotation.axes if leaf.annotation else ()):
            if ones and getattr(axis, "broadcastable", False):
                shape += [1] * (len(packs.get(axis.name, ())) if isinstance(axis, NamedPack) else 1)
            elif isinstance(axis, (NamedPack, AnonymousPack)):
                shape += packs.get(_key(leaf, i, axis), ())
            else:
                shape.append(self._size(leaf, i, axis, sizes))
        return tuple(shape)

    def _size(
        self, leaf: Parameter, index: int, axis: Named | Fixed | Anonymous | Computed, sizes: Mapping[str, int]
    ) -> int:
        if isinstance(axis, Fixed):
            return axis.size
        if not isinstance(axis, Computed):
            return self._chosen(_key(leaf, index, axis), sizes)
        known = {name: Dim.of(self._chosen(name, sizes)) for name in axis.names}
        computed = axis.size(known, self._field)
        size = None if computed is None else computed.constant
        if size is None or size < 0:
            given = ", ".join(f"{name} = {sizes[name]}" for name in axis.names)
            found = f"is {size}" if size is not None else "is no known size"
            raise AnnotationError(self.name, f'parameter {leaf.name}: "{axis}" {found}{given and f" for {given}"}')
        return size

    def _chosen(self, name: str, sizes: Mapping[str, int]) -> int:
        if name not in sizes:
            wanted = ", ".join(self.dims)
            raise AnnotationError(self.name, f"no size is given for {name}: give one for each of {wanted}")
        return sizes[name]

    def _field(self, text: str) -> Dim | None:
        """The size of a field `{n}`: the default of the parameter n."""
        for parameter in self.parameters:
            if parameter.name == text and isinstance(parameter.default, int):
                return Dim.of(parameter.default)
        return None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"


def _key(leaf: Parameter, index: int, axis: AnnotatedAxis) -> str:
    """The name of the size, or pack, to choose for an axis."""
    match axis:
        case Named(name=name) | NamedPack(name=name):
            return name
        case AnonymousPack():
            return f"{leaf.name}[...]"
    return f"{leaf.name}[{index}]"


def _dims(leaf: Parameter) -> Iterator[str]:
    for i, axis in enumerate(leaf.annotation.axes if leaf.annotation else ()):
        if isinstance(axis, Computed):
            yield from axis.names
        elif isinstance(axis, (Named, Anonymous)):
            yield _key(leaf, i, axis)


def _packs(leaf: Parameter) -> Iterator[str]:
    for i, axis in enumerate(leaf.annotation.axes if leaf.annotation else ()):
        if isinstance(axis, (NamedPack, AnonymousPack)):
            yield _key(leaf, i, axis)


def _is_stretched(leaf: Parameter) -> bool:
    return leaf.annotation is not None and any(getattr(axis, "broadcastable", False) for axis in leaf.annotation.axes)
