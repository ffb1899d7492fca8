"""Ties: any share for one entry, but the shares add up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from shaped.verify.hazards import float_hazards
from shaped.verify.verdict import Level

Backward = Callable[[Tensor, Tensor], tuple[Tensor]]


def largest(x: Float[Tensor, "b n"]) -> Float[Tensor, "b"]:
    return x.amax(-1)


def first(grad: Tensor, x: Tensor) -> tuple[Tensor]:
    return (torch.zeros_like(x).scatter(-1, x.argmax(-1, keepdim=True), grad[:, None]),)


def last(grad: Tensor, x: Tensor) -> tuple[Tensor]:
    (flipped,) = first(grad, x.flip(-1))
    return (flipped.flip(-1),)


def everything(grad: Tensor, x: Tensor) -> tuple[Tensor]:
    return (grad[:, None] * (x == x.amax(-1, keepdim=True)),)


def nothing(grad: Tensor, x: Tensor) -> tuple[Tensor]:
    top = x == x.amax(-1, keepdim=True)
    return (grad[:, None] * top * (top.sum(-1, keepdim=True) == 1),)


@pytest.mark.parametrize("backward", [first, last])
def test_any_one_of_the_greatest_may_take_all(backward: Backward) -> None:
    assert float_hazards(largest, backward).level is Level.UNSUPPORTED


@pytest.mark.parametrize("backward", [everything, nothing])
def test_what_the_greatest_take_adds_up(backward: Backward) -> None:
    found = float_hazards(largest, backward)
    assert found.level is Level.REFUTED
    assert "add up" in found.reason


def test_two_equal_inputs_share() -> None:
    def f(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return torch.maximum(x, y)

    def right(grad: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return grad * (x > y), grad * (y >= x)

    def wrong(grad: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return grad * (x >= y), grad * (y >= x)

    assert float_hazards(f, right).level is Level.UNSUPPORTED
    assert float_hazards(f, wrong).level is Level.REFUTED


def test_a_kink_along_every_line_is_no_tie() -> None:
    def f(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x.abs() + x.relu()

    def backward(grad: Tensor, x: Tensor) -> tuple[Tensor]:
        return (torch.where(x >= 0, 2 * grad, -grad),)

    assert float_hazards(f, backward).level is Level.UNSUPPORTED
