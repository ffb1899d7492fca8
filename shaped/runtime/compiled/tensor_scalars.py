"""A program whose scalars are tensors, for what would take a float for a constant: compilers, and recorded kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.program import CannotCompile, Program
from shaped.runtime.compiled.writing import Writer, aten


@dataclass(frozen=True)
class TensorScalars:
    """A program without scalars.

    Args:
        program: it holds the scalars as tensors without axes, behind the tensors that it held before.
        numbers: what they are views of: one float64 for each, in their order.
    """

    program: Program
    numbers: Tensor

    def filling(self) -> Callable[[Sequence[float]], None]:
        """What gives the scalars of a call their values, on the CPU: it writes to their memory, without torch."""
        memory = (ctypes.c_double * len(self.numbers)).from_address(self.numbers.data_ptr())

        def fill(values: Sequence[float]) -> None:
            memory[:] = list(values)

        return fill


def with_tensor_scalars(program: Program, device: torch.device) -> TensorScalars:
    """The program with tensors in place of scalars.

    What a number multiplies in an operation (`addcdiv_(value=)`) becomes a product of its own, which rounds once more;
    a backend that is not held to eager's bits is held to what rounding explains anyway.

    Raises:
        CannotCompile: an operation takes a number only.
    """
    writer = Writer(is_training=program.is_training)
    numbers = torch.zeros(len(program.scalars), dtype=torch.float64, device=device)
    new = {node: writer.given(node.name, node.meta["val"]) for node in program.inputs}
    new |= {node: writer.held(node.name, tensor) for node, tensor in program.held.items()}
    new |= {node: writer.held(node.name, number) for node, number in zip(program.scalars, numbers)}
    scalars = set(program.scalars)
    for node in program.operations:
        if _takes_tensors(node, scalars):
            new[node] = writer.copy(node, new)
            continue
        write = _WRITTEN.get(node.target)
        if write is None:
            raise CannotCompile(f"{node.target} takes a number that changes from call to call")
        arguments, named = fx.node.map_arg((node.args, node.kwargs), lambda one: new[one])
        new[node] = write(writer, *arguments, **named)
    return TensorScalars(writer.program([new[node] for node in program.outputs]), numbers)


def _takes_tensors(node: fx.Node, scalars: set[fx.Node]) -> bool:
    """Whether every scalar among the arguments stands where the operation has a tensor."""
    operation = node.target
    if not isinstance(operation, torch._ops.OpOverload):
        return True
    in_places = [
        isinstance(parameter.type, torch.TensorType)
        for given, parameter in zip(node.args, operation._schema.arguments)
        if isinstance(given, fx.Node) and given in scalars
    ]
    return all(in_places) and not any(isinstance(one, fx.Node) and one in scalars for one in node.kwargs.values())


def _scaled(operation: torch._ops.OpOverload) -> Callable[..., fx.Node]:
    """`base + alpha*term`."""

    def write(writer: Writer, base: Any, term: Any, *, alpha: Any) -> fx.Node:
        return writer(operation, base, writer(aten.mul.Tensor, term, alpha))

    return write


def _of_pair(operation: torch._ops.OpOverload) -> Callable[..., fx.Node]:
    """`base += value*(one operation other)`."""

    def write(writer: Writer, base: Any, one: Any, other: Any, *, value: Any) -> fx.Node:
        both = writer(operation, one, other)
        return writer(aten.add_.Tensor, base, writer(aten.mul.Tensor, both, value))

    return write


def _interpolated(writer: Writer, start: Any, end: Any, weight: Any) -> fx.Node:
    """`start += weight*(end - start)`."""
    difference = writer(aten.sub.Tensor, end, start)
    return writer(aten.add_.Tensor, start, writer(aten.mul.Tensor, difference, weight))


# How an operation is written that takes numbers only, where one of them is a tensor.
_WRITTEN: dict[object, Callable[..., fx.Node]] = {
    aten.add_.Tensor: _scaled(aten.add_.Tensor),
    aten.add.Tensor: _scaled(aten.add.Tensor),
    aten.addcmul_.default: _of_pair(aten.mul.Tensor),
    aten.addcdiv_.default: _of_pair(aten.div.Tensor),
    aten.lerp_.Scalar: _interpolated,
}
