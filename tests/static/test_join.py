"""Laws of joining: what is said of two paths holds on each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim, Symbol
from shaped.spec.dtypes import DType
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static.join import covers, join, join_slots
from shaped.static.journal import MISSING
from shaped.static.values import DictValue, ListValue, ManyValue, Maybe, StaticValue
from tests.static.oracle import fits

SIZES = st.integers(0, 3).map(Dim.of)
TENSORS = st.builds(
    lambda axes, dtype: TensorType(Shape(tuple(axes)), DType.named(dtype)),
    st.lists(SIZES, max_size=3),
    st.sampled_from(["float32", "int64"]),
)
VALUES = st.recursive(
    st.one_of(SIZES, TENSORS, st.none(), st.sampled_from(["a", "b", True, False, 0.5, UNKNOWN])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).map(tuple).map(ListValue),
        st.dictionaries(st.sampled_from("kl"), inner, max_size=2).map(DictValue),
    ),
    max_leaves=6,
)


def may_be(said: StaticValue, actual: StaticValue) -> bool:
    """Whether a value for which `said` stands may be `actual`, whose sizes are all known."""
    if said is UNKNOWN or said is actual:
        return True
    if isinstance(said, Maybe):
        return actual is None or may_be(said.value, actual)
    match said, actual:
        case Dim(), Dim():
            return said == actual or said.constant is None
        case TensorType(), TensorType():
            sizes = tuple(dim.constant or 0 for dim in actual.shape.dims)
            return actual.dtype.names <= said.dtype.names and fits(said.shape.annotation(), sizes)
        case tuple(), tuple():
            return len(said) == len(actual) and all(map(may_be, said, actual))
        case ManyValue(), tuple():
            return may_be(said.length, Dim.of(len(actual))) and all(may_be(said.element, item) for item in actual)
        case ListValue(), ListValue():
            return may_be(said.content, actual.content)
        case DictValue(), DictValue():
            if said.complete and said.items.keys() != actual.items.keys():
                return False
            return all(may_be(item, actual.items[key]) for key, item in said.items.items())
    return type(said) is type(actual) and said == actual


@given(VALUES, VALUES)
def test_a_join_holds_for_both(a: StaticValue, b: StaticValue) -> None:
    joined = join(Context(), a, b)
    assert may_be(joined, a)
    assert may_be(joined, b)


@given(VALUES, VALUES, VALUES)
def test_a_join_of_three_holds_for_each(a: StaticValue, b: StaticValue, c: StaticValue) -> None:
    context = Context()
    joined = join(context, join(context, a, b), c)
    assert all(may_be(joined, value) for value in (a, b, c))


@given(VALUES)
def test_a_value_joined_with_itself_stays(value: StaticValue) -> None:
    assert join(Context(), value, value) is value


@given(VALUES)
def test_every_value_covers_itself_and_the_unknown_covers_all(value: StaticValue) -> None:
    assert covers(value, value, lambda symbol: False)
    assert covers(UNKNOWN, value, lambda symbol: False)


@given(VALUES, VALUES)
def test_what_covers_a_value_holds_for_it(a: StaticValue, b: StaticValue) -> None:
    context = Context()
    first = context.count()

    def is_wide(symbol: Symbol) -> bool:
        return symbol.number is not None and symbol.number >= first

    for old in (a, join(context, a, b)):
        if covers(old, b, is_wide):
            assert may_be(old, b)


@given(TENSORS, TENSORS)
def test_a_join_of_tensors_covers_both(a: TensorType, b: TensorType) -> None:
    context = Context()
    joined = join(context, a, b)
    assert covers(joined, a, lambda symbol: True)
    assert covers(joined, b, lambda symbol: True)


def test_the_same_shape_stays_and_axes_that_differ_are_unknown() -> None:
    context = Context()
    joined = join(context, TensorType.of(2, 3), TensorType.of(2, 4))
    assert isinstance(joined, TensorType)
    assert joined.shape.annotation() == "2 _"
    assert joined.joined
    same = join(context, TensorType.of(2, 3), TensorType.of(2, 3))
    assert isinstance(same, TensorType)
    assert not same.joined


def test_ranks_that_differ_keep_the_axes_at_the_end() -> None:
    joined = join(Context(), TensorType.of(2, 3), TensorType.of(5, 2, 3))
    assert isinstance(joined, TensorType)
    assert joined.shape.annotation() == "... 2 3"


def test_none_or_a_value_is_maybe_that_value() -> None:
    assert join(Context(), None, Dim.of(2)) == Maybe(Dim.of(2))
    assert join(Context(), Maybe(Dim.of(2)), None) == Maybe(Dim.of(2))


def test_a_name_that_one_path_does_not_set_is_unknown() -> None:
    assert join_slots(Context(), MISSING, Dim.of(2)) is UNKNOWN
    assert join_slots(Context(), MISSING, MISSING) is MISSING


def test_empty_lists_that_are_one_or_the_other_may_be_filled_under_their_own_names() -> None:
    joined = join(Context(), ListValue(()), ListValue(()))
    assert isinstance(joined, ListValue)
    assert joined.content != ()
