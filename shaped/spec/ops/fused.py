"""Operations that do the work of several: products of groups, scaled products, projections into a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, Dim
from shaped.spec.dtypes import ANY_DTYPE, DType
from shaped.spec.op import Module, module, op
from shaped.spec.ops.class_losses import cross_entropy
from shaped.spec.ops.linear import linear
from shaped.spec.promotion import requested
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


def _require_inner(context: Context, operation: str, a: TensorType, b: TensorType) -> None:
    own, other = a.shape.dims[-1], b.shape.dims[-2]

    def fault() -> ShapeError:
        return ShapeError(operation, f"inner dimensions {own} and {other} differ", f"{a} @ {b}", dims=(own, other))

    context.require_equal(own, other, fault)


def _grouped(context: Context, operation: str, a: TensorType, b: TensorType, offs: Value, dtype: DType) -> TensorType:
    """The product of each group: matrices of a batch, or the parts of rows, columns or sums that `offs` bounds."""
    if a.shape.rank not in (2, 3) or b.shape.rank not in (2, 3):
        return context.unknown_tensor(dtype)
    _require_inner(context, operation, a, b)
    rows, columns = a.shape.dims[-2], b.shape.dims[-1]
    if a.shape.rank == b.shape.rank == 3:
        return TensorType(Shape((a.shape.dims[0], rows, columns)), dtype)
    if a.shape.rank == 2 == b.shape.rank:
        count = offs.shape.at(0) if isinstance(offs, TensorType) and offs.shape.rank == 1 else None
        return TensorType(Shape((context.fresh() if count is None else count, rows, columns)), dtype)
    return TensorType(Shape((rows, columns)), dtype)


@op("grouped_mm", "torch.nn.functional.grouped_mm", formula="the product of each group of rows, or of a batch")
def grouped_mm(
    context: Context,
    mat_a: TensorType,
    mat_b: TensorType,
    *,
    offs: Value = None,
    bias: Value = None,
    out_dtype: Value = None,
) -> TensorType:
    return _grouped(context, "grouped_mm", mat_a, mat_b, offs, requested(out_dtype, mat_a.dtype))


@op("_grouped_mm", "torch._grouped_mm", formula="as grouped_mm")
def grouped_mm_native(
    context: Context,
    input: TensorType,
    mat2: TensorType,
    offs: Value = None,
    bias: Value = None,
    out_dtype: Value = None,
) -> TensorType:
    return _grouped(context, "_grouped_mm", input, mat2, offs, requested(out_dtype, input.dtype))


@op("scaled_mm", "torch.nn.functional.scaled_mm", formula="y = (scale_a*a) @ (scale_b*b)")
def scaled_mm(
    context: Context,
    mat_a: TensorType,
    mat_b: TensorType,
    scale_a: Value,
    scale_recipe_a: Value,
    scale_b: Value,
    scale_recipe_b: Value,
    swizzle_a: Value = None,
    swizzle_b: Value = None,
    bias: Value = None,
    output_dtype: Value = UNKNOWN,
    contraction_dim: Value = (),
    use_fast_accum: Value = False,
) -> TensorType:
    return _scaled(context, "scaled_mm", mat_a, mat_b, requested(output_dtype, ANY_DTYPE))


@op("_scaled_mm", "torch._scaled_mm", formula="y = (scale_a*a) @ (scale_b*b)")
def scaled_mm_native(
    context: Context,
    input: TensorType,
    mat2: TensorType,
    scale_a: Value,
    scale_b: Value,
    bias: Value = None,
    scale_result: Value = None,
    out_dtype: Value = None,
    use_fast_accum: Value = False,
) -> TensorType:
    return _scaled(context, "_scaled_mm", input, mat2, requested(out_dtype, input.dtype))


def _scaled(context: Context, operation: str, a: TensorType, b: TensorType, dtype: DType) -> TensorType:
    if a.shape.rank != 2 or b.shape.rank != 2:
        return context.unknown_tensor(dtype)
    # Of packed elements, two in a byte, the inner sizes are half of those that are meant, on both sides.
    _require_inner(context, operation, a, b)
    return TensorType(Shape((a.shape.dims[0], b.shape.dims[1])), dtype)


@op("conv_tbc", "torch.conv_tbc", "torch.nn.functional.conv_tbc", formula="a convolution over time, axis 0")
def conv_tbc(context: Context, input: TensorType, weight: TensorType, bias: Value, pad: Value = 0) -> TensorType:
    if input.shape.rank is None or weight.shape.rank is None:
        return context.unknown_tensor(input.dtype)
    if input.shape.rank != 3 or weight.shape.rank != 3:
        raise ShapeError("conv_tbc", "the input and the weight have 3 axes", f"{input} with weight {weight}")
    (time, batch, channels), (kernel, inputs, outputs) = input.shape.dims, weight.shape.dims

    def fault() -> ShapeError:
        reason = f"the input has {channels} channels, the weight {inputs}"
        return ShapeError("conv_tbc", reason, f"{input} with weight {weight}", dims=(channels, inputs))

    context.require_equal(channels, inputs, fault)
    width = Dim.of(pad) if isinstance(pad, int) else pad if isinstance(pad, Dim) else context.fresh()
    return input.with_shape(Shape((time + 2 * width - kernel + ONE, batch, outputs)))


@op("linear_cross_entropy", "torch.nn.functional.linear_cross_entropy", formula="the cross entropy of input @ W^T + b")
def linear_cross_entropy(
    context: Context,
    input: TensorType,
    linear_weight: TensorType,
    target: TensorType,
    *,
    linear_bias: Value = None,
    weight: Value = None,
    reduction: Value = "mean",
    ignore_index: Value = None,
    label_smoothing: Value = 0.0,
    options: Value = None,
) -> TensorType:
    operands = f"input {input}, linear_weight {linear_weight}"
    if input.shape.rank not in (None, 1, 2):
        raise ShapeError("linear_cross_entropy", "the input has 1 or 2 axes", operands)
    if linear_weight.shape.rank in (0, 1):
        raise ShapeError("linear_cross_entropy", "the projection has at least 2 axes", operands)
    if input.shape.rank == 1 and linear_weight.shape.least_rank > 2:
        raise ShapeError("linear_cross_entropy", "a projection of several axes takes a batch of inputs", operands)
    if input.shape.rank is None or linear_weight.shape.rank != 2:
        is_one = reduction in ("mean", "sum") if isinstance(reduction, str) else False
        return input.with_shape(Shape(())) if is_one else context.unknown_tensor(input.dtype)
    logits = linear(context, input, linear_weight)
    return cross_entropy(context, logits, target, weight, reduction=reduction)


@module("torch.nn.LinearCrossEntropyLoss")
class LinearCrossEntropyLoss(Module):
    """The cross entropy of a learned projection."""

    def __init__(
        self,
        context: Context,
        in_features: Value,
        num_classes: Value,
        *,
        out_features: Value = (),
        bias: Value = False,
        device: Value = None,
        dtype: Value = None,
        reduction: Value = "mean",
        weight: Value = None,
        ignore_index: Value = None,
        label_smoothing: Value = 0.0,
        options: Value = None,
    ) -> None:
        self.in_features, self.num_classes, self.out_features = in_features, num_classes, out_features
        self.reduction = reduction

    def forward(self, context: Context, input: TensorType, target: TensorType) -> Value:
        """The loss of the input."""
        sizes = (self.num_classes, self.in_features)
        rows, columns = (each if isinstance(each, Dim) else context.fresh() for each in sizes)
        projection = TensorType(Shape((rows, columns)))
        if self.out_features != ():
            return UNKNOWN
        return linear_cross_entropy(context, input, projection, target, reduction=self.reduction)
