"""Losses of margins, entry by entry."""

from __future__ import annotations

from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.elementwise import exp, log, sigmoid
from shaped.spec.meanings.losses import reduced_loss, reduction_of, shared_gradient
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import Tensor, pointwise


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


@backward("soft_margin_loss")
def soft_margin_loss_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> tuple[Tensor, Tensor]:
    product = input * target
    upstream = shared_gradient(grad, product, reduction_of(reduction, size_average, reduce))
    share = pointwise(lambda g, z: -g * sigmoid(-z), upstream, product)
    return unbroadcast(share * target, input), unbroadcast(share * input, target)


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
