"""Inputs next to the points where comparisons change sides.

A backward may compare with another number than its forward: `x > 0` there, `x > -0.1` here. Samples on either side of
both took all branches and tell nothing. On a path between two samples each comparison changes sides somewhere; next to
that point the other one must have changed too, or the two disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, fx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shaped.verify.exact.trace import Joint

aten = torch.ops.aten

_COMPARISONS = (aten.gt, aten.ge, aten.lt, aten.le, aten.maximum, aten.minimum)
_WITH_ZERO = (aten.relu, aten.abs, aten.sign, aten.sgn)
_CLAMPS = (aten.clamp, aten.clamp_min, aten.clamp_max)
_HALVINGS = 26  # to a tenth of `NEXT_TO`
NEXT_TO = 1e-6  # of the path: far above the rounding of a comparison, far below a threshold that is meant
WIDER = 4.0
_MOST = 24  # comparisons that are looked at


@dataclass(frozen=True)
class Crossing:
    """A point of a path where a comparison changes sides.

    Args:
        start: where the path begins.
        end: where it ends.
        place: the point, from 0 to 1.
    """

    start: Sequence[Tensor]
    end: Sequence[Tensor]
    place: float

    def at(self, distance: float) -> list[Tensor]:
        """The inputs at a distance from the point, which is negative before it."""
        return _between(self.start, self.end, self.place + distance)


def _between(start: Sequence[Tensor], end: Sequence[Tensor], place: float) -> list[Tensor]:
    return [one + place * (other - one) for one, other in zip(start, end)]


def crossings(
    graph: Joint, upstreams: Sequence[Tensor], visited: Sequence[Sequence[Tensor]], generator: torch.Generator
) -> Iterator[Crossing]:
    """A crossing of each comparison, for one entry of it.

    Args:
        graph: of results and gradients.
        upstreams: the upstream gradients.
        visited: samples; the paths lead from the first to the others.
        generator: draws the entry.
    """
    start, *ends = visited
    first = _margins(graph, upstreams, start)
    others = [(end, margins) for end in ends if (margins := _margins(graph, upstreams, end))]
    for name in list(first)[:_MOST]:
        for end, margins in others:
            changed = ((first[name] > 0) != (margins[name] > 0)).reshape(-1).nonzero().reshape(-1)
            if not len(changed):
                continue
            entry = int(changed[torch.randint(len(changed), (), generator=generator)])
            low, high = 0.0, 1.0
            positive = bool(first[name].reshape(-1)[entry] > 0)
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                margin = _margins(graph, upstreams, _between(start, end, middle)).get(name)
                if margin is None:
                    return
                if bool(margin.reshape(-1)[entry] > 0) == positive:
                    low = middle
                else:
                    high = middle
            yield Crossing(start, end, high)
            break


def _margins(graph: Joint, upstreams: Sequence[Tensor], inputs: Sequence[Tensor]) -> dict[str, Tensor]:
    """How far the two sides of each comparison are apart, by the name of its node and the number of its threshold.

    There are none where an operation raises, outside of its domain.
    """
    reader = _Reader(graph.module)
    try:
        with torch.no_grad():
            reader.run(*upstreams, *inputs, *[one.clone() for one in graph.constants])
    except (RuntimeError, ValueError, IndexError):
        return {}
    return reader.margins


class _Reader(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.margins: dict[str, Tensor] = {}

    def run_node(self, n: fx.Node) -> Any:
        if isinstance(n.target, torch._ops.OpOverload):
            arguments, _ = self.fetch_args_kwargs_from_env(n)
            for number, threshold in enumerate(_thresholds(n.target.overloadpacket, arguments)):
                if isinstance(arguments[0], Tensor) and arguments[0].is_floating_point():
                    self.margins[f"{n.name} {number}"] = arguments[0] - threshold
        return super().run_node(n)


def _thresholds(operation: Any, arguments: Sequence[Any]) -> list[Any]:
    """What the first argument of an operation is compared with."""
    if operation in _COMPARISONS:
        return [arguments[1]]
    if operation in _WITH_ZERO:
        return [0.0]
    if operation in _CLAMPS:
        return [one for one in arguments[1:] if one is not None]
    return []
