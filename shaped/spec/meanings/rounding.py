"""Roundings and signs, whose derivative is 0 at their jumps too."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from shaped.spec.expr import Expr, apply, real
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.arithmetic import truncated
from shaped.spec.meanings.kinds import elementwise
from shaped.spec.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

_JUMPS = "at the jumps: 0"


def _declare(*names: str, entry: Callable[[Expr], Expr]) -> None:
    @meaning(*names, kinks=_JUMPS)
    def rounded(input: Tensor) -> Tensor:
        return elementwise(entry, input, on_dims=lambda x: x)

    @backward(*names)
    def rounded_backward(grad: Tensor, input: Tensor) -> Tensor:
        return grad * 0


_declare("floor", entry=lambda x: apply("floor", x))
_declare("ceil", entry=lambda x: -apply("floor", -x))
_declare("trunc", "fix", entry=truncated)


@meaning("sign", kinks="x = 0: 0")
def sign(input: Tensor) -> Tensor:
    return elementwise(lambda x: apply("sign", x), input)


@backward("sign")
def sign_backward(grad: Tensor, input: Tensor) -> Tensor:
    return grad * 0


@meaning("frac", kinks="x an integer: 1")
def frac(input: Tensor) -> Tensor:
    return elementwise(lambda x: x - truncated(x), input)


@backward("frac")
def frac_backward(grad: Tensor, input: Tensor) -> Tensor:
    return grad


@meaning("round", kinks=_JUMPS)
def round(input: Tensor, decimals: int = 0) -> Tensor:
    scale = real(Fraction(10) ** decimals)
    return elementwise(lambda x: apply("round", x * scale) / scale, input)


@backward("round")
def round_backward(grad: Tensor, input: Tensor, decimals: int = 0) -> Tensor:
    return grad * 0
