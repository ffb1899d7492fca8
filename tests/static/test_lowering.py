"""Values of a program as operations take them, and back."""

from __future__ import annotations

import pytest

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.dtypes import DType
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Value
from shaped.static.lowering import lift, lower
from shaped.static.values import (
    DictValue,
    External,
    ListValue,
    ManyValue,
    Maybe,
    Opaque,
    RangeValue,
    ShapeValue,
    StaticValue,
)

TWO = Dim.of(2)


@pytest.mark.parametrize(
    ("value", "lowered"),
    [
        (TWO, TWO),
        (True, True),
        (None, None),
        ("mean", "mean"),
        (TensorType.of(2), TensorType.of(2)),
        (Maybe(TWO), TWO),
        ((TWO, Maybe(True)), (TWO, True)),
        (ListValue((TWO, "a")), (TWO, "a")),
        (ListValue(ManyValue(TWO, Dim.of(3))), Many(TWO, Dim.of(3))),
        (External("torch.float32"), DType.named("float32")),
        (External("builtins.bool"), DType.named("bool")),
        (External("torch.relu"), UNKNOWN),
        (DictValue({}), UNKNOWN),
        (ShapeValue(Shape.of(2)), UNKNOWN),
    ],
)
def test_a_value_is_what_an_operation_takes(value: StaticValue, lowered: Value) -> None:
    assert lower(Context(), value) == lowered


def test_a_value_of_the_caller_is_an_int_equal_to_itself() -> None:
    context, given = Context(), Opaque("config.width", "Model")
    assert lower(context, given) == lower(context, given)
    assert lower(context, given) != lower(context, given.attribute("half"))


def test_a_range_is_any_number_of_ints() -> None:
    lowered = lower(Context(), RangeValue(Dim.of(0), TWO, Dim.of(1)))
    assert isinstance(lowered, Many)
    assert isinstance(lowered.element, Dim)
    assert lowered.element.constant is None


@pytest.mark.parametrize("value", [TWO, (TWO, TensorType.of(2)), None, "a", UNKNOWN])
def test_what_an_operation_gives_comes_back_as_it_is(value: Value) -> None:
    assert lift(value) == value


def test_many_results_come_back_as_many() -> None:
    assert lift((Many(TWO, TWO), TWO)) == (ManyValue(TWO, TWO), TWO)
