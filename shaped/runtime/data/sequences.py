"""Sequences of different lengths as one tensor, and the lengths with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import NamedTuple

import torch
from jaxtyping import Int64, Shaped
from torch import Tensor

from shaped.errors import DeviceError, DtypeError, Fault, ShapeError
from shaped.runtime.arguments import require_tensor, require_whole
from shaped.runtime.tensor_types import dtype_name

IGNORE_INDEX = -100  # of torch's cross_entropy and nll_loss, unless they are told another


def pad_sequence(
    sequences: Iterable[Shaped[Tensor, "length *features"]], *, padding: float
) -> tuple[Shaped[Tensor, "batch len *features"], Int64[Tensor, "batch"]]:
    """Sequences one below the other, each filled up behind its end.

    For the inputs of a model. Targets of a loss are padded by `pad_targets`, with what the loss leaves out.

    Args:
        sequences: tensors of one dtype and device, whose first dim is their length and whose other dims agree.
        padding: what to fill up with. A whole number goes into an int64 as it is, which
            `torch.nn.utils.rnn.pad_sequence` rounds to a float. An index for an `nn.Embedding` has to be one of its
            rows, whatever comes of it, such as its `padding_idx`.

    Returns:
        The padded sequences, and the length of each, int64 on the CPU, from which `padding_mask` makes a mask.

    Raises:
        ValueError: there is no sequence.
        TypeError: one is no tensor, or `padding` is no number.
        shaped.errors.Fault: a sequence differs from the first; says which, and in what. Or its dtype cannot hold
            `padding`.

    >>> padded, lengths = pad_sequence([torch.tensor([5, 6, 7]), torch.tensor([8])], padding=0)
    >>> padded.tolist(), lengths.tolist()
    ([[5, 6, 7], [8, 0, 0]], [3, 1])
    """
    return _padded("pad_sequence", sequences, padding)


def pad_targets(
    targets: Iterable[Shaped[Tensor, "length *positions"]], *, ignore_index: int = IGNORE_INDEX
) -> Shaped[Tensor, "batch len *positions"]:
    """Targets one below the other, filled up with the class that the loss leaves out of its sum and of its mean.

    Args:
        targets: int64 classes, whose first dim is the length.
        ignore_index: that of the loss: `nn.CrossEntropyLoss(ignore_index=...)`. The default is also torch's.

    Raises:
        ValueError: there is no target.
        TypeError: one is no tensor.
        shaped.errors.Fault: a target is no int64, or differs from the first.

    >>> pad_targets([torch.tensor([1, 2, 3]), torch.tensor([4])]).tolist()
    [[1, 2, 3], [4, -100, -100]]
    """
    targets = list(targets)
    for number, target in enumerate(targets):
        if require_tensor(f"pad_targets: target {number}", target).dtype != torch.int64:
            raise DtypeError(
                "pad_targets",
                "ignore_index is for classes, which are int64: scores and values are padded by pad_sequence, and "
                "weighted by a mask",
                f"target {number} is {dtype_name(target.dtype)}",
            )
    return _padded("pad_targets", targets, ignore_index)[0]


class PaddedBatch(NamedTuple):
    """A batch of padded inputs and what is to come of them.

    The order is that of `shaped.trainers.supervised`: `model(inputs, lengths)` against `targets`.
    """

    inputs: Shaped[Tensor, "batch len *features"]
    lengths: Int64[Tensor, "batch"]
    targets: Shaped[Tensor, "batch *positions"]


@dataclass(frozen=True)
class PadCollate:
    """Makes a padded batch of (input, target) examples: `DataLoader(dataset, collate_fn=PadCollate(padding=0))`.

    Targets that are sequences are padded with `ignore_index`; numbers and tensors without dims, one target for a whole
    sequence, are stacked. It can be sent to worker processes.

    Args:
        padding: what the inputs are filled up with: see `pad_sequence`.
        ignore_index: what the targets are filled up with: that of the loss.

    Raises:
        TypeError: an example is no pair (input, target) of tensors.

    >>> collate = PadCollate(padding=0)
    >>> batch = collate([(torch.tensor([5, 6]), torch.tensor([6, 7])), (torch.tensor([8]), torch.tensor([9]))])
    >>> batch.inputs.tolist(), batch.lengths.tolist(), batch.targets.tolist()
    ([[5, 6], [8, 0]], [2, 1], [[6, 7], [9, -100]])
    """

    padding: float
    ignore_index: int = IGNORE_INDEX

    def __post_init__(self) -> None:
        given: object = self.padding
        if isinstance(given, (list, tuple)):
            raise TypeError("padding is a list of examples: write collate_fn=PadCollate(padding=0), not the class")
        require_whole("ignore_index", self.ignore_index)

    def __call__(self, examples: Sequence[tuple[Tensor, Tensor | float]]) -> PaddedBatch:
        """The batch of some examples."""
        for number, example in enumerate(examples):
            _require_pair(number, example)
        inputs, lengths = pad_sequence([example[0] for example in examples], padding=self.padding)
        # A class is often a plain number, of which torch's own collate makes a tensor too.
        targets = [
            torch.tensor(target)
            if isinstance(target, (bool, int, float))
            else require_tensor(f"target {number}", target)
            for number, (_, target) in enumerate(examples)
        ]
        if all(target.dim() == 0 for target in targets):
            return PaddedBatch(inputs, lengths, torch.stack(targets))
        return PaddedBatch(inputs, lengths, pad_targets(targets, ignore_index=self.ignore_index))


def _require_pair(number: int, example: object) -> None:
    """Refuse an example of which a part would be lost, or that has no parts."""
    size = f" of {len(example)}" if isinstance(example, (tuple, list)) else ""
    if size != " of 2":
        raise TypeError(f"example {number} is a {type(example).__name__}{size}, not (input, target)")


def _padded(operation: str, given: Iterable[Tensor], padding: float) -> tuple[Tensor, Tensor]:
    sequences = list(given)
    if len(sequences) == 0:
        raise ValueError(f"{operation}: there is no sequence, so neither a shape nor a dtype")
    first = sequences[0]
    for number, one in enumerate(sequences):
        require_tensor(f"{operation}: sequence {number}", one)
        if fault := _difference(operation, first, one, number):
            raise fault
    padding = _held(operation, first.dtype, padding)
    lengths = [len(one) for one in sequences]
    padded = first.new_full((len(sequences), max(lengths), *first.shape[1:]), padding)
    for row, (one, length) in enumerate(zip(sequences, lengths)):
        padded[row, :length] = one
    return padded, torch.tensor(lengths)


def _difference(operation: str, first: Tensor, one: Tensor, number: int) -> Fault | None:
    """What keeps a sequence from being padded with the first, if anything."""
    if one.dim() == 0:
        return ShapeError(operation, f"sequence {number} has no dims, so it has no length", "()")
    if one.shape[1:] != first.shape[1:]:
        shapes = f"{tuple(first.shape)} and {tuple(one.shape)}"
        return ShapeError(operation, f"sequences 0 and {number} differ in more than their first dim", shapes)
    if one.dtype != first.dtype:
        dtypes = f"{dtype_name(first.dtype)} and {dtype_name(one.dtype)}"
        return DtypeError(operation, f"sequences 0 and {number} differ in dtype", dtypes)
    if one.device != first.device:
        return DeviceError(
            operation, f"sequences 0 and {number} are not on one device", f"{first.device}, {one.device}"
        )
    return None


def _held(operation: str, dtype: torch.dtype, padding: float) -> float:
    """The padding as the dtype holds it. One that it would make another number of, without a word, is refused."""
    if not isinstance(padding, Number) and not hasattr(padding, "__index__"):
        raise TypeError(f"padding is {padding!r}: a number is needed")
    if dtype.is_floating_point or dtype.is_complex:
        is_held = padding != padding or abs(padding) == float("inf") or abs(padding) <= torch.finfo(dtype).max
        if is_held:
            return padding
    elif hasattr(padding, "__index__") or float(padding).is_integer():
        whole = int(padding)
        least, most = (0, 1) if dtype == torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
        if least <= whole <= most:
            return whole
    raise DtypeError(operation, "the sequences cannot hold the padding", f"{dtype_name(dtype)} and {padding!r}")
