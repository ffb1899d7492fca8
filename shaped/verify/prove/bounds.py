"""The ranges of integer tensors, as their use as indices tells.

A program that reads `x[b, y[b]]` takes `0 <= y[b] < c` for granted where the axis has size c: the verdict prints it.
Outside of this domain torch raises, but for places that are counted from the end, and for those that a condition of the
program keeps from being read, as that of an ignored class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.expr import Entry, Flag, Node
from shaped.spec.index import Lookup
from shaped.verify.prove.cases import Bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.verify.prove.programs import Traced


def bounds_of(traced: Traced) -> dict[str, Bound]:
    """The bounds of the int tensors: of those that are places on an axis, its size; of several the one seen first.

    Others are any integers.
    """
    names = {name for name, tensor in traced.inputs.tensors.items() if tensor.kind == "int"}
    if not names:
        return {}
    found: dict[str, Bound] = {}
    for output in traced.outputs:
        for name, size in _uses(output.body):
            if name in names:
                found.setdefault(name, Bound(size))
    return {name: found.get(name, Bound(None, None)) for name in names}


def _uses(node: Node) -> Iterator[tuple[str, Dim]]:
    """Each int tensor that is a place on an axis, with the size of the axis."""
    seen: set[Node] = set()
    pending = [node]
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        if isinstance(each, (Entry, Flag)):
            for place, size in zip(each.at, each.variable.sizes):
                symbol = place.symbol
                if isinstance(symbol, Lookup) and symbol.size is None:
                    yield symbol.name, size
        pending += [part for part in each.parts() if isinstance(part, Node)]
