"""`torch.autograd.grad`: derivatives, each with the shape of what it is taken by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.op import op
from shaped.spec.ops.arguments import listed
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


@op("autograd.grad", "torch.autograd.grad", formula="g_k = sum_j grad_outputs_j d outputs_j / d inputs_k")
def grad(
    context: Context,
    outputs: Value,
    inputs: Value,
    grad_outputs: Value = None,
    retain_graph: Value = None,
    create_graph: Value = False,
    only_inputs: Value = True,
    allow_unused: Value = None,
    is_grads_batched: Value = False,
    materialize_grads: Value = False,
) -> Value:
    _require_upstream(context, outputs, grad_outputs, is_grads_batched)
    given = (inputs,) if isinstance(inputs, TensorType) else listed(inputs)
    is_always_there = allow_unused is None or allow_unused is False or materialize_grads is True
    if given is None or not is_always_there or is_grads_batched is not False:
        return UNKNOWN if given is None else (UNKNOWN,) * len(given)
    return tuple(each.with_shape(each.shape) if isinstance(each, TensorType) else UNKNOWN for each in given)


def _require_upstream(context: Context, outputs: Value, upstream: Value, is_batched: Value) -> None:
    """Demand a gradient of each output's shape; without one an output has to be a single number."""
    if isinstance(outputs, tuple):
        several = upstream if isinstance(upstream, tuple) else (upstream,) * len(outputs)
        if upstream is None or (isinstance(upstream, tuple) and len(several) == len(outputs)):
            for output, each in zip(outputs, several, strict=True):
                _require_upstream(context, output, each, is_batched)
        return
    if not isinstance(outputs, TensorType) or outputs.shape.rank is None or is_batched is not False:
        return
    if isinstance(upstream, tuple) and len(upstream) == 1:
        upstream = upstream[0]
    if upstream is None:

        def fault() -> ShapeError:
            hint = "sum it, or give grad_outputs?"
            return ShapeError("autograd.grad", "only a single number has a gradient by itself", str(outputs), hint=hint)

        for dim in outputs.shape.dims:
            context.require_equal(dim, 1, fault)
    elif isinstance(upstream, TensorType) and upstream.shape.rank is not None:
        given = upstream

        def mismatch() -> ShapeError:
            return ShapeError("autograd.grad", f"grad_outputs has the shape {given}", str(outputs))

        if given.shape.rank != outputs.shape.rank:
            raise mismatch()
        for own, other in zip(outputs.shape.dims, given.shape.dims, strict=True):
            context.require_equal(own, other, mismatch)
