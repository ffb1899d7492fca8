"""Arithmetic modulo the prime."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.verify.exact import field
from shaped.verify.exact.field import PRIME

residues = st.integers(0, PRIME - 1)


def matrix(rows: int, columns: int, seed: int) -> torch.Tensor:
    return field.random(torch.Size((rows, columns)), torch.Generator().manual_seed(seed))


def python_product(left: torch.Tensor, right: torch.Tensor) -> list[list[int]]:
    """The matrix product by Python's integers, which do not overflow."""
    columns = right.T.tolist()
    return [[sum(a * b for a, b in zip(row, column)) % PRIME for column in columns] for row in left.tolist()]


@given(residues, residues)
def test_products_do_not_overflow(a: int, b: int) -> None:
    assert int(field.multiply(torch.tensor(a), torch.tensor(b))) == a * b % PRIME


@given(residues, st.integers(-5, 300))
def test_powers_are_those_of_python(a: int, k: int) -> None:
    expected = 0 if a == 0 and k < 0 else pow(a, k, PRIME)
    assert int(field.power(torch.tensor(a), k)) == expected


@given(st.integers(1, PRIME - 1))
def test_the_inverse_inverts(a: int) -> None:
    assert int(field.inverse(torch.tensor(a))) * a % PRIME == 1


def test_matrix_products_are_exact_at_the_greatest_residues() -> None:
    left = torch.full((2, 1000), PRIME - 1)
    right = torch.full((1000, 2), PRIME - 1)
    assert field.matrix_product(left, right).tolist() == python_product(left, right)


def test_matrix_products_of_more_terms_than_float64_adds_are_split() -> None:
    left = torch.full((1, (1 << 19) + 3), PRIME - 1)
    right = torch.full(((1 << 19) + 3, 1), PRIME - 1)
    assert field.matrix_product(left, right).tolist() == [[(1 << 19) + 3]]


@given(st.integers(0, 10**6))
def test_random_matrix_products_are_exact(seed: int) -> None:
    left, right = matrix(3, 7, seed), matrix(7, 2, seed + 1)
    assert field.matrix_product(left, right).tolist() == python_product(left, right)


@given(st.integers(1, PRIME - 1))
def test_a_root_squares_to_its_value_where_it_says_so(a: int) -> None:
    root, true = field.root(torch.tensor(a * a % PRIME), salt=1)
    assert bool(true)
    assert int(root) ** 2 % PRIME == a * a % PRIME
    assert not bool(field.root(torch.tensor(PRIME - a * a % PRIME), salt=1)[1]), "-1 is no square, so -a^2 is none"


@given(residues, st.sampled_from([3, 5, 7, 9, 15]))
def test_every_residue_has_roots_of_odd_degree(a: int, degree: int) -> None:
    root, true = field.nth_root(torch.tensor(a), degree)
    assert bool(true)
    assert pow(int(root), degree, PRIME) == a


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_elimination_inverts_and_gives_the_determinant(seed: int, size: int) -> None:
    value = matrix(size, size, seed)
    value[0, 0] = 0  # which needs a pivot, or makes a 1x1 matrix singular
    inverted, determinant = field.inverse_and_determinant(value)
    if int(determinant):
        assert python_product(value, inverted) == torch.eye(size, dtype=torch.int64).tolist()
    _, doubled = field.inverse_and_determinant(field.reduce(2 * value))
    assert int(doubled) == int(determinant) * 2**size % PRIME


def test_the_product_along_a_dim_is_that_of_python() -> None:
    value = matrix(5, 3, 0)
    expected = [torch.tensor(column).tolist() for column in value.T.tolist()]
    products = []
    for column in expected:
        result = 1
        for one in column:
            result = result * one % PRIME
        products.append(result)
    assert field.product(value, 0).tolist() == products


def test_an_oracle_is_a_function_of_the_value_and_the_salt() -> None:
    value = torch.arange(1000)
    assert field.oracle(value, 1).equal(field.oracle(value.clone(), 1))
    assert len(field.oracle(value, 1).unique()) == 1000
    assert not bool((field.oracle(value, 1) == field.oracle(value, 2)).any())
    assert int(field.oracle(value, 1).min()) >= 1
    assert int(field.oracle(value, 1).max()) < PRIME
