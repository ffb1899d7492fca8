"""Class indices as targets: what they choose of scores, and what weighs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shaped.spec.dims import Dim
from shaped.spec.expr import Condition, Expr, index_zero, negation, real, where
from shaped.spec.meanings.reduction import sum_
from shaped.spec.tensor import Tensor, build


def class_axis(input: Tensor) -> int:
    """The axis that holds the classes: 1, or the only one."""
    return 0 if input.rank == 1 else 1


def along_classes(vector: Tensor, input: Tensor) -> Tensor:
    """A value for each class, to be broadcast over the samples."""
    behind = input.rank - 1 - class_axis(input)
    return Tensor((*vector.axes, *[()] * behind), vector.body, vector.kind)


def along_samples(per_sample: Tensor, input: Tensor) -> Tensor:
    """A value for each sample, to be broadcast over the classes; a value without axes as it is."""
    if not per_sample.rank:
        return per_sample
    axis = class_axis(input)
    return Tensor((*per_sample.axes[:axis], (), *per_sample.axes[axis:]), per_sample.body, per_sample.kind)


def summed_over_samples(input: Tensor) -> Tensor:
    """The sum for each class."""
    others = [axis for axis in range(input.rank) if axis != class_axis(input)]
    return sum_(input, others) if others else input


@dataclass(frozen=True)
class ClassTargets:
    """Class indices, one for each sample.

    Args:
        input: scores or log-probabilities.
        target: the class indices.
        weight: a weight for each class.
        ignore_index: the index of samples that count for nothing.
    """

    input: Tensor
    target: Tensor
    weight: Tensor | None
    ignore_index: int

    @property
    def axis(self) -> int:
        """The axis that holds the classes."""
        return class_axis(self.input)

    def index(self, *sample: Dim) -> Dim:
        """The class of a sample."""
        is_batch_of_one = self.input.rank == 1 and self.target.rank == 1  # torch takes it for a single sample
        return self.target.whole_at(*((Dim.of(0),) if is_batch_of_one else sample))

    def counts(self, *sample: Dim) -> Condition:
        """Whether a sample is not ignored."""
        return negation(index_zero(self.index(*sample) - self.ignore_index))

    def weight_at(self, index: Dim) -> Expr:
        """The weight of a class."""
        return real(1) if self.weight is None else self.weight.at(index)

    def for_samples(self, entry: Callable[[Dim, tuple[Dim, ...]], Expr]) -> Tensor:
        """`entry` of the class and place of each sample, 0 where it is ignored."""
        sizes = (*self.input.sizes[: self.axis], *self.input.sizes[self.axis + 1 :])

        def at(*sample: Dim) -> Expr:
            return where(self.counts(*sample), entry(self.index(*sample), sample), 0)

        return build(sizes, at)

    def for_classes(self, entry: Callable[[Dim, Condition], Expr]) -> Tensor:
        """For each sample and class `entry` of the class and whether it is the own one; 0 for ignored samples."""
        axis = self.axis

        def at(*place: Dim) -> Expr:
            sample = (*place[:axis], *place[axis + 1 :])
            is_own = index_zero(place[axis] - self.index(*sample))
            return where(self.counts(*sample), entry(place[axis], is_own), 0)

        return build(self.input.sizes, at)

    def counted(self) -> Tensor:
        """For each sample 1, 0 where it is ignored."""
        return self.for_samples(lambda index, sample: real(1))

    def weights(self) -> Tensor:
        """For each sample the weight of its class."""
        return self.for_samples(lambda index, sample: self.weight_at(index))

    def chosen(self, input: Tensor) -> Tensor:
        """For each sample the entry of its class, times the weight of that."""

        def entry(index: Dim, sample: tuple[Dim, ...]) -> Expr:
            return self.weight_at(index) * input.at(*sample[: self.axis], index, *sample[self.axis :])

        return self.for_samples(entry)

    def own_classes(self) -> Tensor:
        """For each sample and class whether it is that of the sample, as 1 or 0."""
        return self.for_classes(lambda index, is_own: where(is_own, 1, 0))

    def own_weights(self) -> Tensor:
        """For each sample and class the weight, 0 for classes that are not those of the sample."""
        return self.for_classes(lambda index, is_own: where(is_own, self.weight_at(index), 0))
