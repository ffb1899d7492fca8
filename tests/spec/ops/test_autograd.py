"""Gradients by `torch.autograd.grad`, against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from shaped.errors import ShapeError
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN
from tests.spec.ops.against_torch import check_exact, check_refused
from tests.spec.ops.shapes import apply, b, n, of


def graph() -> tuple[torch.Tensor, torch.Tensor]:
    """An input of a program, and what it computes of it."""
    x = torch.ones(3, 2, requires_grad=True)
    return x, x * 2


def test_gradients_have_the_shapes_of_inputs() -> None:
    x, y = graph()
    for arguments in [
        ((y.sum(), x), {}),
        ((y.sum(), [x]), {}),
        ((y[:1, :1], x), {}),
        ((y, x, torch.ones(3, 2)), {}),
        (([y, y.sum()], [x]), {"grad_outputs": [torch.ones(3, 2), torch.tensor(1.0)]}),
        ((y.sum(), (x,)), {"allow_unused": True, "materialize_grads": True}),
    ]:
        args: Any
        kwargs: Any
        args, kwargs = arguments
        check_exact("torch.autograd.grad", *args, retain_graph=True, **kwargs)


def test_several_numbers_have_no_gradient_by_themselves() -> None:
    x, y = graph()
    check_refused("torch.autograd.grad", y, x)
    with pytest.raises(ShapeError, match="only a single number"):
        apply("torch.autograd.grad", of(b, n), of(b))


def test_an_upstream_gradient_of_another_shape_is_refused() -> None:
    x, y = graph()
    check_refused("torch.autograd.grad", y, x, torch.ones(2, 3))
    check_refused("torch.autograd.grad", y, x, torch.ones(2))


def test_what_may_be_none_is_not_known() -> None:
    assert find_op("torch.autograd.grad") is not None
    assert apply("torch.autograd.grad", of(), of(b), allow_unused=True) == (UNKNOWN,)
