"""Steps of `ScalarTrainer` on `quickstart_mlp` against the plain PyTorch loop, and memory over many steps.

The plain loop is `zero_grad`, forward, `backward`, `optimizer.step()` on the same operations, with the same numbers:
after a run both have the same parameters, bit for bit. Blocks of both take turns in one process, on one thread, and the
ratio is the median of the ratios of neighbouring blocks.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from benchmarks.measure import table
from shaped.runtime.tlist import TList
from shaped.trainers import ScalarTrainer

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.optim import Optimizer

    Step = Callable[[Tensor, Tensor], object]

Params = TList[Float[Tensor, "8 2"], Float[Tensor, "8"], Float[Tensor, "1 8"], Float[Tensor, "1"]]
Inputs = TList[Float[Tensor, "2"], Float[Tensor, "1"]]
OPTIMIZERS: dict[str, Callable[[list[Tensor]], Optimizer]] = {
    "SGD": lambda params: torch.optim.SGD(params, lr=0.03),
    "Adam": lambda params: torch.optim.Adam(params, lr=0.03),
}


def loss(params: Params, inputs: Inputs) -> Float[Tensor, ""]:
    """2 -> 8 -> 1 with ReLU, and the mean squared error."""
    (w1, b1, w2, b2), (x, y) = params, inputs
    return F.mse_loss(F.linear(F.relu(F.linear(x, w1, b1)), w2, b2), y)


def samples() -> list[tuple[Tensor, Tensor]]:
    """The grid of 25 points, and the target of `quickstart_mlp`."""
    places = (-1.0, -0.5, 0.0, 0.5, 1.0)
    return [
        (torch.tensor([a, b]), torch.tensor([0.8 * max(a + b, 0.0) - 0.4 * max(b - a, 0.0) + 0.2]))
        for a in places
        for b in places
    ]


def trainer(optimizer: Callable[[list[Tensor]], Optimizer] | None = None, *, compiled: bool = False) -> ScalarTrainer:
    """The trainer of the quickstart."""
    names = ("w1", "b1", "w2", "b2")
    return ScalarTrainer(loss, names=names, seeds="reference", optimizer=optimizer, compile=compiled)


def plain_loop(make: Callable[[list[Tensor]], Optimizer]) -> tuple[Step, list[Tensor]]:
    """A step of the plain PyTorch loop, and its parameters."""
    params = [param.detach().clone().requires_grad_() for param in trainer().params]
    optimizer = make(params)

    def step(x: Tensor, y: Tensor) -> None:
        optimizer.zero_grad()
        loss(params, (x, y)).backward()
        optimizer.step()

    return step, params


@dataclass(frozen=True)
class Turns:
    """Steps of two kinds, timed in blocks that take turns.

    Args:
        plain: the median microseconds of a step of the plain loop.
        own: those of a step of the trainer.
        ratio: the median of the ratios of neighbouring blocks.
    """

    plain: float
    own: float
    ratio: float


def in_turns(plain: Step, own: Step, blocks: int) -> Turns:
    """Time two kinds of steps: a block is one round over the samples.

    Processor time: on one thread it is that on the clock, less what else the machine does.
    """
    data = samples()
    times: list[tuple[float, float]] = []
    for _ in range(blocks + 10):
        start = time.process_time()
        for sample in data:
            plain(*sample)
        middle = time.process_time()
        for sample in data:
            own(*sample)
        times.append((middle - start, time.process_time() - middle))
    times = times[10:]  # the first ones warm up
    scale = 1e6 / len(data)
    return Turns(
        statistics.median(first for first, _ in times) * scale,
        statistics.median(second for _, second in times) * scale,
        statistics.median(second / first for first, second in times),
    )


def compare(blocks: int, *, compiled: bool) -> list[list[str]]:
    """A row for each optimiser and each way to step with the trainer.

    Raises:
        AssertionError: the trainer's parameters are not those of the plain loop.
    """
    rows = []
    for name, make in OPTIMIZERS.items():
        ways: dict[str, ScalarTrainer] = {f"step, torch.optim.{name}": trainer(make)}
        if name == "SGD":
            ways["step, lr"] = trainer()
        if compiled:
            ways["step, compiled"] = trainer(None if name == "SGD" else make, compiled=True)
        for way, own in ways.items():
            plain, params = plain_loop(make)
            turns = in_turns(plain, own.step if own.optimizer else partial(own.step, lr=0.03), blocks)
            if "compiled" not in way:
                assert all(torch.equal(a, b) for a, b in zip(own.params, params)), f"{way} gives other numbers"
            rows.append([name, way, f"{turns.plain:.1f}", f"{turns.own:.1f}", f"{turns.ratio:.3f}"])
    return rows


def resident() -> int:
    """The bytes of memory that this process holds, by the kernel's count."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def memory_over(steps: int) -> None:
    """Print the memory and the number of tensors before and after so many steps."""
    own, data = trainer(), samples()
    for place in range(1000):  # the allocator settles
        own.step(*data[place % len(data)], lr=0.03)
    before, alive = resident(), tensors_alive()
    for place in range(steps):
        own.step_with_loss(*data[place % len(data)], lr=0.03)
    print(steps, before, resident(), alive, tensors_alive())


def tensors_alive() -> int:
    """The number of tensors that Python holds."""
    gc.collect()
    return sum(isinstance(each, Tensor) for each in gc.get_objects())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=1000, help="rounds over the 25 samples for each row")
    parser.add_argument("--steps", type=int, default=100_000, help="steps of the run that looks at memory")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--only-memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.only_memory:
        memory_over(options.steps)
        return
    head = ["optimiser", "trainer", "plain loop us", "trainer us", "ratio"]
    print(table(head, compare(options.blocks, compiled=not options.no_compile)))
    command = [sys.executable, "-m", "benchmarks.trainer", "--only-memory", "--steps", str(options.steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    steps, before, after, alive, alive_after = map(int, done.stdout.split())
    grown = (after - before) / 2**20
    print(
        f"\n{steps} steps: {before / 2**20:.1f} MiB before, {after / 2**20:.1f} MiB after ({grown:+.1f} MiB);", end=""
    )
    print(f" {alive} tensors alive before, {alive_after} after")


if __name__ == "__main__":
    main()
