"""Distances of vectors along an axis, and the losses that rest on them."""

from __future__ import annotations

from collections.abc import Callable

from shaped.spec.meaning import meaning
from shaped.spec.meanings.losses import reduced_loss, reduction_of
from shaped.spec.meanings.reduction import sum_
from shaped.spec.meanings.statistics import vector_norm
from shaped.spec.tensor import Tensor

_EPSILON = 1e-12  # torch's, added to squared lengths in cosine_embedding_loss


@meaning(
    "cosine_similarity",
    kinks="a vector shorter than eps, where torch divides by eps and takes the slope of the length",
)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    parts = [x / vector_norm(x, 2, dim, keepdim=True).clamp_min(eps) for x in _broadcast(x1, x2)]
    return sum_(parts[0] * parts[1], dim)


def _broadcast(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    """Both with the axes of the broadcast, so that an axis counted from the front is the same one."""
    return x1 + x2 * 0, x2 + x1 * 0


@meaning("pairwise_distance", kinks="x - y + eps = 0: 0")
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


@meaning("triplet_margin_loss", kinks="loss 0: as clamp_min")
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    def distance(x: Tensor, y: Tensor) -> Tensor:
        return pairwise_distance(x, y, p, eps)

    return _triplet(distance, anchor, positive, negative, margin, swap, reduction_of(reduction, size_average, reduce))


@meaning("triplet_margin_with_distance_loss", kinks="loss 0: as clamp_min")
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    distance = distance_function or pairwise_distance
    return _triplet(distance, anchor, positive, negative, margin, swap, reduction_of(reduction))


def _triplet(
    distance: Callable[[Tensor, Tensor], Tensor],
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    losses: Tensor = (margin + near - far).clamp_min(0)
    return reduced_loss(losses, reduction)


@meaning("cosine_embedding_loss", kinks="loss 0: as clamp_min")
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    lengths = (sum_(input1 * input1, -1) + _EPSILON) * (sum_(input2 * input2, -1) + _EPSILON)
    cosine = sum_(input1 * input2, -1) / lengths.sqrt()
    losses: Tensor = (1 - cosine).where(target == 1, 0) + (cosine - margin).clamp_min(0).where(target == -1, 0)
    return reduced_loss(losses, reduction_of(reduction, size_average, reduce))


@meaning("cdist", kinks="equal vectors: 0")
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    difference: Tensor = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return vector_norm(difference, p, -1)
