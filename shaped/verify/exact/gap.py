"""The two sides of the check at random residues, and the search for an entry where they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from shaped.verify.exact.branches import Branches
from shaped.verify.exact.field import multiply, random, reduce
from shaped.verify.exact.interpreter import read
from shaped.verify.exact.value import Value, tangent_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.verify.exact.trace import Joint

_SEEDS = 3  # a rejection is repeated at other residues: one may come from a division by 0
_SEEDS_FOR_ROOTS = 12  # more where a residue had no root


@dataclass(frozen=True)
class Reading:
    """One reading of a graph.

    Args:
        gap: `<g, J dx> - <vjp(g), dx>`.
        branches: the comparisons met.
        outputs: the results and gradients.
        seed: of the residues.
    """

    gap: int
    branches: Branches
    outputs: list[Any]
    seed: int

    @property
    def is_decided(self) -> bool:
        """Whether the shadow decided all comparisons, away from kinks."""
        return not self.branches.kinks and not self.branches.undefined


def read_once(
    graph: Joint,
    upstreams: Sequence[Tensor],
    inputs: Sequence[Tensor],
    seed: int,
    directions: Sequence[Tensor] | None = None,
) -> Reading:
    """Read a graph at random residues.

    Args:
        graph: of results and gradients.
        upstreams: shadows of g.
        inputs: shadows of the inputs.
        seed: of the residues.
        directions: 1 where dx is to be drawn, 0 where it is to be 0; everywhere 1 if None.
    """
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)  # the function's own random numbers
    branches = Branches()
    given = [Value(one.double(), random(one.shape, generator)) for one in upstreams]
    values = []
    for k, one in enumerate(inputs):
        residue, tangent = random(one.shape, generator), random(one.shape, generator)
        values.append(Value(one.double(), residue, tangent if directions is None else tangent * directions[k]))
    outputs = read(graph, [*given, *values], branches, generator)
    results, gradients = outputs[: graph.upstreams], outputs[graph.upstreams :]
    gap = torch.zeros((), dtype=torch.int64)
    for upstream, result in zip(given, results):
        gap = gap + multiply(upstream.residue, tangent_of(result)).sum()
    for value, gradient in zip(values, gradients):
        if gradient is not None:
            gap = gap - multiply(gradient.residue.expand(value.shape), tangent_of(value)).sum()
    return Reading(int(reduce(gap)), branches, outputs, seed)


def read_until_equal(graph: Joint, upstreams: Sequence[Tensor], inputs: Sequence[Tensor], seed: int) -> Reading:
    """Read a graph; a difference is looked at again at other residues.

    Equality at one random point is as good as at any; a difference may come from a residue that is 0 or has no root.
    """
    reading = read_once(graph, upstreams, inputs, seed)
    attempt = 1
    while reading.gap and reading.is_decided:
        if attempt >= (_SEEDS_FOR_ROOTS if reading.branches.rootless else _SEEDS):
            break
        reading = read_once(graph, upstreams, inputs, seed + attempt)
        attempt += 1
    return reading


def differing_entry(graph: Joint, upstreams: Sequence[Tensor], inputs: Sequence[Tensor], seed: int) -> tuple[int, int]:
    """An input, and a place in it, along which the two sides differ: found by bisection.

    Args:
        graph: of results and gradients.
        upstreams: shadows of g.
        inputs: shadows of the inputs.
        seed: of residues at which the sides differ.
    """
    sizes = [one.numel() for one in inputs]
    low, high = 0, sum(sizes)
    while high - low > 1:
        middle = (low + high) // 2
        flat = torch.zeros(sum(sizes), dtype=torch.int64)
        flat[low:middle] = 1
        masks = [part.reshape(one.shape) for part, one in zip(torch.split(flat, sizes), inputs)]
        if read_once(graph, upstreams, inputs, seed, masks).gap:
            high = middle
        else:
            low = middle
    which = 0
    while low >= sizes[which]:
        low -= sizes[which]
        which += 1
    return which, low
