"""Losses over classes: cross entropy, negative log-likelihood, margins, and the alignment loss `ctc_loss`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import DtypeError, Fault, ShapeError
from shaped.spec.axis_layout import check_classes, check_sequence
from shaped.spec.broadcast import broadcast
from shaped.spec.dims import ONE, Dim
from shaped.spec.dtype_demands import CLASSES, CLASSES_OR_PROBABILITIES, FLOATING, INTEGER, ONLY_INT64, alike, takes
from shaped.spec.dtypes import BOOL, FLOATS, INTEGERS
from shaped.spec.extent import require_within
from shaped.spec.op import op
from shaped.spec.ops.distances import drop_axis
from shaped.spec.ops.losses import named_pair, reduce_loss, require_same_shape
from shaped.spec.ops.options import optional_tensor, require_equal
from shaped.spec.shape import Shape

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.values import TensorType, Value


def _class_axis(input: Shape) -> int:
    return 0 if input.rank == 1 else 1


def _check_class_weight(
    context: Context, operation: str, input: TensorType, weight: Value, axis: int | None = None
) -> None:
    """A weight has one value for each class."""
    tensor = optional_tensor(context, weight)
    if tensor is None or tensor.shape.numel is None or input.shape.rank is None:
        return
    operands = f"input {input}, weight {tensor}"
    classes = input.shape.dims[_class_axis(input.shape) if axis is None else axis]
    # For inputs of more axes torch only counts the weights.
    if tensor.shape.rank != 1 and input.shape.rank <= 2:
        raise ShapeError(operation, f"the weight has {tensor.shape.rank} axes, 1 expected", operands)
    length = tensor.shape.numel
    require_equal(
        context,
        (input, tensor),
        length,
        classes,
        lambda: ShapeError(operation, f"{length} weights for {classes} classes", operands, dims=(length, classes)),
    )


def _index_losses(
    context: Context, operation: str, input: TensorType, target: TensorType, *, probabilities: bool
) -> TensorType:
    """The loss of each sample for class indices: input (n, c, ...) or (c,), target (n, ...) or ()."""
    operands = named_pair(input, target)
    shape, own = input.shape, target.shape
    if shape.rank is None or own.rank is None:
        return input.with_shape(own if own.rank is not None else Shape.of(context.fresh_pack()))
    expected = Shape(drop_axis(context, shape, _class_axis(shape)).axes)
    if shape.rank == 1 and own.rank == 1:
        # torch takes a batch of one here, and gives a scalar for it.
        (length,) = own.dims
        if not context.is_never_equal(length, ONE):
            return input.with_shape(expected)
    wanted = f"class indices {expected}" + (f" or probabilities {shape}" if probabilities else "") + " expected"
    if own.rank != expected.rank:
        raise ShapeError(operation, wanted, operands, _index_hint(shape, expected, own))
    found = []
    for a, b in zip(own.dims, expected.dims, strict=True):

        def fault(a: Dim = a, b: Dim = b) -> Fault:
            hint = _index_hint(shape, expected, own)
            return ShapeError(operation, f"{wanted}: sizes {a} and {b} differ", operands, hint, (a, b))

        found.append(require_equal(context, (input, target), a, b, fault))
    return input.with_shape(Shape(tuple(found)))


def _index_hint(shape: Shape, expected: Shape, own: Shape) -> str:
    """What makes the target, or else the input, fit."""
    for axis, size in enumerate(own.dims):
        if size == ONE and own.replace(axis) == expected:
            return f"target.squeeze({axis})?"
    if len(shape.dims) > 2 and shape.dims[:-1] == own.dims:
        order = ", ".join(map(str, (0, shape.dims.__len__() - 1, *range(1, len(shape.dims) - 1))))
        return "input.transpose(1, 2)?" if len(shape.dims) == 3 else f"input.permute({order})?"
    return ""


@op(
    "cross_entropy",
    "torch.nn.functional.cross_entropy",
    formula="-mean(log_softmax(x)[n, y[n]]), or -mean(sum(c) y[n,c]*log_softmax(x)[n,c])",
    dtypes=takes(target=CLASSES_OR_PROBABILITIES) + alike("input", "weight"),
)
def cross_entropy(
    context: Context,
    input: TensorType,
    target: TensorType,
    weight: Value = None,
    size_average: Value = None,
    ignore_index: Value = -100,
    reduce: Value = None,
    reduction: Value = "mean",
    label_smoothing: Value = 0.0,
) -> TensorType:
    """The cross entropy of logits, whose axis 1 (0 of one axis) holds the classes, with class indices or probabilities.

    Raises:
        ShapeError: the target has neither the input's shape nor this shape without the class axis.
        DtypeError: probabilities are no floats, or indices no ints.
    """
    operation = "cross_entropy"
    shape, own = input.shape, target.shape
    if shape.rank == 0:
        raise ShapeError(operation, "the input has no class axis", named_pair(input, target))
    _check_class_weight(context, operation, input, weight)
    if shape.rank is not None and shape.rank == own.rank and not _is_batch_of_one(context, shape, target):
        losses = _probability_losses(context, operation, input, target)
    elif shape.rank is None or own.rank is None:
        losses = context.unknown_tensor(input.dtype)
    else:
        losses = _index_losses(context, operation, input, target, probabilities=True)
        _check_written(context, operation, input, target, ignore_index)
        if target.dtype.is_all(FLOATS):
            raise DtypeError(
                operation, f"class indices are {target.dtype}, int64 expected", named_pair(input, target), ".long()?"
            )
    return reduce_loss(context, operation, losses, reduction, size_average, reduce)


def _check_written(
    context: Context, operation: str, input: TensorType, target: TensorType, ignore_index: Value
) -> None:
    """Class indices that are written out are below the number of classes, but for one that is ignored."""
    if target.extent is None or input.shape.rank is None or ignore_index != -100 or target.extent[0].constant == -100:
        return
    classes = input.shape.dims[_class_axis(input.shape)]
    require_within(context, operation, target, classes, f"{classes} classes", named_pair(input, target))


def _is_batch_of_one(context: Context, shape: Shape, target: TensorType) -> bool:
    """torch takes one index of one axis for logits of one axis."""
    own = target.shape
    floats = target.dtype.is_all(FLOATS)
    return shape.rank == 1 and shape != own and not floats and not context.is_never_equal(own.dims[0], ONE)


def _probability_losses(context: Context, operation: str, input: TensorType, target: TensorType) -> TensorType:
    operands, axis = named_pair(input, target), _class_axis(input.shape)
    expected = drop_axis(context, input.shape, axis)
    hint = _index_hint(input.shape, expected, target.shape)
    for a, b in zip(target.shape.dims, input.shape.dims, strict=True):

        def fault(a: Dim = a, b: Dim = b) -> Fault:
            reason = f"class indices {expected} or probabilities {input} expected"
            return ShapeError(operation, f"{reason}: sizes {a} and {b} differ", operands, hint, (a, b))

        require_equal(context, (input, target), a, b, fault)
    if target.dtype.is_all(INTEGERS | BOOL):
        reason = f"class indices {expected} expected, or float probabilities {input}; the target is {target.dtype}"
        raise DtypeError(operation, reason, operands, hint or f"target.argmax({axis})?")
    check_classes(context, operation, input, operands)
    return input.with_shape(expected)


@op(
    "nll_loss",
    "torch.nn.functional.nll_loss",
    formula="-mean(x[n, y[n]])",
    dtypes=takes(input=FLOATING, target=CLASSES) + alike("input", "weight"),
)
def nll_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    weight: Value = None,
    size_average: Value = None,
    ignore_index: Value = -100,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """The negative log-likelihood of class indices; axis 1 of the input (0 of one axis) holds the classes.

    Raises:
        ShapeError: the target's shape is not the input's without the class axis.
        DtypeError: the indices are no ints.
    """
    if input.shape.rank == 0:
        raise ShapeError("nll_loss", "the input has no class axis", named_pair(input, target))
    _check_class_weight(context, "nll_loss", input, weight)
    losses = _index_losses(context, "nll_loss", input, target, probabilities=False)
    _check_written(context, "nll_loss", input, target, ignore_index)
    if target.dtype.is_all(FLOATS):
        raise DtypeError(
            "nll_loss", f"class indices are {target.dtype}, int64 expected", named_pair(input, target), ".long()?"
        )
    return reduce_loss(context, "nll_loss", losses, reduction, size_average, reduce)


@op(
    "multi_margin_loss",
    "torch.nn.functional.multi_margin_loss",
    formula="mean(n) sum(c != y[n]) max(0, margin - x[n,y[n]] + x[n,c])/C",
    dtypes=takes(target=ONLY_INT64),
)
def multi_margin_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    p: Value = 1,
    margin: Value = 1.0,
    weight: Value = None,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """How far the score of each class is below that of the right one: (n, c), (n,), or (c,), ().

    Raises:
        ShapeError: other ranks or sizes.
    """
    operation, operands = "multi_margin_loss", named_pair(input, target)
    _check_vector_or_matrix(operation, input, operands)
    shape, own = input.shape, target.shape
    if shape.rank is None or own.rank is None:
        return reduce_loss(context, operation, context.unknown_tensor(input.dtype), reduction, size_average, reduce)
    _check_class_weight(context, operation, input, weight, axis=-1) if shape.rank else None
    if own.rank > 1:
        raise ShapeError(operation, f"class indices ({shape.dims[0] if shape.rank == 2 else 1},) expected", operands)
    batch = shape.dims[0] if shape.rank == 2 else ONE
    length = own.dims[0] if own.rank else ONE
    require_equal(
        context,
        (input, target),
        length,
        batch,
        lambda: ShapeError(operation, f"{length} class indices for {batch} samples", operands, dims=(length, batch)),
    )
    losses = input.with_shape(Shape.of(batch) if own.rank else own)
    return reduce_loss(context, operation, losses, reduction, size_average, reduce)


def _check_vector_or_matrix(operation: str, input: TensorType, operands: str) -> None:
    if input.shape.least_rank > 2:
        raise ShapeError(operation, f"{input.shape.least_rank} axes, at most 2 expected", operands)


@op(
    "multilabel_margin_loss",
    "torch.nn.functional.multilabel_margin_loss",
    formula="mean(n) sum(c, j) max(0, 1 - x[n,y[n,j]] + x[n,c])/C",
    dtypes=takes(target=ONLY_INT64),
)
def multilabel_margin_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """How far the scores of wrong classes are below those of the right ones: (n, c) or (c,), both of one shape.

    Raises:
        ShapeError: other ranks, or shapes that differ.
    """
    operation, operands = "multilabel_margin_loss", named_pair(input, target)
    _check_vector_or_matrix(operation, input, operands)
    shape = require_same_shape(context, operation, input, target, operands)
    losses = input.with_shape(drop_axis(context, shape, -1))
    return reduce_loss(context, operation, losses, reduction, size_average, reduce)


@op(
    "multilabel_soft_margin_loss",
    "torch.nn.functional.multilabel_soft_margin_loss",
    formula="-mean(y*log(s(x)) + (1-y)*log(1-s(x)))",
)
def multilabel_soft_margin_loss(
    context: Context,
    input: TensorType,
    target: TensorType,
    weight: Value = None,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """Binary cross entropies of several labels, averaged over the last axis.

    Raises:
        ShapeError: the shapes do not broadcast.
    """
    operation, operands = "multilabel_soft_margin_loss", named_pair(input, target)
    shape = broadcast(context, operation, input, target, operands=operands)
    tensor = optional_tensor(context, weight)
    if tensor is not None:
        shape = broadcast(context, operation, input.with_shape(shape), tensor, operands=f"{operands}, weight {tensor}")
    if input.shape.rank == 0:
        raise ShapeError(operation, "a scalar has no class axis", operands)
    rank = input.shape.rank
    # The class axis is the last of the input, which may not be the last of the result.
    axis = None if rank is None or shape.rank is None else max(rank - 1, 0)
    losses = input.with_shape(drop_axis(context, shape, axis if axis is not None else None))
    return reduce_loss(context, operation, losses, reduction, size_average, reduce)


@op(
    "ctc_loss",
    "torch.nn.functional.ctc_loss",
    "torch.ctc_loss",
    formula="-log of the sum of all alignments' probabilities",
    dtypes=takes(input_lengths=INTEGER, target_lengths=INTEGER),
)
def ctc_loss(
    context: Context,
    log_probs: TensorType,
    targets: TensorType,
    input_lengths: Value,
    target_lengths: Value,
    blank: Value = 0,
    reduction: Value = "mean",
    zero_infinity: Value = False,
) -> TensorType:
    """The loss of all alignments of a target with log-probabilities (t, b, c) or (t, c).

    Raises:
        ShapeError: the log-probabilities have not two or three axes.
    """
    rank = log_probs.shape.rank
    if log_probs.shape.least_rank > 3 or (rank is not None and rank < 2):
        raise ShapeError("ctc_loss", f"{log_probs.shape.least_rank} axes, 2 or 3 expected", f"log_probs {log_probs}")
    check_sequence(context, "ctc_loss", log_probs, batch_first=False, name="log_probs", told_by="")
    losses = context.unknown_tensor(log_probs.dtype)
    if rank is not None:
        losses = log_probs.with_shape(Shape(log_probs.shape.axes[1:2] if rank == 3 else ()))
    return reduce_loss(context, "ctc_loss", losses, reduction)
