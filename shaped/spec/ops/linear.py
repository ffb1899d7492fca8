"""Affine maps of the last axis: `linear` and `bilinear`, functions and modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import DtypeError, Fault, ShapeError
from shaped.spec.dims import ONE, Dim, Kind
from shaped.spec.dtype_demands import alike, like_parameters
from shaped.spec.op import Module, module, op
from shaped.spec.ops.lazy import declare_lazy
from shaped.spec.ops.options import common_dtype, flag, option_size, optional_tensor, parameter_dtype, require_equal
from shaped.spec.promotion import category
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.dtypes import DType


def map_last_axis(
    context: Context, operation: str, input: TensorType, in_features: Dim, out: tuple[Dim, ...], hint: str = ""
) -> Shape:
    """(..., in) -> (..., *out), for an `in` that has to be `in_features`.

    Raises:
        ShapeError: the last axis differs, or there is none.
    """
    operands = f"{input} @ ({', '.join(map(str, (in_features, *out)))}{'' if out else ','})"
    if input.shape.rank == 0:
        raise ShapeError(operation, "a scalar has no last axis", operands)
    shape = context.with_ends(input.shape, 0, 1)
    found = shape.at(-1)
    if found is None:
        return Shape.of(context.fresh_pack(), *out)
    require_equal(
        context,
        (input,),
        found,
        in_features,
        lambda: ShapeError(
            operation,
            f"inner dimensions {found} and {in_features} differ",
            operands,
            "" if found.has_unknown else hint,
            (found, in_features),
        ),
    )
    return shape.replace(-1, *out)


def last_axis_hint(shape: Shape, features: Dim) -> str:
    """The transposition that brings the features to the last axis, where exactly one axis has that size."""
    if shape.rank is None or features.has_unknown:
        return ""
    fitting = [i for i, dim in enumerate(shape.dims[:-1]) if dim == features]
    if len(fitting) != 1 or fitting == [0]:
        return ""
    order = [*(i for i in range(shape.rank) if i != fitting[0]), fitting[0]]
    if fitting[0] == shape.rank - 2:
        return f".transpose({shape.rank - 2}, {shape.rank - 1})?"
    return f".permute({', '.join(map(str, order))})?"


@op(
    "linear",
    "torch.nn.functional.linear",
    formula="y[..., o] = b[o] + sum(i) x[..., i]*w[o, i]",
    dtypes=alike("input", "weight", "bias"),
)
def linear(context: Context, input: TensorType, weight: TensorType, bias: Value = None) -> TensorType:
    """Map the last axis by a matrix (out, in), or reduce it by a vector (in,).

    Raises:
        ShapeError: the inner sizes differ, or the weight is no matrix or vector.
    """
    kind = _dtype(input, weight)
    rank = weight.shape.rank
    if weight.shape.least_rank > 2 or rank == 0:
        axes = f"{rank or weight.shape.least_rank} axes" if rank else "no axis"
        raise ShapeError("linear", f"the weight has {axes}, 2 expected", f"{input} with weight {weight}")
    if rank is None:
        hidden = (context.fresh(),) if weight.shape.least_rank else ()
        if not hidden:
            return context.unknown_tensor(kind)
        # One axis is known: the weight may be a vector or a matrix.
        return TensorType(Shape.of(context.fresh_pack()), kind)
    *out, in_features = weight.shape.dims
    tensor = optional_tensor(context, bias)
    if tensor is not None and out:
        _check_bias(context, input, weight, tensor)
    return input.with_shape(map_last_axis(context, "matmul", input, in_features, tuple(out))).with_dtype(kind)


def _dtype(input: TensorType, weight: TensorType) -> DType:
    """The dtype of the result.

    Raises:
        DtypeError: one is of integers and one of floats. Floats of two sizes may be cast by autocast.
    """
    kinds = [{category(name) for name in tensor.dtype.names} for tensor in (input, weight)]
    if not kinds[0] & kinds[1]:
        matrix = weight.shape if weight.shape.rank is None else Shape(tuple(reversed(weight.shape.axes)))
        operands = f"{input.dtype}{input} @ {weight.dtype}{matrix}"
        hint = ".float()?" if kinds[1] == {2} and kinds[0] <= {0, 1} else ""
        raise DtypeError("linear", f"dtypes {input.dtype} and {weight.dtype} differ", operands, hint)
    return common_dtype(input, weight)


def _check_bias(context: Context, input: TensorType, weight: TensorType, bias: TensorType) -> None:
    """A bias of one axis has a value for each row of the weight, or one."""
    if bias.shape.rank != 1:
        return
    (length,), out_features = bias.shape.dims, weight.shape.dims[0]
    if context.is_never_equal(length, out_features) and context.is_never_equal(length, ONE):
        reason = f"the bias has {length} values, {out_features} expected"
        operands = f"{input} with weight {weight}, bias {bias}"
        raise ShapeError("linear", reason, operands, dims=(length, out_features))


@op(
    "bilinear",
    "torch.nn.functional.bilinear",
    "torch.bilinear",
    formula="y[..., o] = b[o] + sum(i,j) x[..., i]*w[o,i,j]*z[..., j]",
    dtypes=alike("input1", "input2", "weight", "bias"),
)
def bilinear(
    context: Context, input1: TensorType, input2: TensorType, weight: TensorType, bias: Value = None
) -> TensorType:
    """Map the last axes of two tensors with equal other axes by a weight (out, in1, in2).

    Raises:
        ShapeError: the inner sizes or the other axes differ.
    """
    kind = common_dtype(input1, input2, weight)
    if weight.shape.rank is None:
        return TensorType(Shape.of(context.fresh_pack(), context.fresh()), kind)
    if weight.shape.rank != 3:
        raise ShapeError("bilinear", f"the weight has {weight.shape.rank} axes, 3 expected", f"weight {weight}")
    out, in1, in2 = weight.shape.dims
    return _bilinear(context, input1, input2, in1, in2, out, kind)


def _bilinear(
    context: Context, input1: TensorType, input2: TensorType, in1: Dim, in2: Dim, out: Dim, kind: DType
) -> TensorType:
    operands = f"{input1}, {input2} with weight {Shape.of(out, in1, in2)}"
    first, second = input1.shape, input2.shape
    for found, expected, name in ((first.at(-1), in1, "first"), (second.at(-1), in2, "second")):
        if found is not None:

            def fault(found: Dim = found, expected: Dim = expected, name: str = name) -> Fault:
                reason = f"the {name} input has {found} features, {expected} expected"
                return ShapeError("bilinear", reason, operands, dims=(found, expected))

            require_equal(context, (input1, input2), found, expected, fault)
    if 0 in (first.rank, second.rank):
        raise ShapeError("bilinear", "a scalar has no last axis", operands)
    if first.rank is None or second.rank is None:
        known = first if first.rank else second
        shape = known.replace(-1, out) if known.rank else Shape.of(context.fresh_pack(), out)
        return TensorType(shape, kind)
    if first.rank != second.rank:
        raise ShapeError("bilinear", f"{first.rank} and {second.rank} axes", operands)
    leading = []
    for axis, (a, b) in enumerate(zip(first.dims[:-1], second.dims[:-1], strict=True)):

        def differ(a: Dim = a, b: Dim = b, axis: int = axis) -> Fault:
            return ShapeError("bilinear", f"sizes {a} and {b} of axis {axis} differ", operands, dims=(a, b))

        leading.append(require_equal(context, (input1, input2), a, b, differ))
    return TensorType(Shape.of(*leading, out), kind)


@module("torch.nn.Linear")
class Linear(Module):
    """An affine map of the last axis."""

    dtypes = like_parameters("input")

    def __init__(
        self,
        context: Context,
        in_features: Value,
        out_features: Value,
        bias: Value = True,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.in_features = option_size(context, in_features)
        self.out_features = option_size(context, out_features)
        kind = parameter_dtype(dtype)
        self.weight = TensorType(Shape.of(self.out_features, self.in_features), kind)
        self.bias = parameter_if(flag(bias), Shape.of(self.out_features), kind)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(..., in_features) -> (..., out_features)."""
        hint = self._hint(input)
        shape = map_last_axis(context, "matmul", input, self.in_features, (self.out_features,), hint)
        return input.with_shape(shape).with_dtype(_dtype(input, self.weight))

    def _hint(self, input: TensorType) -> str:
        """The axes in another order, or a layer for the last axis unless that may have any size."""
        last = input.shape.at(-1)
        moved = last_axis_hint(input.shape, self.in_features)
        if moved or last is None or any(symbol.kind is Kind.NAME for symbol in last.symbols()):
            return moved
        return f"nn.Linear({last}, {self.out_features})?"


declare_lazy(Linear)


@module("torch.nn.Bilinear")
class Bilinear(Module):
    """A bilinear map of the last axes of two tensors."""

    dtypes = like_parameters("input1", "input2")

    def __init__(
        self,
        context: Context,
        in1_features: Value,
        in2_features: Value,
        out_features: Value,
        bias: Value = True,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.in1_features = option_size(context, in1_features)
        self.in2_features = option_size(context, in2_features)
        self.out_features = option_size(context, out_features)
        kind = parameter_dtype(dtype)
        self.weight = TensorType(Shape.of(self.out_features, self.in1_features, self.in2_features), kind)
        self.bias = parameter_if(flag(bias), Shape.of(self.out_features), kind)

    def forward(self, context: Context, input1: TensorType, input2: TensorType) -> TensorType:
        """(..., in1_features), (..., in2_features) -> (..., out_features)."""
        return bilinear(context, input1, input2, self.weight)


def parameter_if(present: bool | None, shape: Shape, kind: DType) -> Value:
    """A parameter, None where there is none, UNKNOWN where it is not known whether there is one."""
    if present is None:
        return UNKNOWN
    return TensorType(shape, kind) if present else None
