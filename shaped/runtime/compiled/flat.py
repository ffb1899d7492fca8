"""All parameters of a group in one tensor, and their moments too: one operation then does the work of many.

The parameters stay the module's own objects, and the moments stay in `optimizer.state`: they become views of the flat
tensors, so `state_dict()`, checkpoints and whoever looks at them see what a step wrote, at once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx
from torch.nn import Parameter
from torch.optim import Optimizer

from shaped.runtime.compiled.program import CannotCompile
from shaped.runtime.compiled.updates import Flat, Update
from shaped.runtime.compiled.writing import Writer, aten

# As torch allocates tensors: vector instructions and matrix kernels may depend on it.
_ALIGNMENT_BYTES = 64


@dataclass
class FlatGroup:
    """The trained parameters of one group of an optimiser.

    Args:
        group: the group: its settings are read at each step.
        names: of the parameters.
        parameters: those that have a gradient.
        offsets: where each begins in the flat tensors; the gaps between them are zeros.
        values: the flat parameters.
        gradient: the flat gradients.
        state: the flat moments, by name.
        steps: the count of steps of each parameter; empty for optimisers that keep none.
        has_begun: whether a step was made.
    """

    group: dict[str, Any]
    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    offsets: tuple[int, ...]
    values: Tensor
    gradient: Tensor
    state: dict[str, Tensor]
    steps: Tensor
    has_begun: bool = False

    @classmethod
    def of(
        cls, optimizer: Optimizer, group: dict[str, Any], update: Update, names: Mapping[Parameter, str]
    ) -> FlatGroup:
        """The group with its flat tensors; nothing of the optimiser or its parameters is changed yet.

        Args:
            names: the names of the parameters that have a gradient.

        Raises:
            CannotCompile: the parameters are not alike, or have made different numbers of steps.
        """
        parameters = [one for one in group["params"] if one in names]
        kinds = {(one.dtype, one.device) for one in parameters}
        if len(kinds) != 1:
            raise CannotCompile("the parameters of a group are of several dtypes or devices")
        if not all(one.is_contiguous() for one in parameters):
            raise CannotCompile("a parameter is not contiguous")
        ((dtype, device),) = kinds
        unit = max(1, _ALIGNMENT_BYTES // dtype.itemsize)
        offsets, end = [], 0
        for one in parameters:
            offsets.append(end)
            end += -(-one.numel() // unit) * unit
        flat = [torch.zeros(end, dtype=dtype, device=device) for _ in range(2 + len(update.states(group)))]
        values, gradient, *moments = flat
        counts = len(parameters) if update.counts_steps else 0
        made = cls(
            group,
            tuple(names[one] for one in parameters),
            tuple(parameters),
            tuple(offsets),
            values,
            gradient,
            dict(zip(update.states(group), moments)),
            torch.zeros(counts, dtype=_step_dtype()),
        )
        made.read(optimizer, update)
        return made

    def read(self, optimizer: Optimizer, update: Update) -> None:
        """Copy the parameters and the moments into the flat tensors.

        Raises:
            CannotCompile: some parameters have moments and some have none, or they have made different steps.
        """
        for view, parameter in zip(self.views(self.values), self.parameters):
            view.copy_(parameter.detach())
        saved = [optimizer.state.get(parameter, {}) for parameter in self.parameters]
        wanted = {*self.state, *(["step"] if update.counts_steps else [])}
        has = [all(one.get(name) is not None for name in wanted) for one in saved]
        # Adagrad's moments are there from the start, at step 0.
        steps = {float(one["step"]) for one, there in zip(saved, has) if there and update.counts_steps}
        if len(set(has)) > 1 or len(steps) > 1:
            raise CannotCompile("the parameters of a group have made different numbers of steps")
        self.has_begun = bool(wanted) and has[0]
        self.steps.fill_(steps.pop() if steps else 0.0)
        for name, flat in self.state.items():
            if not self.has_begun:
                flat.fill_(update.initial(name, self.group))
                continue
            for view, one in zip(self.views(flat), saved):
                view.copy_(one[name])

    def views(self, flat: Tensor) -> list[Tensor]:
        """The part of each parameter in a flat tensor."""
        return [
            flat[offset : offset + one.numel()].view(one.shape) for offset, one in zip(self.offsets, self.parameters)
        ]

    def hold(self, writer: Writer, ending: str) -> Flat:
        """The flat tensors as held tensors of a program."""
        return Flat(
            writer.held(f"parameters{ending}", self.values),
            writer.held(f"gradients{ending}", self.gradient),
            {name: writer.held(f"{name}{ending}", flat) for name, flat in self.state.items()},
            writer.held(f"steps{ending}", self.steps) if len(self.steps) else None,
        )

    def parts(self, writer: Writer, flat: fx.Node) -> list[fx.Node]:
        """The part of each parameter in a flat tensor of a program."""
        found = []
        for offset, one in zip(self.offsets, self.parameters):
            part = writer(aten.slice.Tensor, flat, 0, offset, offset + one.numel())
            found.append(writer(aten.view.default, part, list(one.shape)))
        return found

    def count(self) -> ctypes.c_float | ctypes.c_double | None:
        """The memory of the first count of steps, which Python reads without a call to torch; None if there is none."""
        if not len(self.steps):
            return None
        kind = ctypes.c_double if self.steps.dtype == torch.float64 else ctypes.c_float
        return kind.from_address(self.steps.data_ptr())

    def adopt(self) -> None:
        """Put the parameters into the flat tensor: they are the same objects, elsewhere."""
        for view, parameter in zip(self.views(self.values), self.parameters):
            parameter.data = view

    def register(self, optimizer: Optimizer) -> None:
        """Make the flat moments those of the optimiser, as its first step would make them."""
        found = {"step": list(self.steps)} if len(self.steps) else {}
        found |= {name: self.views(flat) for name, flat in self.state.items()}
        for name, parts in found.items():
            for parameter, part in zip(self.parameters, parts):
                optimizer.state[parameter][name] = part
        self.has_begun = True


def _step_dtype() -> torch.dtype:
    """That of torch's own counts."""
    return torch.float64 if torch.get_default_dtype() == torch.float64 else torch.float32
