"""What the exact gradient check accepts, refuses, and does not decide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shaped.verify.exact import exact_gradcheck
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable


def r(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


CLASSES = torch.tensor([0, 4, 1, 1])


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v


def masked_attention(x: Tensor) -> Tensor:
    future = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
    return (x @ x.T).masked_fill(future, -math.inf).softmax(-1) @ x


def in_place(x: Tensor) -> Tensor:
    y = x * 2
    y[0].mul_(x[1])
    y.add_(1)
    return y.view(-1)[1:] * y.view(-1)[:-1]


EXACT: list[tuple[str, Callable[..., Any], list[Tensor]]] = [
    ("matmul", torch.matmul, [r(3, 4), r(4, 2)]),
    ("linear, relu", lambda x, w, b: F.relu(F.linear(x, w, b)), [r(4, 5), r(3, 5), r(3)]),
    ("softmax", lambda x: F.softmax(x, -1), [r(2, 5)]),
    ("layer_norm", lambda x, w, b: F.layer_norm(x, (5,), w, b), [r(4, 5), r(5), r(5)]),
    ("batch_norm", lambda x: F.batch_norm(x, None, None, training=True), [r(6, 3)]),
    ("cross_entropy", lambda z: F.cross_entropy(z, CLASSES, label_smoothing=0.1), [r(4, 5)]),
    ("bce_with_logits", lambda z: F.binary_cross_entropy_with_logits(z, torch.full_like(z, 0.3)), [r(4)]),
    ("conv2d", lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1), [r(1, 2, 5, 5), r(3, 2, 3, 3), r(3)]),
    ("conv_transpose1d", lambda x, w: F.conv_transpose1d(x, w, stride=2, dilation=2), [r(1, 2, 5), r(2, 3, 3)]),
    ("gelu", F.gelu, [r(9)]),
    ("gelu, tanh", lambda x: F.gelu(x, approximate="tanh"), [r(9)]),
    ("prod", lambda x: x.prod(-1), [r(2, 3)]),
    ("std", lambda x: x.std(-1), [r(2, 3)]),
    ("max pooling", lambda x: F.max_pool2d(x, 2), [r(1, 2, 4, 4)]),
    ("interpolation", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), [r(1, 2, 3, 3)]),
    ("inverse and determinant", lambda x: torch.linalg.inv(x) * torch.linalg.det(x), [r(3, 3)]),
    ("power of both", lambda x, y: (1 + x * x) ** y, [r(4), r(4)]),
    ("scatter_add", lambda x, y: x.scatter_add(0, torch.tensor([1, 1, 0]), y), [r(3), r(3)]),
    ("attention", attention, [r(2, 4), r(3, 4), r(3, 4)]),
    ("masked attention", masked_attention, [r(4, 3)]),
    ("writes in place", in_place, [r(3, 2)]),
    ("several results", lambda x: (x.sin(), [x.cos(), x.exp()]), [r(3)]),
]


@pytest.mark.parametrize("function, inputs", [case[1:] for case in EXACT], ids=[case[0] for case in EXACT])
def test_right_gradients_are_exact(function: Callable[..., Any], inputs: list[Tensor]) -> None:
    verdict = exact_gradcheck(function, *inputs)
    assert verdict.level is Level.EXACT, verdict.explain()


def layer_norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def layer_norm_backward(g: Tensor, x: Tensor, eps: float) -> Tensor:
    scale = (x.var(-1, unbiased=False, keepdim=True) + eps).rsqrt()
    y = (x - x.mean(-1, keepdim=True)) * scale
    return scale * (g - g.mean(-1, keepdim=True) - y * (g * y).mean(-1, keepdim=True))


def test_a_hand_written_layer_norm_backward_is_exact() -> None:
    assert exact_gradcheck(layer_norm, r(4, 5), backward=lambda g, x: layer_norm_backward(g, x, 1e-5)).ok


@pytest.mark.parametrize("eps", [1e-6, 0.0])
def test_another_eps_is_refuted_though_gradcheck_takes_it(eps: float) -> None:
    verdict = exact_gradcheck(layer_norm, r(4, 5), backward=lambda g, x: layer_norm_backward(g, x, eps))
    assert verdict.level is Level.REFUTED


def test_a_constant_off_by_a_millionth_is_refuted_with_a_witness() -> None:
    verdict = exact_gradcheck(lambda x: x**3, torch.tensor([2.0]), backward=lambda g, x: g * 3.000003 * x**2)
    assert verdict.level is Level.REFUTED
    assert verdict.witness is not None
    assert verdict.witness.gradient == "input"
    assert verdict.witness.index == (0,)
    assert verdict.witness.inputs == {"input": [2.0]}
    assert verdict.witness.expected is not None
    assert verdict.witness.actual is not None
    ratio = complex(verdict.witness.actual) / complex(verdict.witness.expected)
    assert ratio.real == pytest.approx(1.000001, abs=1e-8)


def test_the_witness_names_the_wrong_entry() -> None:
    def backward(g: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        wrong = g * x
        wrong[1, 2] *= 2
        return g * y, wrong

    verdict = exact_gradcheck(torch.mul, r(2, 3), r(2, 3), backward=backward)
    assert verdict.level is Level.REFUTED
    assert verdict.witness is not None
    assert (verdict.witness.gradient, verdict.witness.index) == ("inputs[1]", (1, 2))


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x.sin()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return ctx.factor * g * x.cos(), None


def test_the_backward_of_an_autograd_function_is_checked() -> None:
    assert exact_gradcheck(lambda x: Scaled.apply(x, 1.0), r(3)).level is Level.EXACT
    assert exact_gradcheck(lambda x: Scaled.apply(x, 1.1), r(3)).level is Level.REFUTED


def test_a_detached_factor_is_refuted() -> None:
    assert exact_gradcheck(lambda x: x * x.detach(), r(3)).level is Level.REFUTED


def test_a_straight_through_estimator_is_refuted() -> None:
    assert exact_gradcheck(lambda x: x + (x.round() - x).detach(), r(3)).level is Level.REFUTED


def test_a_gradient_of_another_shape_is_refuted() -> None:
    verdict = exact_gradcheck(lambda x: x * 2, r(3), backward=lambda g, x: (2 * g).sum().reshape(1))
    assert verdict.level is Level.REFUTED
    assert "shape (1,)" in verdict.reason


def test_a_gradient_that_is_missing_is_refuted() -> None:
    verdict = exact_gradcheck(torch.mul, r(3), r(3), backward=lambda g, x, y: (g * y, None))
    assert verdict.level is Level.REFUTED
    assert verdict.witness is not None
    assert verdict.witness.actual == 0


def test_the_right_number_of_gradients_is_asked_for() -> None:
    with pytest.raises(ValueError, match="1 gradients for 2 inputs"):
        exact_gradcheck(torch.mul, r(3), r(3), backward=lambda g, x, y: (g * y,))


def test_an_error_in_a_branch_that_the_inputs_do_not_take_is_found() -> None:
    def backward(g: Tensor, x: Tensor) -> Tensor:
        return g * torch.where(x > 0, torch.ones_like(x), 0.3 * torch.ones_like(x))

    verdict = exact_gradcheck(lambda x: F.leaky_relu(x, 0.2), r(3).abs(), backward=backward)
    assert verdict.level is Level.REFUTED


def test_a_branch_that_no_sample_takes_is_named() -> None:
    verdict = exact_gradcheck(lambda x: torch.where(x > 1e9, x * x, x), r(3))
    assert verdict.level is Level.EXACT
    assert verdict.notes == ("branch not visited: aten.gt.Scalar was never true",)


def test_a_root_of_a_square_is_not_taken_for_the_number_itself() -> None:
    for function in (lambda x: (x * x).sqrt(), lambda x: (x * x + 2 * x + 1).sqrt()):
        verdict = exact_gradcheck(function, torch.tensor([-3.0], dtype=torch.float64), backward=lambda g, x: g)
        assert verdict.level is Level.REFUTED


def test_kinks_of_the_given_inputs_are_listed() -> None:
    verdict = exact_gradcheck(torch.relu, torch.zeros(3))
    assert verdict.level is Level.EXACT
    assert verdict.kinks == ("aten.relu.default: two values met",)


def test_a_tie_at_every_sample_is_a_kink() -> None:
    def tie(x: Tensor) -> Tensor:
        # x + 0 sin(x) meets x in floats, but is no copy of it.
        return torch.maximum(x, x + 1e-30 * x.sin())

    verdict = exact_gradcheck(tie, r(3))
    assert verdict.level is Level.KINK
    assert "aten.ge" in verdict.reason or "maximum" in verdict.reason


def test_copies_of_one_value_are_no_tie() -> None:
    verdict = exact_gradcheck(lambda x: torch.maximum(x, x.clone()), r(3))
    assert verdict.level is Level.EXACT
    assert not verdict.kinks


def test_an_operation_without_a_rule_is_named() -> None:
    verdict = exact_gradcheck(torch.linalg.svdvals, r(3, 3))
    assert verdict.level is Level.UNSUPPORTED
    assert "svd" in verdict.reason


@pytest.mark.parametrize(
    "function",
    [lambda x: x * x.sum().item(), lambda x: x * float(x.detach().numpy()[0]), lambda x: x * x.tolist()[0]],
    ids=["item", "numpy", "tolist"],
)
def test_a_number_that_python_takes_from_an_input_is_not_supported(function: Callable[[Tensor], Tensor]) -> None:
    assert exact_gradcheck(function, r(3)).level is Level.UNSUPPORTED


def test_python_code_may_branch_on_values() -> None:
    verdict = exact_gradcheck(lambda x: x.sin() if bool((x * x < 100).all()) else x.cos(), r(3))
    assert verdict.level is Level.EXACT
    assert any("Python code branched" in note for note in verdict.notes)


def test_dropout_keeps_its_mask() -> None:
    verdict = exact_gradcheck(lambda x: F.dropout(x.sin(), 0.3), r(20))
    assert verdict.level is Level.EXACT, verdict.explain()


def test_parameters_of_a_module_are_differentiated() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.GELU(), nn.Linear(4, 2))
    mean = module[1].running_mean.clone()
    assert exact_gradcheck(module, torch.randn(5, 3)).level is Level.EXACT
    assert module[1].running_mean.equal(mean), "the check leaves the module as it is"

    class Frozen(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return F.linear(x, self.weight.detach(), self.bias) + F.linear(x, self.weight)

    verdict = exact_gradcheck(Frozen(3, 2).double(), r(4, 3))
    assert verdict.level is Level.REFUTED
    assert verdict.witness is not None
    assert verdict.witness.gradient == "weight"


def test_whole_numbers_and_flags_are_held_fixed() -> None:
    verdict = exact_gradcheck(lambda w, i, scale: F.embedding(i, w) * scale, r(5, 2), torch.tensor([1, 1, 3]), 2.5)
    assert verdict.level is Level.EXACT


def test_second_derivatives() -> None:
    assert exact_gradcheck(lambda x: F.softmax(x, -1), r(2, 3), order=2).level is Level.EXACT
    assert exact_gradcheck(F.silu, r(4), order=2).level is Level.EXACT
    # The backward is right, but saves a number that it takes for a constant.

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.twice = (2 * x).detach()
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Tensor:
            return g * ctx.twice

    assert exact_gradcheck(Square.apply, r(3)).level is Level.EXACT
    verdict = exact_gradcheck(Square.apply, r(3), order=2)
    assert verdict.level is Level.REFUTED, verdict.explain()


def test_only_orders_1_and_2_are_known() -> None:
    with pytest.raises(ValueError, match="order is 3"):
        exact_gradcheck(torch.sin, r(2), order=3)


def test_float32_functions_are_checked_too() -> None:
    weight = torch.ones(3, 3)
    assert exact_gradcheck(lambda x: torch.tanh(x @ weight) * 0.1, torch.randn(2, 3)).level is Level.EXACT
    wrong = exact_gradcheck(lambda x: x.sin() @ weight, torch.randn(2, 3), backward=lambda g, x: g @ weight.T)
    assert wrong.level is Level.REFUTED


def test_a_gradient_that_is_nan_at_the_inputs_is_a_hazard() -> None:
    def backward(g: Tensor, x: Tensor) -> Tensor:
        return torch.where(x > 0, g / (2 * x.sqrt()), 0 * x.sqrt())

    verdict = exact_gradcheck(lambda x: x.clamp(min=0).sqrt(), torch.tensor([-1.0, 2.0]), backward=backward)
    assert verdict.level is Level.HAZARD
    assert "input[0] is NaN" in verdict.reason


def test_a_backward_that_writes_to_its_upstream_gradient_is_a_hazard() -> None:
    verdict = exact_gradcheck(lambda x: 2 * x, r(3), backward=lambda g, x: g.mul_(2))
    assert verdict.level is Level.HAZARD
    assert "the upstream gradient" in verdict.reason


def test_a_wrong_formula_that_is_nan_is_refuted() -> None:
    verdict = exact_gradcheck(
        lambda x: 2.5**x, torch.tensor([-1.0, 2.0]), backward=lambda g, x: g * 2.5 * x ** (2.5 - 1)
    )
    assert verdict.level is Level.REFUTED


def test_the_logarithm_of_a_constant_may_be_written_as_a_number() -> None:
    verdict = exact_gradcheck(
        lambda x: 2.5**x, torch.tensor([-1.0, 2.0]), backward=lambda g, x: g * 2.5**x * math.log(2.5)
    )
    assert verdict.level is Level.EXACT


@pytest.mark.parametrize("keywords", [{}, {"is_causal": True}, {"scale": 0.3}])
def test_fused_attention(keywords: dict[str, Any]) -> None:
    def fused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, **keywords)

    shape = (1, 2, 3, 4)
    assert exact_gradcheck(fused, r(*shape), r(*shape) + 1, r(*shape) * 2).level is Level.EXACT


@pytest.mark.parametrize("layer", [nn.LSTM(2, 3), nn.GRU(2, 3)], ids=["LSTM", "GRU"])
def test_recurrent_layers(layer: nn.Module) -> None:
    verdict = exact_gradcheck(layer, torch.randn(3, 1, 2))
    assert verdict.level is Level.EXACT, verdict.explain()


def test_a_threshold_that_the_backward_moves_is_found_between_the_samples() -> None:
    verdict = exact_gradcheck(F.relu, r(4), backward=lambda g, x: g * (x >= -0.1))
    assert verdict.level is Level.REFUTED
    verdict = exact_gradcheck(lambda x: x.clamp(-1, 1), r(4), backward=lambda g, x: g * ((x > -1.01) & (x < 1)))
    assert verdict.level is Level.REFUTED
    assert exact_gradcheck(lambda x: x.clamp(-1, 1), r(4), backward=lambda g, x: g * ((x > -1) & (x < 1))).ok


def test_without_a_floating_input_there_is_no_gradient() -> None:
    verdict = exact_gradcheck(torch.zeros, 3, backward=lambda grad, n: (None,))
    assert verdict.level is Level.UNSUPPORTED
    assert verdict.reason == "no input is a floating tensor, so there is no gradient"


def test_an_empty_input_is_said_to_compare_nothing() -> None:
    verdict = exact_gradcheck(torch.tanh, torch.zeros(0), backward=lambda grad, x: (5 * grad,))
    assert verdict.notes == ("no input has an entry, so there was no gradient to compare",)


@pytest.mark.parametrize(("fn", "backward"), [(torch.ones(2), None), (torch.tanh, 3)])
def test_what_is_no_function_is_refused(fn: Any, backward: Any) -> None:
    with pytest.raises(TypeError, match="is no function: pass exact_gradcheck"):
        exact_gradcheck(fn, torch.ones(2), backward=backward)
