"""Compiled steps and forwards beside eager: training, prediction and chains of small operations.

Each backend takes turns with eager in one process, on one thread; the figure is the median ratio of a turn. A backend
is used only if it passed the check: `python` and `script` give eager's numbers to the bit, the others are within the
error that rounding explains.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.measure import table
from benchmarks.trainer import resident, tensors_alive
from shaped.runtime import CannotCompile, compile_forward, compile_step

WITHOUT_COMPILER = ("python", "script")
WITH_COMPILER = ("c", "aot_inductor", "torch.compile")
CHAINS = ((1, 16), (1, 512), (64, 64), (1024, 16), (1024, 512), (65536, 16), (65536, 64))


def mlp(*sizes: int) -> nn.Sequential:
    """Linear layers with ReLU between them."""
    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for size, wider in pairwise(sizes):
        layers += [nn.Linear(size, wider), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Regression(nn.Module):
    """A model and its data; the input of a step is the indices of a batch."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        self.model = mlp(*sizes)
        self.register_buffer("x", torch.randn(4096, sizes[0]))
        self.register_buffer("y", torch.randn(4096, sizes[-1]))

    def loss(self, batch: Tensor) -> Tensor:
        """The mean squared error over a batch."""
        return F.mse_loss(self.model(self.x.index_select(0, batch)), self.y.index_select(0, batch))


class Requests(nn.Module):
    """A model that answers requests: rows of a table, by index."""

    def __init__(self) -> None:
        super().__init__()
        self.model = mlp(128, 256, 128, 8)
        self.register_buffer("x", torch.randn(4096, 128))

    def forward(self, rows: Tensor) -> Tensor:
        """The sum of the absolute values of what the model gives for the rows."""
        return self.model(self.x.index_select(0, rows)).abs().sum()


class Chain(nn.Module):
    """`y = relu(y*a + b)`, so many times."""

    def __init__(self, entries: int, operations: int) -> None:
        super().__init__()
        self.operations = operations
        self.register_buffer("a", torch.rand(entries))
        self.register_buffer("b", torch.randn(entries))

    def forward(self, y: Tensor) -> Tensor:
        """The last of the chain."""
        for _ in range(self.operations):
            y = torch.relu(y * self.a + self.b)
        return y


@dataclass(frozen=True)
class Workload:
    """What is measured.

    Args:
        name: of the row.
        target: the ratios to reach without and with a compiler.
        make: gives eager and, for the name of a backend, what is compiled with the seconds that it took.
    """

    name: str
    target: tuple[float, float]
    eager: Callable[[], Callable[[], object]]
    compiled: Callable[[str], Callable[[], object]]


def training(sizes: Sequence[int], batch: int, *, by_index: bool, target: tuple[float, float]) -> Workload:
    """Training a perceptron by Adam, one tensor at a time (neither foreach nor fused)."""
    name = f"train {'-'.join(map(str, sizes))}, batch {batch}"
    generator = torch.Generator().manual_seed(1)
    rows = [torch.randint(0, 4096, (batch,), generator=generator) for _ in range(64)]

    def start() -> tuple[Regression, torch.optim.Adam, list[tuple[Tensor, ...]]]:
        data = Regression(sizes)
        adam = torch.optim.Adam(data.model.parameters(), lr=1e-3, foreach=False, fused=False)
        batches = [(one,) if by_index else (data.x[one], data.y[one]) for one in rows]
        return data, adam, batches

    def loss_of(data: Regression) -> Callable[..., Tensor]:
        if by_index:
            return lambda model, one: data.loss(one)
        return lambda model, x, y: F.mse_loss(model(x), y)

    def eager() -> Callable[[], object]:
        data, adam, batches = start()
        loss, turn = loss_of(data), iter_forever(batches)

        def step() -> Tensor:
            adam.zero_grad()
            value = loss(data.model, *next(turn))
            value.backward()
            adam.step()
            return value

        return step

    def compiled(backend: str) -> Callable[[], object]:
        data, adam, batches = start()
        loss = (lambda model, one: model.loss(one)) if by_index else loss_of(data)
        step = compile_step(data if by_index else data.model, loss, adam, batches[0], backend=backend)
        turn = iter_forever(batches)
        return lambda: step(*next(turn))

    return Workload(name, target, eager, compiled)


def prediction(batch: int, target: tuple[float, float]) -> Workload:
    """Requests of so many rows; the answer is a float."""
    generator = torch.Generator().manual_seed(1)
    rows = [torch.randint(0, 4096, (batch,), generator=generator) for _ in range(64)]

    def eager() -> Callable[[], object]:
        model, turn = Requests(), iter_forever(rows)

        def request() -> float:
            with torch.inference_mode():
                return float(model(next(turn)))

        return request

    def compiled(backend: str) -> Callable[[], object]:
        forward, turn = compile_forward(Requests(), (rows[0],), backend=backend), iter_forever(rows)
        return lambda: float(forward(next(turn)))

    return Workload(f"predict, batch {batch}", target, eager, compiled)


def chain(entries: int, operations: int, target: tuple[float, float]) -> Workload:
    """A chain of small operations."""
    y = torch.randn(entries, generator=torch.Generator().manual_seed(1))

    def eager() -> Callable[[], object]:
        model = Chain(entries, operations)

        def run() -> Tensor:
            with torch.inference_mode():
                return model(y)

        return run

    def compiled(backend: str) -> Callable[[], object]:
        forward = compile_forward(Chain(entries, operations), (y,), backend=backend)
        return lambda: forward(y)

    return Workload(f"chain of {operations}, {entries} entries", target, eager, compiled)


def iter_forever(items: Sequence[object]) -> Callable[[], object]:
    """An iterator that begins again."""
    while True:
        yield from items


def workloads(chains: Iterable[tuple[int, int]]) -> list[Workload]:
    """All that is measured."""
    return [
        training((4, 8, 1), 16, by_index=False, target=(0.12, 0.03)),
        training((128, 256, 128, 8), 128, by_index=True, target=(0.60, 0.52)),
        prediction(1, (0.5, 0.10)),
        prediction(32, (0.80, 0.50)),
        prediction(256, (0.97, 0.80)),
        *(chain(entries, operations, (0.6, 0.25)) for entries, operations in chains),
    ]


def in_turns(plain: Callable[[], object], own: Callable[[], object], seconds: float) -> tuple[float, float, float]:
    """The median times of a call of both in microseconds, and the median ratio of a turn."""
    count = 1
    while (spent := _turn(plain, count)) < 0.01 and count < 10_000:
        count = max(count + 1, int(count * 0.012 / max(spent, 1e-6)))
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        times.append((_turn(plain, count), _turn(own, count)))
    scale = 1e6 / count
    return (
        statistics.median(first for first, _ in times) * scale,
        statistics.median(second for _, second in times) * scale,
        statistics.median(second / first for first, second in times),
    )


def _turn(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - start


def measure(load: Workload, backends: Sequence[str], seconds: float) -> list[list[str]]:
    """A row for each backend."""
    rows = []
    for backend in backends:
        start = time.perf_counter()
        try:
            own = load.compiled(backend)
        except CannotCompile as error:
            rows.append([load.name, backend, "-", "-", "-", "-", str(error)[:60]])
            continue
        built = time.perf_counter() - start
        plain, compiled, ratio = in_turns(load.eager(), own, seconds)
        goal = load.target[backend not in WITHOUT_COMPILER]
        told = f"{'<=' if ratio <= goal else '> '} {goal:.2f}"
        rows.append([load.name, backend, f"{plain:.1f}", f"{compiled:.1f}", f"{ratio:.3f}", f"{built:.2f}", told])
    return rows


def same_as_adam(steps: int) -> bool:
    """Whether training without a compiler leaves the parameters of torch's single-tensor Adam, to the bit."""
    ends = []
    for backend in (None, *WITHOUT_COMPILER):
        model = mlp(4, 8, 1)
        adam = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False, fused=False)
        x, y = torch.randn(16, 4), torch.randn(16, 1)
        step = compile_step(model, nn.MSELoss(), adam, (x, y), backend=backend or "eager")
        for _ in range(steps):
            step(x, y)
        ends.append([one.detach().clone() for one in model.parameters()])
    return all(torch.equal(a, b) for end in ends[1:] for a, b in zip(ends[0], end))


def memory_over(steps: int) -> None:
    """Print the memory and the number of tensors before and after so many steps."""
    model = mlp(4, 8, 1)
    adam = torch.optim.Adam(model.parameters())
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    step = compile_step(model, nn.MSELoss(), adam, (x, y))
    for _ in range(1000):
        step(x, y)
    before, alive = resident(), tensors_alive()
    for _ in range(steps):
        step(x, y)
    gc.collect()
    print(step.backend, steps, before, resident(), alive, tensors_alive())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each backend and workload")
    parser.add_argument("--backends", nargs="+", default=[*WITHOUT_COMPILER, *WITH_COMPILER])
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--steps", type=int, default=400_000, help="steps of the run that looks at memory")
    parser.add_argument("--only-memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    if options.only_memory:
        memory_over(options.steps)
        return
    head = ["work", "backend", "eager us", "compiled us", "ratio", "built s", "wanted"]
    for load in workloads(CHAINS):
        if options.only in load.name:
            print(table(head, measure(load, options.backends, options.seconds)), "\n", flush=True)
    print(f"after 100 steps of 4-8-1 the parameters are those of torch's Adam, to the bit: {same_as_adam(100)}")
    command = [sys.executable, "-m", "benchmarks.compiled", "--only-memory", "--steps", str(options.steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    backend, steps, *figures = done.stdout.split()
    before, after, alive, alive_after = map(int, figures)
    print(
        f"{steps} steps ({backend}): {before / 2**20:.1f} MiB before, {after / 2**20:.1f} MiB after; "
        f"{alive} tensors alive before, {alive_after} after"
    )


if __name__ == "__main__":
    main()
