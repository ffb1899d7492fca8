"""The order of axes: what a view moves, by torch for concrete sizes; what is remembered, what is said, what is not."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import shaped.spec.ops  # noqa: F401  (importing declares the operations)
from shaped.spec.axis_order import REINTERPRETED, factors_of, regrouped_as, remembered
from shaped.spec.context import Context
from shaped.spec.dims import Dim, ceildiv, product
from shaped.spec.op import OPS
from shaped.spec.shape import Axis, Shape
from shaped.spec.values import TensorType, Value

b, t, h, d, w = map(Dim.name, "bthdw")
heads = Dim.quantity("heads")
NAMES = (b, t, h, d)
PRIMES = dict(zip("bthd", (2, 3, 5, 7), strict=True))


def tensor(*axes: Axis | int) -> TensorType:
    return TensorType.of(*axes)


def said(before: TensorType, *axes: Axis | int, context: Context | None = None) -> str:
    """What is said of a view, empty if nothing is."""
    context = context or Context()
    regrouped_as(context, "view", before, Shape.of(*axes))
    return "; ".join(f"{fault.reason}; {fault.hint}" for fault in context.found)


def applied(name: str, *args: Value, context: Context | None = None) -> TensorType:
    result = OPS[name].apply(context or Context(), args, {})
    assert isinstance(result, TensorType)
    return result


@st.composite
def groupings(draw: st.DrawFn) -> tuple[tuple[Dim, ...], ...]:
    """Four named factors in some order, cut into axes."""
    order = draw(st.permutations(NAMES))
    cuts = sorted(draw(st.sets(st.integers(1, 3))))
    return tuple(tuple(order[i:j]) for i, j in zip([0, *cuts], [*cuts, 4], strict=True))


def places(axes: tuple[tuple[Dim, ...], ...]) -> dict[str, torch.Tensor]:
    """For each element of a tensor, in memory's order, its index along each named factor, if axes are merged so."""
    sizes = [PRIMES[str(dim)] for axis in axes for dim in axis]
    grid = torch.meshgrid(*(torch.arange(size) for size in sizes), indexing="ij")
    return {str(dim): index.flatten() for dim, index in zip((dim for axis in axes for dim in axis), grid, strict=True)}


def orders(axes: tuple[tuple[Dim, ...], ...]) -> list[tuple[tuple[Dim, ...], ...]]:
    """The same axes with the factors of each in every order."""
    found: list[tuple[tuple[Dim, ...], ...]] = [()]
    for axis in axes:
        found = [(*start, order) for start in found for order in permutations(axis)]
    return found


@given(groupings(), groupings())
def test_a_view_is_reported_exactly_if_no_order_of_merged_factors_makes_it_right(
    old: tuple[tuple[Dim, ...], ...], new: tuple[tuple[Dim, ...], ...]
) -> None:
    right = any(
        all(torch.equal(before[name], after[name]) for name in PRIMES)
        for before in (places(order) for order in orders(old))
        for after in (places(order) for order in orders(new))
    )
    found = said(tensor(*map(product, old)), *map(product, new))
    assert bool(found) == (not right)


@given(groupings(), groupings())
def test_a_remembered_order_makes_the_verdict_that_of_the_factors(
    old: tuple[tuple[Dim, ...], ...], new: tuple[tuple[Dim, ...], ...]
) -> None:
    flat = [dim for axis in old for dim in axis]
    merged = regrouped_as(Context(), "view", tensor(*flat), Shape.of(*map(product, old)))
    assert bool(said(merged, *map(product, new))) == bool(said(tensor(*flat), *map(product, new)))


@given(groupings())
def test_what_is_merged_can_be_taken_apart_in_its_order_only(old: tuple[tuple[Dim, ...], ...]) -> None:
    flat = [dim for axis in old for dim in axis]
    merged = regrouped_as(Context(), "view", tensor(*flat), Shape.of(*map(product, old)))
    for order in permutations(flat):
        assert bool(said(merged, *order)) == (list(order) != flat)


def test_the_message_gives_both_orders_and_the_fix() -> None:
    assert said(tensor(b, t, h * d), b, h, t, d) == (
        "the elements lie in the order b, t, h, d, not b, h, t, d; view(b, t, h, d).transpose(1, 2)?"
    )
    assert said(tensor(b, t, h, d), b, d, t, h).endswith("permute(0, 3, 1, 2)?")
    assert said(tensor(b, t, h, d), b * h, t, d).endswith("transpose(1, 2).reshape(b*h, t, d)?")
    assert said(tensor(b, t, d), b, d, t).endswith("; transpose(1, 2)?")


@pytest.mark.parametrize("operation", ["view", "reshape", "Tensor.unflatten"])
def test_every_operation_that_regroups_is_looked_at(operation: str) -> None:
    context = Context()
    merged = applied("flatten", tensor(b, t, d), Dim.of(0), Dim.of(1))
    if operation == "Tensor.unflatten":
        applied("unflatten", merged, Dim.of(0), (t, b), context=context)
    else:
        applied(operation, merged, t, b, d, context=context)
    assert [fault.code for fault in context.found] == ["shape-axes"]


def test_a_size_that_is_split_off_by_a_division_is_a_factor_of_the_whole() -> None:
    e = Dim.name("e")
    assert "b, t, heads, e//heads, not b, heads, t, e//heads" in said(tensor(b, t, e), b, heads, t, e // heads)
    assert "b, t, 8, e//8, not b, 8, t, e//8" in said(tensor(b, t, e), b, 8, t, e // 8)
    assert not said(tensor(b, t, e), b, t, heads, e // heads)
    assert not said(tensor(b, t, e), b, t // heads, heads * e)


def test_a_number_that_moves_across_a_name_is_reported() -> None:
    assert "2, b, d, not b, 2, d" in said(tensor(2, b, d), b, 2 * d)
    assert "2, h, w, not h, w, 2" in said(tensor(2, h, w), h * w, 2)
    assert said(tensor(b, t, 3), b, 3, t)


def test_numbers_that_fit_in_several_ways_say_nothing() -> None:
    assert not said(tensor(b, 2 * t, 3), b, t, 6)
    assert not said(tensor(b, 2 * h, w), b, h, 2 * w)
    assert not said(tensor(2, 3, 4), 4, 3, 2)
    assert not said(tensor(2, b, 3), 2 * b, 3)


def test_sizes_that_were_not_followed_say_nothing() -> None:
    context = Context()
    unknown = context.fresh()
    assert not said(tensor(b, unknown, d), unknown, b, d)
    assert not said(tensor(b, t, d), b, context.fresh(), t)
    assert said(tensor(unknown, t, d), unknown, d, t)


def test_a_name_that_occurs_twice_is_looked_at_for_what_stands_between() -> None:
    assert not said(tensor(t, t * 2), t * 2, t)
    assert not said(tensor(b, t, t, d), b, t * t, d)
    assert said(tensor(b, t * h, t * d), b, h, d, t * t)


def test_a_size_that_an_operation_made_may_be_1_where_it_is_merged_into_the_batch() -> None:
    rows, columns = h // 32, (w - 3) // 2
    assert not said(tensor(b, 512, rows, columns), b * rows * columns, 512)
    assert not said(tensor(b, d, t - heads + 1), b * (t - heads + 1), d)
    assert said(tensor(b, d, rows, w // 32), b, rows * (w // 32), d)


def test_a_size_that_is_rounded_up_is_a_size_like_others() -> None:
    rows, columns = ceildiv(h, 2), ceildiv(w, 2)
    assert not said(tensor(b, d, rows, columns), b * rows * columns, d)
    assert not said(tensor(b, rows, columns, d), b, rows * columns, d)
    assert "b, d, ceil(h/2), ceil(w/2), not b, ceil(h/2), ceil(w/2), d" in said(
        tensor(b, d, rows, columns), b, rows, columns, d
    )


def test_axes_of_size_1_move_nothing() -> None:
    assert not said(tensor(b, 1, d), 1, b, d)
    assert not said(tensor(1, b, d), b, d, 1)


def test_an_int_that_is_1_unless_it_is_given_says_nothing() -> None:
    context = Context()
    context.set_default(heads, Dim.of(1))
    assert not said(tensor(b, t, heads * d), b, heads, t, d, context=context)


def test_sizes_that_are_known_to_be_equal_are_one_name() -> None:
    context = Context()
    context.facts = context.facts.with_equal(t, d)
    assert not said(tensor(b, t, d), b, d, t, context=context)


def test_an_uncertain_path_and_a_joined_shape_say_nothing() -> None:
    context = Context(certain=False)
    assert not said(tensor(b, t, d), b, d, t, context=context)
    assert not said(TensorType(Shape.of(b, t, d), joined=True), b, d, t)


def test_a_relative_shift_is_meant() -> None:
    context = Context()
    padded = regrouped_as(context, "view", tensor(b, t, d + 1), Shape.of(b, d + 1, t))
    assert padded.merged == (REINTERPRETED,)
    cut = remembered(padded.with_shape(Shape.of(b, d, t)), padded.merged)
    back = regrouped_as(context, "view", cut, Shape.of(b, t, d))
    assert not context.found
    assert back.merged == ()


def test_a_sum_beside_other_factors_is_a_name() -> None:
    assert said(tensor(b, t + 1, h * d), b, h, t + 1, d)
    assert not said(tensor(b, t + 1, h * d), b, t + 1, h, d)


def test_what_follows_from_a_fault_is_not_said_again() -> None:
    context = Context()
    moved = regrouped_as(context, "view", tensor(b, t, d), Shape.of(t, b, d))
    regrouped_as(context, "view", moved, Shape.of(b, t, d))
    assert len(context.found) == 1


def test_a_size_with_a_name_of_its_own_may_be_split_anew() -> None:
    # Two channel shuffles: the channels of the first are no longer ordered by its groups.
    c = Dim.name("c")
    context = Context()
    context.facts = context.facts.with_exact(c, heads)
    split = regrouped_as(context, "view", tensor(b, c, t), Shape.of(b, heads, c // heads, t))
    swapped = applied("transpose", split, Dim.of(1), Dim.of(2), context=context)
    once = applied("reshape", swapped, b, c, t, context=context)
    regrouped_as(context, "view", once, Shape.of(b, heads, c // heads, t))
    assert not context.found


def test_two_axes_of_one_size_are_not_told_apart() -> None:
    merged = remembered(tensor(b * t, d, b * t), ((b, t),))
    assert merged.merged == ()
    assert factors_of(merged, b * t) == (b * t,)


@pytest.mark.parametrize("axis", [0, 1])
def test_repeats_stand_outside_and_interleaved_ones_inside(axis: int) -> None:
    counts = [heads if i == axis else Dim.of(1) for i in range(2)]
    size = (b, t)[axis]
    tiled = applied("repeat", tensor(b, t), *counts)
    interleaved = applied("repeat_interleave", tensor(b, t), heads, Dim.of(axis))
    assert factors_of(tiled, size * heads) == (heads, size)
    assert factors_of(interleaved, size * heads) == (size, heads)
    x = torch.arange(6).view(2, 3)
    count = [4 if i == axis else 1 for i in range(2)]
    outside, inside = [2, 3], [2, 3]
    outside.insert(axis, 4)
    inside.insert(axis + 1, 4)
    assert torch.equal(x.repeat(*count).view(outside).select(axis, 1), x)
    assert torch.equal(x.repeat_interleave(4, axis).view(inside).select(axis + 1, 1), x)
