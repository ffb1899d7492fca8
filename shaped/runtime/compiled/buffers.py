"""The memory that results are written to: which operations take it, and when its content is no longer read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.aliasing import fills, overlap
from shaped.runtime.compiled.program import Program, empty_like


class Buffers:
    """The buffers of a program.

    Args:
        root: for each node the one whose memory it has.
    """

    def __init__(self, program: Program, root: Mapping[fx.Node, fx.Node]) -> None:
        self._place = {node: number for number, node in enumerate(program.graph.nodes)}
        # For each node that has memory of its own: the place of the last operation that reads it or a view of it.
        self._last_use = dict.fromkeys(root.values(), -1)
        for node in program.graph.nodes:
            for one in node.all_input_nodes:
                self._last_use[root[one]] = self._place[node]
        self._taken: list[tuple[Tensor, fx.Node]] = []

    def take(self, node: fx.Node, operands: Sequence[Tensor]) -> Tensor:
        """A buffer in the layout of a result: a new one, or one whose content nobody reads after this.

        Args:
            operands: what the operation reads, where that is in buffers too.
        """
        value = node.meta["val"]
        if not fills(value):
            return empty_like(value)
        for place, (old, owner) in enumerate(self._taken):
            if self._is_free(old, owner, node, operands) and _is_alike(old, value):
                del self._taken[place]
                buffer = old.as_strided(value.shape, value.stride())
                break
        else:
            buffer = empty_like(value)
        self._taken.append((buffer, node))
        return buffer

    def _is_free(self, old: Tensor, owner: fx.Node, node: fx.Node, operands: Sequence[Tensor]) -> bool:
        last, here = self._last_use[owner], self._place[node]
        return last < here or (last == here and _may_overwrite(node, old, operands))


def _is_alike(old: Tensor, value: Tensor) -> bool:
    return old.dtype == value.dtype and old.device == value.device and old.numel() == value.numel()


def _may_overwrite(node: fx.Node, old: Tensor, operands: Sequence[Tensor]) -> bool:
    """Whether an operation reads each entry of a buffer only where it writes it."""
    operation = node.target
    assert isinstance(operation, torch._ops.OpOverload)
    value = node.meta["val"]
    return torch.Tag.pointwise in operation.tags and all(
        one.data_ptr() == old.data_ptr()
        and one.shape == value.shape
        and one.stride() == value.stride()
        and one.dtype == value.dtype
        for one in operands
        if overlap(one, old)
    )


def out_form(operation: torch._ops.OpOverload) -> tuple[torch._ops.OpOverload, str] | None:
    """The form of an operation that writes its one result to a given tensor, and what it calls this tensor.

    Forms that torch generates are left out: they run the plain form, and copy.
    """
    if operation.overloadpacket.__name__.endswith("_loss"):
        return None  # the given tensor is resized to one loss for each entry first, with a warning
    if len(operation._schema.returns) != 1 or not isinstance(operation._schema.returns[0].type, torch.TensorType):
        return None
    own = [(one.name, str(one.type)) for one in operation._schema.arguments]
    packet = operation.overloadpacket
    for name in packet.overloads():
        form = getattr(packet, name)
        out = [one for one in form._schema.arguments if one.is_out]
        rest = [(one.name, str(one.type)) for one in form._schema.arguments if not one.is_out]
        if len(out) == 1 and rest == own and torch.Tag.generated not in form.tags:
            return form, out[0].name
    return None


__all__ = ["Buffers", "out_form"]
