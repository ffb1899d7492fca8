"""einops' patterns, parsed and refused as einops does."""

from __future__ import annotations

import warnings

import pytest
from einops import EinopsError
from einops.parsing import ParsedExpression
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.ops.einops_pattern import Number, PatternError, parse_packing, parse_pattern, parse_side

texts = st.lists(
    st.sampled_from(["b", "c", "h1", "(", ")", "...", "1", "2", "()", "_", "_x", "x_", ".", "*", "é", " ", "3d", "0"]),
    max_size=7,
).map(" ".join)


def structure(text: str) -> list[list[str]] | None:
    """einops' own parse of one side, None if it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parsed = ParsedExpression(text)
        except EinopsError:
            return None
    return [
        ["..."] if axis == "…" else [str(each).replace("-axis", "").replace("…", "...") for each in axis]
        for axis in parsed.composition
    ]


@given(st.one_of(texts, texts.map(lambda text: text.replace(" ", ""))))
@settings(max_examples=500)
def test_a_side_is_parsed_or_refused_as_by_einops(text: str) -> None:
    expected = structure(text)
    try:
        side = parse_side(text)
    except PatternError:
        assert expected is None
        return
    shown = [["..."] if axis is ... else ["..." if each is ... else str(each) for each in axis] for axis in side.axes]
    assert shown == expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("b c", "there is no `->`"),
        ("b -> b -> b", "there is more than one `->`"),
        ("b (c d -> b c d", "`(` without `)`"),
        ("b c) -> b c", "`)` without `(`"),
        ("b ((c d)) -> b c d", "brackets inside brackets"),
        ("b b -> b", "b stands twice on one side"),
        ("b c -> b c ...", "`...` stands on the right side only"),
        ("b (c ...) -> b c ...", "`...` in brackets on the left side"),
        ("b .. -> b", "dots other than one `...`"),
        ("b, c -> b c", "the character ',' is not part of the pattern language"),
        ("_b c -> c", "the name _b starts or ends with an underscore"),
        ("3d -> d", "3d is no name"),
    ],
)
def test_a_malformed_pattern_says_what_is_wrong(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError) as error:
        parse_pattern(pattern)
    assert str(error.value) == reason


def test_two_numbers_are_never_the_same_axis() -> None:
    assert Number(2) != Number(2)
    (first,), (second,) = parse_side("2 2").axes  # type: ignore[misc]
    assert first != second


def test_a_packing_pattern_tells_the_axes_around_the_star() -> None:
    assert parse_packing("b * h w") == (1, 2)
    for pattern in ("b c", "* *", "b _c *", "b b *"):
        with pytest.raises(PatternError):
            parse_packing(pattern)
