"""Float kernels are held to what rounding explains, and nothing else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from shaped.spec.dims import Dim
from shaped.spec.expr import Sum, Variable, apply, power
from shaped.spec.index import fresh_index
from shaped.spec.scalars.system import Reason, Undefined
from shaped.spec.tensor import NotExpressible
from shaped.verify.budget import (
    Budget,
    enclose,
    enclosed,
    enclosed_gradients,
    error_bound,
    gradients_within_budget,
    rho,
    within_budget,
)

if TYPE_CHECKING:
    from collections.abc import Callable

N = Dim.name("n")
x, i = Variable("x", (N,)), fresh_index(N)
SQUARES = Sum(i, x[i.dim] * x[i.dim])
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def softmax(scores: torch.Tensor) -> torch.Tensor:
    weights = scores.exp()
    return weights / weights.sum(-1, keepdim=True)


def layer_norm(features: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    centred = features - features.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * weight + bias


def gelu(features: torch.Tensor) -> torch.Tensor:
    return features * (1 + torch.erf(features / 2**0.5)) / 2


KERNELS: dict[str, tuple[Callable[..., torch.Tensor], Callable[..., torch.Tensor], list[tuple[int, ...]]]] = {
    "matmul": (torch.matmul, torch.matmul, [(4, 33), (33, 3)]),
    "softmax": (lambda scores: F.softmax(scores, -1), softmax, [(3, 20)]),
    "layer_norm": (lambda f, w, b: F.layer_norm(f, (16,), w, b), layer_norm, [(3, 16), (16,), (16,)]),
    "gelu": (F.gelu, gelu, [(20,)]),
    "tanh": (torch.tanh, torch.tanh, [(20,)]),
    "mean": (lambda f: f.mean(0), lambda f: f.sum(0) / f.shape[0], [(30, 2)]),
}


@DTYPES
@pytest.mark.parametrize("name", KERNELS)
def test_torchs_kernels_keep_the_budget(name: str, dtype: torch.dtype) -> None:
    kernel, reference, shapes = KERNELS[name]
    inputs = [random(*shape, dtype=dtype, seed=seed).requires_grad_() for seed, shape in enumerate(shapes)]
    output = kernel(*inputs)
    upstream = random(*output.shape, dtype=dtype, seed=9)
    budget = within_budget(output, reference, *inputs)
    assert budget.ok, budget
    assert budget.compared == output.numel()
    gradients = torch.autograd.grad(output, inputs, upstream)
    budget = gradients_within_budget(gradients, reference, upstream, *inputs)
    assert budget.ok, budget


@pytest.mark.parametrize("scale", [1.0, 10.0, 1000.0])
def test_large_and_small_inputs_need_no_other_bound(scale: float) -> None:
    scores = random(3, 20) * scale / 20
    assert within_budget(F.softmax(scores, -1), softmax, scores).ok
    features, weight, bias = random(3, 16) * scale + 100 * scale, random(16, seed=1), random(16, seed=2)
    assert within_budget(F.layer_norm(features, (16,), weight, bias), layer_norm, features, weight, bias).ok


@DTYPES
def test_a_small_fault_is_found(dtype: torch.dtype) -> None:
    features, weight, bias = (random(*shape, dtype=dtype) for shape in [(4, 16), (16,), (16,)])
    near = F.layer_norm(features, (16,), weight, bias, eps=1.01e-5)
    # A change of 1e-7, beside a variance of about 1, is beyond what rounding explains in 64 bits only.
    assert within_budget(near, layer_norm, features, weight, bias).ok is (dtype == torch.float32)
    wrong = F.layer_norm(features, (16,), weight, bias, eps=1e-3)
    assert not within_budget(wrong, layer_norm, features, weight, bias).ok


def test_a_reduced_precision_product_is_found() -> None:
    left, right = random(4, 64), random(64, 4)
    truncated = (left.bfloat16() @ right.bfloat16()).float()
    assert within_budget(truncated, torch.matmul, left, right).rho > 100
    assert within_budget(left.bfloat16() @ right.bfloat16(), torch.matmul, left.bfloat16(), right.bfloat16()).ok


def test_a_gradient_with_one_wrong_term_is_found_and_named() -> None:
    scores = random(2, 5)
    upstream = random(2, 5, seed=1)
    weights = F.softmax(scores, -1)
    right = weights * (upstream - (weights * upstream).sum(-1, keepdim=True))
    assert gradients_within_budget([right], softmax, upstream, scores).ok
    wrong = right.clone()
    wrong[1, 3] *= 1 + 1e-4
    budget = gradients_within_budget([wrong], softmax, upstream, scores)
    assert budget.at == (1, 3)
    assert str(budget).startswith("the gradient of input[0][1, 3] is ")
    assert "where rounding explains" in str(budget)


def test_a_nan_or_an_infinity_is_a_difference() -> None:
    values = random(3)
    for wrong in (math.nan, math.inf):
        output = values.exp()
        output[1] = wrong
        budget = within_budget(output, torch.exp, values)
        assert budget.rho == math.inf
        assert budget.at == (1,)


def test_an_infinity_is_right_where_the_true_value_is_beyond_the_format() -> None:
    values = torch.tensor([100.0, 1.0])
    assert within_budget(values.exp(), torch.exp, values).ok
    assert not within_budget(-values.exp(), torch.exp, values).ok
    no_number = torch.tensor([math.nan, 1.0]) * values.exp()
    assert within_budget(no_number, torch.exp, values).rho == math.inf


def test_a_value_that_underflows_to_zero_is_right() -> None:
    values = torch.tensor([-104.0, -200.0])
    assert within_budget(values.exp(), torch.exp, values).ok


def test_exact_operations_allow_no_error() -> None:
    values = random(6)
    assert within_budget(values.reshape(2, 3).T, lambda v: v.reshape(2, 3).T, values).ok
    last_bit = torch.nextafter(values, torch.tensor(math.inf))
    assert within_budget(last_bit, lambda v: v, values).rho == math.inf
    assert within_budget(values.relu(), torch.relu, values).ok


def test_masked_scores_may_be_minus_infinity() -> None:
    scores = random(2, 4)
    scores[0, 1:] = -math.inf
    assert within_budget(F.softmax(scores, -1), lambda s: torch.softmax(s, -1), scores).ok


def test_integer_and_bool_inputs() -> None:
    table, index, mask = random(5, 3), torch.tensor([4, 0, 4]), torch.tensor([True, False, True])

    def reference(table: torch.Tensor, index: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return torch.where(mask[:, None], F.embedding(index, table), 0.0)

    assert within_budget(reference(table, index, mask), reference, table, index, mask).ok
    table.requires_grad_()
    upstream = random(3, 3, seed=1)
    (gradient,) = torch.autograd.grad(reference(table, index, mask), table, upstream)
    assert gradients_within_budget([gradient], reference, upstream, table, index, mask).ok


def test_several_results_are_compared_each() -> None:
    values = random(4, 3)

    def halves(v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return v[:2].exp(), v[2:] * 3

    first, second = halves(values)
    assert within_budget([first, second], halves, values).ok
    budget = within_budget([first, second * 1.001], halves, values)
    assert budget.name == "output[1]"
    assert not budget.ok


def test_the_gradients_of_a_list_of_tensors_are_named_by_their_places() -> None:
    parts = [random(2, seed=seed).requires_grad_() for seed in (1, 2)]
    joined = torch.cat(parts)
    upstream = random(4)
    found = list(torch.autograd.grad(joined, parts, upstream))
    assert gradients_within_budget(found, torch.cat, upstream, parts, of=parts).ok
    budget = gradients_within_budget([found[0], found[1] * 2], torch.cat, upstream, parts, of=parts)
    assert budget.name == "the gradient of input[0][1]"


def test_a_tensor_that_is_given_twice_has_one_gradient() -> None:
    values = random(4).requires_grad_()
    upstream = random(4, seed=1)
    (gradient,) = torch.autograd.grad(torch.mul(values, values), values, upstream)
    assert gradients_within_budget([gradient], torch.mul, upstream, values, values, of=[values]).ok


def test_the_true_value_and_gradient_are_enclosed() -> None:
    scores = random(2, 5, dtype=torch.float64).requires_grad_()
    upstream = random(2, 5, dtype=torch.float64, seed=1)
    output = torch.softmax(scores, -1)
    (balls,) = enclosed(softmax, scores)
    (gradients,) = enclosed_gradients(softmax, upstream, scores)
    assert balls.shape == gradients.shape == (2, 5)
    (found,) = torch.autograd.grad(output, scores, upstream)
    for true, computed in ((balls, output), (gradients, found)):
        differences = [abs(float(ball - value)) for ball, value in zip(true.flat, computed.flatten().tolist())]
        assert max(differences) < 1e-15
        assert max(float(ball.rad()) for ball in true.flat) < 1e-35
    assert sum(float(ball) for ball in gradients[0]) == pytest.approx(0, abs=1e-16)
    with pytest.raises(Undefined, match="outside its domain"):
        enclosed(torch.log, torch.tensor([-1.0]))


def test_a_gradient_in_a_narrower_dtype_is_rounded_once_more() -> None:
    values = random(3, 4).requires_grad_()
    output = F.softmax(values, -1, dtype=torch.float64)
    upstream = random(3, 4, dtype=torch.float64, seed=1)
    (gradient,) = torch.autograd.grad(output, values, upstream)
    assert gradient.dtype == torch.float32
    assert gradients_within_budget([gradient], softmax, upstream, values).ok


def test_a_result_in_a_narrower_dtype_is_rounded_once() -> None:
    values = random(20, dtype=torch.float64)
    assert within_budget(values.float(), lambda v: v.float(), values).ok
    assert within_budget(values.exp().float(), torch.exp, values).ok
    assert not within_budget(values.float() * (1 + 2**-22), lambda v: v.float(), values).ok


def test_gradients_are_held_to_the_dtype_of_the_upstream_gradient() -> None:
    values, upstream = random(5, dtype=torch.float64), random(5, dtype=torch.float64, seed=1)
    right = upstream * values.exp()
    assert gradients_within_budget([right], torch.exp, upstream, values).ok
    assert not gradients_within_budget([right * (1 + 1e-10)], torch.exp, upstream, values).ok


def test_nothing_compared_is_not_kept() -> None:
    empty = within_budget(torch.zeros(0), torch.exp, torch.zeros(0))
    assert not empty.ok
    assert "it has no entries" in str(empty)
    outside = within_budget(torch.tensor([math.nan]), torch.log, torch.tensor([-1.0]))
    assert not outside.ok
    assert outside.skipped == {Reason.DOMAIN: 1}
    cancelled = torch.tensor([1e8, -1e8, 1e-8])
    unbounded = within_budget(1 / cancelled.sum(), lambda v: 1 / v.sum(), cancelled)
    assert unbounded.unbounded == 1
    assert "without limit" in str(unbounded)


def test_bad_input_is_refused() -> None:
    values = random(3)
    with pytest.raises(ValueError, match=r"output has the shape \(2,\), but the reference gives \(3,\)"):
        within_budget(values[:2], torch.exp, values)
    with pytest.raises(TypeError, match=r"torch.int64 has no error bound"):
        rho(torch.tensor([1]), SQUARES, [], {"n": 3}, {"x": values})
    with pytest.raises(NotExpressible, match="complex"):
        within_budget(values, torch.exp, values.to(torch.complex64))
    with pytest.raises(NotExpressible, match=r"negative integers in input\[1\]"):
        within_budget(values, torch.take, values, torch.tensor([-1, 0, 1]))
    with pytest.raises(ValueError, match="2 results are given, but the reference has 1"):
        within_budget([values, values], torch.exp, values)
    with pytest.raises(ValueError, match="2 gradients are given, by 1 tensors"):
        gradients_within_budget([values, values], torch.exp, values, values)
    with pytest.raises(ValueError, match="is none of the inputs"):
        gradients_within_budget([values], torch.exp, values, values, of=[values.clone()])
    with pytest.raises(ValueError, match=r"the upstream gradient has the shape \(2,\), but the result has \(3,\)"):
        gradients_within_budget([values], torch.exp, values[:2], values)
    with pytest.raises(ValueError, match="2 results"):
        gradients_within_budget([values], lambda v: (v, v), values, values)
    with pytest.raises(ValueError, match=r"the gradient of input\[0\] has the shape \(1,\), not \(3,\)"):
        gradients_within_budget([values[:1]], torch.exp, values, values)


def test_expressions_can_be_compared_without_a_reference() -> None:
    values = random(50)
    (ball,) = enclose(SQUARES, [], {"n": 50}, {"x": values}).reshape(-1)
    exact = float(values.double().square().sum())
    assert float(ball) == pytest.approx(exact, rel=1e-12)
    bound = error_bound(SQUARES, [], {"n": 50}, {"x": values}, torch.float32)
    assert float(bound) == pytest.approx((1 + 50) * exact * 2**-24, rel=1e-4)
    assert rho(values.square().sum(), SQUARES, [], {"n": 50}, {"x": values}).ok
    result = rho(values.square().sum() * 1.0001, SQUARES, [], {"n": 50}, {"x": values}, name="the norm")
    assert str(result).startswith("the norm is ")


def test_an_entry_without_a_value_has_no_bound() -> None:
    bounds = error_bound(power(x[i.dim], -1), [i], {"n": 2}, {"x": torch.tensor([0.0, 4.0])}, torch.float32)
    assert np.isnan(bounds[0])
    assert 0 < bounds[1] < 1e-6
    infinite = error_bound(apply("abs", x[i.dim]), [i], {"n": 1}, {"x": torch.tensor([-math.inf])}, torch.float32)
    assert infinite[0] == 0


def test_a_budget_prints_how_much_of_it_is_used() -> None:
    assert (
        str(Budget(rho=0.25, compared=3))
        == "the result: at most 0.25 of the error that rounding explains, in 3 entries"
    )


def test_what_is_no_result_or_no_reference_is_refused() -> None:
    x = torch.ones(2)
    with pytest.raises(TypeError, match="what the kernel returned is a int"):
        within_budget(3, torch.tanh, x)  # type: ignore[arg-type]  # what is tested
    with pytest.raises(TypeError, match="the reference is 3, no function"):
        within_budget(x, 3, x)  # type: ignore[arg-type]  # what is tested
