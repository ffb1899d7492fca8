"""A large tensor filled in chunks, so that memory stays flat, on a CPU by several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from shaped.init.plain_thread import in_plain_threads
from shaped.init.vectorised import Sampler

# The most elements for which an operation of torch stays in its thread (at::internal::GRAIN_SIZE): it is the chunks
# that are spread over threads; were it each operation, each would wait for the slowest thread.
CHUNK_OF_CPU = 32768
# An operation on a GPU takes some microseconds to start, however small; this takes several times that, and 64 MiB.
CHUNK_OF_GPU = 2**20
# Fewer chunks are done sooner than threads are started.
LEAST_CHUNKS_A_THREAD = 4


def fill_in_chunks(out: Tensor, first: int, sampler_for: Callable[[int, torch.device], Sampler]) -> None:
    """Write the elements from `first` on into `out`, row by row.

    Args:
        out: of any strides and device.
        first: the position of its first element.
        sampler_for: makes a sampler from the most elements that it will be asked for and its device. It is called in
            each thread.
    """
    # Other devices have no float64, or may not be trusted with its rounding.
    device = out.device if out.device.type == "cuda" else torch.device("cpu")
    size = max(1, min(CHUNK_OF_GPU if device.type == "cuda" else CHUNK_OF_CPU, out.numel()))
    runs = enumerate_runs(out, size)
    lock = threading.Lock()

    def fill_runs() -> None:
        sampler = sampler_for(size, device)
        buffer = torch.empty(size, dtype=out.dtype, device=device)
        while True:
            with lock:
                start, run = next(runs, (0, None))
            if run is None:
                return
            if run.dim() == 1 and run.is_contiguous() and run.device == device:
                sampler.draw_into(run, first + start)
            else:
                values = buffer[: run.numel()]
                sampler.draw_into(values, first + start)
                run.copy_(values.view(run.shape))

    threads = min(torch.get_num_threads(), out.numel() // (size * LEAST_CHUNKS_A_THREAD))
    if threads > 1 and device.type == "cpu":
        in_plain_threads(fill_runs, out, threads)
    else:
        fill_runs()


def enumerate_runs(out: Tensor, size: int) -> Iterator[tuple[int, Tensor]]:
    """Parts of `out` of at most `size` elements that follow each other in row-major order, each with its position."""
    if out.is_contiguous():
        flat = out.view(-1)
        yield from ((start, flat[start : start + size]) for start in range(0, flat.numel(), size))
    else:
        yield from _runs_of_rows(out, size, 0)


def _runs_of_rows(out: Tensor, size: int, start: int) -> Iterator[tuple[int, Tensor]]:
    """`enumerate_runs` of a part that starts at `start`: whole rows of its first axis, or parts of each row."""
    if out.numel() <= size:
        yield start, out
        return
    row = out.numel() // out.shape[0]
    if row > size:
        for index in range(out.shape[0]):
            yield from _runs_of_rows(out[index], size, start + index * row)
        return
    rows = size // row
    for index in range(0, out.shape[0], rows):
        yield start + index * row, out[index : index + rows]
