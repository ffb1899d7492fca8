"""The inputs of one call as a flat row, as autograd wants them: each list of tensors as its items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from shaped.runtime.custom_grad.autocast import Autocast
from shaped.runtime.custom_grad.signature import Kind, Signature


@dataclass(frozen=True, eq=False)
class Layout:
    """How the inputs of a call lie in a flat row.

    Args:
        signature: what the op takes.
        lengths: for each input, the length of its list of tensors; None for what is no such list.
    """

    signature: Signature
    lengths: tuple[int | None, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each value: `x`, or `xs[1]` for an item."""
        return tuple(
            name
            for name, length in zip(self.signature.names, self.lengths)
            for name in ([name] if length is None else [f"{name}[{i}]" for i in range(length)])
        )

    @cached_property
    def owners(self) -> tuple[int, ...]:
        """The input that each value belongs to."""
        return tuple(i for i, length in enumerate(self.lengths) for _ in range(1 if length is None else length))

    @cached_property
    def tensors(self) -> tuple[int, ...]:
        """The places of the values that are tensors, or None in place of one."""
        kinds = [parameter.kind for parameter in self.signature.parameters]
        return tuple(place for place, owner in enumerate(self.owners) if kinds[owner] is not Kind.OTHER)

    @cached_property
    def is_tensors_only(self) -> bool:
        """Whether every value is a tensor, and none is in a list."""
        return all(parameter.kind is Kind.TENSOR for parameter in self.signature.parameters)

    @cached_property
    def all_kept(self) -> Saved:
        """What is saved of a row of tensors that are all kept, outside of any autocast."""
        return Saved(self, (), self.tensors, None)

    @cached_property
    def has_lists(self) -> bool:
        """Whether the row differs from the inputs."""
        return any(length is not None for length in self.lengths)

    def flat(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The inputs, or one thing for each of them, as a row."""
        if not self.has_lists:
            return tuple(values)
        return tuple(
            item
            for value, length in zip(values, self.lengths)
            for item in ((value,) if length is None else tuple(value))
        )

    def nested(self, flat: Sequence[Any]) -> tuple[Any, ...]:
        """A row as one thing for each input."""
        if not self.has_lists:
            return tuple(flat)
        items = iter(flat)
        return tuple(next(items) if length is None else [next(items) for _ in range(length)] for length in self.lengths)


@dataclass(frozen=True)
class Like:
    """How a tensor looked that was not kept."""

    shape: torch.Size
    dtype: torch.dtype
    device: torch.device


@dataclass(frozen=True)
class Saved:
    """All that is no tensor which autograd keeps itself.

    Args:
        layout: how the inputs lie in the row.
        rest: for each value of the row, itself if it is no tensor, a `Like` for a tensor that is not kept.
        kept: the places of the tensors that autograd keeps, in its order.
        state: the autocast that the forward was in.
    """

    layout: Layout
    rest: tuple[Any, ...]
    kept: tuple[int, ...]
    state: Autocast | None


class Layouts:
    """The layouts of an op's calls: one, unless it takes lists of tensors."""

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._lists = tuple(one.kind is Kind.TENSORS for one in signature.parameters)
        self._known: dict[tuple[int | None, ...], Layout] = {}
        self._only = None if any(self._lists) else Layout(signature, (None,) * len(self._lists))

    def of(self, values: Sequence[Any]) -> Layout:
        """The layout of a call.

        Raises:
            TypeError: a list of tensors is wanted, and something else is given.
        """
        if self._only is not None:
            return self._only
        for name, value, is_list in zip(self._signature.names, values, self._lists):
            if is_list and not (isinstance(value, (list, tuple)) and all(isinstance(one, Tensor) for one in value)):
                raise TypeError(f"{self._signature.name}() takes a list of tensors as {name}, not {value!r}")
        lengths = tuple(len(value) if is_list else None for value, is_list in zip(values, self._lists))
        return self._known.setdefault(lengths, Layout(self._signature, lengths))
