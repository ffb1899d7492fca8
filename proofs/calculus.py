"""What every backward pass rests on: the chain rule, fan-out, and broadcasting."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from shaped.verify.theorem import ProgramTheorem


def chain(x: Float[Tensor, "n"], inner: Float[Tensor, "k n"], outer: Float[Tensor, "m k"]) -> Float[Tensor, "m"]:
    """A function after another, with the Jacobians `inner` and `outer` at a point: dy = outer inner dx."""
    return outer @ (inner @ x)


def chain_backward(
    grad: Float[Tensor, "m"], x: Float[Tensor, "n"], inner: Float[Tensor, "k n"], outer: Float[Tensor, "m k"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "k n"], Float[Tensor, "m k"]]:
    of_inner = outer.T @ grad
    return inner.T @ of_inner, of_inner[:, None] * x, grad[:, None] * (inner @ x)


def fan_out(
    x: Float[Tensor, "n"], left: Float[Tensor, "k n"], right: Float[Tensor, "m n"]
) -> tuple[Float[Tensor, "k"], Float[Tensor, "m"]]:
    """A value used twice, by functions with the Jacobians `left` and `right`."""
    return left @ x, right @ x


def fan_out_backward(
    grad: tuple[Float[Tensor, "k"], Float[Tensor, "m"]],
    x: Float[Tensor, "n"],
    left: Float[Tensor, "k n"],
    right: Float[Tensor, "m n"],
) -> tuple[Float[Tensor, "n"], Float[Tensor, "k n"], Float[Tensor, "m n"]]:
    return left.T @ grad[0] + right.T @ grad[1], grad[0][:, None] * x, grad[1][:, None] * x


def stretched(a: Float[Tensor, "n 1"], b: Float[Tensor, "m"]) -> Float[Tensor, "n m"]:
    """An axis of size 1 that is stretched, and an axis that is missing."""
    return a * b


def stretched_backward(
    grad: Float[Tensor, "n m"], a: Float[Tensor, "n 1"], b: Float[Tensor, "m"]
) -> tuple[Float[Tensor, "n 1"], Float[Tensor, "m"]]:
    return (grad * b).sum(1, keepdim=True), (grad * a).sum(0)


THEOREMS = [
    ProgramTheorem("chain rule", chain, chain_backward, "dy = outer inner dx"),
    ProgramTheorem("fan-out", fan_out, fan_out_backward, "the gradients of all uses are added"),
    ProgramTheorem("broadcasting", stretched, stretched_backward, "the adjoint of stretching an axis is its sum"),
]
