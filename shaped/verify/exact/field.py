"""Arithmetic modulo a prime on int64 tensors.

An entry is a *residue*: an integer from 0 to `PRIME - 1`. The product of two fits into int64, so every operation
reduces its result before the next one. Two different polynomials of degree `d` agree at a random residue with
probability at most `d / PRIME` (Schwartz 1980, Zippel 1979).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

# The largest safe prime below 2^31 with roots of all primes up to 29: every residue has one root of each odd degree, a
# square root is one power, and constants such as 1/sqrt(head size) are exact.
PRIME: Final = 2146664519

_LIMB = 16  # bits: a residue is two limbs
_MOST_TERMS = 1 << 19  # sums of (2^17)^2 that float64 adds without rounding


def reduce(value: Tensor) -> Tensor:
    """The residues of integers."""
    return torch.remainder(value, PRIME)


def multiply(left: Tensor, right: Tensor) -> Tensor:
    """The product, entry by entry."""
    return reduce(left * right)


def power(base: Tensor, exponent: int) -> Tensor:
    """`base` to an integer power; a negative one of 0 is 0.

    >>> power(torch.tensor([3, 10]), -1) * torch.tensor([3, 10]) % PRIME
    tensor([1, 1])
    """
    if exponent < 0:
        exponent = -exponent * (PRIME - 2)
    exponent = exponent % (PRIME - 1) or (PRIME - 1 if exponent else 0)
    result: Tensor | None = None
    while exponent:
        if exponent & 1:
            result = base if result is None else multiply(result, base)
        exponent >>= 1
        if exponent:
            base = multiply(base, base)
    return torch.ones_like(base) if result is None else result


def inverse(value: Tensor) -> Tensor:
    """1/value; 0 for 0."""
    return power(value, PRIME - 2)


def root(value: Tensor, salt: int) -> tuple[Tensor, Tensor]:
    """A square root where there is one, else an arbitrary residue that depends on the value and the salt.

    The root taken is the one that is a square itself, which makes roots multiplicative.

    Returns:
        The root, and where it is a true one.
    """
    candidate = power(value, (PRIME + 1) // 4)
    true = multiply(candidate, candidate) == value
    return torch.where(true, candidate, oracle(value, salt)), true


def oracle(value: Tensor, salt: int) -> Tensor:
    """Arbitrary residues but 0, one for each value: an unknown function, of which nothing is assumed.

    The mixing steps are those of SplitMix64 (Steele, Lea and Flood 2014).
    """
    mixed = value * _signed(0x9E3779B97F4A7C15) + _signed(salt * 0xD1342543DE82EF95)
    mixed = (mixed ^ _shifted(mixed, 30)) * _signed(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ _shifted(mixed, 27)) * _signed(0x94D049BB133111EB)
    return torch.remainder(mixed ^ _shifted(mixed, 31), PRIME - 1) + 1


def is_upper(value: Tensor) -> Tensor:
    """Tells each residue from its negative: of `v` and `-v`, one is upper."""
    return value > PRIME // 2


def bilinear(function: Callable[[Tensor, Tensor], Tensor], left: Tensor, right: Tensor, terms: int) -> Tensor:
    """What a bilinear float64 function would be on residues.

    Each operand is split into limbs of 16 bits, so that float64 adds all products without rounding (Karatsuba's three
    products). So torch's fast float kernels serve for exact arithmetic.

    Args:
        function: sums of products of an entry of each operand, with coefficients 0, 1 and -1.
        left: residues.
        right: residues.
        terms: at most how many products are added for one entry of the result.

    Raises:
        OverflowError: there are too many terms to add without rounding.
    """
    if terms > _MOST_TERMS:
        raise OverflowError(f"a sum of {terms} products does not fit into float64; at most {_MOST_TERMS} do")
    left_high, left_low = (left >> _LIMB).double(), (left & 0xFFFF).double()
    right_high, right_low = (right >> _LIMB).double(), (right & 0xFFFF).double()
    high = function(left_high, right_high)
    low = function(left_low, right_low)
    middle = function(left_high + left_low, right_high + right_low) - high - low
    high_residue, middle_residue = reduce(high.long()), reduce(middle.long())
    return reduce(
        multiply(high_residue, torch.tensor(2 ** (2 * _LIMB) % PRIME)) + middle_residue * 2**_LIMB + low.long()
    )


def matrix_product(left: Tensor, right: Tensor) -> Tensor:
    """The matrix product of residues, batched as `torch.matmul` does."""
    inner = left.shape[-1]
    if inner <= _MOST_TERMS:
        return bilinear(torch.matmul, left, right, inner)
    parts = zip(
        torch.tensor_split(left, -(-inner // _MOST_TERMS), -1),
        torch.tensor_split(right, -(-inner // _MOST_TERMS), -2 if right.dim() > 1 else 0),
    )
    total: Tensor | None = None
    for left_part, right_part in parts:
        product = matrix_product(left_part, right_part)
        total = product if total is None else reduce(total + product)
    assert total is not None
    return total


def product(value: Tensor, dim: int) -> Tensor:
    """The product along a dim, which disappears."""
    value = value.movedim(dim, 0)
    if not len(value):
        return torch.ones(value.shape[1:], dtype=torch.int64)
    while len(value) > 1:
        half = len(value) // 2
        rest = value[2 * half :]
        value = torch.cat([multiply(value[:half], value[half : 2 * half]), rest])
    return value[0]


def inverse_and_determinant(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """The inverse of square matrices, and their determinants, by elimination; a singular one has determinant 0.

    >>> inverse_and_determinant(torch.tensor([[1, 2], [0, 1]]))[1]
    tensor(1)
    """
    size = matrix.shape[-1]
    flat = matrix.reshape(matrix.shape[:-2].numel(), size, size)
    batch = torch.arange(len(flat))
    work = torch.cat([flat, torch.eye(size, dtype=torch.int64).expand_as(flat)], -1)
    determinant = torch.ones(len(flat), dtype=torch.int64)
    for k in range(size):
        pivot = k + (work[:, k:, k] != 0).byte().argmax(1)
        swapped = work.clone()
        swapped[:, k], swapped[batch, pivot] = work[batch, pivot], work[:, k]
        determinant = multiply(determinant, swapped[:, k, k] * torch.where(pivot == k, 1, -1))
        row = multiply(swapped[:, k], inverse(swapped[:, k, k]).unsqueeze(-1))
        work = reduce(swapped - multiply(swapped[:, :, k : k + 1], row.unsqueeze(1)))
        work[:, k] = row
    return work[..., size:].reshape(matrix.shape), determinant.reshape(matrix.shape[:-2])


def nth_root(value: Tensor, degree: int) -> tuple[Tensor, Tensor]:
    """A root of a degree, and where it is a true one: every residue has roots of odd degree, a square has its own.

    Args:
        value: residues.
        degree: at least 1.
    """
    true = torch.ones_like(value, dtype=torch.bool)
    while degree % 2 == 0:
        candidate = power(value, (PRIME + 1) // 4)
        true = true & (multiply(candidate, candidate) == value)
        value, degree = candidate, degree // 2
    return power(value, pow(degree, -1, PRIME - 1)), true


def random(shape: torch.Size, generator: torch.Generator) -> Tensor:
    """Random residues but 0."""
    return torch.randint(1, PRIME, shape, generator=generator, dtype=torch.int64)


def _signed(value: int) -> int:
    """The int64 with the same 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _shifted(value: Tensor, bits: int) -> Tensor:
    """A shift right that fills with zeros."""
    return (value >> bits) & ((1 << (64 - bits)) - 1)
