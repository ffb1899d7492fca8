"""Hazards: NaN, infinity, underflow, effects, contexts and second order, each with its point; and no false alarm."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from shaped.verify.hazards import float_hazards
from shaped.verify.verdict import Level


def reason(forward: Any, backward: Any = None, *inputs: Any, **options: Any) -> str | None:
    """Why a gradient is a hazard or refuted, None if nothing was found."""
    found = float_hazards(forward, backward, *inputs, **options)
    if found.level is Level.UNSUPPORTED:
        assert found.witness is None
        return None
    assert found.level in (Level.HAZARD, Level.REFUTED)
    assert found.witness is not None
    return found.reason


def product(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    return x.prod()


def by_division(grad: Tensor, x: Tensor) -> Tensor:
    return grad * x.prod() / x


def test_a_point_has_a_name_and_the_smallest_size() -> None:
    found = float_hazards(product, by_division)
    assert found.reason == "the gradient of x is NaN where x is all 0"
    assert found.witness is not None
    assert found.witness.sizes == {"n": 1}


def test_a_domain_says_which_points_count() -> None:
    assert reason(product, by_division, domain=lambda x: bool((x != 0).all())) is None


def test_inputs_of_the_user_are_a_point() -> None:
    def only_at_seven(grad: Tensor, x: Tensor) -> Tensor:
        return grad * torch.where(x == 7, torch.nan, 2 * x)

    def forward(x: Float[Tensor, "n"]) -> Tensor:
        return x * x

    assert reason(forward, only_at_seven, torch.tensor([7.0])) == "the gradient of x is NaN"


def test_a_slope_that_is_infinite_may_be_infinite() -> None:
    def forward(x: Float[Tensor, "n"]) -> Tensor:
        return x.sqrt()

    assert reason(forward, lambda grad, x: grad * 0.5 / x.sqrt()) is None


def test_minus_infinity_counts_where_the_forward_takes_it() -> None:
    def masked(x: Float[Tensor, "b n"]) -> Tensor:
        return x.softmax(-1)

    def through_logarithms(grad: Tensor, x: Tensor) -> Tensor:
        y = x.softmax(-1)
        return y * grad - (y * (grad * (x - x.logsumexp(-1, keepdim=True)).exp())).sum(-1, keepdim=True) + 0 * x

    assert reason(masked, through_logarithms) is not None

    def square(x: Float[Tensor, "n"]) -> Tensor:
        return x * x

    assert reason(square, lambda grad, x: 2 * grad * x + 0 * x) is None


def test_logarithms_of_0_alone_are_a_point() -> None:
    def forward(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Tensor:
        return torch.logaddexp(x, y)

    def naive(grad: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return grad * torch.sigmoid(x - y), grad * torch.sigmoid(y - x)

    def guarded(grad: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        difference = torch.where(x == y, torch.zeros_like(x), x - y)
        return grad * torch.sigmoid(difference), grad * torch.sigmoid(-difference)

    assert reason(forward, naive) == "the gradient of x is NaN where x and y are all -inf"
    assert reason(forward, guarded) is None


def test_a_row_without_any_kept_entry_is_a_point() -> None:
    def forward(x: Float[Tensor, "b n"], keep: Bool[Tensor, "b n"]) -> Tensor:
        return (x * keep).sum(-1) / keep.sum(-1).clamp(min=1)

    def backward(grad: Tensor, x: Tensor, keep: Tensor) -> tuple[Tensor, None]:
        return grad[:, None] * keep / keep.sum(-1, keepdim=True), None

    found = reason(forward, backward)
    assert found is not None
    assert found.startswith("the gradient of x is NaN where keep ")


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_gradient_that_a_precision_loses_is_found_where_autograd_has_it(dtype: str) -> None:
    power = {"float32": -16, "float16": -4}[dtype]

    def forward(x: Float[Tensor, "n"]) -> Tensor:
        return 2 * x

    def backward(grad: Tensor, x: Tensor) -> Tensor:
        small = 10.0**power
        return 2 * (grad * small * small * small) / small / small / small

    assert reason(forward, backward) is not None
    assert dtype in str(reason(forward, backward))


def test_a_loss_may_be_scaled() -> None:
    def forward(x: Float[Tensor, "n"]) -> Tensor:
        return 2 * x

    def backward(grad: Tensor, x: Tensor) -> Tensor:
        largest = (grad * grad).sum().sqrt()
        return 2 * (grad / largest) * largest if bool(grad.any()) else grad

    assert reason(forward, backward) == "the gradient of x is not finite in float32 where the upstream is about 1e-25"


def test_right_formulas_have_no_hazard_in_any_precision() -> None:
    def norm(x: Float[Tensor, "b d"]) -> Tensor:
        return torch.nn.functional.layer_norm(x, x.shape[-1:])

    def backward(grad: Tensor, x: Tensor) -> Tensor:
        rstd = torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)
        y = (x - x.mean(-1, keepdim=True)) * rstd
        return rstd * (grad - grad.mean(-1, keepdim=True) - y * (grad * y).mean(-1, keepdim=True))

    assert reason(norm, backward) is None


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (lambda grad, x: grad.mul_(2), "grad is written to in place"),
        (lambda grad, x: (x.mul_(0) + 2) * grad, "x is written to in place"),
        (lambda grad, x: 2 * grad.float(), "the gradient of x is float32, which has fewer digits than x, float64"),
    ],
)
def test_effects(backward: Any, message: str) -> None:
    def forward(x: Float[Tensor, "n"]) -> Tensor:
        return 2 * x

    assert reason(forward, backward) == message


def test_a_gradient_that_changes_from_run_to_run_is_told() -> None:
    calls: list[int] = []

    def forward(x: Float[Tensor, "n"]) -> Tensor:
        return 2 * x

    def backward(grad: Tensor, x: Tensor) -> Tensor:
        calls.append(1)
        return 2 * grad * (1 + 1e-9 * len(calls))

    assert reason(forward, backward) == "the gradient of x is another one when it is run again"


def test_memory_order_must_not_matter() -> None:
    def forward(x: Float[Tensor, "b n"]) -> Tensor:
        return 2 * x

    def backward(grad: Tensor, x: Tensor) -> Tensor:
        return 2 * grad.as_strided(grad.shape, torch.empty(grad.shape).stride())

    assert reason(forward, backward) == "the gradient of x is wrong if the upstream gradient is not contiguous"


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return 3 * grad * ctx.saved_tensors[0] ** 2


class Detached(Cube):
    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return 3 * grad * ctx.saved_tensors[0].detach() ** 2


class Declared(Cube):
    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return 3 * grad * ctx.saved_tensors[0].detach() ** 2


class OnContext(Cube):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.x = x
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return 3 * grad * ctx.x**2


class Consumed(Cube):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.slope = 3 * x * x
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return ctx.slope.mul_(grad)


class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
        ctx.set_materialize_grads(False)
        return 2 * x, 3 * x

    @staticmethod
    def backward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        return 2 * a + 3 * b


class MaskOnClass(torch.autograd.Function):
    mask: Tensor

    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        MaskOnClass.mask = x > 0
        return x * MaskOnClass.mask

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return grad * MaskOnClass.mask


class SameFlag(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> tuple[Tensor | None, Tensor | None]:
        x, y = ctx.saved_tensors
        wanted = ctx.needs_input_grad[0]
        return (grad * y, grad * x) if wanted else (None, None)


@pytest.mark.parametrize("function", [Cube, Declared])
def test_a_right_class_has_no_hazard(function: Any) -> None:
    assert reason(function) is None


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (Detached, "the gradient of the gradient by x"),
        (OnContext, "x is kept on ctx without save_for_backward"),
        (Consumed, "the gradient of x is wrong in a second backward"),
        (MaskOnClass, "the gradient of x is wrong after another forward"),
        (SameFlag, "the gradient of y is wrong if only y needs a gradient"),
        (Two, "the backward raises TypeError: .* if only output 0 is used"),
    ],
)
def test_hazards_of_a_class(function: Any, message: str) -> None:
    found = reason(function)
    assert found is not None
    assert re.match(message, found), found


def test_an_empty_input_gets_a_gradient_of_its_shape() -> None:
    def forward(x: Float[Tensor, "b n"]) -> Tensor:
        return x.sum(-1)

    def backward(grad: Tensor, x: Tensor) -> Tensor:
        return grad[:, None].expand_as(x).clone() if x.numel() else torch.zeros(0, dtype=x.dtype)

    found = float_hazards(forward, backward)
    assert found.level is Level.REFUTED
    assert "the gradient of x has shape (0,)" in found.reason


def test_points_of_distance_0_are_tried_and_ends_of_the_forward_are_not() -> None:
    def angle(y: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> Tensor:
        return torch.atan2(y, x)

    def angle_backward(grad: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        square = x * x + y * y
        return grad * x / square, -grad * y / square

    def distance(x: Float[Tensor, "n d"], y: Float[Tensor, "n d"]) -> Tensor:
        return (x - y).abs().sum(-1)

    def distance_backward(grad: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        gradient = grad[:, None] * (x - y) / (x - y).abs()
        return gradient, -gradient

    def power(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Tensor:
        return x**y

    def power_backward(grad: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        log = torch.log(torch.where(x > 0, x, torch.ones_like(x)))
        return grad * y * x ** (y - 1), grad * x**y * log

    assert reason(angle, angle_backward) == "the gradient of y is NaN where y and x are all 0"
    assert reason(distance, distance_backward) == "the gradient of x is NaN where x and y are all 0"
    assert reason(power, power_backward) is None


def and_square(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    return x.clone(), x * x


def forgets_the_first(grads: tuple[Tensor, Tensor], x: Tensor) -> Tensor:
    first, second = grads
    return 2 * x * second + torch.where(second == 0, 0.0, first)


def test_of_several_outputs_one_may_not_be_used() -> None:
    assert reason(and_square, forgets_the_first) == "the gradient of x is wrong where the upstream of output 1 is all 0"
