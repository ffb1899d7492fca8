"""Distances of vectors along an axis, and the losses that rest on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.broadcast import broadcast
from shaped.spec.dims import ONE
from shaped.spec.dtype_demands import float_result
from shaped.spec.op import op
from shaped.spec.ops.losses import reduce_loss, require_same_rank
from shaped.spec.ops.options import flag
from shaped.spec.promotion import as_float, as_real, result_type
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType
from shaped.spec.wrong_axis import DEFAULT_ONE, check_vectors

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.values import Value


@op(
    "cosine_similarity",
    "torch.nn.functional.cosine_similarity",
    "torch.cosine_similarity",
    formula="sum(x*y)/(|x|*|y|) along dim",
    dtypes=float_result("x1", "x2"),
)
def cosine_similarity(
    context: Context, x1: TensorType, x2: TensorType, dim: Value = DEFAULT_ONE, eps: Value = 1e-8
) -> TensorType:
    """The cosine of the angle between vectors along an axis, which is dropped.

    Raises:
        ShapeError: the shapes do not broadcast, or the axis is out of range.
    """
    shape = broadcast(context, "cosine_similarity", x1, x2)
    joined = x1.with_shape(shape)
    axis = context.axis("cosine_similarity", joined, dim)
    check_vectors(context, "cosine_similarity", joined, dim)
    return joined.with_shape(drop_axis(context, shape, axis))


def drop_axis(context: Context, shape: Shape, axis: int | None) -> Shape:
    """The shape without an axis; with sizes not followed where the axis was not."""
    if shape.rank == 0:
        return shape
    if axis is not None and shape.at(axis) is not None:
        return shape.replace(axis)
    if shape.rank is None:
        return Shape.of(context.fresh_pack())
    return Shape(tuple(context.fresh() for _ in shape.dims[1:]))


@op(
    "pairwise_distance",
    "torch.nn.functional.pairwise_distance",
    "torch.pairwise_distance",
    formula="|x - y + eps|_p along the last axis",
)
def pairwise_distance(
    context: Context, x1: TensorType, x2: TensorType, p: Value = 2.0, eps: Value = 1e-6, keepdim: Value = False
) -> TensorType:
    """The distance between vectors along the last axis.

    Raises:
        ShapeError: the shapes do not broadcast.
    """
    shape = broadcast(context, "pairwise_distance", x1, x2)
    kept = flag(keepdim)
    if shape.rank != 0:
        if kept is None or shape.least_rank == 0:
            shape = Shape.of(context.fresh_pack())
        else:
            shape = drop_axis(context, shape, -1) + Shape.of(*([ONE] if kept else []))
    return TensorType(shape, as_real(as_float(result_type(x1, x2))), x1.device)


@op(
    "triplet_margin_loss", "torch.nn.functional.triplet_margin_loss", formula="mean(max(0, |a - p| - |a - n| + margin))"
)
def triplet_margin_loss(
    context: Context,
    anchor: TensorType,
    positive: TensorType,
    negative: TensorType,
    margin: Value = 1.0,
    p: Value = 2,
    eps: Value = 1e-6,
    swap: Value = False,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """How much nearer an anchor is to a positive than to a negative example.

    Raises:
        ShapeError: the ranks differ or the shapes do not broadcast.
    """
    operation = "triplet_margin_loss"
    operands = f"anchor {anchor}, positive {positive}, negative {negative}"
    require_same_rank(operation, operands, anchor, positive, negative)
    near = pairwise_distance(context, anchor, positive)
    far = pairwise_distance(context, anchor, negative)
    shape = broadcast(context, operation, near, far, operands=operands)
    return reduce_loss(context, operation, near.with_shape(shape), reduction, size_average, reduce)


@op(
    "triplet_margin_with_distance_loss",
    "torch.nn.functional.triplet_margin_with_distance_loss",
    formula="mean(max(0, d(a, p) - d(a, n) + margin))",
)
def triplet_margin_with_distance_loss(
    context: Context,
    anchor: TensorType,
    positive: TensorType,
    negative: TensorType,
    *,
    distance_function: Value = None,
    margin: Value = 1.0,
    swap: Value = False,
    reduction: Value = "mean",
) -> TensorType:
    """`triplet_margin_loss` with another distance, whose shape is not followed."""
    if distance_function is None:
        return triplet_margin_loss(context, anchor, positive, negative, reduction=reduction)
    return reduce_loss(context, "triplet_margin_with_distance_loss", context.unknown_tensor(), reduction)


@op(
    "cosine_embedding_loss",
    "torch.nn.functional.cosine_embedding_loss",
    "torch.cosine_embedding_loss",
    formula="mean(1 - cos(x1, x2) if y = 1 else max(0, cos(x1, x2) - margin))",
)
def cosine_embedding_loss(
    context: Context,
    input1: TensorType,
    input2: TensorType,
    target: TensorType,
    margin: Value = 0,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """Angles of similar and dissimilar pairs: (b, d), (b, d), (b,), or (d,), (d,), ().

    Raises:
        ShapeError: other ranks, or the shapes do not broadcast.
    """
    operation = "cosine_embedding_loss"
    operands = f"inputs {input1}, {input2}, target {target}"
    rank = target.shape.rank
    if target.shape.least_rank > 1:
        raise ShapeError(operation, f"the target has {target.shape.least_rank} axes, at most 1 expected", operands)
    for tensor in (input1, input2):
        if rank is not None and tensor.shape.rank is not None and tensor.shape.rank != rank + 1:
            raise ShapeError(operation, f"inputs of {rank + 1} axes expected for a target of {rank}", operands)
    similarity = drop_axis(context, broadcast(context, operation, input1, input2, operands=operands), -1)
    shape = broadcast(context, operation, input1.with_shape(similarity), target, operands=operands)
    losses = TensorType(shape, as_float(result_type(input1, input2)), input1.device)
    return reduce_loss(context, operation, losses, reduction, size_average, reduce)


@op("pdist", "torch.nn.functional.pdist", "torch.pdist", formula="|x_i - x_j|_p for i < j")
def pdist(context: Context, input: TensorType, p: Value = 2.0) -> TensorType:
    """The distances of all pairs of rows: (n, d) -> (n*(n-1)/2,).

    Raises:
        ShapeError: there are not two axes.
    """
    shape = input.shape
    if shape.least_rank > 2 or (shape.rank is not None and shape.rank != 2):
        raise ShapeError("pdist", f"{shape.least_rank} axes, 2 expected", str(input))
    rows = shape.dims[0] if shape.rank is not None else context.fresh()
    return input.with_shape(Shape.of(rows * (rows - 1) // 2))
