"""Layouts: which axes are misread, as torch takes them; which are not, and which may be meant as they stand."""

from __future__ import annotations

import pytest

import shaped.spec.ops  # noqa: F401  (importing declares the operations)
from shaped.spec.axis_layout import check_channels, check_sequence
from shaped.spec.axis_order import remembered
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import MODULES, OPS, Module
from shaped.spec.values import TensorType, Value

WIDTH = 8
NUMBERS = {"1": 1, "3": 3, "8": WIDTH}


def tensor(text: str) -> TensorType:
    """The tensor with these axes: names, numbers, products of names in the order in which they were merged."""
    factors = [[NUMBERS.get(name) or Dim.name(name) for name in axis.split("*")] for axis in text.split()]
    shape: list[Dim] = []
    for each in factors:
        size = Dim.of(1)
        for factor in each:
            size = size * factor
        shape.append(size)
    merged = [tuple(map(Dim.of, each)) for each in factors if len(each) > 1]
    return remembered(TensorType.of(*shape), merged)


def misread(text: str, *, batch_first: bool | None, certain: bool = True, single_samples: bool = False) -> bool:
    context = Context(certain=certain)
    found = check_sequence(context, "lstm", tensor(text), batch_first=batch_first, single_samples=single_samples)
    assert bool(context.found) is found
    return found


@pytest.mark.parametrize("text", ["b t d", "batch seq 8", "bsz n d", "b*t n d", "B s d", "b 1 d"])
def test_a_batch_in_front_is_read_as_the_sequence_without_batch_first(text: str) -> None:
    assert misread(text, batch_first=False)
    assert not misread(text, batch_first=True)


@pytest.mark.parametrize("text", ["t b d", "seq batch 8", "n bsz d", "t b*n d", "s b d"])
def test_a_batch_behind_is_read_as_the_sequence_with_batch_first(text: str) -> None:
    assert misread(text, batch_first=True)
    assert not misread(text, batch_first=False)


@pytest.mark.parametrize("text", ["n t d", "n m d", "n b d", "8 8 8", "agents steps d", "b*t b d"])
def test_names_that_do_not_say_what_they_are_say_nothing(text: str) -> None:
    assert not misread(text, batch_first=True)
    assert not misread(text, batch_first=False) or text == "b*t b d"


def test_a_layout_that_was_not_followed_says_nothing() -> None:
    assert not misread("b t d", batch_first=None)
    assert not misread("b t d", batch_first=False, certain=False)
    assert not misread("b t", batch_first=False)


def test_attention_between_samples_may_be_meant() -> None:
    assert not misread("b 1 d", batch_first=False, single_samples=True)
    assert misread("b t d", batch_first=False, single_samples=True)


def channels_found(text: str, count: int, channels: Dim | None = None) -> list[str]:
    context = Context()
    check_channels(context, "pool", tensor(text), count, channels=channels)
    return [str(fault.hint) for fault in context.found]


def test_channels_that_stand_last_are_found() -> None:
    assert channels_found("b h w c", 2) == [".permute(0, 3, 1, 2)?"]
    assert channels_found("height width channels", 2) == [".permute(2, 0, 1)?"]
    assert channels_found("b h w 3", 2) == [".permute(0, 3, 1, 2)?"]
    assert channels_found("b t h w c", 3) == [".permute(0, 4, 1, 2, 3)?"]
    assert channels_found("b t c", 1) == [".transpose(1, 2)?"]
    assert channels_found("b t d", 1, Dim.quantity("d"))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("b c h w", 2),
        ("b h w d", 2),  # depth, perhaps
        ("b h t d", 2),
        ("b h w k", 2),
        ("b h w 8", 2),
        ("b c t", 1),
        ("b t d", 1),
        ("t c", 1),
        ("b w h c", 2),
    ],
)
def test_axes_that_may_stand_where_they_stand_say_nothing(text: str, count: int) -> None:
    assert channels_found(text, count) == []


def made(name: str, *args: Value, **kwargs: Value) -> Module:
    return MODULES[f"torch.nn.{name}"](Context(), *args, **kwargs)


def said(layer: Module, *args: Value) -> list[str]:
    context = Context()
    layer.apply(context, args, {})
    return [fault.code for fault in context.found]


@pytest.mark.parametrize(
    ("name", "args", "inputs"),
    [
        ("RNN", (WIDTH, 4), 1),
        ("LSTM", (WIDTH, 4), 1),
        ("GRU", (WIDTH, 4), 1),
        ("MultiheadAttention", (WIDTH, 2), 3),
        ("TransformerEncoderLayer", (WIDTH, 2), 1),
        ("TransformerDecoderLayer", (WIDTH, 2), 2),
        ("Transformer", (WIDTH, 2), 2),
    ],
)
def test_every_sequence_layer_is_told_where_the_batch_stands(name: str, args: tuple[int, ...], inputs: int) -> None:
    sizes = [Dim.of(each) for each in args]
    sequence_first, batch_first = tensor("t b 8"), tensor("b t 8")
    assert said(made(name, *sizes), *[batch_first] * inputs)
    assert not said(made(name, *sizes), *[sequence_first] * inputs)
    assert set(said(made(name, *sizes, batch_first=True), *[sequence_first] * inputs)) == {"shape-layout"}
    assert not said(made(name, *sizes, batch_first=True), *[batch_first] * inputs)


def test_keys_are_looked_at_where_the_query_is_learned() -> None:
    attention = made("MultiheadAttention", Dim.of(WIDTH), Dim.of(2))
    assert said(attention, tensor("n t 8"), tensor("b t 8"), tensor("b t 8"))
    assert not said(attention, tensor("n b 8"), tensor("t b 8"), tensor("t b 8"))


def test_single_steps_of_a_batch_are_no_sequence() -> None:
    gru = made("GRU", Dim.of(WIDTH), Dim.of(4))
    assert said(gru, tensor("b 8"))
    assert not said(gru, tensor("t 8"))


def test_heads_stand_in_front_of_the_sequence() -> None:
    def found(text: str) -> bool:
        context = Context()
        OPS["scaled_dot_product_attention"].apply(context, [tensor(text)] * 3, {})
        return bool(context.found)

    assert found("b t heads d")
    assert found("b t h d")
    assert not found("b h t d")
    assert not found("b heads t d")
    assert not found("b n h d")
