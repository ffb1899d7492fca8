"""Seeded batches: the same alone and below a loader, and a resumed run has those of one that was never stopped."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from shaped.runtime.data import Batches, BatchSampler
from shaped.runtime.data.shuffling import shuffled
from shaped.trainers import fit, supervised

X = torch.arange(20.0).reshape(10, 2)
Y = torch.arange(10)


class Squares(Dataset[tuple[int, int]]):
    """Examples that lie in no tensor."""

    def __len__(self) -> int:
        return 5

    def __getitem__(self, index: int) -> tuple[int, int]:
        return index, index**2


@given(
    count=st.integers(1, 50),
    batch_size=st.integers(1, 60),
    seed=st.integers(),
    shuffle=st.booleans(),
    drop_last=st.booleans(),
)
def test_batches_are_the_order_cut_into_pieces(
    count: int, batch_size: int, seed: int, shuffle: bool, drop_last: bool
) -> None:
    if drop_last and batch_size > count:
        return
    batches = BatchSampler(count, batch_size, seed=seed, shuffle=shuffle, drop_last=drop_last)
    for epoch in range(2):
        order = shuffled(count, seed, epoch).tolist() if shuffle else list(range(count))
        wanted = [order[start : start + batch_size] for start in range(0, count, batch_size)]
        if drop_last and len(wanted[-1]) < batch_size:
            wanted.pop()
        assert len(batches) == len(wanted)
        assert list(batches) == wanted


def test_alone_and_below_a_loader_batches_are_the_same() -> None:
    dataset = TensorDataset(X, Y)
    alone = Batches(dataset, 3, seed=5)
    loader = DataLoader(dataset, batch_sampler=BatchSampler(dataset, 3, seed=5))
    for _epoch in range(3):
        for (x, y), (also_x, also_y) in zip(alone, loader, strict=True):
            assert torch.equal(x, also_x)
            assert torch.equal(y, also_y)


def test_workers_change_nothing() -> None:
    loader = DataLoader(TensorDataset(X, Y), batch_sampler=BatchSampler(10, 4, seed=1), num_workers=2)
    for epoch in range(2):
        assert [y.tolist() for _, y in loader] == [one.tolist() for one in shuffled(10, 1, epoch).split(4)]


def test_the_global_generator_is_neither_read_nor_changed() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = [one.tolist() for one in Batches(Y, 3, seed=2)]
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(1)
    assert [one.tolist() for one in Batches(Y, 3, seed=2)] == first


def test_rows_of_different_tensors_stay_together() -> None:
    for x, y, z in Batches((X, Y, 2 * Y), 4, seed=0):
        assert torch.equal(x[:, 0], 2.0 * y)
        assert torch.equal(z, 2 * y)


def test_a_tensor_gives_tensors_and_a_tuple_of_one_gives_tuples_of_one() -> None:
    assert isinstance(next(iter(Batches(Y, 4))), Tensor)
    (only,) = next(iter(Batches((Y,), 4)))
    assert isinstance(only, Tensor)


def test_a_batch_is_a_copy() -> None:
    data = Y.clone()
    for batch in Batches(data, 4, shuffle=False):
        batch.zero_()
    assert torch.equal(data, Y)


def test_examples_of_any_data_are_collated() -> None:
    found = [(x.tolist(), y.tolist()) for x, y in Batches(Squares(), 2, shuffle=False)]
    assert found == [([0, 1], [0, 1]), ([2, 3], [4, 9]), ([4], [16])]
    listed = Batches(["a", "b", "c"], 2, shuffle=False, collate="".join)
    assert list(listed) == ["ab", "c"]


def test_a_list_of_tensors_is_examples_where_it_is_said_how_they_are_collated() -> None:
    batches = Batches([X[:2], X[:1], X[:3]], 2, shuffle=False, collate=torch.cat)
    assert [len(batch) for batch in batches] == [3, 3]


@pytest.mark.parametrize("data", [X, TensorDataset(X)])
def test_a_collate_function_is_given_examples_of_tensors_too(data: Any) -> None:
    assert list(Batches(data, 4, collate=len)) == [4, 4, 2]


def test_a_sampler_counts_the_rows_of_a_tuple_of_tensors() -> None:
    assert list(BatchSampler((X, Y), 3)) == list(BatchSampler(10, 3))
    with pytest.raises(TypeError, match="data is a list_iterator: what has a length is needed, or the number"):
        BatchSampler(iter([1]), 3)  # type: ignore[arg-type]  # on purpose


def test_all_of_it_can_be_sent_to_another_process() -> None:
    for batches in (Batches((X, Y), 3), Batches(Squares(), 3), BatchSampler(10, 3)):
        copied = pickle.loads(pickle.dumps(batches))
        assert [str(batch) for batch in copied] == [str(batch) for batch in batches]


def test_going_through_again_is_the_next_epoch_and_set_epoch_goes_back() -> None:
    batches = Batches(Y, 3, seed=0)
    first, second = ([one.tolist() for one in batches] for _ in range(2))
    assert first != second
    batches.set_epoch(0)
    assert [one.tolist() for one in batches] == first
    batches.set_epoch(1)
    assert [one.tolist() for one in batches] == second


@pytest.mark.parametrize("batches", [BatchSampler(10, 3), Batches(Y, 3), Batches(Squares(), 3)])
def test_an_iterator_of_which_no_batch_is_taken_is_no_epoch(batches: Any) -> None:
    before = [str(batch) for batch in batches]
    batches.set_epoch(0)
    iter(batches)
    assert [str(batch) for batch in batches] == before


def test_numbers_of_numpy_are_numbers() -> None:
    assert len(Batches(Y, np.int64(3), seed=np.int32(1))) == 4  # type: ignore[call-overload]  # as index() takes it


@pytest.mark.parametrize(
    "data, settings, error, message",
    [
        (Y, {"batch_size": 0}, ValueError, "batch_size is 0: 1 or more is needed"),
        (Y, {"batch_size": 2.0}, TypeError, "batch_size is 2.0: a whole number is needed"),
        (Y, {"batch_size": True}, TypeError, "batch_size is True: a whole number is needed"),
        (Y, {"batch_size": 3, "seed": "a"}, TypeError, "seed is 'a': a whole number is needed"),
        (Y, {"batch_size": 11, "drop_last": True}, ValueError, "10 examples make no batch of 11, and drop_last leaves"),
        (Y[:0], {"batch_size": 1}, ValueError, "0 examples make no batch$"),
        ((X, Y[:9]), {"batch_size": 1}, ValueError, "the tensors of data have different numbers of rows: 10, 9"),
        ((X, Y[0]), {"batch_size": 1}, ValueError, "tensor 1 of data has no dims, so it has no rows"),
        ([X, X], {"batch_size": 1}, TypeError, "data is a list of tensors: for rows of each of them give a tuple"),
        ((X, Y.numpy()), {"batch_size": 1}, TypeError, r"a tuple that has a ndarray: .* \(torch.from_numpy"),
        ((X.numpy(), Y.numpy()), {"batch_size": 1}, TypeError, "a tuple that has a ndarray: for rows of each"),
        ({"x": X}, {"batch_size": 1}, TypeError, "data is a dict, which has no example i"),
        (iter([1]), {"batch_size": 1}, TypeError, "data is a list_iterator: a tensor, a tuple of tensors, or"),
    ],
)
def test_what_makes_no_batches_is_refused(
    data: Any, settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Batches(data, **settings)


def weights_after(epochs: int, checkpoint: Path | None, batches: Any) -> dict[str, Tensor]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.2), nn.Linear(4, 10))
    fit(
        model,
        supervised(nn.CrossEntropyLoss()),
        batches,
        epochs=epochs,
        optimizer=lambda parameters: torch.optim.Adam(parameters, lr=0.01),
        checkpoint=checkpoint,
        progress=False,
    )
    return model.state_dict()


@pytest.mark.parametrize("below_a_loader", [False, True], ids=["alone", "below a loader"])
def test_a_resumed_run_has_the_batches_of_one_that_was_never_stopped(tmp_path: Path, below_a_loader: bool) -> None:
    def batches() -> Any:
        if below_a_loader:
            return DataLoader(TensorDataset(X, Y), batch_sampler=BatchSampler(10, 3, seed=7))
        return Batches((X, Y), 3, seed=7)

    at_once = weights_after(4, None, batches())
    weights_after(2, tmp_path / "a.pt", batches())
    resumed = weights_after(4, tmp_path / "a.pt", batches())
    assert all(torch.equal(resumed[name], value) for name, value in at_once.items())
    other_seed = weights_after(4, None, Batches((X, Y), 3, seed=8))
    assert not all(torch.equal(other_seed[name], value) for name, value in at_once.items())


def test_peeking_at_a_batch_before_a_run_changes_nothing() -> None:
    peeked = Batches((X, Y), 3, seed=7)
    next(iter(peeked))
    first, second = weights_after(2, None, peeked), weights_after(2, None, Batches((X, Y), 3, seed=7))
    assert all(torch.equal(first[name], value) for name, value in second.items())
