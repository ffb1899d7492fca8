"""Losses of differences, and what all losses share: reductions and weights."""

from __future__ import annotations

from fractions import Fraction

from shaped.spec.dims import product
from shaped.spec.expr import Expr, apply, positive, real, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.kinds import number
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
