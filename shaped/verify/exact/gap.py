"""The two sides of the check at random residues, and the search for an entry where they differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from shaped.verify.exact.branches import Branches
from shaped.verify.exact.field import multiply, random, reduce
from shaped.verify.exact.interpreter import read
from shaped.verify.exact.value import Value, lift, tangent_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.verify.exact.trace import Joint

_DIFFERENCES = 3  # a difference has to be seen this often: one may come from a division by 0
_EVIDENCE = 24  # roots that were seen with signs that agree by chance with probability 1/2 each
_FEW_ROOTS = 6  # so few are true roots all at once every now and then
_ATTEMPTS = 100


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

    @property
    def is_finite(self) -> bool:
        """Whether the shadows of all results and gradients are finite, as they are inside of a function's domain."""
        return all(bool(torch.isfinite(one.shadow).all()) for one in self.outputs if isinstance(one, Value))


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
        gap = gap + multiply(upstream.residue, tangent_of(lift(result))).sum()
    for value, gradient in zip(values, gradients):
        if gradient is not None:
            gap = gap - multiply(lift(gradient).residue.expand(value.shape), tangent_of(value)).sum()
    return Reading(int(reduce(gap)), branches, outputs, seed)


def read_until_equal(
    graph: Joint, upstreams: Sequence[Tensor], inputs: Sequence[Tensor], seed: int, seen: Branches | None
) -> Reading:
    """Read a graph, again at other residues where one reading does not tell.

    Without roots, equality at one random point is as good as at any, and a difference is looked at again, as it may
    come from a residue that is 0. A square root has two signs: a formula that takes the wrong one is equal by chance at
    half of the points, so that each root has to be seen often enough. And a residue may have no root, where formulas
    that square the root differ: such a difference tells nothing.

    Args:
        graph: of results and gradients.
        upstreams: shadows of g.
        inputs: shadows of the inputs.
        seed: of the residues.
        seen: branches on which the two sides are known to be equal; None if there are none.
    """
    evidence = differences = attempt = 0
    reading = last = read_once(graph, upstreams, inputs, seed)
    while reading.is_decided:
        roots = reading.branches.roots
        if not reading.gap:
            last = reading
            evidence += roots
            known = seen is not None and not reading.branches.visited_more(seen)
            if not roots or evidence >= _EVIDENCE or known:
                return reading
        elif not reading.branches.rootless:
            last = reading
            differences += 1
            if differences >= _DIFFERENCES:
                return reading
        attempt += 1
        if attempt >= (_ATTEMPTS if roots <= _FEW_ROOTS else _DIFFERENCES):
            break
        reading = read_once(graph, upstreams, inputs, seed + attempt)
    if not reading.is_decided or reading.gap:
        return reading
    # Too few readings with true roots to believe in equality: as good as a difference.
    return replace(last, gap=1)


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
