"""What `prove` says of programs: proofs, refutations, hazards, and what it does not decide."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest
import torch
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor

from shaped.verify.prove import prove
from shaped.verify.prove.proof import RAISES
from shaped.verify.subject import SubjectError
from shaped.verify.verdict import Level


@pytest.fixture(autouse=True)
def _internal_errors_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RAISES, "1")


def square(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x * x


def test_a_right_backward_is_proved_for_every_size_and_value() -> None:
    verdict = prove(square, lambda grad, x: (2 * grad * x,))
    assert verdict.level is Level.PROVED
    assert not verdict.domain


def test_a_wrong_backward_is_refuted_by_a_small_witness() -> None:
    verdict = prove(square, lambda grad, x: (grad * x,))
    assert verdict.level is Level.REFUTED
    assert verdict.witness is not None
    assert verdict.witness.sizes == {"n": 1}
    assert verdict.witness.expected == 2 * (verdict.witness.actual or 0)


def test_what_a_wrong_backward_lacks_is_told() -> None:
    verdict = prove(square, lambda grad, x: (grad * x,))
    assert "the gradient of x lacks grad[i]*x[i]" in verdict.notes


def test_an_upstream_gradient_that_is_ignored_is_refuted() -> None:
    assert prove(square, lambda grad, x: (2 * x,)).level is Level.REFUTED


def test_a_gradient_of_another_shape_is_refuted() -> None:
    def scale(x: Float[Tensor, "b n"], w: Float[Tensor, "n"]) -> Float[Tensor, "b n"]:
        return x * w

    verdict = prove(scale, lambda grad, x, w: (grad * w, grad * x))
    assert verdict.level is Level.REFUTED
    assert "shape" in verdict.reason


def test_none_is_the_gradient_of_what_does_not_matter() -> None:
    def first(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x + 0 * y

    assert prove(first, lambda grad, x, y: (grad, None)).level is Level.PROVED
    assert prove(first, lambda grad, x, y: (None, None)).level is Level.REFUTED


def test_a_name_that_two_axes_share_makes_them_equal() -> None:
    def product(a: Float[Tensor, "n n"], b: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
        return a @ b

    assert prove(product, lambda grad, a, b: (grad @ b.T, a.T @ grad)).level is Level.PROVED
    assert prove(product, lambda grad, a, b: (grad @ b, a @ grad)).level is Level.REFUTED


def test_constants_are_exact() -> None:
    def power(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return 2.5**x

    assert prove(power, lambda grad, x: (grad * 2.5**x * math.log(2.5),)).level is Level.PROVED
    assert prove(power, lambda grad, x: (grad * 2.5**x * 0.9162907,)).level is not Level.PROVED


SLOPE = math.sqrt(2 / math.pi)


def test_a_constant_that_was_computed_before_is_taken_for_what_it_rounds() -> None:
    def scaled(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * SLOPE

    verdict = prove(scaled, lambda grad, x: (grad * math.sqrt(2) / math.sqrt(math.pi),))
    assert verdict.level is Level.PROVED
    assert f"{SLOPE!r} is taken for 2^(1/2)/pi^(1/2)" in verdict.notes


def test_the_names_that_a_proof_replaces_are_put_back() -> None:
    zeros, pi, root = torch.zeros, math.pi, math.sqrt
    prove(square, lambda grad, x: (2 * grad * x,))
    assert (torch.zeros, math.pi, math.sqrt) == (zeros, pi, root)


# Domains


def test_where_only_the_backward_is_undefined_is_told() -> None:
    def product(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
        return x.prod()

    verdict = prove(product, lambda grad, x: (grad * x.prod() / x,))
    assert verdict.level is Level.PROVED
    assert verdict.domain == ("x[i] != 0 (required by the backward alone)",)


def test_what_one_proof_takes_for_granted_does_not_outlive_it() -> None:
    def logarithm(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return torch.log(x)

    def rectified(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return torch.relu(x)

    assert prove(logarithm, lambda grad, x: (grad / x,)).level is Level.PROVED
    assert prove(rectified, lambda grad, x: (grad,)).level is Level.REFUTED


def test_a_gradient_at_a_tie_of_the_maximum_is_no_null_set() -> None:
    def largest(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
        return x.amax()

    def split_evenly(grad, x):
        is_largest = (x == x.amax()).to(x.dtype)
        return (grad * is_largest / is_largest.sum(),)

    assert prove(largest, split_evenly).level is Level.PROVED
    assert prove(largest, lambda grad, x: (0 * x + grad * x / x,)).level is Level.REFUTED


# Writes in place


def test_a_gradient_may_be_written_part_by_part() -> None:
    def halves(x: Float[Tensor, "b 4"]) -> Float[Tensor, "b 2"]:
        return x[:, :2] * x[:, 2:]

    def backward(grad, x):
        d = torch.zeros_like(x)
        d[:, :2] += grad * x[:, 2:]
        d[:, 2:] = grad * x[:, :2]
        return (d,)

    assert prove(halves, backward).level is Level.PROVED


def test_writing_into_the_upstream_gradient_is_a_hazard() -> None:
    def doubled(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * 2

    verdict = prove(doubled, lambda grad, x: (grad.mul_(2),))
    assert verdict.level is Level.HAZARD
    assert "grad" in verdict.reason


def test_a_forward_that_writes_into_its_input_is_a_hazard() -> None:
    def doubled(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x.mul_(2)

    verdict = prove(doubled, lambda grad, x: (2 * grad,))
    assert verdict.level is Level.HAZARD
    assert "x" in verdict.reason


def test_a_view_used_after_its_base_was_written_is_not_followed() -> None:
    def backward(grad, x):
        d = grad.clone()
        turned = d.view(-1)
        d += x
        return (turned * 2 * x,)

    verdict = prove(square, backward)
    assert verdict.level is Level.UNSUPPORTED
    assert "a view of a tensor that was written to since" in verdict.reason


# What is not decided


def test_a_loop_over_a_size_is_proved_for_small_sizes() -> None:
    def total(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
        result = x[0] * 0
        for i in range(x.shape[0]):
            result = result + x[i] ** 2
        return result

    verdict = prove(total, lambda grad, x: (2 * grad * x,))
    assert verdict.level is Level.EXACT
    assert "sizes 1 to 4 of n" in verdict.reason


def test_a_branch_on_a_value_is_named_with_its_line() -> None:
    def branching(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        if x.sum() > 0:
            return x
        return -x

    verdict = prove(branching, lambda grad, x: (torch.where(x.sum() > 0, grad, -grad),))
    assert verdict.level is Level.UNSUPPORTED
    assert "branch" in verdict.reason
    line = branching.__code__.co_firstlineno + 1
    assert verdict.place == f"{__file__}:{line}"


def test_a_fault_of_the_prover_is_no_error_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise KeyError("a fault")

    monkeypatch.setattr(sys.modules[prove.__module__], "trace", broken)
    with pytest.raises(KeyError):
        prove(square, lambda grad, x: (2 * grad * x,))
    monkeypatch.delenv(RAISES)
    verdict = prove(square, lambda grad, x: (2 * grad * x,))
    assert verdict.level is Level.UNSUPPORTED
    assert "internal: KeyError" in verdict.reason


def test_a_proof_that_the_program_contradicts_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a meaning were wrong, running the program would tell."""
    from shaped.spec.meaning import MEANINGS

    def sine(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return torch.sin(x)

    monkeypatch.setattr(MEANINGS["sin"], "entry", lambda x: x * x)
    from shaped.spec import calls

    calls._named.cache_clear()
    calls._method.cache_clear()
    try:
        verdict = prove(sine, lambda grad, x: (2 * grad * x,))
    finally:
        monkeypatch.undo()
        calls._named.cache_clear()
        calls._method.cache_clear()
    assert verdict.level in (Level.UNSUPPORTED, Level.REFUTED)


def test_a_forward_without_a_backward_is_an_error() -> None:
    with pytest.raises(SubjectError):
        prove(square)


def test_a_program_may_ask_whether_it_has_a_tensor() -> None:
    def scaled(x: Float[Tensor, "n"], by: float = 2.0) -> Float[Tensor, "n"]:
        return x * by if isinstance(x, Tensor) and not isinstance(by, Tensor) else x

    assert prove(scaled, lambda grad, x, by: (2 * grad, None)).level is Level.PROVED


# What annotations leave open


def test_an_elementwise_program_is_proved_for_any_number_of_axes() -> None:
    def cube(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
        return x**3

    verdict = prove(cube, lambda grad, x: (3 * grad * x**2,))
    assert verdict.level is Level.PROVED
    assert any("any number of axes" in note for note in verdict.notes)


def test_a_program_that_reads_shapes_is_not_elementwise() -> None:
    def scaled(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
        return x * x.shape[-1] if x.ndim else x

    # Right for one axis, wrong for two.
    assert prove(scaled, lambda grad, x: (grad * x.shape[0] if x.ndim else grad,)).level is Level.REFUTED


def test_other_programs_are_proved_for_each_of_a_few_numbers_of_axes() -> None:
    def centred(x: Float[Tensor, "*s n"]) -> Float[Tensor, "*s n"]:
        return x - x.mean(-1, keepdim=True)

    verdict = prove(centred, lambda grad, x: (grad - grad.mean(-1, keepdim=True),))
    assert verdict.level is Level.PROVED
    assert any("0 to 3 axes" in note for note in verdict.notes)


def test_an_axis_that_may_be_stretched_is_proved_both_ways() -> None:
    def scale(x: Float[Tensor, "b n"], w: Float[Tensor, "#b n"]) -> Float[Tensor, "b n"]:
        return x * w

    def backward(grad, x, w):
        dw = grad * x
        return grad * w, dw if w.shape[0] == x.shape[0] else dw.sum(0, keepdim=True)

    # Where the annotation says b, the sizes are equal; where it says 1, b may still be 1, so both are the same then.
    assert prove(scale, lambda grad, x, w: (grad * w, grad * x)).level is Level.REFUTED
    assert prove(scale, backward).level in (Level.PROVED, Level.EXACT)


def test_what_may_be_none_is_proved_with_and_without() -> None:
    def shifted(x: Float[Tensor, "b n"], c: Float[Tensor, "n"] | None) -> Float[Tensor, "b n"]:
        return x if c is None else x + c

    assert prove(shifted, lambda grad, x, c: (grad, None if c is None else grad.sum(0))).level is Level.PROVED
    assert prove(shifted, lambda grad, x, c: (grad, None)).level is Level.REFUTED


def test_ints_and_bools_of_the_caller_are_any() -> None:
    def scaled(x: Float[Tensor, "n"], times: int, negate: bool) -> Float[Tensor, "n"]:
        return -x * times if negate else x * times

    def backward(grad, x, times, negate):
        return (-grad if negate else grad) * times, None, None

    verdict = prove(scaled, backward)
    assert verdict.level is Level.PROVED
    assert "times >= 1" in verdict.domain
    assert prove(scaled, lambda grad, x, times, negate: (grad * times, None, None)).level is not Level.PROVED


def test_several_outputs_have_a_tuple_of_upstream_gradients() -> None:
    def both(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, ""]]:
        return x * x, x.sum()

    assert prove(both, lambda grad, x: (2 * grad[0] * x + grad[1],)).level is Level.PROVED
    assert prove(both, lambda grad, x: (2 * grad[0] * x,)).level is Level.REFUTED


def test_integers_are_taken_to_be_in_the_range_of_the_axis_that_they_index() -> None:
    def picked(x: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x.gather(1, y[:, None])[:, 0]

    def backward(grad, x, y):
        return torch.zeros_like(x).scatter_add(1, y[:, None], grad[:, None]), None

    verdict = prove(picked, backward)
    assert verdict.level is Level.PROVED
    assert verdict.domain == ("0 <= y < c",)


def test_integers_that_index_nothing_are_any() -> None:
    def scaled(x: Float[Tensor, "n"], y: Int[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * torch.where(y < 0, 0, y)

    assert prove(scaled, lambda grad, x, y: (grad * torch.where(y < 0, 0, y), None)).level is Level.PROVED
    assert prove(scaled, lambda grad, x, y: (grad * y, None)).level is not Level.PROVED


def test_bools_are_any() -> None:
    def masked(x: Float[Tensor, "n"], keep: Bool[Tensor, "n"]) -> Float[Tensor, "n"]:
        return torch.where(keep, x * x, 0.0)

    assert prove(masked, lambda grad, x, keep: (torch.where(keep, 2 * grad * x, 0.0), None)).level is Level.PROVED
    assert prove(masked, lambda grad, x, keep: (2 * grad * x, None)).level is Level.REFUTED


def test_the_gradient_of_a_complex_input_is_conjugate() -> None:
    def product(a: Complex[Tensor, "n"], b: Complex[Tensor, "n"]) -> Complex[Tensor, "n"]:
        return a * b

    assert prove(product, lambda grad, a, b: (grad * b.conj(), grad * a.conj())).level is Level.PROVED
    assert prove(product, lambda grad, a, b: (grad * b, grad * a)).level is Level.REFUTED


# Gradients that are meant to be another function's


def test_a_straight_through_estimator_is_proved_against_its_surrogate() -> None:
    def rounded(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x.round()

    def identity(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x

    assert prove(rounded, lambda grad, x: (grad,), gradient_of=identity).level is Level.PROVED
    assert prove(rounded, lambda grad, x: (grad,)).level is Level.REFUTED


def test_no_gradient_flows_through_what_is_detached() -> None:
    def estimated(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * x + (x.exp() - x * x).detach()

    def constant(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        with torch.no_grad():
            scale = x.exp()
        return scale * x

    assert prove(estimated, lambda grad, x: (2 * grad * x,)).level is Level.PROVED
    assert prove(constant, lambda grad, x: (grad * x.exp(),)).level is Level.PROVED


# Functions and modules


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        ctx.factor = 3
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (x,) = ctx.saved_tensors
        return grad * ctx.factor * x * x if ctx.needs_input_grad[0] else None


class CubeWithSetup(torch.autograd.Function):
    @staticmethod
    def forward(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Int[Tensor, "n"]]:
        return x**3, (x > 0).long()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any, none: Any) -> Any:
        assert none is None
        (x,) = ctx.saved_tensors
        return 3 * grad * x * x


class WrongCube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 3 * grad * ctx.saved_tensors[0]


@pytest.mark.parametrize("function", [Cube, CubeWithSetup])
def test_the_backward_of_a_function_is_proved(function: type[torch.autograd.Function]) -> None:
    assert prove(function).level is Level.PROVED


def test_the_wrong_backward_of_a_function_is_refuted() -> None:
    assert prove(WrongCube).level is Level.REFUTED


class Product(torch.autograd.Function):
    needs = (0, 1)

    @staticmethod
    def forward(ctx: Any, a: Float[Tensor, "n"], b: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(a, b)
        ctx.needs = Product.needs
        return a * b

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        a, b = ctx.saved_tensors
        first, second = ctx.needs
        da = grad * b if ctx.needs_input_grad[first] else None
        return da, grad * a if ctx.needs_input_grad[second] else None


def test_one_gradient_alone_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prove(Product).level is Level.PROVED
    monkeypatch.setattr(Product, "needs", (1, 0))
    verdict = prove(Product)
    assert not verdict.ok
    assert "alone needs a gradient" in verdict.reason


class Overwriting(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        y = x.tanh()
        ctx.y = y.clone()
        return y

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return ctx.y.mul_(ctx.y).neg_().add_(1).mul_(grad)


def test_writing_into_what_the_forward_stored_is_a_hazard() -> None:
    verdict = prove(Overwriting)
    assert verdict.level is Level.HAZARD
    assert "a saved tensor" in verdict.reason


class Scale(torch.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(size, 2, bias=False)

    def forward(self, x: Float[Tensor, "b 3"]) -> Float[Tensor, "b 2"]:
        return self.linear(x)


def test_the_parameters_of_a_module_are_any() -> None:
    module = Scale(3)
    before = module.linear.weight
    verdict = prove(module, lambda grad, x: (grad @ module.linear.weight,))
    assert verdict.level is Level.PROVED
    assert "not confirmed by running it" not in verdict.notes
    assert module.linear.weight is before
    assert before.dtype is torch.float32
    assert prove(module, lambda grad, x: (grad @ module.linear.weight * 2,)).level is Level.REFUTED


def same(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x.clone()


@pytest.mark.parametrize(
    ("backward", "where"),
    [
        (lambda grad, x: (torch.where(x == 0, 0.0, grad),), "x[i] = 0"),
        (lambda grad, x: (torch.where(grad == 0, 1.0, grad),), "grad[i] = 0"),
        (lambda grad, x: (torch.where(x == 12345.0, 0.0, grad),), "x[i] - 12345 = 0"),
        (lambda grad, x: (torch.where(x.sum() == 0, 0.0, grad),), "(sum over i < n of x[i]) = 0"),
    ],
)
def test_an_exception_of_the_backward_is_none_where_the_forward_has_no_kink(backward: Any, where: str) -> None:
    verdict = prove(same, backward)
    assert verdict.level is Level.UNSUPPORTED
    assert f"another where {where}" in verdict.reason


def test_an_exception_at_a_kink_of_the_forward_is_named() -> None:
    def bent(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return (2 * x + 1).relu()

    verdict = prove(bent, lambda grad, x: (torch.where(-4 * x - 2 <= 0, 2 * grad, 0.0),))
    assert verdict.level is Level.PROVED
    assert "2*x[i] + 1 = 0" in verdict.kinks


def test_a_kink_of_an_intermediate_is_one_of_the_forward() -> None:
    def layer(x: Float[Tensor, "b n"], w: Float[Tensor, "n m"]) -> Float[Tensor, "b m"]:
        return (x @ w).relu()

    def layer_backward(grad: Any, x: Any, w: Any) -> Any:
        inner = torch.where(x @ w >= 0, grad, 0.0)
        return inner @ w.T, x.T @ inner

    verdict = prove(layer, layer_backward)
    assert verdict.level is Level.PROVED
    assert verdict.kinks


def test_nothing_is_proved_where_no_input_has_a_gradient() -> None:
    def shifted(i: Int[Tensor, "n"]) -> Int[Tensor, "n"]:
        return i + 1

    verdict = prove(shifted, lambda grad, i: (None,))
    assert verdict.level is Level.UNSUPPORTED
    assert verdict.reason.startswith("no input has a gradient")
