"""Losses over classes: cross entropy, negative log-likelihood and margins."""

from __future__ import annotations

from shaped.spec.dims import Dim, product
from shaped.spec.expr import Condition, Expr, index_zero, negation, positive, power, real, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.elementwise import exp, log
from shaped.spec.meanings.kinds import number
from shaped.spec.meanings.losses import reduced_loss, reduction_of
from shaped.spec.meanings.reduction import mean, sum_
from shaped.spec.meanings.softmax import log_softmax, softmax
from shaped.spec.tensor import Tensor, build, pointwise, summed


def class_axis(input: Tensor) -> int:
    """The axis that holds the classes."""
    return 0 if input.rank == 1 else 1


def _along_classes(vector: Tensor, input: Tensor) -> Tensor:
    """A value for each class along the class axis."""
    behind = input.rank - 1 - class_axis(input)
    return Tensor((*vector.axes, *[()] * behind), vector.body, vector.kind)


class _Targets:
    """Class indices, one for each sample, and what weighs them.

    Args:
        input: scores or log-probabilities, whose class axis is 1 (0 of a single axis).
        target: class indices.
        weight: a weight for each class.
        ignore_index: the index of samples that count for nothing.
    """

    def __init__(self, input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> None:
        self.input, self.target, self.weight = input, target, weight
        self.ignore_index = ignore_index
        self.axis = class_axis(input)
        # torch takes one index of one axis for a single sample.
        self.is_single = input.rank == 1 and target.rank == 1

    def index(self, *sample: Dim) -> Dim:
        """The class of a sample."""
        return self.target.whole_at(*((Dim.of(0),) if self.is_single else sample))

    def counts(self, *sample: Dim) -> Condition:
        """Whether a sample is not ignored."""
        return negation(index_zero(self.index(*sample) - self.ignore_index))

    def weight_at(self, index: Dim) -> Expr:
        """The weight of a class."""
        return real(1) if self.weight is None else self.weight.at(index)

    def samples(self) -> tuple[Dim, ...]:
        """The sizes of the axes of the samples."""
        return (*self.input.sizes[: self.axis], *self.input.sizes[self.axis + 1 :])

    def weights(self) -> Tensor:
        """For each sample the weight of its class, 0 where it is ignored."""
        return build(
            self.samples(), lambda *sample: where(self.counts(*sample), self.weight_at(self.index(*sample)), 0)
        )

    def chosen(self, input: Tensor) -> Tensor:
        """For each sample the entry of its class times the weight of that, 0 where it is ignored."""

        def entry(*sample: Dim) -> Expr:
            index = self.index(*sample)
            at = (*sample[: self.axis], index, *sample[self.axis :])
            return where(self.counts(*sample), self.weight_at(index) * input.at(*at), 0)

        return build(self.samples(), entry)

    def spread(self, grad: Tensor) -> Tensor:
        """The adjoint of `chosen`: a gradient for each sample, at its class."""

        def entry(*at: Dim) -> Expr:
            sample, place = (*at[: self.axis], *at[self.axis + 1 :]), at[self.axis]
            is_class = index_zero(place - self.index(*sample)) & self.counts(*sample)
            return where(is_class, self.weight_at(place) * grad.at(*sample[len(sample) - grad.rank :]), 0)

        return build(self.input.sizes, entry)


@meaning("nll_loss")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    targets = _Targets(input, target, weight, ignore_index)
    kind = reduction_of(reduction, size_average, reduce)
    losses = -targets.chosen(input)
    return sum_(losses) / sum_(targets.weights()) if kind == "mean" else reduced_loss(losses, kind)


@backward("nll_loss")
def nll_loss_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> tuple[Tensor, None, None]:
    """The weight is no argument of the gradient: torch has none for it."""
    targets = _Targets(input, target, weight, ignore_index)
    if reduction_of(reduction, size_average, reduce) == "mean":
        grad = grad / sum_(targets.weights())
    return -targets.spread(grad), None, None


def _are_probabilities(input: Tensor, target: Tensor) -> bool:
    return target.kind == "float" and target.rank == input.rank


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
    hard = nll_loss(logarithms, target, weight, ignore_index=ignore_index, reduction=kind)
    if label_smoothing == 0:
        return hard
    targets = _Targets(input, target, weight, ignore_index)
    uniform = _against_uniform(logarithms, targets)
    if kind == "mean":
        uniform = sum_(uniform) / sum_(targets.weights())
    elif kind == "sum":
        uniform = sum_(uniform)
    share = number(label_smoothing) / input.sizes[class_axis(input)]
    return (1 - label_smoothing) * hard + build((), lambda: share) * uniform


def _smoothed(target: Tensor, label_smoothing: float) -> Tensor:
    """Probabilities mixed with equal ones."""
    if label_smoothing == 0:
        return target
    equal = build((), lambda: number(label_smoothing) / target.sizes[class_axis(target)])
    return target * (1 - label_smoothing) + equal


def _against_probabilities(logarithms: Tensor, target: Tensor, weight: Tensor | None) -> Tensor:
    terms = logarithms * target
    if weight is not None:
        terms = terms * _along_classes(weight, logarithms)
    return -sum_(terms, class_axis(logarithms))


def _against_uniform(logarithms: Tensor, targets: _Targets) -> Tensor:
    """The loss of each sample against all classes alike, weighted, 0 where it is ignored."""
    axis = targets.axis

    def entry(*sample: Dim) -> Expr:
        def term(c: Dim) -> Expr:
            return targets.weight_at(c) * logarithms.at(*sample[:axis], c, *sample[axis:])

        return where(targets.counts(*sample), -summed(logarithms.sizes[axis], term), 0)

    return build(targets.samples(), entry)


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
) -> tuple[Tensor, Tensor | None, None]:
    """softmax minus the target, each sample times its weight and share of the upstream gradient."""
    kind = reduction_of(reduction, size_average, reduce)
    axis = class_axis(input)
    probabilities = softmax(input, axis)
    if _are_probabilities(input, target):
        if kind == "mean":
            grad = grad / product([*input.sizes[:axis], *input.sizes[axis + 1 :]])
        upstream = _per_class(grad, input, kind)
        weighted = _smoothed(target, label_smoothing)
        if weight is not None:
            weighted = weighted * _along_classes(weight, input)
        for_input = upstream * (probabilities * sum_(weighted, axis, keepdim=True) - weighted)
        for_target = -upstream * log_softmax(input, axis) * (1 - label_smoothing)
        return for_input, for_target if weight is None else for_target * _along_classes(weight, input), None
    targets = _Targets(input, target, weight, ignore_index)
    if kind == "mean":
        grad = grad / sum_(targets.weights())
    hard = targets.weights() * grad
    for_input = probabilities * _per_class(hard, input, "none") - targets.spread(grad)
    if label_smoothing == 0:
        return for_input, None, None
    equal = build((), lambda: number(label_smoothing) / input.sizes[axis])
    counted = build(targets.samples(), lambda *sample: where(targets.counts(*sample), 1, 0))
    class_weights = build((input.sizes[axis],), targets.weight_at)
    smooth = _per_class(counted * grad, input, "none") * (
        probabilities * sum_(class_weights) - _along_classes(class_weights, input)
    )
    return (1 - label_smoothing) * for_input + equal * smooth, None, None


def _per_class(grad: Tensor, input: Tensor, reduction: str) -> Tensor:
    """A gradient for each sample, to be broadcast over the classes."""
    if reduction != "none":
        return grad
    axis = class_axis(input)
    return Tensor((*grad.axes[:axis], (), *grad.axes[axis:]), grad.body, grad.kind)


@meaning("multi_margin_loss", kinks="a margin met exactly: 0")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    classes = input.sizes[-1] if input.rank else Dim.of(1)
    if input.rank < 2:
        single = target.rank == 0
        input = Tensor(((), *(input.axes if input.rank else ((),))), input.body, input.kind)
    else:
        single = False

    def entry(*sample: Dim) -> Expr:
        n = sample[0] if sample else Dim.of(0)
        index = target.whole_at(*([n] if target.rank else []))
        scale = real(1) if weight is None else weight.at(index)

        def term(c: Dim) -> Expr:
            gap = number(margin) - input.at(n, index) + input.at(n, c)
            is_counted = negation(index_zero(c - index)) & positive(gap)
            return where(is_counted, scale * power(gap, p), 0)

        return summed(classes, term) / classes

    losses = build(() if single else input.sizes[:1], entry)
    return reduced_loss(losses, reduction_of(reduction, size_average, reduce))


@meaning("multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    def entry(x: Expr, y: Expr) -> Expr:
        return y * log(1 + exp(-x)) + (1 - y) * log(1 + exp(x))

    losses = pointwise(entry, input, target)
    if weight is not None:
        losses = losses * weight
    each = mean(losses, input.rank - 1)
    return reduced_loss(each, reduction_of(reduction, size_average, reduce))
