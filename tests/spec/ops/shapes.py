"""Hypothesis strategies for shapes that belong together, and for symbolic calls of rules."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.values import Many, TensorType, Value

b, c, d, h, n, t = map(Dim.name, "bcdhnt")
D, H = Dim.quantity("d_model"), Dim.quantity("n_head")

positive = st.sampled_from([1, 1, 2, 3, 4, 6])


def some(least: int = 0, most: int = 4, size: st.SearchStrategy[int] = positive) -> st.SearchStrategy[list[int]]:
    """Shapes of `least` to `most` axes."""
    return st.lists(size, min_size=least, max_size=most)


@st.composite
def nearly(draw: st.DrawFn, shape: list[int], others: tuple[int, ...] = (1, 5)) -> list[int]:
    """The shape, mostly; sometimes with other sizes or with an axis too few."""
    found = [draw(st.sampled_from([size] * 9 + list(others))) for size in shape]
    return found[1:] if draw(st.integers(0, 12)) == 0 else found


def floats(shape: list[int] | tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A float tensor of this shape on the meta device: it has no elements to wait for."""
    return torch.empty(tuple(shape), dtype=dtype, device="meta")


def of(*axes: Dim | int) -> TensorType:
    """The tensor with these axes."""
    return TensorType.of(*axes)


def apply(torch_name: str, *args: Any, context: Context | None = None, **kwargs: Any) -> Value:
    """The rule's answer for arguments in which ints stand for themselves."""
    operation = find_op(torch_name)
    assert operation is not None
    return operation.apply(
        context or Context(), [_value(arg) for arg in args], {name: _value(arg) for name, arg in kwargs.items()}
    )


def shape_of(torch_name: str, *args: Any, context: Context | None = None, **kwargs: Any) -> str:
    """The shape, or shapes, that a rule gives, as text."""
    return text(apply(torch_name, *args, context=context, **kwargs))


def text(value: Value) -> str:
    """A result's shape as text."""
    match value:
        case TensorType():
            return str(value)
        case tuple():
            return " ".join(map(text, value))
        case Many(element, length):
            return f"{length} times {text(element)}"
        case _:
            return str(value)


def _value(argument: Any) -> Value:
    if isinstance(argument, (tuple, list)):
        return tuple(map(_value, argument))
    if isinstance(argument, int) and not isinstance(argument, bool):
        return Dim.of(argument)
    value: Value = argument
    return value
