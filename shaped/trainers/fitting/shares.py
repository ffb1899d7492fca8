"""The part of each batch that is one process's."""

from __future__ import annotations

import copy
import hashlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset, Sampler

from shaped.trainers.fitting.batches import tensors_of
from shaped.trainers.fitting.ranks import Ranks


class Shares(Sampler[list[int]]):
    """A batch sampler that gives one process its part of every batch of another batch sampler.

    Rank 0 draws the batches and tells the others, so that all parts are of the same batches, whatever the random
    generators of the others are. A batch of n examples is cut into parts of n // size or one more; where there are
    fewer examples than processes, a process without one is lent the first, which then does not count.

    Args:
        batches: gives lists of indices.
    """

    def __init__(self, batches: Iterable[Sequence[int]], ranks: Ranks) -> None:
        self._batches = batches
        self._ranks = ranks
        # Whether the batch at a position has examples for this process.
        self.is_counted: list[bool] = []

    def __iter__(self) -> Iterator[list[int]]:
        # Not before the first is asked for: a loader draws a seed for its workers from the same generator before that.
        drawn = [list(batch) for batch in self._batches] if self._ranks.is_first else []
        self._ranks.agree()
        drawn = self._ranks.broadcast(drawn)
        self.is_counted = [len(batch) > self._ranks.rank for batch in drawn]
        for batch in drawn:
            yield part(batch, self._ranks.rank, self._ranks.size) or batch[:1]

    def __len__(self) -> int:
        return len(self._batches)  # type: ignore[arg-type]  # raises, as the sampler itself, where it has no length


def part(batch: Sequence[int], rank: int, size: int) -> list[int]:
    """The part of a process: consecutive, and as large as any other's or larger by one at most.

    >>> [part(range(7), rank, 3) for rank in range(3)]
    [[0, 1, 2], [3, 4], [5, 6]]
    """
    least, more = divmod(len(batch), size)
    begin = rank * least + min(rank, more)
    return list(batch[begin : begin + least + (rank < more)])


class Feed:
    """A process's batches of an epoch, as many as every other process has.

    A `DataLoader` gives each process its part of every batch; one with a `DistributedSampler`, and whatever is no
    `DataLoader` over indices, is taken to give the process's own batches. A process that has fewer of them than others
    goes through its last one again, which does not count.

    Args:
        batches: as they were given to `fit`.
        name: what they are called in messages.
        is_training: whether it matters that processes have the same data.
    """

    def __init__(self, batches: Iterable[Any], name: str, ranks: Ranks, is_training: bool) -> None:
        self._batches = batches
        self._name = name
        self._ranks = ranks
        self._shares: Shares | None = None
        self._is_to_be_compared = False
        if ranks.size == 1:
            return
        if (sampler := _distributed_sampler(batches)) is not None:
            if (sampler.num_replicas, sampler.rank) != (ranks.size, ranks.rank):
                raise ValueError(
                    f"{name}: its sampler is that of rank {sampler.rank} of {sampler.num_replicas}, but this is rank "
                    f"{ranks.rank} of {ranks.size}"
                )
        elif isinstance(batches, DataLoader) and not isinstance(batches.dataset, IterableDataset):
            self._share(batches)
        else:
            self._is_to_be_compared = is_training

    def _share(self, loader: DataLoader[Any]) -> None:
        """Replace the loader by one of this process's parts."""
        if loader.batch_sampler is None:
            raise ValueError(
                f"{self._name}: a DataLoader with batch_size=None cannot be split over {self._ranks.size} processes: "
                "give it a torch.utils.data.DistributedSampler"
            )
        if not getattr(loader, "in_order", True):
            raise ValueError(f"{self._name}: a DataLoader with in_order=False cannot be split: leave that away")
        self._shares = Shares(loader.batch_sampler, self._ranks)
        self._batches = copy.copy(loader)
        # A loader refuses another sampler once it is made. Its copy has not begun: nothing was drawn by the old one.
        vars(self._batches).update(batch_sampler=self._shares, _iterator=None)

    def __iter__(self) -> Iterator[tuple[Any, bool]]:
        """Each batch, and whether it counts.

        Raises:
            ValueError: another process has batches, and this one has none.
        """
        if self._ranks.size == 1:
            for batch in self._batches:
                yield batch, True
            return
        # What has only __getitem__ can be gone through too.
        own, last, number, missing = iter(self._batches), None, 0, object()
        while True:
            batch = next(own, missing)
            has = [bool(one) for one, _ in self._ranks.agree(float(batch is not missing))]
            if not any(has):
                return
            if number == 0:
                if not all(has):
                    raise ValueError(f"{self._name} gives rank {has.index(False)} no batch, but others some")
                self._compare(batch)
            if batch is missing:
                yield last, False
            else:
                last = batch
                yield batch, self._shares is None or self._shares.is_counted[number]
            number += 1

    def _compare(self, batch: object) -> None:
        """Warn where all processes were given the same first batch: they do the same work."""
        if not self._is_to_be_compared:
            return
        self._is_to_be_compared = False
        digests = self._ranks.gather(_digest(batch))
        if len(set(digests)) == 1 and digests[0] and self._ranks.is_first:
            warnings.warn(
                f"{self._name} gives each of {self._ranks.size} processes the same batches: give a DataLoader over "
                "examples, which fit splits, or each process its own part",
                stacklevel=6,
            )


def _distributed_sampler(batches: object) -> Any:
    """The sampler of a loader that gives a process its own part, if it has such a one."""
    for owner in (batches, getattr(batches, "batch_sampler", None)):
        for sampler in (getattr(owner, "sampler", None), getattr(owner, "batch_sampler", None)):
            if hasattr(sampler, "num_replicas") and hasattr(sampler, "rank"):
                return sampler
    return None


def _digest(batch: object) -> str:
    """A short text that differs where the tensors of batches do; empty without tensors."""
    digest = hashlib.sha256()
    count = 0
    for one in tensors_of(batch):
        values = one if isinstance(one, torch.Tensor) else one.data
        digest.update(f"{values.dtype} {tuple(values.shape)}".encode())
        # The first ones tell batches apart; a batch may be large.
        digest.update(bytes(values.detach().cpu().flatten()[:4096].contiguous().view(torch.uint8).tolist()))
        count += 1
    return digest.hexdigest() if count else ""
