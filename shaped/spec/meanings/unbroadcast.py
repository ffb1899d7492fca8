"""The adjoint of broadcasting: a gradient summed over the axes along which an operand was repeated."""

from __future__ import annotations

from typing import overload

from shaped.spec.expr import Sum
from shaped.spec.tensor import Number, Tensor, TensorLike, pointwise, reduced


@overload
def unbroadcast(grad: Tensor, operand: Tensor) -> Tensor: ...
@overload
def unbroadcast(grad: Tensor, operand: TensorLike | None) -> Tensor | None: ...
def unbroadcast(grad: Tensor, operand: TensorLike | None) -> Tensor | None:
    """The gradient of an operand from that of its broadcast; None for a number, which has none.

    A real operand of a complex result gets the real part.
    """
    if not isinstance(operand, Tensor):
        return None
    if grad.kind == "complex" and operand.kind != "complex":
        grad = pointwise(lambda x: x[0], grad, complex_parts=True)
    return summed_to(grad, operand)


def summed_to(grad: Tensor, operand: Tensor) -> Tensor:
    """`grad` summed to the axes of `operand`, which broadcasts to it."""
    added = grad.rank - operand.rank
    repeated = [added + axis for axis in range(operand.rank) if not operand.axes[axis] and grad.axes[added + axis]]
    if repeated:
        grad = reduced(Sum, grad, repeated, keepdim=True)
    return reduced(Sum, grad, range(added)) if added else grad


@overload
def conjugate(operand: Tensor) -> Tensor: ...
@overload
def conjugate(operand: Number) -> Number: ...
def conjugate(operand: TensorLike) -> TensorLike:
    """The conjugate of a tensor or number: by it the adjoint of a product multiplies."""
    if isinstance(operand, complex):
        return operand.conjugate()
    if not isinstance(operand, Tensor) or operand.imaginary is None:
        return operand
    return pointwise(lambda x: (x[0], -x[1]), operand, complex_parts=True)
