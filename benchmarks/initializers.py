"""How fast tensors are initialised, beside torch's own initialisers, and how much memory that takes.

All ways to fill a tensor take turns in one run, so that a busy machine slows all of them. Ratios are medians over the
rounds of this package's time over torch's time of the same round: below 1 is faster than torch. `fill_` with a constant
does nothing but write, so it shows what the memory allows.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import torch

from benchmarks.measure import python, table
from shaped.init.kernel import fill_float32
from shaped.init.schemes import Normal, Uniform
from shaped.init.tensors import fill_, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

SCHEMES = {"uniform": Uniform(), "normal": Normal()}
TORCH = {"uniform": torch.nn.init.uniform_, "normal": torch.nn.init.normal_}
SMALL_SIZES = (10**3, 10**5)
BYTES = 4
# A round of a small size repeats its work for about this long.
ROUND_SECONDS = 0.01
SWITCH = "SHAPED_KERNELS"


def with_kernels(work: Callable[[], object], *, allowed: bool) -> Callable[[], object]:
    """`work`, with the C kernel or without it."""

    def run() -> None:
        os.environ[SWITCH] = "1" if allowed else "0"
        work()

    return run


def ways(out: Tensor) -> dict[str, Callable[[], object]]:
    """All ways to fill `out`, by name."""
    ways: dict[str, Callable[[], object]] = {"fill_": lambda: out.fill_(0.5)}
    for name, scheme in SCHEMES.items():
        ways[f"{name}, torch"] = lambda name=name: TORCH[name](out)
        ways[f"{name}, shaped"] = with_kernels(lambda scheme=scheme: fill_(out, scheme), allowed=True)
        ways[f"{name}, shaped without C"] = with_kernels(lambda scheme=scheme: fill_(out, scheme), allowed=False)
        ways[f"{name}, kernel alone"] = with_kernels(
            lambda scheme=scheme: fill_float32(out, scheme, 0, 0), allowed=True
        )
    return ways


def seconds(work: Callable[[], object], times: int) -> float:
    """The time of one call, of several."""
    start = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - start) / times


def timed(elements: int, rounds: int) -> dict[str, list[float]]:
    """The seconds of each way to fill so many elements, round by round."""
    out = torch.empty(elements)
    taken = {}
    repeats = {}
    for name, way in ways(out).items():
        way()
        repeats[name] = max(1, int(ROUND_SECONDS / seconds(way, 1)))
        taken[name] = [0.0] * rounds
    for number in range(rounds):
        for name, way in ways(out).items():
            taken[name][number] = seconds(way, repeats[name])
    return taken


def time_table(elements: int, rounds: int) -> str:
    """The times of one size."""
    taken = timed(elements, rounds)
    rows = []
    for name, times in taken.items():
        against = taken.get(f"{name.split(',')[0]}, torch", taken["fill_"])
        ratio = median(own / other for own, other in zip(times, against))
        middle = median(times)
        rows.append(
            [
                name,
                f"{min(times) * 1e3:.3f}",
                f"{middle * 1e3:.3f}",
                f"{middle / elements * 1e9:.2f}",
                f"{elements * BYTES / middle / 1e9:.2f}",
                f"{ratio:.2f}",
            ]
        )
    return table([f"{elements:,} float32", "least ms", "ms", "ns an element", "GB/s", "time over torch's"], rows)


def peak_in_this_process(scheme: str, elements: int) -> float:
    """What `tensor` adds to this process's memory at its highest, over the size of the tensor."""
    tensor(SCHEMES[scheme], [1 << 20])  # loads all that is needed
    before = resident()
    tensor(SCHEMES[scheme], [elements])
    return (resident(peak=True) - before) / (elements * BYTES)


def resident(*, peak: bool = False) -> int:
    """The bytes of this process that are in memory: now, or the most there ever were."""
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM" if peak else "VmRSS"].split()[0]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def peak_in_new_process(scheme: str, elements: int, threads: int, *, kernels: bool) -> float:
    """The same in a process of its own."""
    command = python("-m", "benchmarks.initializers", "--peak", scheme, "--elements", str(elements))
    environment = {**os.environ, SWITCH: "1" if kernels else "0"}
    done = subprocess.run(
        [*command, "--threads", str(threads)], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=10**8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--peak", choices=SCHEMES, help="print the peak of one scheme in this process, and nothing else"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.peak:
        print(peak_in_this_process(options.peak, options.elements))
        return
    print(f"torch {torch.__version__}, {options.threads} threads, {os.cpu_count()} processors; medians of rounds\n")
    for elements in (*SMALL_SIZES, options.elements):
        print(time_table(elements, options.rounds if elements == options.elements else 3 * options.rounds))
        print()
    rows = []
    for scheme in SCHEMES:
        for kernels in (True, False):
            peak = peak_in_new_process(scheme, options.elements, options.threads, kernels=kernels)
            rows.append([scheme, "kernel" if kernels else "libtorch", f"{peak:.3f}"])
    print(table(["scheme", "by", "peak memory over the tensor"], rows))
    print()
    os.environ[SWITCH] = "1"
    out = torch.empty(options.elements)
    places = fill_float32(out, Normal(), 0, 0)
    if places is None:
        print("there is no C kernel on this machine")
        return
    print(f"normal: {len(places)} elements of {options.elements:,} are not certain in the kernel", end="")
    print(f", one in {options.elements / len(places):.1e}" if len(places) else "")
    for scheme in SCHEMES.values():
        by_kernel = fill_(out, scheme).clone()
        os.environ[SWITCH] = "0"
        same = torch.equal(by_kernel.view(torch.int32), fill_(out, scheme).view(torch.int32))
        os.environ[SWITCH] = "1"
        print(f"{scheme}: kernel and libtorch {'have the same bits' if same else 'DIFFER'}")


if __name__ == "__main__":
    main()
