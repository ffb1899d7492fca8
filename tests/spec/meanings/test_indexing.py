"""`x[key]` and `x[key] = value`: torch's own rules, for symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import assert_as_torch

SIZES = {"b": 2, "t": 3, "d": 4, "v": 5}
SHAPE = (2, 3, 4)


@st.composite
def keys(draw: st.DrawFn, lookups: bool = True) -> tuple[Any, ...]:
    """Keys for a tensor of shape (2, 3, 4): ints, slices, None, an ellipsis, index tensors that broadcast together."""
    parts: list[Any] = []
    count = draw(st.integers(0, 3))
    bounds = st.one_of(st.none(), st.integers(-5, 5))
    for size in SHAPE[:count]:
        choices = [
            st.integers(-size, size - 1),
            st.builds(slice, bounds, bounds, st.one_of(st.none(), st.integers(1, 3))),
        ]
        if lookups:
            places = st.lists(st.integers(-size, size - 1), min_size=2, max_size=2)
            choices += [places.map(torch.tensor), places.map(lambda found: torch.tensor(found).unsqueeze(1))]
        parts.append(draw(st.one_of(choices)))
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), None)
    if draw(st.booleans()):
        parts.insert(len(parts), ...)
    return tuple(parts)


@given(keys())
@settings(max_examples=200)
def test_any_key_reads_what_torch_reads(key: tuple[Any, ...]) -> None:
    assert_as_torch(lambda x: x[key], "2 3 4")


@given(keys(lookups=False), st.booleans())
@settings(max_examples=100)
def test_any_key_of_ints_and_slices_writes_what_torch_writes(key: tuple[Any, ...], broadcast: bool) -> None:
    shape = torch.zeros(SHAPE)[key].shape
    axes = "" if broadcast else " ".join(map(str, shape))

    def program(x: Any, value: Any) -> Any:
        written = x.clone()
        written[key] = value
        return written

    assert_as_torch(program, "2 3 4", axes)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x[:, 1:],
        lambda x: x[..., -1],
        lambda x: x[:, ::2],
        lambda x: x[..., -2:],
        lambda x: x[:, :100],
        lambda x: x[:, None, [1, 2]],
        lambda x, t: x[:, : t - 1],
        lambda x, t: x[:, 1:t],
        lambda x, t: x[:, t - 1],
        lambda x, b: x[torch.arange(b), 1:],
    ],
)
def test_keys_for_symbolic_sizes_read_what_torch_reads(program: Callable[..., Any]) -> None:
    assert_as_torch(program, "b t d", **SIZES)


def test_integer_tensors_look_up() -> None:
    assert_as_torch(lambda x, i: x[i], "v d", "int: b t < v", **SIZES)
    assert_as_torch(lambda x, i, b: x[torch.arange(b), i], "b d", "int: b < d", **SIZES)
    assert_as_torch(lambda x, i: x[:, i, None], "b d", "int: t < d", **SIZES)


def test_a_negative_value_of_an_integer_tensor_counts_from_the_end() -> None:
    assert_as_torch(lambda x, i: x[:, i - 1], "b d", "int: b < d", **SIZES)


def test_a_chosen_index_is_looked_up_for_each_choice() -> None:
    assert_as_torch(lambda x, i, m: x[:, torch.where(m, i, 0)], "b d", "int: b < d", "bool: b", **SIZES)


def written(key: Any) -> Callable[..., Any]:
    """A program that writes its second argument at a key."""

    def program(x: Any, value: Any) -> Any:
        y = x.clone()
        y[key] = value
        return y

    return program


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (0, "t d"),
        (slice(1, None), "t d"),
        ((slice(None), slice(0, None, 2)), "d"),
        ((..., -1), "b t"),
        ((slice(None), None, 0), "1 d"),
        ((torch.arange(2), torch.tensor([2, 0])), "d"),
        ((slice(None), torch.arange(1, 3)), "2 d"),
        (torch.tensor([1, 0]), "1 d"),
    ],
)
def test_writing_for_symbolic_sizes_is_as_torch(key: Any, value: str) -> None:
    assert_as_torch(written(key), "b t d", value, **SIZES)


def test_writing_one_entry_of_each_row_is_as_torch() -> None:
    def program(x: Any, i: Any, value: Any, b: Any) -> Any:
        y = x.clone()
        y[torch.arange(b), i] = value
        return y

    assert_as_torch(program, "b d", "int: b < d", "b", **SIZES)


def test_writing_where_a_mask_holds_is_as_torch() -> None:
    def program(x: Any, mask: Any, value: Any) -> Any:
        y = x.clone()
        y[mask] = value
        return y

    assert_as_torch(program, "b t d", "bool: b t", "", **SIZES)
    assert_as_torch(program, "b t d", "bool: b t", "d", **SIZES)
    assert_as_torch(program, "b t d", "bool: b t d", "1", **SIZES)


@pytest.mark.parametrize("kinds", [("complex", "float"), ("complex", "complex"), ("bool", "bool"), ("float", "bool")])
def test_what_is_written_becomes_of_the_kind_of_the_tensor(kinds: tuple[str, str]) -> None:
    assert_as_torch(written((slice(None), 0)), f"{kinds[0]}: b d", f"{kinds[1]}: b", **SIZES)


def test_adding_to_a_part_is_as_torch() -> None:
    def program(x: Any, value: Any) -> Any:
        y = x.clone()
        y[:, 1:] += value
        y[0] *= 2
        return y

    assert_as_torch(program, "b d", "1", **SIZES)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (variable("m", ("n",), "bool"), "mask"),
        (slice(Dim.name("a") - Dim.name("b"), None), "negative or not"),
        (slice(None, None, Dim.name("a") - 1), "positive"),
        (Dim.name("a") - Dim.name("b"), "count from the end or not"),
    ],
)
def test_keys_that_depend_on_values_or_signs_are_refused(key: Any, reason: str) -> None:
    with pytest.raises(NotExpressible, match=reason):
        variable("x", ("n",))[key]


def test_writing_where_an_index_may_repeat_is_refused() -> None:
    x, i = variable("x", ("n",)), variable("i", ("m",), "int", Dim.name("n"))
    with pytest.raises(NotExpressible, match="twice"):
        x[i] = 0
    with pytest.raises(NotExpressible, match="twice"):
        x[[0, 0]] = variable("v", (2,))


@pytest.mark.parametrize(
    ("key", "reason"),
    [((0, 0), "2 axes are indexed of 1"), (3, "out of range for size 3"), (slice(None, None, -1), "step")],
)
def test_keys_that_torch_refuses_are_faults(key: Any, reason: str) -> None:
    with pytest.raises(ShapeError, match=reason):
        variable("x", (3,))[key]
