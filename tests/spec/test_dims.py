from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.dims import Dim, FloorDiv, Kind, Min, Symbol, ceildiv, maximum, minimum, product
from tests.spec.sizes import NAMED, QUANTITY, Pair, dims, pairs, read_back, small_values

b, d, h, t, w = (Dim.name(name) for name in "bdhtw")
q, r = Dim.quantity("q"), Dim.quantity("r", low=1)


@settings(max_examples=500, deadline=None)
@given(pairs())
def test_the_normal_form_has_the_value_of_the_expression(pair: Pair) -> None:
    dim, direct = pair
    for values in small_values(NAMED, top=5):
        try:
            expected = direct(values)
        except ZeroDivisionError:
            continue
        assert dim.evaluate(values) == expected, f"{dim} at {values}"


@settings(max_examples=200, deadline=None)
@given(dims(), st.sampled_from(NAMED), dims(most=3))
def test_substituting_then_evaluating_is_evaluating_with_the_value(dim: Dim, symbol: Symbol, by: Dim) -> None:
    substituted = dim.substitute({symbol: by})
    for values in small_values(NAMED, top=3):
        try:
            value = by.evaluate(values)
            if symbol.low is not None and value < symbol.low:
                continue
            expected = dim.evaluate({**values, symbol: value})
        except ZeroDivisionError:
            continue
        assert substituted.evaluate(values) == expected, f"{dim} with {symbol} = {by} at {values}"


@settings(max_examples=300, deadline=None)
@given(dims())
def test_the_text_reads_back_as_the_same_size(dim: Dim) -> None:
    for values in small_values(NAMED, top=4):
        try:
            expected = dim.evaluate(values)
        except ZeroDivisionError:
            continue
        assert read_back(str(dim), values) == expected, str(dim)


@settings(max_examples=200, deadline=None)
@given(dims(), dims(), dims())
def test_sums_and_products_are_a_ring(x: Dim, y: Dim, z: Dim) -> None:
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert x * (y + z) == x * y + x * z
    assert x - x == 0


@pytest.mark.parametrize(
    "left, right",
    [
        (b * h // b, h),
        (2 * h // 2, h),
        ((2 * h + 5) // 2, h + 2),
        ((h // 2) // 3, h // 6),
        (((h - 1) // 2 + 1 - 1) // 2 + 1, (h + 3) // 4),
        ((h - 1) // 2 + 1, ceildiv(h, 2)),
        ((h + 2 * 3 - 7) // 2 + 1, ceildiv(h, 2)),
        (ceildiv(ceildiv(h, 2), 2), ceildiv(h, 4)),
        (ceildiv(h, 3), (h + 2) // 3),
        (ceildiv(d, h), (d + h - 1) // h),
        ((d % h) % h, d % h),
        ((d + 3 * h) % h, d % h),
        ((h + 1) * b // (h + 1), b),
        ((b * d + b) // (b * h), (d + 1) // h),
        ((2 * d + 1) // (2 * h), d // h),
        (q // 2 // r, q // (2 * r)),
        (minimum(t, t + 1), t),
        (minimum(t + 1, w + 1), minimum(t, w) + 1),
        (minimum(2 * t, 2 * w), 2 * minimum(t, w)),
        (minimum(minimum(t, w), 3), minimum(t, 3, w)),
        (minimum(t, t * w), t),
        (maximum(t, 1), t),
        (maximum(t - 1, 0), t - 1),
        (minimum(t, 0), Dim.of(0)),
    ],
)
def test_equal_sizes_have_one_normal_form(left: Dim, right: Dim) -> None:
    assert left == right
    assert hash(left) == hash(right)


def test_a_negative_denominator_keeps_its_rounding() -> None:
    # (2*h + 1) // (2*q) is not h // q for a negative q: 3 // -2 is -2, 1 // -1 is -1.
    fraction = (2 * h + 1) // (2 * q)
    assert fraction.evaluate({Symbol("h"): 1, QUANTITY: -1}) == -2


def test_a_constant_has_a_value_and_a_name_has_none() -> None:
    assert (h - h + 4).constant == 4
    assert h.constant is None
    assert (h + 4).constant_part == 4
    assert h.symbol == Symbol("h")
    assert (h + 1).symbol is None
    assert isinstance((h // 2).single_atom, FloorDiv)
    assert isinstance(minimum(h, 3).single_atom, Min)


def test_equal_names_of_two_functions_are_two_sizes() -> None:
    assert Dim.name("b", "f") != Dim.name("b", "g")
    assert Dim.name("b") != Dim.quantity("b", low=1)
    assert Dim.name("b") - Dim.name("b", low=0) != 0


def test_the_origin_takes_no_part_in_equality() -> None:
    from shaped.errors import Origin

    here = h.at(Origin("height", 3))
    assert here == h
    assert here.origin is not None
    assert hash(here) == hash(h)


def test_a_constant_is_equal_to_the_int_and_hashes_like_it() -> None:
    assert Dim.of(3) == 3
    assert dict[object, str]({3: "three"})[Dim.of(3)] == "three"


def test_a_size_has_no_truth_value() -> None:
    with pytest.raises(TypeError):
        bool(h)


def test_division_by_zero_is_refused() -> None:
    with pytest.raises(ZeroDivisionError):
        h // 0
    assert 0 // h == 0


def test_substituting_zero_for_a_denominator_keeps_the_quotient() -> None:
    assert (d // q).substitute({QUANTITY: 0}) == d // q


def test_symbols_are_found_at_every_depth() -> None:
    assert (minimum(d // h, w) * b).symbols() == {Symbol(name) for name in "dhwb"}
    assert ((d + 1) // Dim.atom(Symbol("_1", Kind.UNKNOWN))).has_unknown
    assert not (d // h).has_unknown


def test_an_empty_product_is_one() -> None:
    assert product([]) == 1
    assert product((b, h, b)) == b * b * h


@pytest.mark.parametrize(
    "dim, text",
    [
        (d % h, "d%h"),
        (b * (d % h) + 1, "b*(d%h)+1"),
        (8 * (h // 8) - h, "-(h%8)"),
        (h // 8 * 8, "8*(h//8)"),
        (ceildiv(h, 2), "ceil(h/2)"),
        (h - h // 2, "ceil(h/2)"),
        ((h - 1) // 2 + 1, "ceil(h/2)"),
        (ceildiv(h, 3) * b, "b*ceil(h/3)"),
        (ceildiv(d, h), "ceil(d/h)"),
        (ceildiv(d, q), "ceil(d/q)"),
        ((d - 1) // q + 1, "(d-1)//q+1"),
        ((h - 3) // 5 + 1, "(h+2)//5"),
        (minimum(t, 64), "min(t, 64)"),
        (maximum(t, 3), "max(t, 3)"),
        (5 - maximum(t, 3), "-max(t, 3)+5"),
        (t - 1, "t-1"),
        (-t, "-t"),
        (1 - t, "-t+1"),
        (h * h + 2 * b - 1, "h*h+2*b-1"),
        (16 * (h // 2) * (w // 2), "16*(h//2)*(w//2)"),
        (h // (d // w), "h//(d//w)"),
        (-(minimum(h, w) // 2), "-(min(h, w)//2)"),
        (b * (minimum(h, w) // 2), "b*(min(h, w)//2)"),
        ((h + 1) // (2 * q), "(h+1)//(2*q)"),
        (Dim.atom(Symbol("_7", Kind.UNKNOWN)) // 2, "_//2"),
        (Dim.of(0), "0"),
        (Dim.of(-3), "-3"),
    ],
)
def test_a_size_is_printed_as_a_user_would_write_it(dim: Dim, text: str) -> None:
    assert str(dim) == text
