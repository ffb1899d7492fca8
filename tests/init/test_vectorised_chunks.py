"""A tensor is filled chunk by chunk, in row-major order, whatever its strides and however many threads there are."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from shaped.init import vectorised_chunks
from shaped.init.vectorised_chunks import enumerate_runs, fill_in_chunks


class Counting:
    """A sampler whose element at a position is the position. It notes the threads that it is made in."""

    made_in: set[int]

    def __init__(self, size: int, device: torch.device) -> None:
        assert device.type == "cpu"
        type(self).made_in.add(threading.get_ident())
        self.size = size

    def draw_into(self, out: Tensor, first: int) -> None:
        assert out.numel() <= self.size
        assert out.dim() == 1
        assert out.is_contiguous()
        out.copy_(torch.arange(first, first + out.numel()))


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    Counting.made_in = set()
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@st.composite
def strided_tensors(draw: st.DrawFn) -> Tensor:
    """Tensors of every kind of strides: permuted, sliced, both."""
    sizes = draw(st.lists(st.integers(0, 5), min_size=0, max_size=4))
    steps = draw(st.lists(st.integers(1, 2), min_size=len(sizes), max_size=len(sizes)))
    whole = torch.empty([size * step for size, step in zip(sizes, steps)])
    return whole[tuple(slice(None, None, step) for step in steps)].permute(draw(st.permutations(range(len(sizes)))))


@given(strided_tensors(), st.integers(1, 9))
def test_runs_cover_a_tensor_in_row_major_order(out: Tensor, size: int) -> None:
    out.copy_(torch.arange(out.numel()).view(out.shape))
    seen: list[float] = []
    for start, run in enumerate_runs(out, size):
        assert start == len(seen)
        assert 0 <= run.numel() <= size
        seen += run.reshape(-1).tolist()
    assert seen == list(range(out.numel()))


@given(strided_tensors(), st.integers(1, 9), st.integers(0, 100))
def test_any_strides_are_filled(out: Tensor, size: int, first: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectorised_chunks, "CHUNK_OF_CPU", size)
        fill_in_chunks(out, first, Counting)
    assert out.reshape(-1).tolist() == list(range(first, first + out.numel()))


@pytest.mark.parametrize("elements", [1, 6, 7, 8, 27, 28, 29, 300])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_chunks_meet_at_their_borders_on_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, elements: int, threads: int
) -> None:
    monkeypatch.setattr(vectorised_chunks, "CHUNK_OF_CPU", 7)
    torch.set_num_threads(threads)
    out = torch.empty(elements)
    fill_in_chunks(out, 3, Counting)
    assert out.tolist() == list(range(3, 3 + elements))


def test_a_large_tensor_is_filled_by_as_many_threads_as_torch_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectorised_chunks, "CHUNK_OF_CPU", 7)
    torch.set_num_threads(3)
    # Each waits for the others before it starts, so that none takes all of the work.
    everyone = threading.Barrier(3)

    class Waiting(Counting):
        def __init__(self, size: int, device: torch.device) -> None:
            super().__init__(size, device)
            everyone.wait(60)

    fill_in_chunks(torch.empty(7 * 4 * 3), 0, Waiting)
    assert len(Counting.made_in) == 3


def test_a_small_tensor_is_filled_where_it_is() -> None:
    fill_in_chunks(torch.empty(1000), 0, Counting)
    assert Counting.made_in == {threading.get_ident()}


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectorised_chunks, "CHUNK_OF_CPU", 7)
    torch.set_num_threads(2)

    class Failing(Counting):
        def draw_into(self, out: Tensor, first: int) -> None:
            if first == 49:
                raise MemoryError("no memory")
            super().draw_into(out, first)

    with pytest.raises(MemoryError, match="no memory"):
        fill_in_chunks(torch.empty(1000), 0, Failing)
