"""Losses that compare elements. Losses of vectors are in `distances`, losses over classes in `class_losses`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.broadcast import broadcast, broadcast_shape, uncertain_if_joined
from shaped.spec.dims import ONE, Dim
from shaped.spec.dtype_demands import FLOATING, alike, float_result, require_float_result, takes
from shaped.spec.dtypes import DType
from shaped.spec.op import op
from shaped.spec.ops.arguments import require_expands
from shaped.spec.ops.options import flag, optional_tensor, require_equal
from shaped.spec.promotion import as_float, as_real, result_type
from shaped.spec.shape import Shape
from shaped.spec.silent_broadcast import report_stretched_loss, target_hint
from shaped.spec.values import TensorType

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Call
    from shaped.spec.values import Value

REDUCTIONS = ("none", "mean", "sum")


def reduce_loss(
    context: Context,
    operation: str,
    losses: TensorType,
    reduction: Value,
    size_average: Value = None,
    reduce: Value = None,
    allowed: tuple[str, ...] = REDUCTIONS,
) -> TensorType:
    """The loss for its elements' losses: a scalar for a mean or a sum, all of them for `none`.

    Raises:
        ShapeError: the reduction is no word that torch knows.
    """
    if size_average is not None or reduce is not None:
        # torch's older way to say it: both are true unless they are given.
        reduced = True if reduce is None else flag(reduce)
    elif isinstance(reduction, str):
        if reduction not in allowed:
            words = ", ".join(map(repr, allowed[:-1]))
            raise ShapeError(operation, f"reduction is {reduction!r}, {words} or {allowed[-1]!r} expected")
        reduced = reduction != "none"
    else:
        reduced = None
    if reduced is None:
        return losses.with_shape(Shape.of(context.fresh_pack()))
    return losses.with_shape(Shape(())) if reduced else losses


def named_pair(input: TensorType, target: TensorType) -> str:
    """How messages show the operands of a loss."""
    return f"input {input}, target {target}"


def require_same_shape(
    context: Context, operation: str, a: TensorType, b: TensorType, operands: str, hint: str = ""
) -> Shape:
    """The shape that two tensors have to share.

    Raises:
        ShapeError: their ranks or sizes differ.
    """
    if a.shape.rank is None or b.shape.rank is None:
        return b.shape if a.shape.rank is None else a.shape
    if a.shape.rank != b.shape.rank:
        raise ShapeError(operation, f"{a.shape.rank} and {b.shape.rank} axes, equal shapes expected", operands, hint)
    found = []
    for axis, (left, right) in enumerate(zip(a.shape.dims, b.shape.dims, strict=True)):

        def fault(axis: int = axis, left: Dim = left, right: Dim = right) -> Fault:
            return ShapeError(
                operation, f"sizes {left} and {right} of axis {axis} differ", operands, hint, (left, right)
            )

        found.append(require_equal(context, (a, b), left, right, fault))
    return Shape(tuple(found))


def _elementwise(
    context: Context,
    operation: str,
    input: TensorType,
    target: TensorType,
    reduction: Value,
    size_average: Value = None,
    reduce: Value = None,
    allowed: tuple[str, ...] = REDUCTIONS,
) -> TensorType:
    """A loss of each pair of elements, broadcast as torch does (with a warning for some losses)."""
    operands = named_pair(input, target)
    shape = _paired(context, operation, input, target, operands, reduction)
    losses = TensorType(shape, result_type(input, target), input.device, input.joined or target.joined)
    return reduce_loss(context, operation, losses, reduction, size_average, reduce, allowed)


def _paired(
    context: Context, operation: str, input: TensorType, target: TensorType, operands: str, reduction: Value
) -> Shape:
    """The shape that input and target broadcast to. Where the losses of all pairs are reduced they are not meant."""
    if reduction == "none":
        return broadcast(context, operation, input, target, operands=operands)
    shape = broadcast_shape(context, operation, input, target, operands=operands)
    with uncertain_if_joined(context, input, target):
        report_stretched_loss(context, operation, input, target, shape, operands)
    return shape


def _check_same_weight(context: Context, operation: str, input: TensorType, weight: Value) -> None:
    tensor = optional_tensor(context, weight)
    if tensor is not None:
        require_same_shape(context, operation, input, tensor, f"input {input}, weight {tensor}")


@op("mse_loss", "torch.nn.functional.mse_loss", formula="mean((x - y)**2)", dtypes=float_result("input", "target"))
def mse_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
    weight: Value = None,
) -> TensorType:
    """Squared differences."""
    _check_same_weight(context, "mse_loss", input, weight)
    return _elementwise(context, "mse_loss", input, target, reduction, size_average, reduce)


def _mean_is_float(call: Call) -> None:
    size_average = call.arguments.get("size_average")
    if call.arguments.get("reduction", "mean") == "mean" and (size_average is None or size_average is False):
        require_float_result(call, "input", "target")


@op("l1_loss", "torch.nn.functional.l1_loss", formula="mean(|x - y|)", dtypes=(_mean_is_float,))
def l1_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
    weight: Value = None,
) -> TensorType:
    """Absolute differences."""
    _check_same_weight(context, "l1_loss", input, weight)
    loss = _elementwise(context, "l1_loss", input, target, reduction, size_average, reduce)
    return loss.with_dtype(as_real(loss.dtype))


@op(
    "smooth_l1_loss",
    "torch.nn.functional.smooth_l1_loss",
    formula="mean(d*d/(2*beta) if d < beta else d - beta/2), d = |x - y|",
    dtypes=float_result("input", "target"),
)
def smooth_l1_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
    beta: Value = 1.0,
) -> TensorType:
    """Absolute differences, squared near zero."""
    return _elementwise(context, "smooth_l1_loss", input, target, reduction, size_average, reduce)


@op(
    "huber_loss",
    "torch.nn.functional.huber_loss",
    formula="mean(d*d/2 if d < delta else delta*(d - delta/2)), d = |x - y|",
    dtypes=float_result("input", "target"),
)
def huber_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    reduction: Value = "mean",
    delta: Value = 1.0,
    weight: Value = None,
) -> TensorType:
    """Squared differences, linear far from zero."""
    _check_same_weight(context, "huber_loss", input, weight)
    return _elementwise(context, "huber_loss", input, target, reduction)


@op(
    "kl_div",
    "torch.nn.functional.kl_div",
    formula="mean(y*(log(y) - x))",
    dtypes=takes(input=FLOATING, target=FLOATING),
)
def kl_div(
    context: Context,
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
    log_target: Value = False,
) -> TensorType:
    """The Kullback-Leibler divergence of log-probabilities from a target."""
    allowed = (*REDUCTIONS, "batchmean")
    return _elementwise(context, "kl_div", input, target, reduction, size_average, reduce, allowed)


@op("poisson_nll_loss", "torch.nn.functional.poisson_nll_loss", formula="mean(exp(x) - y*x)")
def poisson_nll_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    log_input: Value = True,
    full: Value = False,
    size_average: Value = None,
    eps: Value = 1e-8,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """The negative log-likelihood of counts."""
    loss = _elementwise(context, "poisson_nll_loss", input, target, reduction, size_average, reduce)
    return loss.with_dtype(as_float(loss.dtype))


@op("soft_margin_loss", "torch.nn.functional.soft_margin_loss", formula="mean(log(1 + exp(-y*x)))")
def soft_margin_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """The logistic loss for targets 1 and -1.

    Raises:
        ShapeError: the target does not broadcast to the input.
    """
    operands = named_pair(input, target)
    if input.shape.rank is not None and target.shape.least_rank > input.shape.rank:
        raise ShapeError("soft_margin_loss", "the target has more axes than the input", operands)

    def fault(own: Dim, wanted: Dim) -> Fault:
        return ShapeError("soft_margin_loss", f"sizes {wanted} and {own} differ", operands, dims=(wanted, own))

    with uncertain_if_joined(context, input, target):
        require_expands(context, target.shape, input.shape, fault)
    return _elementwise(context, "soft_margin_loss", input, target, reduction, size_average, reduce)


@op(
    "hinge_embedding_loss",
    "torch.nn.functional.hinge_embedding_loss",
    formula="mean(x if y = 1 else max(0, margin - x))",
)
def hinge_embedding_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    margin: Value = 1.0,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """Distances of similar and dissimilar pairs."""
    return _elementwise(context, "hinge_embedding_loss", input, target, reduction, size_average, reduce)


@op("margin_ranking_loss", "torch.nn.functional.margin_ranking_loss", formula="mean(max(0, -y*(x1 - x2) + margin))")
def margin_ranking_loss(
    context: Context,
    input1: TensorType,
    input2: TensorType,
    target: TensorType,
    margin: Value = 0,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """How far pairs are from their order.

    Raises:
        ShapeError: the ranks differ or the shapes do not broadcast.
    """
    operands = f"inputs {input1}, {input2}, target {target}"
    require_same_rank("margin_ranking_loss", operands, input1, input2, target)
    shape = broadcast(context, "margin_ranking_loss", input1, input2, target, operands=operands)
    # With a margin that is an int, integers stay integers.
    kind = result_type(input1, input2, target)
    losses = TensorType(shape, DType(kind.names | as_float(kind).names), input1.device)
    return reduce_loss(context, "margin_ranking_loss", losses, reduction, size_average, reduce)


def require_same_rank(operation: str, operands: str, *tensors: TensorType) -> None:
    ranks = [tensor.shape.rank for tensor in tensors if tensor.shape.rank is not None]
    if len(set(ranks)) > 1:
        raise ShapeError(operation, f"{', '.join(map(str, ranks))} axes, equal ranks expected", operands)


@op(
    "binary_cross_entropy",
    "torch.nn.functional.binary_cross_entropy",
    formula="-mean(y*log(x) + (1-y)*log(1-x))",
    dtypes=takes(input=FLOATING, target=FLOATING) + alike("input", "target"),
)
def binary_cross_entropy(
    context: Context,
    input: TensorType,
    target: TensorType,
    weight: Value = None,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """The cross entropy of probabilities of one class each.

    Raises:
        ShapeError: input and target differ, or the weight does not broadcast to them.
    """
    return _binary(context, "binary_cross_entropy", input, target, (weight,), reduction, size_average, reduce)


@op(
    "binary_cross_entropy_with_logits",
    "torch.nn.functional.binary_cross_entropy_with_logits",
    formula="mean(log(1 + exp(x)) - y*x)",
    dtypes=takes(input=FLOATING, target=FLOATING),
)
def binary_cross_entropy_with_logits(
    context: Context,
    input: TensorType,
    target: TensorType,
    weight: Value = None,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
    pos_weight: Value = None,
) -> TensorType:
    """The cross entropy of logits of one class each.

    Raises:
        ShapeError: input and target differ, or a weight does not broadcast to them.
    """
    operation = "binary_cross_entropy_with_logits"
    return _binary(context, operation, input, target, (weight, pos_weight), reduction, size_average, reduce)


def _binary(
    context: Context,
    operation: str,
    input: TensorType,
    target: TensorType,
    weights: tuple[Value, ...],
    reduction: Value,
    size_average: Value,
    reduce: Value,
) -> TensorType:
    hint = target_hint(input.shape, target.shape)
    shape = require_same_shape(context, operation, input, target, named_pair(input, target), hint)
    for weight in weights:
        tensor = optional_tensor(context, weight)
        if tensor is None:
            continue
        operands = f"input {input}, weight {tensor}"
        rank = shape.rank
        if rank is not None and tensor.shape.least_rank > rank:
            raise ShapeError(operation, f"the weight has more axes than the input, {tensor.shape.least_rank}", operands)

        def fault(own: Dim, wanted: Dim, operands: str = operands) -> Fault:
            return ShapeError(operation, f"sizes {wanted} and {own} differ", operands, dims=(wanted, own))

        with uncertain_if_joined(context, input, tensor):
            require_expands(context, tensor.shape, shape, fault)
    losses = TensorType(shape, result_type(input, target), input.device)
    return reduce_loss(context, operation, losses, reduction, size_average, reduce)


@op("gaussian_nll_loss", "torch.nn.functional.gaussian_nll_loss", formula="mean(log(v) + (x - y)**2/v)/2")
def gaussian_nll_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    var: Value,
    full: Value = False,
    eps: Value = 1e-6,
    reduction: Value = "mean",
) -> TensorType:
    """The negative log-likelihood of normal distributions with variances `var`.

    Raises:
        ShapeError: the shapes do not broadcast, or `var` has not the input's shape, one axis 1 or no last axis.
    """
    operation = "gaussian_nll_loss"
    variance = optional_tensor(context, var)
    operands = named_pair(input, target) + (f", var {variance}" if variance is not None else "")
    shape = _paired(context, operation, input, target, operands, reduction)
    if variance is not None and input.shape.rank is not None and variance.shape.rank is not None:
        own, wanted = variance.shape, input.shape.dims
        if own.rank == len(wanted) - 1:
            wanted = wanted[:-1]
        elif own.rank == len(wanted):
            shared = [i for i, size in enumerate(own.dims) if size == ONE and wanted[i] != ONE]
            if len(shared) == 1:  # one axis may share its variance
                wanted = (*wanted[: shared[0]], ONE, *wanted[shared[0] + 1 :])
        expected = input.with_shape(Shape(wanted))
        if own.rank != len(wanted):
            raise ShapeError(operation, f"var {variance}, {input} expected", operands)
        require_same_shape(context, operation, variance, expected, operands)
    return reduce_loss(context, operation, input.with_shape(shape), reduction)
