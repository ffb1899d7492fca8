"""einops against einops itself, and over named sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import einops
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_module, find_op
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, Many, TensorType
from tests.spec.ops.against_torch import Outcome, View, compare
from tests.spec.ops.shapes import D, H, apply, b, c, d, floats, n, of, shape_of, t, text

NAMES = ("b", "c", "h", "w")
Groups = list[tuple[str, ...]]


@st.composite
def grouped(draw: st.DrawFn, elements: list[str]) -> Groups:
    """The elements in groups; a `1` here and there."""
    groups: Groups = []
    for element in elements:
        if groups and element != "..." and groups[-1] not in ((), ("...",)) and not draw(st.integers(0, 2)):
            groups[-1] = (*groups[-1], element)
        else:
            groups.append((element,))
    if not draw(st.integers(0, 4)):
        groups.insert(draw(st.integers(0, len(groups))), ())
    return groups


def written(groups: Groups) -> str:
    return " ".join(group[0] if len(group) == 1 else f"({' '.join(group)})" for group in groups)


@st.composite
def inputs(draw: st.DrawFn) -> tuple[torch.Tensor, Groups, dict[str, int]]:
    """A tensor that mostly fits a left side, the side, and sizes of names."""
    sizes = {name: draw(st.sampled_from([1, 2, 3])) for name in NAMES}
    elements = list(draw(st.permutations(NAMES)))[: draw(st.integers(1, 4))]
    if draw(st.booleans()):
        elements.insert(draw(st.integers(0, len(elements))), "...")
    left = draw(grouped(elements))
    shape: list[int] = []
    for group in left:
        if group == ("...",):
            shape += draw(st.lists(st.sampled_from([1, 2]), max_size=2))
        else:
            product = torch.Size([sizes[name] for name in group]).numel()
            shape.append(draw(st.sampled_from([product] * 9 + [product + 1])))
    if not draw(st.integers(0, 15)):
        shape.append(2)
    # All but the first name of each group: what einops needs, and sometimes more or less.
    given_names = [name for group in left for name in group[draw(st.sampled_from([0, 1, 1, 1, 1, 2])) :]]
    lengths = {name: draw(st.sampled_from([sizes[name]] * 9 + [5])) for name in given_names if name != "..."}
    return floats(shape), left, lengths


def check(function: Callable[..., Any], *args: Any, exact: bool = True, **kwargs: Any) -> None:
    operation = find_op(f"einops.{function.__name__}")
    assert operation is not None
    for comparison in compare(operation, function, args, kwargs):
        assert not comparison.outcome.is_defect, comparison
        if exact and comparison.view == View.name:
            assert comparison.outcome in (Outcome.EXACT, Outcome.REFUSED), comparison


def flat(left: Groups) -> list[str]:
    return [element for group in left for element in group]


@given(inputs(), st.data())
@settings(max_examples=250)
def test_rearrange_is_that_of_einops(
    given_input: tuple[torch.Tensor, Groups, dict[str, int]], data: st.DataObject
) -> None:
    tensor, left, lengths = given_input
    right = data.draw(grouped(list(data.draw(st.permutations(flat(left))))))
    pattern = f"{written(left)} -> {written(right)}"
    check(einops.rearrange, tensor, pattern, **lengths)
    check(einops.rearrange, [tensor, tensor], f"list {pattern} list", **lengths)


@given(inputs(), st.data(), st.sampled_from(["sum", "mean", "max", "min", "prod", "median"]))
def test_reduce_is_that_of_einops(
    given_input: tuple[torch.Tensor, Groups, dict[str, int]], data: st.DataObject, reduction: str
) -> None:
    tensor, left, lengths = given_input
    kept = list(data.draw(st.permutations(flat(left))))
    right = data.draw(grouped(kept[: data.draw(st.integers(0, len(kept)))]))
    check(einops.reduce, tensor, f"{written(left)} -> {written(right)}", reduction, exact=False, **lengths)


@given(inputs(), st.data())
def test_repeat_is_that_of_einops(
    given_input: tuple[torch.Tensor, Groups, dict[str, int]], data: st.DataObject
) -> None:
    tensor, left, lengths = given_input
    new = data.draw(st.lists(st.sampled_from(["r", "s", "2"]), max_size=2, unique=True))
    right = data.draw(grouped(list(data.draw(st.permutations([*flat(left), *new])))))
    more = {name: 2 for name in new if name in "rs" and data.draw(st.integers(0, 9))}
    check(einops.repeat, tensor, f"{written(left)} -> {written(right)}", **lengths, **more)


@given(st.lists(st.lists(st.sampled_from([1, 2, 3]), max_size=2), min_size=1, max_size=3), st.integers(0, 2))
@settings(max_examples=60)
def test_what_was_packed_is_unpacked_as_by_einops(inner: list[list[int]], before: int) -> None:
    tensors = [floats([2] * before + shape + [3]) for shape in inner]
    pattern = " ".join([*["a", "b"][:before], "*", "c"])
    check(einops.pack, tensors, pattern)
    packed, shapes = einops.pack(tensors, pattern)
    check(einops.unpack, packed, [tuple(shape) for shape in shapes], pattern)
    check(einops.unpack, packed, [[-1]], pattern)
    check(einops.unpack, packed, [[2], [-1]], pattern)
    check(einops.pack, tensors, "a b c d *")


@pytest.mark.parametrize(
    "pattern", ["i j, j k -> i k", "i j, j k -> i", "... j, j k -> ... k", "i j, j k", "i (j k), j -> i"]
)
def test_einsum_takes_names_as_in_einops(pattern: str) -> None:
    operation = find_op("einops.einsum")
    assert operation is not None
    for comparison in compare(operation, einops.einsum, (torch.ones(2, 3), torch.ones(3, 4), pattern), {}):
        assert not comparison.outcome.is_defect, comparison
        assert comparison.view != View.name or comparison.outcome in (Outcome.EXACT, Outcome.REFUSED)


def test_heads_are_split_and_merged() -> None:
    assert shape_of("einops.rearrange", of(b, t, D), "b t (h d) -> b h t d", h=H) == "(b, n_head, t, d_model//n_head)"
    assert shape_of("einops.rearrange", of(b, H, t, 64), "b h t d -> b t (h d)") == "(b, t, 64*n_head)"
    assert shape_of("einops.rearrange", of(b, t, 3 * D), "b t (k d) -> k b t d", k=3) == "(3, b, t, d_model)"


def test_patches_of_an_image() -> None:
    pattern = "b c (h p1) (w p2) -> b (h w) (p1 p2 c)"
    assert shape_of("einops.rearrange", of(b, c, 224, 224), pattern, p1=16, p2=16) == "(b, 196, 256*c)"


def test_axes_that_were_not_followed_stay_where_they_are() -> None:
    x = TensorType(Shape.of(Pack("x"), t, d))
    assert shape_of("einops.rearrange", x, "... t d -> ... d t") == "(*x, d, t)"
    assert shape_of("einops.rearrange", x, "... t d -> (...) t d") == "(_, t, d)"
    assert shape_of("einops.rearrange", of(b, t, d), "... d -> (...) d") == "(b*t, d)"
    assert shape_of("einops.rearrange", UNKNOWN, "b (h d) -> h b d", h=H) == "(n_head, _, _//n_head)"
    assert shape_of("einops.rearrange", of(b, t), UNKNOWN) == "(...)"
    assert shape_of("einops.repeat", of(d), "d -> b d", b=UNKNOWN) == "(_, d)"


def test_a_list_is_stacked_in_front() -> None:
    assert shape_of("einops.rearrange", Many(of(b, d), n), "n b d -> b (n d)") == "(b, d*n)"


def test_layers_apply_their_pattern() -> None:
    context = Context()
    layer = find_module("einops.layers.torch.Rearrange")
    assert layer is not None
    build: Callable[..., Any] = layer
    assert text(build(context, "b c h w -> b (c h w)").forward(context, of(b, 3, 4, 5))) == "(b, 60)"
    reduce: Callable[..., Any] = find_module("einops.layers.torch.Reduce") or layer
    pooled = reduce(context, "b c (h a) -> b c h", "max", a=Dim.of(2)).forward(context, of(b, c, 8))
    assert text(pooled) == "(b, c, 4)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            ("einops.rearrange", of(b, 12), "b (h d) -> b h d"),
            'rearrange: pattern "b (h d) -> b h d", h=8: 12 is not divisible by 8',
        ),
        (
            ("einops.rearrange", of(b, c, t), "b c h w -> b (c h w)"),
            'rearrange: pattern "b c h w -> b (c h w)", h=8: the pattern has 4 axes, the tensor is (b, c, t)',
        ),
        (
            ("einops.rearrange", of(b, 8), "b h -> b"),
            'rearrange: pattern "b h -> b", h=8: h on the left side only',
        ),
        (
            ("einops.rearrange", of(b, 9), "b h -> h b"),
            'rearrange: pattern "b h -> h b", h=8: an axis of size 9 against 8',
        ),
        (
            ("einops.repeat", of(b), "b -> b h k"),
            'repeat: pattern "b -> b h k", h=8: no size is given for the new axis k',
        ),
    ],
)
def test_faults_read_well(call: tuple[str, TensorType, str], message: str) -> None:
    with pytest.raises(ShapeError) as fault:
        apply(*call, h=8)
    assert str(fault.value) == message
