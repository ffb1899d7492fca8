"""Normalisation over a batch, the trailing axes, groups of channels or one sample."""

from __future__ import annotations

from collections.abc import Sequence

from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, index_nonnegative, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.reduction import mean, var
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import Axis, NotExpressible, Tensor, build, summed

Gradients = tuple[Tensor, Tensor | None, Tensor | None]


def standardized(input: Tensor, dims: Sequence[int], eps: float) -> Tensor:
    """(x - mean) / (var + eps)^(1/2) over some axes."""
    return (input - mean(input, dims, keepdim=True)) * _inverse_deviation(input, dims, eps)


def _inverse_deviation(input: Tensor, dims: Sequence[int], eps: float) -> Tensor:
    result: Tensor = (var(input, dims, correction=0, keepdim=True) + eps).rsqrt()
    return result


def standardized_backward(grad: Tensor, input: Tensor, dims: Sequence[int], eps: float) -> Tensor:
    """The gradient without what the mean and the deviation take from it (Ioffe and Szegedy 2015)."""
    normalized = standardized(input, dims, eps)
    inner = grad - mean(grad, dims, keepdim=True) - normalized * mean(grad * normalized, dims, keepdim=True)
    return inner * _inverse_deviation(input, dims, eps)


def _scaled(normalized: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
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
    return _scaled(standardized(input, _trailing(normalized_shape), eps), weight, bias)


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
    return _scaled(input * _inverse_root_mean_square(input, normalized_shape, eps), weight, None)


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


def along_channels(vector: Tensor, rank: int) -> Tensor:
    """A vector along axis 1 of tensors of this rank."""
    return Tensor((*vector.axes, *[()] * (rank - 2)), vector.body, vector.kind, vector.imaginary)


def _optional_along(vector: Tensor | None, rank: int) -> Tensor | None:
    return None if vector is None else along_channels(vector, rank)


def _back_to_vector(grad: Tensor | None) -> Tensor | None:
    """The gradient of a vector from that of it along axis 1."""
    return None if grad is None else Tensor(grad.axes[:1], grad.body, grad.kind, grad.imaginary)


def _per_channel_gradient(grad: Tensor, vector: Tensor | None, rank: int) -> Tensor | None:
    return _back_to_vector(unbroadcast(grad, _optional_along(vector, rank)))


@meaning("batch_norm")
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """The result alone: that torch also updates the running statistics in training is not said."""
    rank = input.rank
    if training:
        normalized = standardized(input, _all_but_channels(rank), eps)
    else:
        normalized = _by_running_statistics(input, running_mean, running_var, eps)
    return _scaled(normalized, _optional_along(weight, rank), _optional_along(bias, rank))


def _all_but_channels(rank: int) -> list[int]:
    return [0, *range(2, rank)]


def _by_running_statistics(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, eps: float
) -> Tensor:
    if running_mean is None or running_var is None:
        raise ValueError("a normalisation outside of training needs running_mean and running_var")
    return (input - along_channels(running_mean, input.rank)) * _running_inverse(input, running_var, eps)


def _running_inverse(input: Tensor, running_var: Tensor, eps: float) -> Tensor:
    result: Tensor = (along_channels(running_var, input.rank) + eps).rsqrt()
    return result


@backward("batch_norm")
def batch_norm_backward(
    grad: Tensor,
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Tensor, None, None, Tensor | None, Tensor | None]:
    """The running statistics are no arguments of the gradient: torch has none for them."""
    rank = input.rank
    along_weight = _optional_along(weight, rank)
    scaled = grad if along_weight is None else grad * along_weight
    if training:
        dims = _all_but_channels(rank)
        for_input, normalized = standardized_backward(scaled, input, dims, eps), standardized(input, dims, eps)
    else:
        normalized = _by_running_statistics(input, running_mean, running_var, eps)
        assert running_var is not None
        for_input = scaled * _running_inverse(input, running_var, eps)
    return (
        for_input,
        None,
        None,
        _per_channel_gradient(grad * normalized, weight, rank),
        _per_channel_gradient(grad, bias, rank),
    )


@meaning("instance_norm")
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    rank = input.rank
    if use_input_stats:
        normalized = standardized(input, range(2, rank), eps)
    else:
        normalized = _by_running_statistics(input, running_mean, running_var, eps)
    return _scaled(normalized, _optional_along(weight, rank), _optional_along(bias, rank))


@backward("instance_norm")
def instance_norm_backward(
    grad: Tensor,
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Tensor, None, None, Tensor | None, Tensor | None]:
    rank = input.rank
    along_weight = _optional_along(weight, rank)
    scaled = grad if along_weight is None else grad * along_weight
    if use_input_stats:
        dims = range(2, rank)
        for_input, normalized = standardized_backward(scaled, input, dims, eps), standardized(input, dims, eps)
    else:
        normalized = _by_running_statistics(input, running_mean, running_var, eps)
        assert running_var is not None
        for_input = scaled * _running_inverse(input, running_var, eps)
    return (
        for_input,
        None,
        None,
        _per_channel_gradient(grad * normalized, weight, rank),
        _per_channel_gradient(grad, bias, rank),
    )


@meaning("group_norm")
def group_norm(
    input: Tensor,
    num_groups: int | Dim,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    rank = input.rank
    normalized = _joined(standardized(_grouped(input, num_groups), range(2, rank + 1), eps))
    return _scaled(normalized, _grouped_vector(weight, num_groups, rank), _grouped_vector(bias, num_groups, rank))


def _grouped(input: Tensor, groups: int | Dim, axis: int = 1) -> Tensor:
    """The tensor with its channels as an axis of groups and one of the channels of a group.

    Raises:
        NotExpressible: the channels divide into groups only for some sizes.
    """
    channels = input.sizes[axis]
    each = channels // groups
    if each * groups != channels:
        raise NotExpressible(f"{channels} channels in {groups} groups: write the axis as a product, as in g*k")
    sizes = (*input.sizes[:axis], Dim.of(groups), each, *input.sizes[axis + 1 :])

    def entry(*places: Dim) -> Expr:
        place = places[axis] * each + places[axis + 1]
        return input.at(*places[:axis], place, *places[axis + 2 :])

    return build(sizes, entry, input.kind)


def _joined(grouped: Tensor, axis: int = 1) -> Tensor:
    """The tensor with groups and their channels as one axis, which keeps both as factors."""
    merged: Axis = (*grouped.axes[axis], *grouped.axes[axis + 1])
    axes = (*grouped.axes[:axis], merged, *grouped.axes[axis + 2 :])
    return Tensor(axes, grouped.body, grouped.kind, grouped.imaginary)


def _grouped_vector(vector: Tensor | None, groups: int | Dim, rank: int) -> Tensor | None:
    return None if vector is None else along_channels(_joined(_grouped(vector, groups, 0), 0), rank)


@backward("group_norm")
def group_norm_backward(
    grad: Tensor,
    input: Tensor,
    num_groups: int | Dim,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Gradients:
    rank, dims = input.rank, range(2, input.rank + 1)
    grouped = _grouped(input, num_groups)
    along = _grouped_vector(weight, num_groups, rank)
    scaled = _grouped(grad if along is None else grad * along, num_groups)
    normalized = _joined(standardized(grouped, dims, eps))
    return (
        _joined(standardized_backward(scaled, grouped, dims, eps)),
        _per_channel_gradient(grad * normalized, weight, rank),
        _per_channel_gradient(grad, bias, rank),
    )


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
