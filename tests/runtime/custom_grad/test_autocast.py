"""Autocast: the backward runs in that of the forward, in eager code and in graphs."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.runtime.custom_grad.ops import linear

BFLOAT16 = torch.autocast("cpu", dtype=torch.bfloat16)


@pytest.mark.parametrize("way", ["eager", "compiled", "compiled with its autocast"])
def test_the_numbers_are_those_of_plain_code(way: str) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(4, 3, requires_grad=True), torch.randn(2, 3, requires_grad=True)

    def inner(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        with BFLOAT16:
            return linear(x, w)

    call: Any = {
        "eager": linear,
        "compiled": torch.compile(linear, backend="aot_eager", fullgraph=True),
        "compiled with its autocast": torch.compile(inner, backend="aot_eager", fullgraph=True),
    }[way]
    with BFLOAT16:
        y, plain = call(x, w), linear.forward(x, w)
    assert y.dtype is plain.dtype is torch.bfloat16
    assert torch.equal(y, plain)
    found = torch.autograd.grad(y.float().square().sum(), (x, w))
    expected = torch.autograd.grad(plain.float().square().sum(), (x, w))
    for got, wanted in zip(found, expected):
        assert got.dtype is torch.float32
        assert torch.allclose(got, wanted, rtol=2**-7)  # bfloat16 has 8 bits


def test_a_backward_within_an_autocast_is_not_cast_if_the_forward_was_not() -> None:
    x, w = torch.randn(4, 3), torch.randn(2, 3, requires_grad=True)
    y = linear(x, w)
    upstream = torch.randn(4, 2)
    with BFLOAT16:
        (found,) = torch.autograd.grad(y, w, upstream)
    assert torch.equal(found, upstream.T @ x)
