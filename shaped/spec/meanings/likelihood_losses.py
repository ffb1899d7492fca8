"""Losses that are likelihoods, entry by entry: binary cross entropies, divergences, counts, normal variables."""

from __future__ import annotations

from fractions import Fraction

from shaped.spec.expr import PI, Expr, positive, where, zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.elementwise import exp, log, sigmoid
from shaped.spec.meanings.kinds import elementwise, number
from shaped.spec.meanings.losses import reduced_loss, reduction_of, shared_gradient
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import Tensor, pointwise

_HALF = Fraction(1, 2)


@meaning("kl_div", domain="the target >= 0 unless log_target", kinks="target 0: its gradient infinite")
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    def entry(x: Expr, y: Expr) -> Expr:
        return exp(y) * (y - x) if log_target else where(zero(y), 0, y * log(y)) - y * x

    kind = reduction_of(reduction, size_average, reduce)
    total = reduced_loss(elementwise(entry, input, target), kind)
    return total / input.sizes[0] if kind == "batchmean" and input.rank else total


@backward("kl_div")
def kl_div_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> tuple[Tensor | None, Tensor | None]:
    kind = reduction_of(reduction, size_average, reduce)
    upstream = shared_gradient(grad, input - target, kind)
    if kind == "batchmean" and input.rank:
        upstream = upstream / input.sizes[0]
    if log_target:
        weight = target.exp()
        return unbroadcast(-upstream * weight, input), unbroadcast(upstream * weight * (target - input + 1), target)

    def for_target(g: Expr, x: Expr, y: Expr) -> Expr:
        return g * (log(y) + 1 - x)

    return unbroadcast(-upstream * target, input), unbroadcast(pointwise(for_target, upstream, input, target), target)


@meaning("poisson_nll_loss")
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    def stirling(y: Expr) -> Expr:
        return where(positive(y - 1), y * log(y) - y + log(2 * PI * y) * _HALF, 0)

    def entry(x: Expr, y: Expr) -> Expr:
        loss = exp(x) - y * x if log_input else x - y * log(x + number(eps))
        return loss + stirling(y) if full else loss

    return reduced_loss(pointwise(entry, input, target), reduction_of(reduction, size_average, reduce))


@backward("poisson_nll_loss")
def poisson_nll_loss_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> tuple[Tensor | None, Tensor | None]:
    upstream = shared_gradient(grad, input - target, reduction_of(reduction, size_average, reduce))

    def for_input(g: Expr, x: Expr, y: Expr) -> Expr:
        return g * (exp(x) - y if log_input else 1 - y / (x + number(eps)))

    def for_target(g: Expr, x: Expr, y: Expr) -> Expr:
        slope = -x if log_input else -log(x + number(eps))
        return g * (slope + where(positive(y - 1), log(y) + _HALF / y, 0) if full else slope)

    return (
        unbroadcast(pointwise(for_input, upstream, input, target), input),
        unbroadcast(pointwise(for_target, upstream, input, target), target),
    )


@meaning(
    "binary_cross_entropy",
    domain="0 <= x <= 1",
    kinks="x (1 - x) < 1e-12, where torch divides by 1e-12 for x; x 0 or 1: infinite for y",
)
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    def cut_log(x: Expr) -> Expr:
        """The logarithm, at least -100."""
        return where(zero(x), -100, where(positive(-100 - log(x)), -100, log(x)))

    losses = pointwise(lambda x, y: -(y * cut_log(x) + (1 - y) * cut_log(1 - x)), input, target)
    return reduced_loss(losses if weight is None else losses * weight, reduction_of(reduction, size_average, reduce))


@meaning("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    def entry(x: Expr, y: Expr, w: Expr) -> Expr:
        return (1 - y) * x + (1 + (w - 1) * y) * log(1 + exp(-x))

    losses = pointwise(entry, input, target, 1 if pos_weight is None else pos_weight)
    return reduced_loss(losses if weight is None else losses * weight, reduction_of(reduction, size_average, reduce))


@backward("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> tuple[Tensor | None, Tensor | None, Tensor | None, Tensor | None]:
    share = shared_gradient(grad, input, reduction_of(reduction, size_average, reduce))
    upstream = share if weight is None else share * weight

    def for_input(g: Expr, x: Expr, y: Expr, w: Expr) -> Expr:
        return g * ((1 - y) * sigmoid(x) - w * y * sigmoid(-x))

    def for_target(g: Expr, x: Expr, y: Expr, w: Expr) -> Expr:
        return g * ((w - 1) * log(1 + exp(-x)) - x)

    def for_pos_weight(g: Expr, x: Expr, y: Expr) -> Expr:
        return g * y * log(1 + exp(-x))

    operands = (upstream, input, target, 1 if pos_weight is None else pos_weight)
    losses = binary_cross_entropy_with_logits(input, target, reduction="none", pos_weight=pos_weight)
    return (
        unbroadcast(pointwise(for_input, *operands), input),
        unbroadcast(pointwise(for_target, *operands), target),
        unbroadcast(share * losses, weight),
        unbroadcast(pointwise(for_pos_weight, upstream, input, target), pos_weight),
    )


@meaning("gaussian_nll_loss", domain="v > 0", kinks="v < eps, where torch takes eps and the slope of v")
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    spread = _spread(input, var).clamp_min(eps)

    def entry(x: Expr, y: Expr, v: Expr) -> Expr:
        loss = (log(v) + (x - y) ** 2 / v) * _HALF
        return loss + log(2 * PI) * _HALF if full else loss

    return reduced_loss(pointwise(entry, input, target, spread), reduction_of(reduction))


@backward("gaussian_nll_loss")
def gaussian_nll_loss_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    given = _spread(input, var)
    spread, difference = given.clamp_min(eps), input - target
    upstream = shared_gradient(grad, difference, reduction_of(reduction))
    share = upstream * difference / spread
    slope = (upstream * (1 - difference**2 / spread) / (2 * spread)).where(given >= eps, 0)
    for_var = None
    if isinstance(var, Tensor):
        for_spread = unbroadcast(slope, given)
        for_var = Tensor(for_spread.axes[: var.rank], for_spread.body, for_spread.kind)
    return unbroadcast(share, input), unbroadcast(-share, target), for_var


def _spread(input: Tensor, var: Tensor | float) -> Tensor:
    """The variances with the axes of the input."""
    spread = var if isinstance(var, Tensor) else input * 0 + var
    return Tensor((*spread.axes, ()), spread.body, spread.kind) if spread.rank == input.rank - 1 else spread
