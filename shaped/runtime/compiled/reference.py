"""What eager training gives, taken from a copy of the model and its optimiser: what a compiled step is held to."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.optim import Optimizer
from torch.utils import _pytree as pytree

from shaped.runtime.compiled.checking import Expected, Trials
from shaped.runtime.compiled.dispatch import with_structure
from shaped.runtime.compiled.flat import FlatGroup
from shaped.runtime.compiled.program import CannotCompile
from shaped.runtime.compiled.tracing import tensors_of
from shaped.runtime.compiled.trial import copies, tensors_kept, varied
from shaped.runtime.compiled.updates import Flat, Update


@dataclass(frozen=True)
class Places:
    """Which node of a step's program holds what.

    Args:
        groups: the flat tensors of each group.
        fixed: parameters that are not trained, and buffers, by name.
    """

    groups: Sequence[Flat]
    fixed: Mapping[str, fx.Node]


def eager_step(model: nn.Module, loss: Callable[..., Any], optimizer: Optimizer, inputs: tuple[Any, ...]) -> Any:
    """One step of training as it is written by hand; gives the results without gradients."""
    with torch.enable_grad():
        optimizer.zero_grad()
        results = loss(model, *inputs)
        value = results["loss"] if isinstance(results, Mapping) else results
        value.backward()
    optimizer.step()
    return pytree.tree_map_only(Tensor, Tensor.detach, results)


class Reference:
    """A copy of a model and its optimiser, which trains in eager.

    Raises:
        CannotCompile: the model cannot be copied.
    """

    def __init__(
        self, model: nn.Module, loss: Callable[..., Any], optimizer: Optimizer, inputs: tuple[Any, ...]
    ) -> None:
        try:
            self.model, self.optimizer = copy.deepcopy((model, optimizer))
        except Exception as error:
            raise CannotCompile(f"the model cannot be copied, so nothing can be held to it: {error}") from error
        self.loss = loss
        self.inputs = inputs

    def step_once(self) -> object:
        """One more step in eager."""
        return eager_step(self.model, self.loss, self.optimizer, self.inputs)

    def trials(
        self,
        update: Update,
        groups: Sequence[FlatGroup],
        places: Places,
        scalars: Callable[[int], Sequence[float]],
    ) -> Trials:
        """What a few steps give: the second with the same inputs, the third with their rows in another order."""
        example = copies([leaf for leaf in pytree.tree_leaves(self.inputs) if isinstance(leaf, Tensor)])
        # What is wrong with a count of steps shows in the second.
        given = [example, example, varied(example)]
        step = with_structure(self.inputs, lambda *inputs: eager_step(self.model, self.loss, self.optimizer, inputs))
        expected = []
        with tensors_kept(()):
            for tensors in given:
                results = pytree.tree_leaves(step(*copies(tensors)))
                contents = self._contents(update, groups, places)
                expected.append(Expected([one.clone() for one in results if one is not None], contents))
        return Trials(given, scalars, expected)

    def _contents(self, update: Update, groups: Sequence[FlatGroup], places: Places) -> dict[fx.Node, Tensor]:
        """What the copy's tensors contain, in the layout of the flat ones."""
        own = tensors_of(self.model)
        named = dict(self.model.named_parameters())
        found = {node: own[name].detach().clone() for name, node in places.fixed.items()}
        for group, nodes in zip(groups, places.groups):
            names = {named[name]: name for name in group.names}
            (settings,) = (one for one in self.optimizer.param_groups if any(each in names for each in one["params"]))
            flat = FlatGroup.of(self.optimizer, settings, update, names)
            for view, parameter in zip(flat.views(flat.gradient), flat.parameters):
                assert parameter.grad is not None, "it was reached when the step was traced"
                view.copy_(parameter.grad)
            found |= {nodes.parameter: flat.values, nodes.gradient: flat.gradient}
            found |= {nodes.state[name]: moment for name, moment in flat.state.items()}
            if nodes.steps is not None:
                found[nodes.steps] = flat.steps
        return found
