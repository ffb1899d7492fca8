"""What a checked call costs: `shaped.checked` beside `jaxtyped(typechecker=beartype)`, over the same calls unchecked.

A function that returns one of its arguments is called undecorated, checked by one and checked by the other in turns, so
that a busy machine slows all three; the costs are medians over the rounds of the difference to the undecorated calls of
the same round. `--require` fails where `checked` is less than ten times cheaper for one, two or four tensors, or costs
more than 3 microseconds for two.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

import torch
from beartype import beartype
from jaxtyping import Float, Int, jaxtyped
from torch import Tensor, nn

from benchmarks.measure import table
from shaped.runtime.checked import checked

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST_RATIO = 10.0
MOST_NANOSECONDS_FOR_TWO = 3000.0
# Shorter than the turn of a process on a busy machine, so that most rounds are not interrupted.
ROUND_SECONDS = 0.0005


def one(x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    return x


def two(x: Float[Tensor, "b d"], weight: Float[Tensor, "d e"]) -> Float[Tensor, "b d"]:
    return x


def four(
    x: Float[Tensor, "b d"], weight: Float[Tensor, "d e"], bias: Float[Tensor, "e"], target: Float[Tensor, "b e"]
) -> Float[Tensor, "b e"]:
    return target


def optional(x: Float[Tensor, "b d"], mask: Float[Tensor, "b d"] | None = None) -> Float[Tensor, "b d"]:
    return x


def computed(x: Float[Tensor, "b h d"]) -> Float[Tensor, "b h*d"]:
    return x.flatten(1)


def plain(x: Float[Tensor, "b d"], rate: float, name: str, *, causal: bool = False) -> Float[Tensor, "b d"]:
    return x


class Attention:
    """A method whose axes are attributes of its instance."""

    d = 4

    def forward(self, x: Float[Tensor, "*batch {self.d}"], tokens: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch 4"]:
        return x


def calls() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """The functions and what they are called with."""
    x, weight = torch.zeros(3, 4), torch.zeros(4, 5)
    return {
        "1 tensor": (one, (x,)),
        "2 tensors": (two, (x, weight)),
        "4 tensors": (four, (x, weight, torch.zeros(5), torch.zeros(3, 5))),
        "optional, given": (optional, (x, x)),
        "optional, left out": (optional, (x,)),
        "h*d in the result": (computed, (torch.zeros(3, 2, 4),)),
        "1 tensor, float, str, bool": (plain, (x, 0.1, "name")),
        "method with {self.d}": (Attention.forward, (Attention(), x, torch.zeros(3, dtype=torch.int64))),
    }


class Layer(nn.Module):
    """A block of a model, as it is written without checks."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.d = d
        self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x: Float[Tensor, "batch time {self.d}"]) -> Float[Tensor, "batch time {self.d}"]:
        """Normalise, widen, narrow, add."""
        return x + self.down(torch.relu(self.up(self.norm(x))))


def model(decorate: Callable[[Any], Any], d: int = 16, layers: int = 12) -> nn.Module:
    """Twelve blocks, the forward of each decorated."""
    kind = type("Layer", (Layer,), {"forward": decorate(Layer.forward)})
    return nn.Sequential(*(kind(d) for _ in range(layers)))


def by_jaxtyping(function: Callable[..., Any]) -> Callable[..., Any]:
    """The reference."""
    decorated: Callable[..., Any] = jaxtyped(function, typechecker=beartype)
    return decorated


def unchecked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is."""
    return function


DECORATORS = (unchecked, checked, by_jaxtyping)


def nanoseconds(function: Callable[..., object], arguments: tuple[object, ...], repeat: int) -> float:
    """The time of one call, over `repeat` calls."""
    rounds = range(repeat)
    function(*arguments)  # the others have had the caches since
    start = time.perf_counter_ns()
    for _ in rounds:
        function(*arguments)
    return (time.perf_counter_ns() - start) / repeat


def costs(functions: list[Callable[..., Any]], arguments: tuple[Any, ...], rounds: int) -> list[float]:
    """The time of a call of each function, medians over rounds in which they take turns; all but the first over it."""
    repeats = [max(1, int(ROUND_SECONDS * 1e9 / nanoseconds(function, arguments, 20))) for function in functions]
    times = [
        [nanoseconds(function, arguments, repeat) for function, repeat in zip(functions, repeats)]
        for _ in range(rounds)
    ]
    bare = statistics.median(row[0] for row in times)
    return [bare, *(statistics.median(row[i] - row[0] for row in times) for i in range(1, len(functions)))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--require", action="store_true", help="fail where a figure is missed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    gc.disable()  # as timeit does: what one leaves behind is not collected in the time of the next

    rows, missed = [], []
    for name, (function, arguments) in calls().items():
        bare, ours, theirs = costs([decorate(function) for decorate in DECORATORS], arguments, options.rounds)
        rows.append([name, f"{bare:.0f}", f"{ours:.0f}", f"{theirs:.0f}", f"{theirs / ours:.0f}"])
        if name in ("1 tensor", "2 tensors", "4 tensors") and theirs / ours < LEAST_RATIO:
            missed.append(f"{name}: {theirs / ours:.1f} times cheaper than jaxtyping, not {LEAST_RATIO:.0f}")
        if name == "2 tensors" and ours > MOST_NANOSECONDS_FOR_TWO:
            missed.append(f"{name}: {ours:.0f} ns, more than {MOST_NANOSECONDS_FOR_TWO:.0f}")
    print(table(["call", "bare ns", "checked ns more", "jaxtyped ns more", "ratio"], rows))

    x = torch.zeros(2, 8, 16)
    with torch.no_grad():
        bare, ours, theirs = costs([model(decorate) for decorate in DECORATORS], (x,), options.rounds)
    more = f"{ours / 1e3:.1f} us more checked ({ours / bare:.1%}), {theirs / 1e3:.1f} us jaxtyped ({theirs / bare:.1%})"
    print(f"\n12 layers, each forward checked: {bare / 1e3:.0f} us bare, {more}")

    for line in missed:
        print(line)
    return int(options.require and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
