"""Normalisation over the trailing axes, neighbouring channels or single vectors."""

from __future__ import annotations

from collections.abc import Sequence

from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, index_nonnegative, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.reduction import mean, var
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import NotExpressible, Tensor, build, summed

Gradients = tuple[Tensor, Tensor | None, Tensor | None]


def standardized(input: Tensor, dims: Sequence[int], eps: float) -> Tensor:
    """(x - mean) / (var + eps)^(1/2) over some axes."""
    return (input - mean(input, dims, keepdim=True)) * inverse_deviation(input, dims, eps)


def inverse_deviation(input: Tensor, dims: Sequence[int], eps: float) -> Tensor:
    result: Tensor = (var(input, dims, correction=0, keepdim=True) + eps).rsqrt()
    return result


def standardized_backward(grad: Tensor, input: Tensor, dims: Sequence[int], eps: float) -> Tensor:
    """The gradient without what the mean and the deviation take from it (Ioffe and Szegedy 2015)."""
    normalized = standardized(input, dims, eps)
    inner = grad - mean(grad, dims, keepdim=True) - normalized * mean(grad * normalized, dims, keepdim=True)
    return inner * inverse_deviation(input, dims, eps)


def affine(normalized: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    if weight is not None:
        normalized = normalized * weight
    return normalized if bias is None else normalized + bias


def _trailing(normalized_shape: int | Dim | Sequence[int | Dim]) -> list[int]:
    count = len(normalized_shape) if isinstance(normalized_shape, Sequence) else 1
    return list(range(-count, 0))


@meaning("layer_norm")
def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    return affine(standardized(input, _trailing(normalized_shape), eps), weight, bias)


@backward("layer_norm")
def layer_norm_backward(
    grad: Tensor,
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Gradients:
    dims = _trailing(normalized_shape)
    scaled = grad if weight is None else grad * weight
    return (
        standardized_backward(scaled, input, dims, eps),
        unbroadcast(grad * standardized(input, dims, eps), weight),
        unbroadcast(grad, bias),
    )


@meaning("rms_norm")
def rms_norm(
    input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    return affine(input * _inverse_root_mean_square(input, normalized_shape, eps), weight, None)


def _inverse_root_mean_square(input: Tensor, normalized_shape: int | Sequence[int], eps: float | None) -> Tensor:
    if eps is None:
        raise NotExpressible("rms_norm without eps, which is then the rounding unit of the dtype: give eps")
    result: Tensor = (mean(input * input, _trailing(normalized_shape), keepdim=True) + eps).rsqrt()
    return result


@backward("rms_norm")
def rms_norm_backward(
    grad: Tensor,
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> tuple[Tensor, Tensor | None]:
    inverse = _inverse_root_mean_square(input, normalized_shape, eps)
    normalized = input * inverse
    scaled = grad if weight is None else grad * weight
    shared = mean(scaled * normalized, _trailing(normalized_shape), keepdim=True)
    return inverse * (scaled - normalized * shared), unbroadcast(grad * normalized, weight)


@meaning("local_response_norm", domain="k + alpha mean > 0")
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    channels = input.sizes[1]

    def mean_square(*places: Dim) -> Expr:
        def square(offset: Dim) -> Expr:
            channel = places[1] + offset - size // 2
            inside = index_nonnegative(channel) & index_nonnegative(channels - 1 - channel)
            return where(inside, input.at(places[0], channel, *places[2:]) ** 2, 0)

        return summed(size, square) / size

    divisor: Tensor = (build(input.sizes, mean_square) * alpha + k).pow(beta)
    return input / divisor


@meaning("nn.functional.normalize", kinks="norm = eps: as clamp_min; norm 0: 0")
def normalize(input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12) -> Tensor:
    result: Tensor = input / input.norm(p, dim, keepdim=True).clamp_min(eps)
    return result
