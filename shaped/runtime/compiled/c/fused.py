"""Loops over many elementwise operations: an element is read, goes through all of them, and is written.

The operations of one element mostly wait for each other, so a processor is only busy if it is at several elements at
once; it sees a few hundred instructions ahead. Therefore a long loop is cut into pieces of few operations. They pass
over a strip of elements, one after the other, and hand values on in arrays that stay in the nearest cache.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from shaped.runtime.compiled.c.layout import Buffer, View, loop_order
from shaped.runtime.compiled.c.steps import Elementwise, Loop
from shaped.runtime.compiled.c.text import indices, loops, vector_loop

# Operations of a piece, of a loop that is not cut, and elements of a strip.
_PIECE = 12
_WHOLE = 18
_STRIP = 256


def written_loop(loop: Loop, stored: Set[Buffer]) -> list[str]:
    """A loop in C.

    Args:
        loop: the operations.
        stored: the temporaries that have memory, since other steps read them too.
    """
    if 0 in loop.shape:
        return []
    is_one = not loop.shape
    length = len(loop.steps) if is_one or len(loop.steps) <= _WHOLE else _PIECE
    cuts = range(0, len(loop.steps), length)
    pieces = [loop.steps[start : start + length] for start in cuts]
    uses = [_uses(piece, so_far) for piece, so_far in zip(pieces, _written_before(pieces))]
    last_writers = {step.target: step for step in loop.steps}
    kept = [view for view in last_writers if view.buffer.role != "temporary" or view.buffer in stored]
    loaded = list(dict.fromkeys(view for use in uses for view in use.loaded))
    sizes, strides = loop_order(loop.shape, [*kept, *loaded])
    names = indices("i", len(sizes))
    if len(pieces) > 1:
        names[-1] = "(first + j)"
    places = {
        view: View(view.buffer, tuple(sizes), tuple(own), view.offset).at(*names)
        for view, own in zip([*kept, *loaded], strides)
    }
    handed = _handed_on(pieces, uses)
    bodies = [
        _body(piece, use, places, handed, [view for view in kept if last_writers[view] in piece])
        for piece, use in zip(pieces, uses)
    ]
    if is_one:
        return ["{", *bodies[0], "}"]
    if len(pieces) == 1:
        return loops(names[:-1], sizes[:-1], vector_loop(names[-1], sizes[-1], bodies[0]))
    strip = min(_STRIP, sizes[-1])
    width = f"{sizes[-1]} - first < {strip} ? {sizes[-1]} - first : {strip}" if sizes[-1] % strip else f"{strip}"
    arrays = {f"{kind} {name}" for name, kind in handed.values()}
    cut = [
        f"for (int64_t first = 0; first < {sizes[-1]}; first += {strip}) {{",
        f"const int64_t width = {width};",
        *(f"{array}[{strip}];" for array in sorted(arrays)),
        *(line for body in bodies for line in vector_loop("j", "width", body)),
        "}",
    ]
    return loops(names[:-1], sizes[:-1], cut)


@dataclass
class _Uses:
    """What a piece reads.

    Args:
        loaded: views as they were before the loop.
        earlier: steps of earlier pieces whose values it reads.
    """

    loaded: list[View]
    earlier: list[Elementwise]


def _written_before(pieces: Sequence[Sequence[Elementwise]]) -> list[dict[View, Elementwise]]:
    """For each piece, which step before it wrote a view last."""
    found: list[dict[View, Elementwise]] = []
    so_far: dict[View, Elementwise] = {}
    for piece in pieces:
        found.append(dict(so_far))
        so_far |= {step.target: step for step in piece}
    return found


def _uses(piece: Sequence[Elementwise], before: dict[View, Elementwise]) -> _Uses:
    use = _Uses([], [])
    own: set[View] = set()
    for step in piece:
        for view in step.operands:
            if view in own:
                continue
            if view not in before:
                use.loaded.append(view)
            elif before[view] not in use.earlier:
                use.earlier.append(before[view])
        own.add(step.target)
    return use


def _handed_on(pieces: Sequence[Sequence[Elementwise]], uses: Sequence[_Uses]) -> dict[Elementwise, tuple[str, str]]:
    """The array in which a value waits for later pieces, and its type. Arrays of values that are done serve again."""
    last = {step: number for number, use in enumerate(uses) for step in use.earlier}
    handed: dict[Elementwise, tuple[str, str]] = {}
    waiting: list[Elementwise] = []
    for number, piece in enumerate(pieces):
        # A piece reads its element of an array before it writes one there.
        waiting = [step for step in waiting if last[step] > number]
        for step in piece:
            if step in last:
                taken = {handed[other][0] for other in waiting}
                kind = step.target.c_type
                free = (name for count in range(len(taken) + 1) if (name := f"{kind}_{count}") not in taken)
                handed[step] = (next(free), kind)
                waiting.append(step)
    return handed


def _body(
    piece: Sequence[Elementwise],
    use: _Uses,
    places: dict[View, str],
    handed: dict[Elementwise, tuple[str, str]],
    kept: Sequence[View],
) -> list[str]:
    """The lines of a piece for one element."""
    lines: list[str] = []
    values: dict[View, str] = {}
    for number, view in enumerate(dict.fromkeys(use.loaded)):
        values[view] = f"x{number}"
        lines.append(f"const {view.c_type} x{number} = {places[view]};")
    for step in use.earlier:
        values[step.target] = step.name
        lines.append(f"const {step.target.c_type} {step.name} = {handed[step][0]}[j];")
    for step in piece:
        lines.append(f"/* {step.comment} */")
        expression = step.written([values[view] for view in step.operands])
        lines.append(f"const {step.target.c_type} {step.name} = {expression};")
        values[step.target] = step.name
        if step in handed:
            lines.append(f"{handed[step][0]}[j] = {step.name};")
    return [*lines, *(f"{places[view]} = {values[view]};" for view in kept)]
