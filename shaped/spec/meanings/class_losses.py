"""Losses over classes: negative log-likelihood and margins. Cross entropy is in `cross_entropy`."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, index_zero, negation, positive, power, real, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.class_targets import ClassTargets, along_samples, summed_over_samples
from shaped.spec.meanings.elementwise import exp, log
from shaped.spec.meanings.kinds import number
from shaped.spec.meanings.losses import reduced_loss, reduction_of
from shaped.spec.meanings.reduction import mean, sum_
from shaped.spec.tensor import Tensor, build, pointwise, summed


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
    targets = ClassTargets(input, target, weight, ignore_index)
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
) -> tuple[Tensor, None, Tensor | None]:
    targets = ClassTargets(input, target, weight, ignore_index)
    is_mean = reduction_of(reduction, size_average, reduce) == "mean"
    total = sum_(targets.weights())
    upstream = along_samples(grad / total if is_mean else grad, input)
    for_input = -upstream * targets.own_weights()
    if weight is None:
        return for_input, None, None
    losses = -input
    if is_mean:  # the weights also are the divisor
        losses = losses + sum_(targets.chosen(input)) / total
    return for_input, None, summed_over_samples(upstream * targets.own_classes() * losses)


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
    scores = input if input.rank == 2 else Tensor(((), *(input.axes or ((),))), input.body, input.kind)
    batch, classes = scores.sizes

    def entry(*sample: Dim) -> Expr:
        row = sample[0] if sample else Dim.of(0)
        index = target.whole_at(*([row] if target.rank else []))
        scale = real(1) if weight is None else weight.at(index)

        def term(c: Dim) -> Expr:
            gap = number(margin) - scores.at(row, index) + scores.at(row, c)
            is_counted = negation(index_zero(c - index)) & positive(gap)
            return where(is_counted, scale * power(gap, p), 0)

        return summed(classes, term) / classes

    losses = build((batch,) if target.rank else (), entry)
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
    return reduced_loss(mean(losses, input.rank - 1), reduction_of(reduction, size_average, reduce))
