"""Whatever sound kernel runs, from numbers that already are off by their bounds: it stays within the bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch import randn as R

from shaped.runtime.compiled.rounding import NotBounded
from tests.runtime.compiled.rounding.traced import Traced, with_errors

Case = tuple[Callable[..., Any], Callable[[], list[Tensor]]]


def one(function: Callable[..., Any], scale: float = 3.0) -> Case:
    return function, lambda: [R(64) * scale]


def positive(function: Callable[..., Any]) -> Case:
    return function, lambda: [R(64).abs() * 3 + 0.01]


def of(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Case:
    return function, lambda: [R(shape) for shape in shapes]


PLACES = torch.tensor([1, 1, 2])
COLUMNS = torch.tensor([[1, 1, 2]] * 7)
ELEMENTWISE: dict[str, Case] = {
    **{
        name: one(getattr(torch, name))
        for name in ("exp", "exp2", "expm1", "tanh", "erf", "erfc", "atan", "sinh", "cosh", "asinh", "floor", "ceil",
                     "round", "trunc", "sign", "relu", "abs", "neg", "square", "reciprocal")
    },
    **{name: positive(getattr(torch, name)) for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")},
    **{name: one(getattr(torch, name), 0.2) for name in ("asin", "acos", "atanh")},
    **{name: one(getattr(torch, name), 10.0) for name in ("sin", "cos", "sigmoid")},
    "acosh": (torch.acosh, lambda: [R(64).abs() + 1.5]),
    **{
        name: one(getattr(F, name))
        for name in ("relu6", "hardsigmoid", "hardswish", "silu", "mish", "gelu", "logsigmoid", "selu", "leaky_relu",
                     "softshrink", "hardshrink", "hardtanh", "glu", "softsign")
    },
    "gelu, tanh": one(lambda x: F.gelu(x, approximate="tanh")),
    "softplus": one(lambda x: F.softplus(x, 2.0, 3.0)),
    "elu": one(lambda x: F.elu(x, 0.7)),
    "celu": one(lambda x: F.celu(x, 0.7)),
    "prelu": of(F.prelu, (7, 3), (3,)),
    "threshold": one(lambda x: F.threshold(x, 0.1, 0.3)),
    "clamp": one(lambda x: x.clamp(-0.1, 0.7)),
    "cube": one(lambda x: x**3),
    "fourth power": one(lambda x: x**4),
    "power below 0": one(lambda x: x**-2),
    "root of a cube": positive(lambda x: x**1.5),
    "constant to a power": one(lambda x: 1.7**x),
    "power": (torch.pow, lambda: [R(64).abs() + 0.1, R(64)]),
    "add": of(lambda x, y: torch.add(x, y, alpha=0.3), (64,), (64,)),
    "sub": of(lambda x, y: torch.sub(x, y, alpha=0.3), (64,), (64,)),
    "rsub": one(lambda x: 1.3 - x),
    "mul": of(torch.mul, (64,), (64,)),
    "div": of(torch.div, (64,), (64,)),
    "maximum": of(torch.maximum, (64,), (64,)),
    "minimum": of(torch.minimum, (64,), (64,)),
    "where": of(lambda x, y: torch.where(x > y, x * 2, y * 3), (64,), (64,)),
    "masked_fill": one(lambda x: x.masked_fill(x > 0.5, 0.1)),
    "lerp": of(lambda x, y: torch.lerp(x, y, 0.3), (64,), (64,)),
    "lerp, from the end": of(lambda x, y: torch.lerp(x, y, 0.8), (64,), (64,)),
    "lerp, by a tensor": of(torch.lerp, (64,), (64,), (64,)),
    "addcmul": of(lambda x, y, z: torch.addcmul(x, y, z, value=0.3), (64,), (64,), (64,)),
    "addcdiv": of(lambda x, y, z: torch.addcdiv(x, y, z, value=0.3), (64,), (64,), (64,)),
    "xlogy": (torch.xlogy, lambda: [R(64), R(64).abs() + 0.01]),
}  # fmt: skip
SUMS: dict[str, Case] = {
    "sum": of(torch.sum, (7, 9)),
    "sum over an axis": of(lambda x: x.sum(0), (7, 9)),
    "sum of a sum": of(lambda x: (x.sum(0) + x[0] - x[1]).sum(), (7, 9)),
    "mean": of(lambda x: x.mean(-1, keepdim=True), (7, 9)),
    "var": (lambda x: x.var(-1), lambda: [R(7, 9) + 10]),
    "std": of(lambda x: x.std(0, correction=0), (7, 9)),
    "norm": of(lambda x: x.norm(dim=-1), (7, 9)),
    "norm of order 1": of(lambda x: torch.linalg.vector_norm(x, 1), (7, 9)),
    "norm of order 3": of(lambda x: torch.linalg.vector_norm(x, 3, dim=0), (7, 9)),
    "max over an axis": of(lambda x: x.max(1)[0], (7, 9)),
    "cumsum": of(lambda x: x.cumsum(1), (7, 9)),
    "logsumexp": (lambda x: x.logsumexp(1), lambda: [R(7, 9) * 5]),
    "softmax": (lambda x: x.softmax(1), lambda: [R(7, 9) * 8]),
    "log_softmax": (lambda x: x.log_softmax(1), lambda: [R(7, 9) * 8]),
    "mm": of(torch.mm, (7, 9), (9, 5)),
    "addmm": of(lambda a, b, c: torch.addmm(a, b, c, beta=0.3, alpha=0.7), (5,), (7, 9), (9, 5)),
    "baddbmm": of(torch.baddbmm, (7, 5), (3, 7, 9), (3, 9, 5)),
    "dot": of(torch.dot, (9,), (9,)),
    "matmul": of(torch.matmul, (2, 3, 7, 9), (3, 9, 5)),
    "product of products": of(lambda a, b, c: a @ b @ c, (7, 9), (9, 5), (5, 4)),
    "conv1d": of(lambda x, w, b: F.conv1d(x, w, b, padding=1, stride=2), (2, 4, 9), (6, 4, 3), (6,)),
    "conv2d": of(lambda x, w, b: F.conv2d(x, w, b, dilation=2, groups=2), (2, 4, 9, 9), (6, 2, 3, 3), (6,)),
    "conv_transpose2d": of(
        lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, groups=2), (2, 4, 5, 5), (4, 3, 3, 3), (6,)
    ),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (9,), w, b), lambda: [R(7, 9) * 2 + 3, R(9), R(9)]),
    "group_norm": of(lambda x, w, b: F.group_norm(x, 2, w, b), (3, 4, 5), (4,), (4,)),
    "batch_norm": of(lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (8, 4, 5), (4,), (4,)),
    "rms_norm": of(lambda x, w: F.rms_norm(x, (9,), w), (7, 9), (9,)),
    "max_pool2d": of(lambda x: F.max_pool2d(x, 3, 2, 1), (2, 3, 9, 9)),
    "avg_pool2d": of(lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), (2, 3, 9, 9)),
    "adaptive_avg_pool2d": of(lambda x: F.adaptive_avg_pool2d(x, 4), (2, 3, 9, 9)),
    "attention, causal": of(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        (2, 2, 7, 4), (2, 2, 7, 4), (2, 2, 7, 4),
    ),
    "attention, masked": of(F.scaled_dot_product_attention, (2, 2, 7, 4), (2, 2, 9, 4), (2, 2, 9, 4), (7, 9)),
    "attention, of what is allowed": of(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.ones(7, 9, dtype=torch.bool).tril(2)),
        (2, 2, 7, 4), (2, 2, 9, 4), (2, 2, 9, 4),
    ),
    "scatter_add": of(lambda x, y: x.scatter_add(1, COLUMNS, y), (7, 3), (7, 3)),
    "index_add": of(lambda x, y: x.index_add(0, PLACES, y, alpha=0.3), (7, 3), (3, 3)),
    "embedding": of(lambda w: F.embedding(PLACES, w), (7, 3)),
    "index": of(lambda x: x[PLACES] * 2, (7, 3)),
    "gather": of(lambda x: x.gather(1, COLUMNS), (7, 3)),
    "moved": of(lambda x, y: torch.cat([x * 2, y], 1).flip(0).roll(1, 0).repeat(2, 1).tril(), (7, 3), (7, 4)),
    "pad": of(lambda x: F.pad(x, (1, 2), value=0.1), (7, 3)),
    "cosine_similarity": of(F.cosine_similarity, (7, 9), (7, 9)),
}  # fmt: skip
LOSSES: dict[str, Case] = {
    "mse": of(F.mse_loss, (7, 9), (7, 9)),
    "l1": of(F.l1_loss, (7, 9), (7, 9)),
    "smooth_l1": of(lambda a, b: F.smooth_l1_loss(a, b, beta=0.7), (7, 9), (7, 9)),
    "huber": of(lambda a, b: F.huber_loss(a, b, delta=0.7, reduction="sum"), (7, 9), (7, 9)),
    "bce": (F.binary_cross_entropy, lambda: [torch.rand(7, 9) * 0.4 + 0.3, torch.rand(7, 9) * 0.4 + 0.3]),
    "bce, of logits": (F.binary_cross_entropy_with_logits, lambda: [R(7, 9) * 4, torch.rand(7, 9) * 0.4 + 0.3]),
    "cross_entropy": (lambda x: F.cross_entropy(x, torch.arange(7)), lambda: [R(7, 9) * 4]),
    "cross_entropy, weighted": (
        lambda x: F.cross_entropy(x, torch.arange(7), weight=torch.arange(9) + 0.3, ignore_index=3),
        lambda: [R(7, 9) * 4],
    ),
    "cross_entropy, smoothed": (
        lambda x: F.cross_entropy(x, torch.arange(7), label_smoothing=0.1), lambda: [R(7, 9) * 4]
    ),
    "cross_entropy, of places": (
        lambda x: F.cross_entropy(x, torch.arange(28).reshape(2, 14) % 5), lambda: [R(2, 5, 14)]
    ),
    "kl_div": of(lambda a, b: F.kl_div(a.log_softmax(-1), b.softmax(-1), reduction="batchmean"), (7, 9), (7, 9)),
}  # fmt: skip
CASES = ELEMENTWISE | SUMS | LOSSES
NO_GRADIENT = {"bce"}  # by the target: it has no rule
OF_32_BITS = {"cross_entropy, weighted"}  # the weights are


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradients of a weighted sum of all results."""

    def of_inputs(*inputs: Tensor) -> list[Tensor]:
        leaves = [each.detach().requires_grad_() for each in inputs]
        result = function(*leaves)
        weights = (torch.arange(result.numel()).reshape(result.shape) % 5 - 2).to(result.dtype)
        found = torch.autograd.grad((result * weights).sum(), leaves, allow_unused=True)
        return [each for each in found if each is not None]

    return of_inputs


def moved_by(x: Tensor, relative: float) -> Tensor:
    """Each number moved up, down or not at all."""
    steps = torch.randint(0, 3, x.shape) - 1
    return (x.double() * (1 + steps * relative)).to(x.dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_torch_is_within_the_bounds_also_from_numbers_at_the_ends_of_theirs(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    function, make = CASES[name]
    if name in OF_32_BITS and dtype != torch.float32:
        return
    exact = [each.to(dtype) for each in make()]
    for differentiated in (False, True):
        if differentiated and name in NO_GRADIENT:
            continue
        traced = Traced(gradient(function) if differentiated else function, *exact)
        for relative in (0.0, 1e-3, 0.1):
            actual = [moved_by(each, relative) for each in exact]
            inputs = [with_errors(*pair) for pair in zip(exact, actual)]
            for budget in traced.budgets(traced.eager(*actual), *inputs):
                assert budget.rho <= 1, str(budget)
                assert budget.compared or relative, str(budget)


@pytest.mark.parametrize("name", [*SUMS, *LOSSES])
def test_bounds_are_small_from_exact_numbers(name: str) -> None:
    """Their median is no more than a thousandth of the greatest number, of sums of up to some hundred terms."""
    torch.manual_seed(0)
    function, make = CASES[name]
    inputs = make()
    for bounded in Traced(function, *inputs).bounded(*inputs):
        assert bounded.bound.median() <= 1e-3 * bounded.value.abs().max()


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_a_wrong_constant_are_out(name: str) -> None:
    """A thousandth more is a difference that no rounding makes; but for what moves, or knows no size."""
    torch.manual_seed(0)
    function, make = CASES[name]
    inputs = make()
    traced = Traced(function, *inputs)
    (actual,) = traced.eager(*inputs)
    (budget,) = traced.budgets([actual * 1.001], *inputs)
    assert not budget.ok


def test_sums_in_any_order_are_within_the_bounds() -> None:
    torch.manual_seed(0)
    x, w = R(5, 1000) * R(1000).exp(), R(1000, 3)
    product, total = Traced(torch.mm, x, w), Traced(lambda x: x.sum(1), x)
    for seed in range(5):
        order = torch.randperm(1000, generator=torch.Generator().manual_seed(seed))
        one_by_one, of_products = torch.zeros(5), torch.zeros(5, 3)
        for k in order.tolist():
            one_by_one, of_products = one_by_one + x[:, k], of_products + x[:, k, None] * w[k]
        assert total.budgets([one_by_one], x)[0].ok
        assert product.budgets([of_products], x, w)[0].ok
    assert product.budgets([(x.double() @ w.double()).float()], x, w)[0].ok
    assert not product.budgets([x[:, 1:] @ w[1:]], x, w)[0].ok


def test_a_sum_of_sums_may_be_reordered() -> None:
    big, small = torch.tensor([1e8, 3.0]), torch.tensor([0.1, 0.2])
    traced = Traced(lambda x, y: (x + y) - x, big, small)
    assert traced.budgets([(big - big) + small], big, small)[0].ok
    assert traced.budgets([(big + small) - big], big, small)[0].ok


def test_numbers_below_the_least_normal_one_may_be_flushed() -> None:
    x, y = torch.tensor([1e-30, 2e-39, 1.0]), torch.tensor([1e-9, 3.0, 0.0])
    traced = Traced(torch.mul, x, y)
    assert traced.budgets([torch.zeros(3)], x, y)[0].ok
    assert traced.bounded(x, y)[0].bound[2] == 0


def test_a_kink_is_covered_on_both_sides() -> None:
    x, g = torch.tensor([1e-9, 1.0, -1.0]), torch.tensor([5.0, 5.0, 5.0])
    traced = Traced(lambda g, x: torch.ops.aten.threshold_backward(g, x, 0), g, x)
    bounded = with_errors(x, x - torch.tensor([2e-9, 0.0, 0.0]))
    (result,) = traced.bounded(g, bounded)
    assert result.bound.tolist() == [5.0, 0.0, 0.0]


def test_a_maximum_at_a_window_is_decided_or_may_be_at_any_entry() -> None:
    x = torch.tensor([[[[1.0, 1.0 + 1e-7], [0.0, 0.0]]]])
    off = with_errors(x, x + 1e-6)

    def slope(x: Tensor) -> Tensor:
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(F.max_pool2d(leaf, 2).sum(), leaf)[0]

    traced = Traced(slope, x)
    assert (traced.bounded(off)[0].bound[0, 0, 0] >= 1).all()
    assert (traced.bounded(x)[0].bound < 1e-6).all()


def test_a_comparison_that_rounding_decides_makes_integers_undecided() -> None:
    x = torch.tensor([1.0, 2.0])
    off = with_errors(x, torch.tensor([1.0 + 2**-20, 2.0]))
    traced = Traced(lambda x: ((x > 1.0).long() + 1, (x > 1.0).sum(), x.to(torch.int32)), x)
    entries, total, whole = traced.bounded(off)
    assert entries.bound.tolist() == [float("inf"), 0.0]
    assert total.bound.isinf()
    assert whole.bound.tolist() == [float("inf"), 0.0]


def test_the_number_is_unbounded_where_a_divisor_may_be_zero() -> None:
    x = torch.tensor([1e-7, 1.0])
    off = with_errors(x, torch.tensor([-1e-7, 1.0]))
    assert Traced(torch.reciprocal, x).bounded(off)[0].bound.isinf().tolist() == [True, False]


def test_masked_scores_stay_exact() -> None:
    scores = R(3, 4)
    mask = torch.ones(3, 4, dtype=torch.bool).tril()
    traced = Traced(lambda x: x.masked_fill(~mask, float("-inf")).softmax(-1), scores)
    (result,) = traced.bounded(scores)
    assert (result.bound[~mask] == 0).all()
    assert (result.bound[mask].isfinite()).all()


@pytest.mark.parametrize("function", [torch.bernoulli, lambda x: F.dropout(x, 0.5, True)])
def test_random_numbers_have_no_bounds(function: Callable[..., Any]) -> None:
    x = torch.rand(3)
    with pytest.raises(NotBounded, match=r"bernoulli.*draws random numbers"):
        Traced(function, x).bounded(x)


def test_what_is_not_described_is_refused_by_name() -> None:
    x = torch.eye(3)
    with pytest.raises(NotBounded, match=r"linalg.*its rounding is not described"):
        Traced(torch.linalg.det, x).bounded(x)
    with pytest.raises(NotBounded, match="complex"):
        Traced(lambda x: torch.view_as_real(torch.view_as_complex(x) * 2), R(3, 2)).bounded(R(3, 2))
