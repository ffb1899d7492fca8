"""Functions of two elements against torch."""

from __future__ import annotations

import operator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.op import Op, find_op
from tests.spec.ops.against_torch import Outcome, check, check_exact, check_refused, compare, declared_in
from tests.spec.ops.tensors import numbers, operands, tensor_or_number

BINARY = declared_in("arithmetic")


@pytest.mark.parametrize("operation", BINARY, ids=lambda operation: operation.name)
@given(data=st.data(), pair=operands())
@settings(max_examples=20)
def test_a_function_of_two_elements_broadcasts_and_promotes_as_in_torch(
    operation: Op, data: st.DataObject, pair: list[torch.Tensor]
) -> None:
    other, number = data.draw(tensor_or_number(pair[1])), data.draw(numbers)
    for name in operation.torch:
        # Python calls `Tensor.__radd__` where there is no tensor on the left.
        check(name, pair[0].clone(), number if name.startswith("Tensor.__r") and "shift" not in name else other)


@given(operands())
@settings(max_examples=60)
def test_sums_and_products_are_exact(pair: list[torch.Tensor]) -> None:
    for name in ("torch.add", "torch.mul", "torch.div", "torch.maximum", "Tensor.__pow__", "torch.atan2"):
        check_exact(name, *pair)


@pytest.mark.parametrize("symbol", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"])
@given(pair=operands(), number=st.sampled_from([True, 2, 0.5]))
@settings(max_examples=15)
def test_the_operators_of_python_agree_with_torch(symbol: str, pair: list[torch.Tensor], number: float) -> None:
    function = getattr(operator, symbol)
    name = symbol.rstrip("_")
    for operation_name, call in [
        (f"Tensor.__{name}__", function),
        (f"Tensor.__r{name}__", lambda x, y: function(y, x)),
    ]:
        operation = find_op(operation_name)
        assert operation is not None
        for comparison in compare(operation, call, (pair[0], number), {}):
            assert not comparison.outcome.is_defect, comparison


@given(operands(), st.sampled_from([None, "floor", "trunc"]))
@settings(max_examples=40)
def test_a_rounded_quotient_keeps_integers(pair: list[torch.Tensor], mode: str | None) -> None:
    check_exact("torch.div", *pair, rounding_mode=mode)


def test_sizes_that_differ_are_refused() -> None:
    check_refused("torch.add", torch.ones(2, 3), torch.ones(2))


def test_an_in_place_sum_that_enlarges_its_target_is_refused() -> None:
    check_refused("Tensor.add_", torch.ones(3), torch.ones(2, 3))
    check_refused("Tensor.add_", torch.ones(1, 3), torch.ones(2, 3))


def test_a_float_result_in_an_integer_tensor_is_refused() -> None:
    check_refused("Tensor.__itruediv__", torch.ones(2, dtype=torch.int64), 2)


def test_the_difference_of_bools_is_refused() -> None:
    check_refused("torch.sub", torch.ones(2, dtype=torch.bool), torch.ones(2, dtype=torch.bool))
    check_refused("Tensor.__rsub__", torch.ones(2, dtype=torch.bool), 1)


def test_bitwise_operators_refuse_floats() -> None:
    check_refused("Tensor.__and__", torch.ones(2), torch.ones(2))


def test_a_number_before_the_tensor_is_accepted() -> None:
    assert check("torch.mul", 2, torch.ones(2)) is Outcome.EXACT
