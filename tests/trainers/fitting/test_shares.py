"""Each process's part of every batch."""

from __future__ import annotations

from itertools import chain
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, TensorDataset

from shaped.trainers.fitting.ranks import Ranks
from shaped.trainers.fitting.shares import Feed, Shares, part


@given(st.lists(st.integers()), st.integers(1, 9))
def test_parts_are_the_batch_in_order_and_differ_by_one_at_most(batch: list[int], size: int) -> None:
    parts = [part(batch, rank, size) for rank in range(size)]
    assert list(chain(*parts)) == batch
    sizes = [len(one) for one in parts]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] - sizes[-1] <= 1


class Pretended(Ranks):
    """A process among others that are not there: rank 0 draws, and all agree."""

    def __init__(self, rank: int, size: int, drawn: Any = None) -> None:
        super().__init__()
        self.rank, self.size, self.drawn = rank, size, drawn

    def agree(self, first: float = 0.0, second: float = 0.0) -> list[tuple[float, float]]:
        return [(first, second)] * self.size

    def broadcast(self, value: Any) -> Any:
        return value if self.rank == 0 else self.drawn


@given(st.integers(1, 40), st.integers(1, 9), st.integers(2, 5), st.integers(0, 2))
def test_a_loader_gives_every_example_to_one_process_in_the_batch_where_one_process_has_it(
    rows: int, batch: int, size: int, workers: int
) -> None:
    del workers  # batches come in the order of the sampler with any number of them

    def loader() -> DataLoader[Any]:
        generator = torch.Generator().manual_seed(rows)
        return DataLoader(TensorDataset(torch.arange(rows)), batch, shuffle=True, generator=generator)

    whole = [one.tolist() for (one,) in loader()]
    of_ranks = [list(Feed(loader(), "train", Pretended(rank, size, whole), True)) for rank in range(size)]
    for number, expected in enumerate(whole):
        counted = [one[number][0][0].tolist() for one in of_ranks if one[number][1]]
        assert list(chain(*counted)) == expected
        lent = [one[number][0][0].tolist() for one in of_ranks if not one[number][1]]
        assert lent == [expected[:1]] * (size - min(size, len(expected)))
    assert {len(one) for one in of_ranks} == {len(whole)}


def test_the_loader_itself_stays_as_it_is() -> None:
    loader = DataLoader(TensorDataset(torch.arange(10)), 4)
    before = dict(vars(loader))
    feed = Feed(loader, "train", Pretended(0, 2), True)
    assert [batch.tolist() for (batch,), _ in feed] == [[0, 1], [4, 5], [8]]
    assert vars(loader) == before
    assert [batch.tolist() for (batch,) in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_shares_are_as_many_as_the_batches() -> None:
    assert len(Shares([[1, 2], [3]], Pretended(0, 2))) == 2


def test_one_process_has_the_batches_as_they_are() -> None:
    assert list(Feed([1, 2], "train", Ranks(), True)) == [(1, True), (2, True)]
