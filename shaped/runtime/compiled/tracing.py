"""From a model and its loss to a program: the operations that eager runs for inputs of these shapes, in their order.

The forward, and the backward that autograd makes of it, are run once on fake tensors, without data. What they do is
recorded below autograd, operation by operation, so nothing is known of Python's control flow: the branch that was taken
is the branch that will be taken. A program is held to eager before it is used (`checking`), and one that depends on the
values of tensors cannot be traced at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree

from shaped.runtime.compiled.program import CannotCompile, first_line
from shaped.runtime.compiled.recordable import attributes_kept, require_traceable


@dataclass(frozen=True)
class Structure:
    """How results are nested. A result may be None.

    Args:
        spec: of the results.
        present: of each of them, whether it is a tensor.
    """

    spec: pytree.TreeSpec
    present: tuple[bool, ...]

    @property
    def is_one(self) -> bool:
        """Whether there is one tensor, by itself."""
        return self.spec.is_leaf() and self.present == (True,)

    def nested(self, tensors: Sequence[Tensor]) -> Any:
        """The results, of their tensors."""
        following = iter(tensors)
        return pytree.tree_unflatten([next(following) if one else None for one in self.present], self.spec)


@dataclass(frozen=True)
class Traced:
    """What a function of tensors does.

    Args:
        graph: the operations; its output is the flat list of results.
        named: the placeholder of each parameter and buffer, by its name in the module.
        inputs: the placeholder of each of the inputs' tensors.
        constants: the nodes of other tensors that the function reads, with these tensors.
        results: how many of the outputs are the function's results; the gradients follow.
        structure: of the results.
        gradients: the names of the parameters whose gradients these are; a parameter that was not reached has none.
    """

    graph: fx.Graph
    named: Mapping[str, fx.Node]
    inputs: tuple[fx.Node, ...]
    constants: Mapping[fx.Node, Tensor]
    results: int
    structure: Structure
    gradients: tuple[str, ...] = ()


def tensors_of(model: nn.Module) -> dict[str, Tensor]:
    """The parameters and buffers of a model, each once, by name."""
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def trace(
    model: nn.Module,
    function: Callable[..., Any],
    inputs: Sequence[object],
    *,
    differentiated: Sequence[str] = (),
) -> Traced:
    """Record a function of a model and inputs, and the gradients of its result.

    Args:
        model: the model.
        function: `function(model, *inputs)`; gives tensors in lists, tuples and dicts. With gradients: the scalar loss,
            or a dict of it (`"loss"`) and other values.
        inputs: tensors, or lists, tuples and dicts of tensors and plain values. The values are fixed.
        differentiated: the names of the parameters to take gradients by.

    Raises:
        CannotCompile: what is computed depends on the values of tensors, or is nothing that torch can trace; or the
            forward changes attributes that it would change again at each call.
        ValueError: there is no loss to differentiate.
    """
    require_traceable(model, inputs)
    tensors = tensors_of(model)
    given_leaves, structure = pytree.tree_flatten(tuple(inputs))
    places = [place for place, leaf in enumerate(given_leaves) if isinstance(leaf, Tensor)]
    # A tensor that is given twice is one tensor: a module may ask whether its query is its key.
    outer = each_once(
        lambda one: one.detach().requires_grad_(one.requires_grad), [given_leaves[place] for place in places]
    )
    alone = list({id(one): one for one in outer}.values())
    number = {id(one): at for at, one in enumerate(alone)}
    found: dict[str, Any] = {}

    def run(held: list[Tensor], given: list[Tensor]) -> list[Tensor]:
        values = list(given_leaves)
        for place, one in zip(places, outer):
            values[place] = given[number[id(one)]]
        own = dict(zip(tensors, held))
        with torch.enable_grad() if differentiated else torch.no_grad():
            results = _Called(model, function).under(own, pytree.tree_unflatten(values, structure))
            leaves, spec = pytree.tree_flatten(results)
            found["structure"] = Structure(spec, tuple(one is not None for one in leaves))
            flat = [one for one in leaves if one is not None]
            _require_tensors(flat)
            gradients: dict[str, Tensor] = {}
            if differentiated:
                by = [own[name] for name in differentiated]
                made: tuple[Tensor | None, ...] = torch.autograd.grad(_loss(results), by, allow_unused=True)
                gradients = {name: one for name, one in zip(differentiated, made) if one is not None}
                _require_dense(gradients)
        found["results"], found["gradients"] = len(flat), tuple(gradients)
        return [*flat, *gradients.values()]

    # Whether a tensor requires a gradient decides which kernels run, also where none is recorded.
    held = [value.detach().requires_grad_(value.requires_grad) for value in tensors.values()]
    try:
        with attributes_kept(model):
            module = make_fx(run, tracing_mode="fake", _allow_non_fake_inputs=True)(held, alone)
    except (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode) as error:
        raise CannotCompile(f"what it does depends on the values of tensors: {first_line(error)}") from error
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    constants = {node: _attribute(module, str(node.target)) for node in module.graph.nodes if node.op == "get_attr"}
    return Traced(
        graph=module.graph,
        named=dict(zip(tensors, placeholders)),
        inputs=tuple(placeholders[len(tensors) + number[id(one)]] for one in outer),
        constants=constants,
        results=found["results"],
        structure=found["structure"],
        gradients=found["gradients"],
    )


def each_once(change: Callable[[Tensor], Tensor], tensors: Sequence[Tensor]) -> list[Tensor]:
    """A function of each tensor; of a tensor that is there twice, one result twice."""
    changed: dict[int, Tensor] = {}
    for one in tensors:
        if id(one) not in changed:
            changed[id(one)] = change(one)
    return [changed[id(one)] for one in tensors]


class _Called(nn.Module):
    """A function of a module, with other tensors in the module's place."""

    def __init__(self, model: nn.Module, function: Callable[..., Any]) -> None:
        super().__init__()
        self.model = model
        self.function = function

    def forward(self, inputs: tuple[Any, ...]) -> Any:
        return self.function(self.model, *inputs)

    def under(self, tensors: Mapping[str, Tensor], inputs: tuple[Any, ...]) -> Any:
        """What the function gives where the module has these parameters and buffers."""
        renamed = {f"model.{name}": value for name, value in tensors.items()}
        return torch.func.functional_call(self, renamed, (inputs,))


def _require_tensors(results: Sequence[object]) -> None:
    for one in results:
        if not isinstance(one, Tensor):
            raise CannotCompile(f"a result is {type(one).__name__}, no tensor: compiled code gives tensors only")


def _require_dense(gradients: Mapping[str, Tensor]) -> None:
    for name, one in gradients.items():
        if one.layout is not torch.strided:
            raise CannotCompile(f"the gradient of {name!r} is sparse: build its module with sparse=False")


def _loss(results: object) -> Tensor:
    loss = results["loss"] if isinstance(results, Mapping) and "loss" in results else results
    if not isinstance(loss, Tensor):
        raise ValueError(f"the loss is a {type(loss).__name__}: give a scalar tensor, or a dict with one as 'loss'")
    if loss.dim() > 0:
        raise ValueError(f"the loss has the shape {tuple(loss.shape)}: a scalar is wanted: loss.mean()?")
    if not loss.requires_grad:
        raise ValueError("the loss depends on no parameter that the optimizer has")
    return loss


def _attribute(module: nn.Module, path: str) -> Tensor:
    value: object = module
    for name in path.split("."):
        value = getattr(value, name)
    assert isinstance(value, Tensor), "the attributes of a traced graph are its tensors"
    return value
