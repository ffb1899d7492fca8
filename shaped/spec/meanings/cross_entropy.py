"""Cross entropy of logits with class indices or with probabilities, weighted and smoothed."""

from __future__ import annotations

from shaped.spec.dims import Dim, product
from shaped.spec.expr import Expr
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.class_losses import nll_loss
from shaped.spec.meanings.class_targets import (
    ClassTargets,
    along_classes,
    along_samples,
    class_axis,
    summed_over_samples,
)
from shaped.spec.meanings.kinds import number
from shaped.spec.meanings.losses import reduced_loss, reduction_of
from shaped.spec.meanings.reduction import sum_
from shaped.spec.meanings.softmax import log_softmax, softmax
from shaped.spec.tensor import Tensor, build, summed

Gradients = tuple[Tensor, Tensor | None, Tensor | None]


@meaning("cross_entropy")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    kind = reduction_of(reduction, size_average, reduce)
    logarithms = log_softmax(input, class_axis(input))
    if _are_probabilities(input, target):
        losses = _against_probabilities(logarithms, _smoothed(target, label_smoothing), weight)
        return sum_(losses) / product(losses.sizes) if kind == "mean" else reduced_loss(losses, kind)
    if label_smoothing == 0:
        return nll_loss(logarithms, target, weight, ignore_index=ignore_index, reduction=kind)
    targets = ClassTargets(input, target, weight, ignore_index)
    losses = _smoothed_losses(logarithms, targets, label_smoothing)
    return sum_(losses) / sum_(targets.weights()) if kind == "mean" else reduced_loss(losses, kind)


def _are_probabilities(input: Tensor, target: Tensor) -> bool:
    return target.kind == "float" and target.rank == input.rank


def _share(label_smoothing: float, input: Tensor) -> Tensor:
    """What smoothing gives to each class."""
    return build((), lambda: number(label_smoothing) / input.sizes[class_axis(input)])


def _smoothed(target: Tensor, label_smoothing: float) -> Tensor:
    """Probabilities mixed with equal ones."""
    if label_smoothing == 0:
        return target
    return target * (1 - label_smoothing) + _share(label_smoothing, target)


def _against_probabilities(logarithms: Tensor, target: Tensor, weight: Tensor | None) -> Tensor:
    terms = logarithms * target
    if weight is not None:
        terms = terms * along_classes(weight, logarithms)
    return -sum_(terms, class_axis(logarithms))


def _smoothed_losses(logarithms: Tensor, targets: ClassTargets, label_smoothing: float) -> Tensor:
    """The loss of each sample against its class, mixed with that against all classes alike."""
    axis, classes = targets.axis, logarithms.sizes[targets.axis]

    def against_all(index: Dim, sample: tuple[Dim, ...]) -> Expr:
        def term(c: Dim) -> Expr:
            return targets.weight_at(c) * logarithms.at(*sample[:axis], c, *sample[axis:])

        return -summed(classes, term)

    uniform = targets.for_samples(against_all) * _share(label_smoothing, logarithms)
    return -targets.chosen(logarithms) * (1 - label_smoothing) + uniform


@backward("cross_entropy")
def cross_entropy_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Gradients:
    """softmax minus the target for each sample, times its weight and its share of the upstream gradient."""
    is_mean = reduction_of(reduction, size_average, reduce) == "mean"
    if _are_probabilities(input, target):
        return _of_probabilities(grad, input, target, weight, is_mean, label_smoothing)
    targets = ClassTargets(input, target, weight, ignore_index)
    total = sum_(targets.weights())
    upstream = along_samples(grad / total if is_mean else grad, input)
    wanted = targets.own_classes()  # the probabilities that the loss is against
    if label_smoothing != 0:
        counted = along_samples(targets.counted(), input)
        wanted = wanted * (1 - label_smoothing) + counted * _share(label_smoothing, input)
    for_input = _by_logits(upstream, input, wanted, weight)
    if weight is None:
        return for_input, None, None
    logarithms = log_softmax(input, targets.axis)
    for_weight = summed_over_samples(-upstream * wanted * logarithms)
    if is_mean:  # the weights also are the divisor
        loss = sum_(_smoothed_losses(logarithms, targets, label_smoothing)) / total
        for_weight = for_weight - summed_over_samples(upstream * targets.own_classes()) * loss
    return for_input, None, for_weight


def _by_logits(upstream: Tensor, input: Tensor, wanted: Tensor, weight: Tensor | None) -> Tensor:
    """The gradient of the logits of a loss against probabilities."""
    axis = class_axis(input)
    if weight is not None:
        wanted = wanted * along_classes(weight, input)
    return upstream * (softmax(input, axis) * sum_(wanted, axis, keepdim=True) - wanted)


def _of_probabilities(
    grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, is_mean: bool, label_smoothing: float
) -> Gradients:
    """The gradients where the target is probabilities."""
    axis = class_axis(input)
    if is_mean:
        grad = grad / product([size for number, size in enumerate(input.sizes) if number != axis])
    upstream = along_samples(grad, input)
    wanted, logarithms = _smoothed(target, label_smoothing), log_softmax(input, axis)
    for_input = _by_logits(upstream, input, wanted, weight)
    for_target = -upstream * logarithms * (1 - label_smoothing)
    if weight is None:
        return for_input, for_target, None
    for_weight = summed_over_samples(-upstream * wanted * logarithms)
    return for_input, for_target * along_classes(weight, input), for_weight
