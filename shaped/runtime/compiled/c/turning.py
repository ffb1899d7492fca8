"""Products whose results are laid out by columns, where that saves to transpose the weights.

`x @ weight.T` needs the columns of `weight.T` side by side, and they are not: either they are copied so, or the product
is computed as `weight @ x.T`, whose result is laid out by columns. The next layer then reads it as it is. That pays
where such results are made, go through elementwise operations, and are read as left sides of products: in a forward.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from shaped.runtime.compiled.c.layout import Buffer, View
from shaped.runtime.compiled.c.steps import Kernel, Loop, Step

# With fewer rows nothing is copied anyway, and with very many the copy of the weights is little.
_ROWS = range(5, 1024)


def turn(steps: Sequence[Step]) -> list[Step]:
    """The steps with the buffers by columns for which that pays."""
    matrices = _matrices(steps)
    turned: dict[Buffer, tuple[int, int]] = {}
    for group in _groups(steps, matrices):
        if any(_gains(step, group) for step in steps):
            turned |= {buffer: matrices[buffer] for buffer in group}
    if not turned:
        return [*steps]
    return [_moved(step, lambda view: _by_columns(view, turned)) for step in steps]


def _touched(step: Step) -> list[View]:
    return [*step.reads, *step.writes]


def _matrices(steps: Sequence[Step]) -> dict[Buffer, tuple[int, int]]:
    """The temporaries that are matrices wherever they are seen, with their shapes, and that can lie by columns."""
    shapes: dict[Buffer, tuple[int, int]] = {}
    out: set[Buffer] = set()
    for step in steps:
        for view in _touched(step):
            buffer = view.buffer
            if buffer.role != "temporary" or (isinstance(step, Kernel) and step.elsewhere is None):
                out.add(buffer)
                continue
            if len(view.shape) != 2 or not view.is_whole or 1 in view.shape:
                out.add(buffer)
                continue
            rows, columns = view.shape if view.strides[1] == 1 else view.shape[::-1]
            if sorted(view.strides) != [1, columns] or shapes.setdefault(buffer, (rows, columns)) != (rows, columns):
                out.add(buffer)
        if isinstance(step, Kernel) and step.right is not None:
            out.add(step.right.buffer)
    return {buffer: shape for buffer, shape in shapes.items() if buffer not in out}


def _groups(steps: Sequence[Step], matrices: Mapping[Buffer, tuple[int, int]]) -> list[set[Buffer]]:
    """The buffers that must be laid out alike, since loops go through them together."""
    groups: list[set[Buffer]] = [{buffer} for buffer in matrices]
    for step in steps:
        if not isinstance(step, Loop):
            continue
        views = [view for view in _touched(step) if 0 not in view.strides]
        together = {view.buffer for view in views}
        joined = [group for group in groups if group & together]
        groups = [group for group in groups if not group & together]
        if joined and all(buffer in matrices for buffer in together):
            groups.append(set().union(*joined))
    return groups


def _gains(step: Step, group: set[Buffer]) -> bool:
    """Whether a product writes to the group and would have to copy its right side by columns."""
    if not isinstance(step, Kernel) or step.right is None or step.writes[0].buffer not in group:
        return False
    rows, columns = step.writes[0].shape
    return rows in _ROWS and columns in _ROWS and step.right.strides[-2] == 1 and step.writes[0].strides[-1] == 1


def _by_columns(view: View, turned: Mapping[Buffer, tuple[int, int]]) -> View:
    if view.buffer not in turned:
        return view
    rows, _ = turned[view.buffer]
    return replace(view, strides=tuple(rows if stride == 1 else 1 for stride in view.strides))


def _moved(step: Step, move: Callable[[View], View]) -> Step:
    if isinstance(step, Loop):
        moved = [
            replace(one, target=move(one.target), operands=tuple(move(view) for view in one.operands))
            for one in step.steps
        ]
        return Loop(step.shape, moved)
    if step.elsewhere is None or all(move(view) is view for view in _touched(step)):
        return step
    return step.elsewhere(move)
