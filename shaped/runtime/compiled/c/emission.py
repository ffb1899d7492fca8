"""From steps to C: one function, which is given the addresses of what changes from call to call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from shaped.runtime.compiled.c.fused import written_loop
from shaped.runtime.compiled.c.layout import Buffer, View
from shaped.runtime.compiled.c.lowering import Lowered
from shaped.runtime.compiled.c.steps import Kernel, Loop, Step
from shaped.runtime.compiled.c.text import indented
from shaped.runtime.compiled.c.turning import turn

# As torch aligns: a line of the cache, and the widest vector.
_ALIGNMENT_BYTES = 64


@dataclass(frozen=True)
class Emitted:
    """The C of a program, and what must be known to call it.

    Args:
        source: the C.
        arena_bytes: how much memory the temporaries take.
        faults: the message for each code that the function may return, from 1 on.
        work: about how many multiplications the matrix products do.
    """

    source: str
    arena_bytes: int
    faults: tuple[str, ...]
    work: int


def emit(lowered: Lowered) -> Emitted:
    """The C of a program: `int run(void *const *held, inputs, outputs, scalars)`.

    `held[0]` is the arena, which has room for the temporaries; the addresses of the held tensors follow.
    """
    steps = turn(lowered.steps)
    stored = _stored(steps)
    places, scratch_place, arena_bytes = _places(steps, stored)
    faults: list[str] = []
    first, body = _checks_at_the_start(lowered, faults), []
    for step in steps:
        if isinstance(step, Loop):
            body += written_loop(step, stored)
            continue
        body.append(f"/* {step.comment} */")
        if step.check is not None and not _is_given(step.check.index, steps):
            body += _faulty(step.check.lines, step.check.message, faults)
        body += step.lines
    pointers = ["char *const arena = held[0];"] if places or scratch_place is not None else []
    pointers += [
        f"{buffer.c_type} *const {buffer.name} = held[{number + 1}];" for number, (buffer, _) in enumerate(lowered.held)
    ]
    pointers += [
        f"{buffer.c_type} *const {buffer.name} = ({buffer.c_type} *)(arena + {place});"
        for buffer, place in places.items()
    ]
    if scratch_place is not None:
        pointers.append(f"void *const scratch = arena + {scratch_place};")
    given = [f"const {view.c_type} *{view.buffer.name}" for view in lowered.inputs]
    given += [f"{view.c_type} *{view.buffer.name}" for view in lowered.outputs]
    given += [f"double {name}" for name in lowered.scalars]
    function = [
        f"int run({', '.join(['void *const *held', *given])})",
        "{",
        *pointers,
        *first,
        *body,
        "return 0;",
        "}",
    ]
    return Emitted(
        "\n".join([*_library(), indented(function)]),
        arena_bytes,
        tuple(faults),
        sum(step.work for step in steps if isinstance(step, Kernel)),
    )


def _library() -> list[str]:
    """The C that all programs have."""
    folder = files("shaped.runtime.compiled.c") / "source"
    vectors, functions, product = (
        folder.joinpath(name).read_text(encoding="utf-8") for name in ("vectors.c", "functions.c", "product.c")
    )
    parts = [vectors, functions]
    for kind, integer in (("float", "int32_t"), ("double", "int64_t")):
        given = {
            "REAL": kind,
            "INTEGER": integer,
            "VECTOR": f"vector_{kind}",
            "FMA": f"FMA_{kind}",
            "SUM": f"SUM_{kind}",
            "NAME(name)": f"name##_{kind}",
        }
        parts += [f"#define {name} {value}" for name, value in given.items()]
        parts.append(product)
        parts += [f"#undef {name.partition('(')[0]}" for name in given]
    return parts


def _touched(step: Step) -> list[View]:
    return [*step.reads, *step.writes]


def _stored(steps: Sequence[Step]) -> set[Buffer]:
    """The temporaries that need memory: those that one loop makes and reads alone stay in registers."""
    users: dict[Buffer, set[int]] = {}
    for number, step in enumerate(steps):
        for view in _touched(step):
            users.setdefault(view.buffer, set()).add(number)
    alone = {
        buffer
        for buffer, numbers in users.items()
        if len(numbers) == 1 and all(isinstance(steps[number], Loop) for number in numbers)
    }
    return {buffer for buffer in users if buffer.role == "temporary" and buffer not in alone}


def _places(steps: Sequence[Step], stored: set[Buffer]) -> tuple[dict[Buffer, int], int | None, int]:
    """Where each temporary is in the arena, where the scratch is, and how large the arena is.

    A temporary takes memory from the first step that touches it to the last, so what comes after it can lie there.
    """
    last: dict[Buffer, int] = {}
    for number, step in enumerate(steps):
        for view in _touched(step):
            last[view.buffer] = number
    places: dict[Buffer, int] = {}
    live: list[tuple[int, int, Buffer]] = []
    end = 0
    for number, step in enumerate(steps):
        for buffer in dict.fromkeys(view.buffer for view in _touched(step)):
            if buffer not in stored or buffer in places:
                continue
            size = _aligned(buffer.bytes)
            place = 0
            for start, stop, _ in sorted(live, key=lambda one: one[0]):
                if place + size <= start:
                    break
                place = max(place, stop)
            places[buffer] = place
            live.append((place, place + size, buffer))
            end = max(end, place + size)
        live = [one for one in live if last[one[2]] > number]
    scratch = max((step.scratch for step in steps if isinstance(step, Kernel)), default=0)
    return places, end if scratch else None, end + _aligned(scratch)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES


def _is_given(index: View, steps: Iterable[Step]) -> bool:
    """Whether the elements are there from the start, and stay."""
    if index.buffer.role not in ("input", "held"):
        return False
    return all(view.buffer is not index.buffer for step in steps for view in step.writes)


def _checks_at_the_start(lowered: Lowered, faults: list[str]) -> list[str]:
    """The checks of what is given: nothing is written before they are met."""
    lines: list[str] = []
    seen: set[tuple[str, ...]] = set()
    for step in lowered.steps:
        if isinstance(step, Kernel) and step.check is not None and _is_given(step.check.index, lowered.steps):
            if tuple(step.check.lines) not in seen:
                lines += _faulty(step.check.lines, step.check.message, faults)
            seen.add(tuple(step.check.lines))
    return lines


def _faulty(lines: Sequence[str], message: str, faults: list[str]) -> list[str]:
    faults.append(message)
    return [line.replace("FAULT", str(len(faults))) for line in lines]
