"""Batches of every kind: how large they are, where they go, and what a loader has that is random."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_sequence
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, RandomSampler, TensorDataset

from shaped import TList
from shaped.trainers.fitting.batches import announce_epoch, batch_size, generators_of, length, to_device

META = torch.device("meta")
Pair = namedtuple("Pair", ["x", "y"])
ROWS = TensorDataset(torch.arange(10.0))


@dataclass(frozen=True)
class Example:
    """A batch as a dataclass."""

    x: Tensor
    name: str


class Moved(OrderedDict[str, Any]):
    """A mapping that moves itself, as a tokenizer's encodings do."""

    def to(self, device: torch.device) -> Moved:
        return Moved({name: value.to(device) for name, value in self.items()})


def places(value: Any) -> Any:
    """The value with the device for each tensor."""
    if isinstance(value, (Tensor, PackedSequence)):
        return (value.data if isinstance(value, PackedSequence) else value).device.type
    if isinstance(value, TList):
        return tuple(map(places, value))
    if isinstance(value, Pair):
        return Pair(*map(places, value))
    if isinstance(value, (tuple, list)):
        return type(value)(map(places, value))
    if isinstance(value, dict):
        return type(value)({name: places(one) for name, one in value.items()})
    if isinstance(value, Example):
        return places(value.x), value.name
    return value


@pytest.mark.parametrize(
    "batch, expected",
    [
        (torch.ones(2), "meta"),
        ((torch.ones(2), torch.ones(2)), ("meta", "meta")),
        ([torch.ones(2), [torch.ones(1), "text", None]], ["meta", ["meta", "text", None]]),
        ({"x": torch.ones(2), "deep": {"y": (torch.ones(1),), 3: 4}}, {"x": "meta", "deep": {"y": ("meta",), 3: 4}}),
        (Pair(torch.ones(2), "text"), Pair("meta", "text")),
        (Example(torch.ones(2), "text"), ("meta", "text")),
        (Moved(x=torch.ones(2)), Moved(x="meta")),
        (OrderedDict(x=torch.ones(2)), OrderedDict(x="meta")),
        (TList(torch.ones(2), torch.ones(1)), ("meta", "meta")),
        ("text", "text"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_tensors_go_to_the_device_and_the_rest_is_kept(batch: Any, expected: Any) -> None:
    moved = to_device(batch, META)
    assert type(moved) is type(batch)
    assert places(moved) == expected


def test_the_batch_itself_stays_where_it_was() -> None:
    batch = {"x": torch.ones(2), "deep": [torch.ones(1)]}
    to_device(batch, META)
    assert places(batch) == {"x": "cpu", "deep": ["cpu"]}


def test_a_packed_sequence_goes_to_the_device() -> None:
    packed = pack_sequence([torch.ones(3, 2), torch.ones(1, 2)])
    moved = to_device(packed, META)
    assert type(moved) is PackedSequence
    assert moved.data.device.type == "meta"
    # Its lengths stay on the CPU, where torch wants them.
    assert moved.batch_sizes.device.type == "cpu"
    assert batch_size(packed) == 2


def test_what_is_on_the_device_is_not_copied() -> None:
    x = torch.ones(2)
    assert to_device((x,), torch.device("cpu"))[0] is x


@pytest.mark.parametrize(
    "batch, size",
    [
        (torch.ones(3, 2), 3),
        ((torch.ones(4, 2), torch.ones(5)), 4),
        ({"id": "a", "x": [torch.ones(6)]}, 6),
        ((torch.tensor(1.0), torch.ones(7)), 7),
        (Example(torch.ones(8), "a"), 8),
        (Pair("a", torch.ones(2)), 2),
        (torch.tensor(1.0), 1),
        ("text", 1),
        (torch.ones(0, 2), 0),
    ],
    ids=str,
)
def test_the_size_of_a_batch_is_the_first_dim_of_its_first_tensor_that_has_one(batch: Any, size: int) -> None:
    assert batch_size(batch) == size


def test_the_number_of_batches_is_told_where_it_is_known() -> None:
    class Stream(IterableDataset[Any]):
        def __iter__(self) -> Any:
            return iter([1])

    assert length(DataLoader(ROWS, 4)) == 3
    assert length([1, 2]) == 2
    assert length(DataLoader(Stream(), 4)) is None
    assert length(one for one in [1]) is None


def test_generators_of_loaders_are_found_each_once() -> None:
    one, other = torch.Generator(), torch.Generator()
    assert generators_of(DataLoader(ROWS, shuffle=True), "train") == {}
    assert generators_of(DataLoader(ROWS, shuffle=True, generator=one), "train") == {"train.generator": one}
    sampler = RandomSampler(ROWS, generator=one)
    assert generators_of(DataLoader(ROWS, sampler=sampler), "train") == {"train.sampler.generator": one}
    assert generators_of(DataLoader(ROWS, sampler=sampler, generator=other), "train") == {
        "train.generator": other,
        "train.sampler.generator": one,
    }
    loader: DataLoader[Any] = DataLoader(ROWS, batch_sampler=BatchSampler(sampler, 2, drop_last=False))
    assert generators_of(loader, "v") == {"v.batch_sampler.sampler.generator": one}
    assert generators_of([1, 2], "train") == generators_of(None, "train") == {}


def test_everything_that_asks_for_the_epoch_is_told_it_once() -> None:
    told: list[tuple[str, int]] = []

    class Asking:
        def __init__(self, name: str) -> None:
            self.name = name

        def set_epoch(self, epoch: int) -> None:
            told.append((self.name, epoch))

    class Loader(Asking):
        sampler = dataset = Asking("data")
        batch_sampler = Asking("batches")

    announce_epoch(Loader("loader"), 3)
    assert sorted(told) == [("batches", 3), ("data", 3), ("loader", 3)]
    announce_epoch([1, 2], 3)
