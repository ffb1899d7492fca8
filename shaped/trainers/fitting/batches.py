"""Batches as data loaders give them: tensors in tuples, lists and dicts, nested, with anything else between."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator, Mapping, MutableMapping, Sized
from typing import Any, TypeVar, cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence
from torch.utils.data import Dataset, IterableDataset

from shaped.runtime.tlist import TList

Batch = TypeVar("Batch")


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The batch with its tensors on a device; what is not a tensor is kept as it is.

    >>> to_device({"x": torch.zeros(2), "names": ["a", "b"]}, torch.device("cpu"))
    {'x': tensor([0., 0.]), 'names': ['a', 'b']}
    """
    return cast(Batch, _moved(batch, device))


def _moved(value: Any, device: torch.device) -> Any:
    if isinstance(value, Tensor):
        # A copy from pinned memory runs beside the computation; from other memory this changes nothing.
        return value.to(device, non_blocking=True)
    # Before named tuples, as it is one: some of its parts stay on the CPU. A mapping that can be moved knows how too,
    # such as the encodings of a tokenizer.
    if isinstance(value, (PackedSequence, Mapping)) and callable(move := getattr(value, "to", None)):
        return move(device)
    if isinstance(value, TList) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return type(value)(*(_moved(one, device) for one in value))
    if type(value) in (tuple, list):
        return type(value)(_moved(one, device) for one in value)
    if isinstance(value, MutableMapping):
        new = copy.copy(value)  # of its own kind, whatever its constructor takes
        new.update({key: _moved(one, device) for key, one in value.items()})
        return new
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value) if one.init}
        return dataclasses.replace(value, **{name: _moved(one, device) for name, one in fields.items()})
    return value


def batch_size(batch: object) -> int:
    """How many examples a batch has: the first dim of its first tensor; 1 without any.

    >>> batch_size((torch.zeros(4, 2), torch.zeros(4)))
    4
    """
    for tensor in tensors_of(batch):
        if isinstance(tensor, PackedSequence):
            return int(tensor.batch_sizes[0])
        if tensor.dim() > 0:
            return tensor.shape[0]
    return 1


def tensors_of(value: object) -> Iterator[Tensor | PackedSequence]:
    """The tensors of a batch, in order."""
    if isinstance(value, (Tensor, PackedSequence)):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from tensors_of(one)
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_of(one)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from tensors_of(getattr(value, field.name))


def length(batches: object) -> int | None:
    """The number of batches; None where it is not known before."""
    if not isinstance(batches, Sized):
        return None
    try:
        return len(batches)
    except (TypeError, NotImplementedError):  # a DataLoader over data without a length has a `__len__` that raises
        return None


def require_batches(batches: object, name: str, epochs: int) -> None:
    """Refuse what has no batch or has them only once, before anything is trained.

    Raises:
        TypeError: it is no iterable.
        ValueError: it is empty, or an iterator that the first epoch would exhaust.
    """
    # What has only __getitem__ can be gone through too, and some datasets are like that.
    if not hasattr(batches, "__iter__") and not hasattr(batches, "__getitem__"):
        raise TypeError(f"{name} is a {type(batches).__name__}: batches are wanted, as a DataLoader gives them")
    if isinstance(batches, (Tensor, str, bytes, Mapping)):
        raise TypeError(f"{name} is a {type(batches).__name__}: batches are wanted, as a DataLoader gives them")
    if isinstance(batches, Dataset) and not isinstance(batches, IterableDataset):
        raise TypeError(
            f"{name} is a {type(batches).__name__}, which gives examples: give DataLoader({name}, batch_size=32), or "
            "batch_size=None if each of its items is a batch"
        )
    if length(batches) == 0:
        raise ValueError(f"{name} has no batch: its length is 0")
    if epochs > 1 and isinstance(batches, Iterator):
        raise ValueError(
            f"{name} is an iterator, which is empty after one of {epochs} epochs: give what can be gone through again, "
            "such as a DataLoader or a list"
        )


def announce_epoch(batches: object, epoch: int) -> None:
    """Tell a loader, its samplers and its data the number of the epoch, where they ask for it (`set_epoch`).

    A `DistributedSampler` shuffles by it; the shuffle of an epoch is then the same when a run is resumed.
    """
    asked: list[object] = [batches]
    asked += [getattr(batches, name, None) for name in ("sampler", "batch_sampler", "dataset")]
    asked += [getattr(getattr(batches, "batch_sampler", None), "sampler", None)]
    told: set[int] = set()
    for one in asked:
        announce = getattr(one, "set_epoch", None)
        if callable(announce) and id(one) not in told:
            told.add(id(one))
            announce(epoch)


def generators_of(batches: object, name: str) -> dict[str, torch.Generator]:
    """The random generators of a loader's own, which a resumed run has to put back, each once."""
    places = {
        name: batches,
        f"{name}.sampler": getattr(batches, "sampler", None),
        f"{name}.batch_sampler": getattr(batches, "batch_sampler", None),
        f"{name}.batch_sampler.sampler": getattr(getattr(batches, "batch_sampler", None), "sampler", None),
        f"{name}.dataset": getattr(batches, "dataset", None),
    }
    found: dict[str, torch.Generator] = {}
    for place, owner in places.items():
        generator = getattr(owner, "generator", None)
        if isinstance(generator, torch.Generator) and not any(generator is other for other in found.values()):
            found[f"{place}.generator"] = generator
    return found
