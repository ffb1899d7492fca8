"""Tensors that are computed from other parameters (`torch.nn.utils.parametrize`): what to write for a wanted value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import Tensor
from torch.nn.utils import parametrizations

from shaped.init.rules import RuleError

if TYPE_CHECKING:
    from shaped.init.places import Slot
    from shaped.init.plan import Draw


def originals_for(slot: Slot, draw: Draw) -> list[Tensor]:
    """The values of `slot.parameters` that a parametrization gets when it is registered on a tensor drawn so.

    The tensor is what has the same bits everywhere; what is computed from it is computed by torch.

    Raises:
        RuleError: the way back draws random numbers of torch's, or gives other tensors than there are parameters.
    """
    assert slot.parametrizations is not None
    inverted: object = draw.tensor(slot.parameters[0].dtype, slot.parameters[0].device)
    for step in reversed(list(slot.parametrizations.children())):
        if isinstance(step, parametrizations._Orthogonal) and hasattr(step, "base"):
            raise RuleError(
                f"init_module: {slot.place.name} is parametrized by orthogonal(use_trivialization=True), which draws "
                "from torch's random state: give it Keep(), or use_trivialization=False"
            )
        # As torch does at registration: a step without a right inverse counts as the identity.
        try:
            inverted = getattr(step, "right_inverse", _identity)(inverted)
        except NotImplementedError:
            continue
    values = [inverted] if isinstance(inverted, Tensor) else list(inverted) if isinstance(inverted, Sequence) else []
    tensors = [value for value in values if isinstance(value, Tensor)]
    if [one.shape for one in tensors] != [one.shape for one in slot.parameters]:
        raise RuleError(
            f"init_module: {slot.place.name} is parametrized by tensors of shapes "
            f"{[tuple(one.shape) for one in slot.parameters]}, and right_inverse gives "
            f"{[tuple(one.shape) for one in tensors]}: give it Keep()"
        )
    return tensors


def _identity(value: object) -> object:
    return value
