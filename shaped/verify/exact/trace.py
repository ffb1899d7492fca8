"""A function and its backward as one graph of ATen operations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, fx
from torch._decomp import core_aten_decompositions, get_decompositions
from torch.fx.experimental.proxy_tensor import make_fx

from shaped.verify.exact.aten.registry import find_rule

Function = Callable[..., Any]

# Operations that core ATen keeps, with decompositions in torch.
_DECOMPOSED = (
    "_softmax", "_softmax_backward_data", "_log_softmax", "_log_softmax_backward_data", "gelu", "gelu_backward",
    "silu", "silu_backward", "native_layer_norm", "native_layer_norm_backward", "native_group_norm",
    "native_group_norm_backward", "native_batch_norm", "native_batch_norm_backward", "_native_batch_norm_legit",
    "_native_batch_norm_legit_no_training", "_native_batch_norm_legit_functional", "nll_loss_forward", "nll_loss_backward",
    "nll_loss2d_forward", "nll_loss2d_backward", "mse_loss", "mse_loss_backward", "embedding_dense_backward",
    "cudnn_batch_norm", "native_dropout", "native_dropout_backward",
)  # fmt: skip


@dataclass(frozen=True)
class Joint:
    """The graph of a function's floating results and of the gradients of its inputs.

    Args:
        module: takes the upstream gradients and the inputs, gives the results and the gradients.
        upstreams: how many upstream gradients it takes, which is how many results it gives.
    """

    module: fx.GraphModule
    upstreams: int

    @property
    def results(self) -> list[fx.Node]:
        """The nodes of the results."""
        (outputs,) = next(node for node in self.module.graph.nodes if node.op == "output").args
        return [node for node in outputs[: self.upstreams] if isinstance(node, fx.Node)]


def floating(value: Any) -> list[Tensor]:
    """The floating tensors of what a function gave: a tensor, or tensors in tuples, lists and dictionaries."""
    leaves = torch.utils._pytree.tree_leaves(value)
    return [one for one in leaves if isinstance(one, Tensor) and one.is_floating_point()]


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
            results = floating(function(*leaves))
        pairs = [(one, upstream) for one, upstream in zip(results, upstreams) if one.requires_grad]
        if not pairs:
            return [*results, *[None] * len(leaves)]
        derived, given = zip(*pairs)
        found = torch.autograd.grad(derived, leaves, given, allow_unused=True, create_graph=torch.is_grad_enabled())
        return [*results, *found]

    return both


@cache
def _decompositions() -> dict[Any, Function]:
    """torch's decompositions of the operations without a rule."""
    aten = torch.ops.aten
    table: dict[Any, Function] = dict(core_aten_decompositions())
    for name in _DECOMPOSED:
        packet = getattr(aten, name, None)
        if packet is not None:
            table.update(get_decompositions([packet]))
    return {op: function for op, function in table.items() if not _has_rule(op)}


def _has_rule(operation: Any) -> bool:
    if not isinstance(operation, torch._ops.OpOverload):
        return False
    return find_rule(operation.overloadpacket.__name__, operation._overloadname) is not None


def trace(both: Function, upstreams: Sequence[Tensor], inputs: Sequence[Tensor]) -> Joint:
    """The graph of a joint function at these sizes.

    Raises:
        Exception: whatever the function raises, and what tracing does not follow.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arguments = (list(upstreams), list(inputs))
        with torch.no_grad():
            module = make_fx(both, decomposition_table=_decompositions(), tracing_mode="real")(*arguments)
            if any(_mutates(node) for node in module.graph.nodes):
                plain = torch.func.functionalize(module, remove="mutations_and_views")
                module = make_fx(plain, decomposition_table=_decompositions(), tracing_mode="real")(*arguments)
    module.graph.eliminate_dead_code()
    return Joint(module, len(upstreams))


def _mutates(node: fx.Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
