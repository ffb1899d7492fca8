"""Rules of matrix products."""

from __future__ import annotations

from typing import Any

from shaped.verify.exact.arithmetic import add, matrix_product, times, total
from shaped.verify.exact.aten.registry import rule
from shaped.verify.exact.value import Value, lift


@rule("mm", "bmm", "mv", "matmul")
def _mm(left: Any, right: Any) -> Value:
    return matrix_product(left, right)


@rule("dot", "vdot")
def _dot(left: Any, right: Any) -> Value:
    return total(times(left, right), [0])


@rule("addmm", "baddbmm", "addmv")
def _addmm(bias: Any, left: Any, right: Any, *, beta: float = 1, alpha: float = 1) -> Value:
    product = times(matrix_product(left, right), alpha)
    return add(times(bias, beta), product) if beta else product


@rule("addbmm")
def _addbmm(bias: Any, left: Any, right: Any, *, beta: float = 1, alpha: float = 1) -> Value:
    product = times(total(matrix_product(left, right), [0]), alpha)
    return add(times(bias, beta), product) if beta else product


@rule("addr")
def _addr(bias: Any, left: Any, right: Any, *, beta: float = 1, alpha: float = 1) -> Value:
    column = lift(left).move(lambda one: one.unsqueeze(1))
    product = times(times(column, right), alpha)
    return add(times(bias, beta), product) if beta else product
