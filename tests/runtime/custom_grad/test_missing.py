"""None for an input whose gradient is not zero is refused at the first such backward."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

import shaped
from shaped import custom_grad
from shaped.runtime.custom_grad import CustomGrad, CustomGradError
from tests.runtime.custom_grad.ops import double
from tests.runtime.custom_grad.test_faults import scale_with


def test_it_names_the_input() -> None:
    op = scale_with(lambda grad, x, w: (grad * w, None))
    for _ in range(2):  # it stays wrong
        with pytest.raises(CustomGradError) as caught:
            op(double(2, 3), double(3)).sum().backward()
        assert str(caught.value) == "scale: the backward returns None for w, whose gradient is not zero"
        assert caught.value.input == "w"


def test_also_where_the_backward_does_not_take_the_input() -> None:
    op = scale_with(lambda grad, w: (grad * w, None))
    with pytest.raises(CustomGradError, match="None for w"):
        op(double(2, 3), double(3)).sum().backward()


def test_nothing_is_said_where_the_input_needs_no_gradient() -> None:
    op = scale_with(lambda grad, x, w: (grad * w, None))
    op(double(2, 3), double(3).detach()).sum().backward()


def test_none_is_right_where_the_gradient_is_zero() -> None:
    @custom_grad
    def shape_of(x: Float[Tensor, "n"], like: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * 2 + torch.zeros_like(like) + (like - like) * x

    shape_of.backward(lambda grad, x, like: (2 * grad, None))
    shape_of(double(3), double(3)).sum().backward()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("inner", [None, torch.float32])
def test_rounding_is_no_gradient(dtype: torch.dtype, inner: torch.dtype | None) -> None:
    """Softmax does not change where the same number is added to all: a gradient of zero, but for rounding."""

    @custom_grad
    def probabilities(x: Float[Tensor, "b n"], shift: Float[Tensor, "b 1"]) -> Float[Tensor, "b n"]:
        total = x + shift
        return (total if inner is None else total.to(inner)).softmax(-1).to(x.dtype)

    @probabilities.backward
    def probabilities_backward(grad: Tensor, x: Tensor, shift: Tensor) -> tuple[Tensor, None]:
        p = (x + shift).softmax(-1)
        return p * (grad - (p * grad).sum(-1, keepdim=True)), None

    for seed in range(20):
        torch.manual_seed(seed)
        x, shift = (torch.randn(shape, dtype=dtype, requires_grad=True) for shape in ((4, 7), (4, 1)))
        probabilities._definition.missing._seen.clear()
        (probabilities(x, shift) * torch.randn(4, 7, dtype=dtype)).sum().backward()


def test_it_is_looked_for_once() -> None:
    runs = [0]

    @custom_grad
    def counted(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        runs[0] += 1
        return x * 2 + 0 * y

    counted.backward(lambda grad, x, y: (2 * grad, None))
    for _ in range(5):
        counted(double(2), double(2)).sum().backward()
    assert runs[0] == 5 + 2  # once more in float64 and in float32


def test_the_random_numbers_of_the_program_stay_the_same() -> None:
    @custom_grad
    def noisy(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x + torch.rand(x.shape)

    noisy.backward(lambda grad, x, y: (grad, None))
    torch.manual_seed(0)
    y = noisy(double(2), double(2))
    expected = torch.get_rng_state()
    y.sum().backward()
    assert torch.equal(torch.get_rng_state(), expected)


def test_none_that_is_meant_is_declared() -> None:
    op = scale_with(lambda grad, x, w: (grad * w, None), gradient_of=lambda x, w: x * w.detach())
    op(double(2, 3), double(3)).sum().backward()


def test_a_forward_that_autograd_does_not_follow_is_left_to_the_verification() -> None:
    @custom_grad
    def by_numpy(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return torch.from_numpy(x.numpy() * 2)

    by_numpy.backward(lambda grad, x: (None,))
    x = double(3)
    by_numpy(x).sum().backward()
    assert x.grad is None


def test_set_checking_turns_it_off() -> None:
    op = scale_with(lambda grad, x, w: (grad * w, None))
    shaped.set_checking(False)
    try:
        op(double(2, 3), double(3)).sum().backward()
    finally:
        shaped.set_checking(True)


def test_a_list_names_the_item() -> None:
    @custom_grad
    def total(xs: list[Float[Tensor, "n"]]) -> Float[Tensor, "n"]:
        return torch.stack(xs).sum(0)

    op: CustomGrad[..., Any] = total
    total.backward(lambda grad, xs: ([grad, None],))
    with pytest.raises(CustomGradError, match=r"None for xs\[1\]"):
        op([double(2), double(2)]).sum().backward()
