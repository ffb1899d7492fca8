"""Plain torch code on spec tensors: sizes, operators, methods, writes in place."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from shaped.errors import ShapeError
from shaped.spec.calls import call_named
from shaped.spec.dims import Dim
from shaped.spec.evaluation import evaluate
from shaped.spec.given import given
from shaped.spec.scalars.floats import Floats
from shaped.spec.size import Size, SizeNeeded
from shaped.spec.tensor import NotExpressible, Tensor, variable

N, M = Size.of(Dim.name("n")), Size.of(Dim.name("m"))


def values(tensor: Tensor, **tensors: Any) -> Any:
    """The entries of a tensor for given values of its variables, with n = 2 and m = 3."""
    computed = evaluate(tensor.body, tensor.indices, Floats(), {"n": 2, "m": 3}, tensors)
    return np.asarray(computed, dtype=float).reshape([size.substitute(_SIZES).constant for size in tensor.sizes])


_SIZES = {symbol: size for name, size in (("n", 2), ("m", 3)) for symbol in Dim.name(name).symbols()}


# Sizes


def test_a_size_that_is_the_same_for_all_is_an_int() -> None:
    x = variable("x", ("n", 3))
    assert x.shape[1] == 3
    assert type(x.shape[1]) is int
    assert type(x.shape[0] - x.shape[0]) is int


def test_arithmetic_on_sizes_is_exact() -> None:
    assert str(N * M // M + 1) == "n+1"
    assert (2 * N) % 2 == 0
    assert str(-(-N // 2)) == "ceil(n/2)"
    assert str(N**2) == "n*n"


def test_a_size_that_leaves_the_integers_is_a_number() -> None:
    assert str(N / 2) == "(): (1/2)*n"
    assert str(N**-0.5) == "(): 1/n^(1/2)"
    assert str(1 / N) == "(): 1/n"
    assert str(N * 0.5) == "(): (1/2)*n"


def test_a_comparison_is_decided_where_it_is_one_for_all_sizes() -> None:
    assert N >= 1
    assert N + 1 > N
    assert N != 0
    assert not N < 0.5
    assert N == N


@pytest.mark.parametrize(
    "question",
    [lambda: N == 2, lambda: N > 1, lambda: N == M, lambda: range(N), lambda: float(N), lambda: [0] * N],
)
def test_a_program_that_needs_a_size_as_a_number_is_told(question: Callable[[], object]) -> None:
    with pytest.raises(SizeNeeded, match="n"):
        question()


def test_shapes_are_like_those_of_torch() -> None:
    x = variable("x", ("n", "m", 3))
    assert str(x.shape.numel()) == "3*m*n"
    assert x.shape[:-1] + (3,) == x.shape  # noqa: RUF005  (as programs write it)
    assert (x.ndim, x.dim(), len(x.shape)) == (3, 3, 3)
    assert x.size(-1) == 3


# Operators


@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
def test_operators_compute_what_torch_computes(operate: Callable[[Any, Any], Any]) -> None:
    a, b = np.array([1.5, 2.0]), np.array([0.5, 3.0])
    x, y = variable("x", ("n",)), variable("y", ("n",))
    assert np.allclose(values(operate(x, y), x=a, y=b), operate(a, b))
    assert np.allclose(values(operate(x, 2), x=a), operate(a, 2))
    assert np.allclose(values(operate(2.5, x), x=a), operate(2.5, a))


def test_unary_operators_compute_what_torch_computes() -> None:
    x, a = variable("x", ("n",)), np.array([-1.5, 2.0])
    assert np.allclose(values(-x, x=a), -a)
    assert np.allclose(values(abs(x), x=a), abs(a))
    assert np.allclose(values((~(x > 0)).float(), x=a), [1, 0])


def test_functions_of_torch_run_on_spec_tensors() -> None:
    x, a = variable("x", ("n", "m")), np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
    expected = torch.softmax(torch.tensor(a), -1).numpy()
    assert np.allclose(values(torch.softmax(x, -1), x=a), expected)
    assert np.allclose(values(x.softmax(dim=1), x=a), expected)
    assert np.allclose(values(torch.nn.functional.softmax(x, -1), x=a), expected)
    assert np.allclose(values(torch.sum(x, axis=1), x=a), a.sum(1))


def test_numbers_of_torch_may_stand_beside_spec_tensors() -> None:
    x, a = variable("x", ("n", 3)), np.ones((2, 3))
    weights = torch.tensor([1.0, 2.0, 4.0])
    assert np.allclose(values(x * weights, x=a), a * weights.numpy())
    assert np.allclose(values(weights - x, x=a), weights.numpy() - a)


def test_given_numbers_keep_their_places() -> None:
    numbers = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert np.allclose(values(given(numbers, (3, 2))), numbers)


def test_a_function_without_a_meaning_is_named() -> None:
    with pytest.raises(NotExpressible, match="bessel_j0"):
        torch.special.bessel_j0(variable("x", ("n",)))
    with pytest.raises(NotExpressible, match="out="):
        call_named("torch.add", (variable("x", ("n",)), 1), {"out": variable("y", ("n",))})


def test_an_attribute_that_torch_does_not_have_is_an_attribute_error() -> None:
    assert not hasattr(variable("x", ("n",)), "no_such_method")


def test_a_branch_on_a_value_is_not_expressible() -> None:
    x = variable("x", ("n",))
    with pytest.raises(NotExpressible, match="branch"):
        bool(x.sum() > 0)
    assert bool((x * 0 + 1).new_ones(()) > 0)


def test_iterating_goes_along_the_first_axis() -> None:
    rows = list(variable("x", (2, "n")))
    assert [str(row) for row in rows] == ["(n,): x[0, j]", "(n,): x[1, j]"]
    with pytest.raises(SizeNeeded):
        list(variable("x", ("n",)))


# Writes in place


def test_in_place_operators_and_methods_write() -> None:
    x, a = variable("x", ("n",)), np.array([1.0, 2.0])
    y = x.clone()
    y += 3
    y.mul_(2)
    y[0] = 0
    assert np.allclose(values(y, x=a), [0, 10])
    assert np.allclose(values(x, x=a), a)
    assert (x.version, y.version > 0) == (0, True)


def test_a_write_through_a_part_reaches_the_whole() -> None:
    x, a = variable("x", ("n", "m")), np.arange(6.0).reshape(2, 3)
    y = x.clone()
    y[0] += 1
    y[:, 1:][:, 0] *= 10
    expected = a.copy()
    expected[0] += 1
    expected[:, 1:][:, 0] *= 10
    assert np.allclose(values(y, x=a), expected)


def test_a_copy_is_not_written_to() -> None:
    x, a = variable("x", ("n",)), np.array([1.0, 2.0])
    y = x.clone()
    z = y.clone()
    y.zero_()
    assert np.allclose(values(z, x=a), a)


@pytest.mark.parametrize("view", [lambda y: y.T, lambda y: y.view(-1), lambda y: y[0], lambda y: y.flatten()])
def test_a_view_is_not_used_after_its_base_was_written(view: Callable[[Tensor], Tensor]) -> None:
    y = variable("x", ("n", "m")) * 1
    part = view(y)
    y += 1
    with pytest.raises(NotExpressible, match="written to since"):
        part * 2


def test_a_write_through_another_view_is_not_followed() -> None:
    y = variable("x", ("n", "m")) * 1
    with pytest.raises(NotExpressible, match="shares memory"):
        y.T.add_(1)


def test_a_write_does_not_change_the_shape() -> None:
    y = variable("x", ("n",)) * 1
    with pytest.raises(ShapeError, match="write in place"):
        y += variable("z", (3, "n"))


def test_a_write_does_not_change_the_kind() -> None:
    y = variable("i", ("n",), "int") * 1
    with pytest.raises(NotExpressible, match="kind float"):
        y += 0.5


def test_inplace_true_writes() -> None:
    y = variable("x", ("n",)) * 1
    torch.nn.functional.relu(y, inplace=True)
    assert y.version == 1
