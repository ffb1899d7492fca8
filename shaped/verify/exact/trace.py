"""A function and its backward as one graph of ATen operations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
from torch import Tensor, fx
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing, make_fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from shaped.verify.exact.aten.registry import UnsupportedError, find_rule

Function = Callable[..., Any]


@dataclass(frozen=True)
class Joint:
    """The graph of a function's floating results and of the gradients of its inputs.

    Args:
        module: takes the upstream gradients, the inputs and the constants; gives the results and the gradients.
        upstreams: how many upstream gradients it takes, which is how many results it gives.
        constants: tensors that the function holds.
        decided: whether Python code branched on values of the inputs.
        without_onednn: whether kernels of oneDNN were left out.
    """

    module: fx.GraphModule
    upstreams: int
    constants: tuple[Tensor, ...]
    decided: bool
    without_onednn: bool = False

    def run(self, upstreams: Sequence[Tensor], inputs: Sequence[Tensor]) -> list[Any]:
        """The results and the gradients in floats.

        Raises:
            UnsupportedError: an operation raised.
        """
        constants = [one.clone() for one in self.constants]
        try:
            with torch.no_grad():
                return list(self.module(*upstreams, *inputs, *constants))
        except Exception as error:
            first_line = str(error).partition("\n")[0]
            raise UnsupportedError(f"its trace raised {type(error).__name__}: {first_line}") from error

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers."""
        targets = [node.target for node in self.module.graph.nodes]
        # Fused attention draws only for dropout, with which it has no rule.
        return any(
            isinstance(one, torch._ops.OpOverload)
            and torch.Tag.nondeterministic_seeded in one.tags
            and not _has_rule(one)
            for one in targets
        )

    @property
    def results(self) -> list[fx.Node]:
        """The nodes of the results."""
        (outputs,) = next(node for node in self.module.graph.nodes if node.op == "output").args
        return [node for node in outputs[: self.upstreams] if isinstance(node, fx.Node)]


def floating(value: Any) -> list[Tensor]:
    """The floating tensors of what a function gave: a tensor, or tensors in tuples, lists and dictionaries.

    A complex one is given as its parts, along a last dim of size 2.
    """
    tensors = [one for one in tree_leaves(value) if isinstance(one, Tensor)]
    parts = [torch.view_as_real(one.resolve_conj()) if one.is_complex() else one for one in tensors]
    return [one for one in parts if one.is_floating_point()]


def differentiable(value: Any) -> list[Tensor]:
    """The floating tensors that autograd has a gradient of."""
    return [one for one in floating(value) if one.requires_grad]


def joint(function: Function, backward: Function | None) -> Callable[[Sequence[Tensor], Sequence[Tensor]], list[Any]]:
    """The function that gives both results and gradients.

    Args:
        function: of floating tensors.
        backward: a backward written by hand; autograd's if None. It gets the upstream gradients and the inputs.
    """

    def both(upstreams: Sequence[Tensor], inputs: Sequence[Tensor]) -> list[Any]:
        if backward is not None:
            with torch.no_grad():
                results = floating(function(*inputs))
                gradients = backward(upstreams[0] if len(upstreams) == 1 else tuple(upstreams), *inputs)
            return [*results, *gradients]
        leaves = [one.detach().requires_grad_() for one in inputs]
        with torch.enable_grad():
            results = differentiable(function(*leaves))
        found = torch.autograd.grad(results, leaves, list(upstreams), allow_unused=True)
        return [*results, *found]

    return both


_DRAWS = frozenset(
    {
        "normal",
        "normal_functional",
        "bernoulli",
        "uniform",
        "exponential",
        "geometric",
        "cauchy",
        "log_normal",
        "poisson",
    }
)


@cache
def _decompositions() -> dict[Any, Function]:
    """torch's decompositions of the operations without a rule."""
    table: dict[Any, Function] = {**decomposition_table, **core_aten_decompositions()}
    return {op: function for op, function in table.items() if not _has_rule(op) and not _draws(op)}


def _draws(operation: Any) -> bool:
    """Whether an operation is a draw, of whose parameters autograd gives no gradient; its decomposition would."""
    return isinstance(operation, torch._ops.OpOverload) and operation.overloadpacket.__name__.rstrip("_") in _DRAWS


def _has_rule(operation: Any) -> bool:
    if not isinstance(operation, torch._ops.OpOverload):
        return False
    return find_rule(operation.overloadpacket.__name__, operation._overloadname) is not None


class _ReadDecisions(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch does not annotate it
    """Lets Python code branch on booleans and whole numbers while it is traced: constant between branches."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch does not annotate it
        self.used = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        reads = func in (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.is_nonzero.default)
        if func is torch.ops.aten.equal.default or (reads and not _is_continuous(args[0])):
            self.used = True
            with disable_proxy_modes_tracing():
                return func(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def _is_continuous(value: Tensor) -> bool:
    return value.is_floating_point() or value.is_complex()


def trace(both: Function, upstreams: Sequence[Tensor], inputs: Sequence[Tensor]) -> Joint:
    """The graph of a joint function at these sizes.

    Recurrent layers that oneDNN computes whole are traced as the operations that they are made of.

    Raises:
        Exception: whatever the function raises, and what tracing does not follow.
    """
    found = _trace(both, upstreams, inputs)
    if not any("mkldnn" in str(node.target) for node in found.module.graph.nodes):
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.backends.mkldnn.flags(enabled=False):
            return replace(_trace(both, upstreams, inputs), without_onednn=True)


def _trace(both: Function, upstreams: Sequence[Tensor], inputs: Sequence[Tensor]) -> Joint:
    decisions = _ReadDecisions()

    def watched(*arguments: Any) -> Any:
        with decisions:
            return both(*arguments)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.no_grad():
            first = make_fx(watched, decomposition_table=_decompositions(), tracing_mode="real")
            module = first(list(upstreams), list(inputs))
            constants = _constants_as_arguments(module)
            if any(_mutates(node) for node in module.graph.nodes):
                written = module
                plain = torch.func.functionalize(lambda *flat: written(*flat), remove="mutations_and_views")
                functional = make_fx(plain, decomposition_table=_decompositions(), tracing_mode="real")
                module = functional(*upstreams, *inputs, *[one.detach().clone() for one in constants])
                constants += _constants_as_arguments(module)
                _drop_write_backs(module)
    module.graph.eliminate_dead_code()
    return Joint(module, len(upstreams), tuple(constants), decisions.used)


def _mutates(node: fx.Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def _constants_as_arguments(module: fx.GraphModule) -> list[Tensor]:
    """Make the tensors that a graph holds its last arguments, as a graph that writes to them is only traced so."""
    graph = module.graph
    found: dict[str, Tensor] = {}
    last = [node for node in graph.nodes if node.op == "placeholder"][-1:]
    for node in list(graph.nodes):
        if node.op != "get_attr":
            continue
        name = str(node.target)
        constant = getattr(module, name)
        if not isinstance(constant, Tensor):
            raise UnsupportedError(f"a constant of type {type(constant).__name__}")
        found.setdefault(name, constant)
    for name in found:
        users = [node for node in graph.nodes if node.op == "get_attr" and str(node.target) == name]
        with graph.inserting_after(last[-1]) if last else graph.inserting_before(next(iter(graph.nodes))):
            argument = graph.placeholder(f"constant_{len(last)}_{name}")
        last.append(argument)
        for node in users:
            node.replace_all_uses_with(argument)
            graph.erase_node(node)
    # The arguments are plain positions from here on.
    graph.set_codegen(fx.graph.CodeGen())
    module.recompile()
    return list(found.values())


def _drop_write_backs(module: fx.GraphModule) -> None:
    """Drop the last writes to the arguments: nothing of the graph reads them."""
    for node in reversed(list(module.graph.nodes)):
        if node.target is torch.ops.aten.copy_.default and not node.users:
            module.graph.erase_node(node)
    module.recompile()


def same_graph(one: Joint, other: Joint) -> bool:
    """Whether two traces are equal, with their constants."""

    def lines(joint_: Joint) -> list[str]:
        return [node.format_node() or "" for node in joint_.module.graph.nodes]

    if lines(one) != lines(other) or len(one.constants) != len(other.constants):
        return False
    return all(
        a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, equal_nan=True)
        for a, b in zip(one.constants, other.constants)
    )
