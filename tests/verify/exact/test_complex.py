"""Functions of complex numbers, with torch's convention: the gradient is that of both parts, as one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor

from shaped.verify.exact import exact_gradcheck
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable


def z(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.complex128, generator=torch.Generator().manual_seed(sum(shape)))


def r(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize(
    "function, inputs",
    [
        (torch.mul, [z(3), z(3)]),
        (torch.div, [z(3), z(3)]),
        (torch.matmul, [z(3, 2), z(2, 3)]),
        (torch.vdot, [z(3), z(3)]),
        (torch.abs, [z(3)]),
        (torch.sgn, [z(3)]),
        (torch.angle, [z(3)]),
        (torch.exp, [z(3)]),
        (torch.sin, [z(3)]),
        (torch.complex, [r(3), r(3)]),
        (lambda a: (a.conj() * a).real, [z(3)]),
        (lambda a, b: a * (1 + 2j) + b, [z(3), r(3)]),
        (lambda a: a[1:].sum() * a**3, [z(3)]),
        (torch.fft.fft, [z(5)]),
        (torch.fft.irfft, [z(4)]),
        (lambda x: torch.fft.rfft(x).abs().pow(2).sum(), [r(6)]),
    ],
)
def test_gradients_of_complex_functions_are_exact(function: Callable[..., Tensor], inputs: list[Tensor]) -> None:
    verdict = exact_gradcheck(function, *inputs)
    assert verdict.level is Level.EXACT, verdict.explain()


def test_a_product_takes_the_conjugate_of_the_other_factor() -> None:
    right = exact_gradcheck(torch.mul, z(3), z(3), backward=lambda g, a, b: (g * b.conj(), g * a.conj()))
    assert right.level is Level.EXACT
    wrong = exact_gradcheck(torch.mul, z(3), z(3), backward=lambda g, a, b: (g * b, g * a))
    assert wrong.level is Level.REFUTED


def test_a_complex_factor_of_a_sum_is_not_split() -> None:
    # add's own factor is complex: reading it by parts would be another function.
    verdict = exact_gradcheck(lambda a, b: torch.add(a, b, alpha=1 + 2j), z(3), z(3))
    assert verdict.level in (Level.EXACT, Level.UNSUPPORTED), verdict.explain()
