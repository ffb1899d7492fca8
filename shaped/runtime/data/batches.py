"""Shuffled batches whose order is that of a seed and an epoch, alone or below a `DataLoader`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from functools import partial
from typing import Any, Generic, Protocol, TypeVar, cast, overload

import torch
from jaxtyping import Int64
from torch import Tensor
from torch.utils.data import Sampler, default_collate

from shaped.runtime.arguments import require_whole
from shaped.runtime.data.shuffling import shuffled

Batch = TypeVar("Batch")
Example = TypeVar("Example", covariant=True)
Tensors = TypeVar("Tensors", bound=tuple[Tensor, ...])
SomeTensors = TypeVar("SomeTensors", bound=tuple[Tensor, ...], covariant=True)


class HasTensors(Protocol[SomeTensors]):
    """Data whose examples are the rows of some tensors, such as a `TensorDataset`."""

    @property
    def tensors(self) -> SomeTensors:
        """The tensors, of equally many rows."""
        ...


class Examples(Protocol[Example]):
    """Data that give example `i` by `data[i]`, such as a `Dataset` or a list."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Example: ...


class BatchSampler(Sampler[list[int]]):
    """The positions of each batch's examples, for `DataLoader(dataset, batch_sampler=...)`.

    Going through it gives one epoch, and the next time the next one, in an order that depends on `seed` and the number
    of the epoch alone. There is no state beside that number, which `set_epoch` sets, as of a `DistributedSampler`:
    `shaped.trainers.fit` does so, and a resumed run has the batches of the run that was never stopped.

    Args:
        data: the data, as `Batches` takes them, or how many examples they have.
        batch_size: how many examples a batch has.
        seed: chooses the orders; any whole number.
        shuffle: whether to shuffle at all; else the order is that of the data.
        drop_last: whether to leave out a last batch of fewer examples; in each epoch, these are others.

    Raises:
        TypeError: a number is no whole number.
        ValueError: there would be no batch.

    >>> batches = BatchSampler(5, batch_size=2, seed=0)
    >>> list(batches), list(batches)
    ([[2, 3], [4, 0], [1]], [[0, 1], [3, 4], [2]])
    """

    def __init__(
        self,
        data: Sized | Tensor | HasTensors[tuple[Tensor, ...]] | int,
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
    ) -> None:
        self.count = _count(data)
        self.batch_size = require_whole("batch_size", batch_size)
        self.seed = require_whole("seed", seed)
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.epoch = 0  # the one that is gone through next
        if self.batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}: 1 or more is needed")
        if len(self) < 1:
            dropped = f" of {self.batch_size}, and drop_last leaves out a smaller one" if self.count > 0 else ""
            raise ValueError(f"{self.count} examples make no batch{dropped}")

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch, counted from 0, that is gone through next."""
        self.epoch = require_whole("epoch", epoch)

    def next_order(self) -> Int64[Tensor, "count"]:
        """The positions of the next epoch's examples, without those of a dropped batch, on the CPU."""
        order = shuffled(self.count, self.seed, self.epoch) if self.shuffle else torch.arange(self.count)
        self.epoch += 1
        return order[: len(self) * self.batch_size]

    def __len__(self) -> int:
        whole, rest = divmod(self.count, self.batch_size)
        return whole if self.drop_last or not rest else whole + 1

    def __iter__(self) -> Iterator[list[int]]:
        # A generator function: an iterator begins an epoch when its first batch is taken. With workers, a DataLoader
        # makes one more, of which it takes none.
        for positions in _split(self.next_order(), self.batch_size):
            yield positions.tolist()


class Batches(Generic[Batch]):
    """Seeded batches of data that lie in memory, without a `DataLoader`: each goes through them once.

    A batch of tensors is one `index_select` of each, on the tensors' own device: a copy, which may be written to. The
    orders are those of `BatchSampler` with the same settings, and so is `set_epoch`.

    Args:
        data: a tensor, whose rows are the examples; a tuple of tensors of equally many rows, or a `TensorDataset`,
            which give tuples; or anything with a length that gives example `i` by `data[i]`.
        batch_size: how many examples a batch has.
        seed: chooses the orders; any whole number.
        shuffle: whether to shuffle at all; else the order is that of the data.
        drop_last: whether to leave out a last batch of fewer examples.
        collate: makes a batch of a list of examples, which are `data[i]` then, whatever `data` is. By default batches
            of what is no tensors are made as a `DataLoader` makes them.

    Raises:
        TypeError: `data` cannot be taken apart, or a number is no whole number.
        ValueError: there would be no batch, or tensors have different numbers of rows.

    >>> x, y = torch.arange(10).reshape(5, 2), torch.arange(5)
    >>> for inputs, targets in Batches((x, y), batch_size=3, seed=0):
    ...     print(inputs.tolist(), targets.tolist())
    [[4, 5], [6, 7], [8, 9]] [2, 3, 4]
    [[0, 1], [2, 3]] [0, 1]
    """

    @overload
    def __init__(
        self: Batches[Tensor],
        data: Tensor,
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
    ) -> None: ...

    @overload
    def __init__(
        self: Batches[Tensors],
        data: Tensors | HasTensors[Tensors],
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
    ) -> None: ...

    @overload
    def __init__(
        self: Batches[Any],
        data: Examples[Any],
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
    ) -> None: ...

    @overload
    def __init__(
        self,
        data: Examples[Example],
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
        collate: Callable[[list[Example]], Batch],
    ) -> None: ...

    def __init__(
        self,
        data: Tensor | tuple[Tensor, ...] | HasTensors[tuple[Tensor, ...]] | Examples[Any],
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
        collate: Callable[[list[Any]], Batch] | None = None,
    ) -> None:
        self.data = data
        self.batch_size = batch_size
        self.collate: Callable[[list[Any]], Any] = collate or default_collate
        self._tensors = _tensors_of(data) if collate is None else None
        if self._tensors is not None:
            count = _rows(self._tensors)
        else:
            if collate is None:
                _require_examples(data)
            if isinstance(data, Mapping):
                raise TypeError(f"data is a {type(data).__name__}, which has no example i: give a tuple of its tensors")
            if not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
                raise TypeError(
                    f"data is a {type(data).__name__}: a tensor, a tuple of tensors, or what has a length and gives "
                    "example i by data[i] is needed"
                )
            count = len(cast(Examples[Any], data))
        self.batch_sampler = BatchSampler(count, batch_size, seed=seed, shuffle=shuffle, drop_last=drop_last)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch, counted from 0, that is gone through next."""
        self.batch_sampler.set_epoch(epoch)

    def __len__(self) -> int:
        return len(self.batch_sampler)

    def __iter__(self) -> Iterator[Batch]:
        if self._tensors is None:
            examples = cast(Examples[Any], self.data)
            for positions in self.batch_sampler:
                yield self.collate([examples[one] for one in positions])
        else:
            is_alone = isinstance(self.data, Tensor)
            for rows in _rows_by_batch(self._tensors, self.batch_sampler.next_order(), self.batch_size):
                yield cast(Batch, rows[0] if is_alone else rows)


def _tensors_of(data: object) -> tuple[Tensor, ...] | None:
    """The tensors whose rows are the examples, or None for data of another kind."""
    tensors = (data,) if isinstance(data, Tensor) else getattr(data, "tensors", data)
    if isinstance(tensors, tuple) and tensors and all(isinstance(one, Tensor) for one in tensors):
        return tensors
    return None


def _require_examples(data: object) -> None:
    """Refuse columns that would be taken for examples: torch would stack them, or fail at the first batch."""
    if not isinstance(data, (list, tuple)):
        return
    # Arrays have a shape, as tensors do.
    columns = [one for one in data if hasattr(one, "shape") and len(one.shape) > 0]
    if columns and isinstance(data, tuple):
        other = next(one for one in data if not isinstance(one, Tensor))
        raise TypeError(
            f"data is a tuple that has a {type(other).__name__}: for rows of each of them give tensors "
            "(torch.from_numpy(...)), for one example each a list, and collate"
        )
    if any(isinstance(one, Tensor) for one in columns):
        raise TypeError(
            "data is a list of tensors: for rows of each of them give a tuple, for one example each "
            "torch.stack(data), or collate"
        )


def _count(data: object) -> int:
    """How many examples data have; a number is how many."""
    if (tensors := _tensors_of(data)) is not None:
        return _rows(tensors)
    if isinstance(data, Sized):
        return len(data)
    if not hasattr(data, "__index__"):
        raise TypeError(f"data is a {type(data).__name__}: what has a length is needed, or the number of examples")
    return require_whole("data", data)


def _rows(tensors: Sequence[Tensor]) -> int:
    """How many rows each of the tensors has."""
    if any(one.dim() == 0 for one in tensors):
        raise ValueError(f"tensor {[one.dim() for one in tensors].index(0)} of data has no dims, so it has no rows")
    counts = [len(one) for one in tensors]
    if len(set(counts)) > 1:
        raise ValueError(f"the tensors of data have different numbers of rows: {', '.join(map(str, counts))}")
    return counts[0]


def _rows_by_batch(
    tensors: tuple[Tensor, ...], order: Int64[Tensor, "count"], batch_size: int
) -> Iterator[tuple[Tensor, ...]]:
    """The rows of each batch, one `index_select` for each tensor."""
    order_on = {device: _split(order.to(device), batch_size) for device in {one.device for one in tensors}}
    columns = [map(partial(one.index_select, 0), order_on[one.device]) for one in tensors]
    return zip(*columns)


def _split(order: Int64[Tensor, "count"], size: int) -> tuple[Int64[Tensor, "batch"], ...]:
    """An order in batches."""
    return order.split(size)  # type: ignore[no-any-return, no-untyped-call]  # torch's own
