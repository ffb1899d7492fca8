"""Normalisation with a scale for each channel: over a batch, over single samples, over groups of channels."""

from __future__ import annotations

from collections.abc import Sequence

from shaped.spec.dims import Dim
from shaped.spec.expr import Expr
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.normalization import Gradients, affine, standardized, standardized_backward
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import Axis, NotExpressible, Tensor, build


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
    return affine(normalized, _optional_along(weight, rank), _optional_along(bias, rank))


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


Statistics = tuple[Tensor, Tensor | None, Tensor | None, Tensor | None, Tensor | None]


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
) -> Statistics:
    dims = _all_but_channels(input.rank) if training else None
    return _affine_backward(grad, input, running_mean, running_var, weight, bias, dims, eps)


def _affine_backward(
    grad: Tensor,
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    dims: Sequence[int] | None,
    eps: float,
) -> Statistics:
    """The gradients of a normalisation over `dims`, or by the running statistics, with a scale for each channel."""
    rank = input.rank
    along = _optional_along(weight, rank)
    scaled = grad if along is None else grad * along
    for_mean = for_var = None
    if dims is not None:
        normalized = standardized(input, dims, eps)
        for_input = standardized_backward(scaled, input, dims, eps)
    else:
        normalized = _by_running_statistics(input, running_mean, running_var, eps)
        assert running_var is not None
        inverse = _running_inverse(input, running_var, eps)
        for_input = scaled * inverse
        for_mean = _per_channel_gradient(-for_input, running_mean, rank)
        for_var = _per_channel_gradient(-scaled * normalized * inverse * inverse / 2, running_var, rank)
    return (
        for_input,
        for_mean,
        for_var,
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
    return affine(normalized, _optional_along(weight, rank), _optional_along(bias, rank))


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
) -> Statistics:
    dims = range(2, input.rank) if use_input_stats else None
    return _affine_backward(grad, input, running_mean, running_var, weight, bias, dims, eps)


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
    return affine(normalized, _grouped_vector(weight, num_groups, rank), _grouped_vector(bias, num_groups, rank))


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
