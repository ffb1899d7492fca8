"""Losses that compare elements. Losses of vectors are in `distances`, losses over classes in `class_losses`."""

from __future__ import annotations

from fractions import Fraction

from shaped.spec.dims import product
from shaped.spec.expr import PI, Expr, apply, positive, real, where, zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.elementwise import exp, log, sigmoid
from shaped.spec.meanings.kinds import elementwise, number
from shaped.spec.meanings.reduction import mean, sum_
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import Tensor, pointwise

Gradients = tuple[Tensor, Tensor | None]
_HALF = Fraction(1, 2)


def reduction_of(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> str:
    """The reduction, also as torch's older arguments say it.

    Raises:
        ValueError: torch knows no such reduction.
    """
    if size_average is not None or reduce is not None:
        if reduce is False:
            return "none"
        return "sum" if size_average is False else "mean"
    if reduction not in ("none", "mean", "sum", "batchmean"):
        raise ValueError(f"reduction is {reduction!r}, 'none', 'mean' or 'sum' expected")
    return reduction


def reduced_loss(losses: Tensor, reduction: str) -> Tensor:
    """The mean or sum of the losses, or all of them."""
    if reduction == "none":
        return losses
    return mean(losses) if reduction == "mean" else sum_(losses)


def shared_gradient(grad: Tensor, losses: Tensor, reduction: str) -> Tensor:
    """The upstream gradient of each of the losses."""
    return grad / product(losses.sizes) if reduction == "mean" else grad


def _weighted(losses: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """A loss with a weight for each element; its mean is divided by the sum of the weights."""
    if weight is None:
        return reduced_loss(losses, reduction)
    if reduction == "mean":
        return sum_(losses * weight) / sum_(weight)
    return reduced_loss(losses * weight, reduction)


@meaning("mse_loss")
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    return _weighted((input - target) ** 2, weight, reduction_of(reduction, size_average, reduce))


@backward("mse_loss")
def mse_loss_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    difference = input - target
    kind = reduction_of(reduction, size_average, reduce)
    return _weighted_backward(grad, input, target, weight, kind, difference**2, 2 * difference)


def _weighted_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: str,
    losses: Tensor,
    slopes: Tensor,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of `_weighted` losses of a difference, whose derivatives by it are `slopes`."""
    if weight is None:
        share = shared_gradient(grad, losses, reduction) * slopes
        return unbroadcast(share, input), unbroadcast(-share, target), None
    upstream = grad / sum_(weight) if reduction == "mean" else grad
    own = losses - sum_(losses * weight) / sum_(weight) if reduction == "mean" else losses
    share = upstream * weight * slopes
    return unbroadcast(share, input), unbroadcast(-share, target), unbroadcast(upstream * own, weight)


@meaning("l1_loss", kinks="x = y: 0")
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    distance: Tensor = (input - target).abs()
    return _weighted(distance, weight, reduction_of(reduction, size_average, reduce))


@backward("l1_loss")
def l1_loss_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    difference = input - target
    kind = reduction_of(reduction, size_average, reduce)
    return _weighted_backward(grad, input, target, weight, kind, difference.abs(), difference.sgn())


@meaning("smooth_l1_loss")
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    kind = reduction_of(reduction, size_average, reduce)
    if beta == 0:
        return l1_loss(input, target, reduction=kind)
    return reduced_loss(_huber(input, target, number(beta), 1 / number(beta)), kind)


def _huber(input: Tensor, target: Tensor, joint: Expr, scale: Expr) -> Tensor:
    """Half the square of the difference up to a joint, beyond it the tangent; times a scale."""

    def entry(x: Expr, y: Expr) -> Expr:
        distance = apply("abs", x - y)
        return where(positive(joint - distance), (x - y) ** 2 * _HALF, joint * (distance - joint * _HALF)) * scale

    return pointwise(entry, input, target)


def _huber_slope(input: Tensor, target: Tensor, joint: Expr, scale: Expr) -> Tensor:
    def entry(x: Expr, y: Expr) -> Expr:
        is_near = positive(joint - apply("abs", x - y))
        return where(is_near, x - y, joint * apply("sign", x - y)) * scale

    return pointwise(entry, input, target)


@backward("smooth_l1_loss")
def smooth_l1_loss_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> tuple[Tensor | None, Tensor | None]:
    kind = reduction_of(reduction, size_average, reduce)
    if beta == 0:
        return l1_loss_backward(grad, input, target, reduction=kind)[:2]
    slopes = _huber_slope(input, target, number(beta), 1 / number(beta))
    share = shared_gradient(grad, slopes, kind) * slopes
    return unbroadcast(share, input), unbroadcast(-share, target)


@meaning("huber_loss")
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    losses = _huber(input, target, number(delta), real(1))
    return reduced_loss(losses if weight is None else losses * weight, reduction_of(reduction))


@backward("huber_loss")
def huber_loss_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    losses = _huber(input, target, number(delta), real(1))
    upstream = shared_gradient(grad, losses, reduction_of(reduction))
    share = upstream * _huber_slope(input, target, number(delta), real(1))
    if weight is None:
        return unbroadcast(share, input), unbroadcast(-share, target), None
    return (
        unbroadcast(share * weight, input),
        unbroadcast(-share * weight, target),
        unbroadcast(upstream * losses, weight),
    )


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


@meaning("soft_margin_loss")
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    losses = pointwise(lambda x, y: log(1 + exp(-y * x)), input, target)
    return reduced_loss(losses, reduction_of(reduction, size_average, reduce))


@meaning("hinge_embedding_loss", kinks="x = margin: as clamp_min")
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    below = (margin - input).clamp_min(0).where(target != 1, 0)
    losses: Tensor = below + input.where(target != -1, 0)
    return reduced_loss(losses, reduction_of(reduction, size_average, reduce))


@meaning("margin_ranking_loss", kinks="loss 0: as clamp_min")
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    losses: Tensor = (-target * (input1 - input2) + margin).clamp_min(0)
    return reduced_loss(losses, reduction_of(reduction, size_average, reduce))


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
) -> tuple[Tensor | None, Tensor | None, None, None]:
    """The weights are no arguments of the gradient: torch has none for them."""
    upstream = shared_gradient(grad, input, reduction_of(reduction, size_average, reduce))
    if weight is not None:
        upstream = upstream * weight

    def for_input(g: Expr, x: Expr, y: Expr, w: Expr) -> Expr:
        return g * ((1 - y) * sigmoid(x) - w * y * sigmoid(-x))

    def for_target(g: Expr, x: Expr, y: Expr, w: Expr) -> Expr:
        return g * ((w - 1) * log(1 + exp(-x)) - x)

    operands = (upstream, input, target, 1 if pos_weight is None else pos_weight)
    return (
        unbroadcast(pointwise(for_input, *operands), input),
        unbroadcast(pointwise(for_target, *operands), target),
        None,
        None,
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
    spread = var if isinstance(var, Tensor) else input * 0 + var
    if spread.rank == input.rank - 1:
        spread = Tensor((*spread.axes, ()), spread.body, spread.kind)
    spread = spread.clamp_min(eps)

    def entry(x: Expr, y: Expr, v: Expr) -> Expr:
        loss = (log(v) + (x - y) ** 2 / v) * _HALF
        return loss + log(2 * PI) * _HALF if full else loss

    return reduced_loss(pointwise(entry, input, target, spread), reduction_of(reduction))
