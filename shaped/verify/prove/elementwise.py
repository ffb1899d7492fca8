"""Programs that treat every entry alike: what is proved of them for one axis holds for any number of axes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from shaped.spec.annotation import NamedPack
from shaped.spec.op import OPS

if TYPE_CHECKING:
    from shaped.verify.prove.programs import Program, Traced

# The families of the table whose operations work entry by entry, and single operations of others.
_FAMILIES = frozenset(["pointwise.py", "elementwise.py", "arithmetic.py", "comparison.py"])
_OTHERS = frozenset(
    """
    relu relu6 elu selu celu gelu silu mish softplus softsign tanhshrink hardtanh hardswish hardsigmoid hardshrink
    softshrink leaky_relu logsigmoid threshold clamp clip clamp_min clamp_max lerp addcmul addcdiv masked_fill
    zeros_like ones_like full_like empty_like where Tensor.where
    clone detach contiguous to float double half bfloat16 bool int long type type_as
    """.split()  # noqa: SIM905  (a column of quoted names reads worse)
)
# Of the families above, what is about more than one entry.
_NOT = frozenset(["allclose", "equal", "is_nonzero", "view_as_real", "complex", "polar", "real", "imag"])


def is_elementwise(program: Program, traced: Traced) -> bool:
    """Whether each tensor of the program has the axes of one pack, or none, and every operation is elementwise."""
    signature = program.signature
    shapes = [leaf.annotation.axes for leaf in signature.tensors if leaf.annotation is not None]
    alike = all(not axes or (len(axes) == 1 and isinstance(axes[0], NamedPack)) for axes in shapes)
    return len(signature.packs) == 1 and alike and all(map(_is_elementwise, traced.operations))


@cache
def _is_elementwise(name: str) -> bool:
    declared = OPS.get(name)
    if declared is None or name in _NOT:
        return False
    family = declared.rule.__code__.co_filename.replace("\\", "/").rpartition("/")[2]
    return name in _OTHERS or family in _FAMILIES
