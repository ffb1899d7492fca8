"""What a caller draws for one parameter in the shape that its annotation gives: entries, indices, or any strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

import torch
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from shaped.errors import AnnotationError
from shaped.testing.drawn_tensors import Number, tensors


@dataclass(frozen=True)
class Wanted:
    """The tensor that a parameter's annotation asks for in one draw.

    Args:
        name: the parameter.
        shape: its shape.
        dtype: its dtype.
        sizes: the size of every name of the annotations.
    """

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    sizes: Mapping[str, int]


Given = SearchStrategy[Any] | Callable[[Wanted], SearchStrategy[Any]] | EllipsisType
"""What a caller gives for a parameter: a strategy, one that depends on the shape, or `...` to draw it by its type."""


def entries(elements: SearchStrategy[Number]) -> Callable[[Wanted], SearchStrategy[torch.Tensor]]:
    """The annotation's shape with these entries: `from_signature(f, p=entries(st.floats(0, 1, width=32)))`.

    >>> from hypothesis import find
    >>> from jaxtyping import Float
    >>> from shaped.testing import from_signature
    >>> def entropy(p: Float[torch.Tensor, "n"]) -> Float[torch.Tensor, ""]: ...
    >>> find(from_signature(entropy, p=entries(st.integers(1, 9))), lambda drawn: True)
    {'p': tensor([1.])}
    """
    return lambda wanted: tensors(wanted.shape, wanted.dtype, elements=elements)


def indices(below: int | str, low: int = 0) -> Callable[[Wanted], SearchStrategy[torch.Tensor]]:
    """Integers from `low` up to `below`, itself not included: a number, or the name of an axis that they index.

    `from_signature(cross_entropy, target=indices("classes"))`.
    """

    def strategy(wanted: Wanted) -> SearchStrategy[torch.Tensor]:
        if isinstance(below, str) and below not in wanted.sizes:
            known = ", ".join(wanted.sizes) or "none"
            raise AnnotationError(
                f"indices({below!r}) for {wanted.name}", "no axis has that name", hint=f"the names are {known}"
            )
        end = wanted.sizes[below] if isinstance(below, str) else below
        if end <= low:
            if 0 in wanted.shape:
                return st.just(torch.zeros(wanted.shape, dtype=wanted.dtype))
            return st.nothing()
        return tensors(wanted.shape, wanted.dtype, low=low, high=end - 1)

    return strategy
