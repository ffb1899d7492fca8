"""Attention against torch, over symbolic sizes, and its messages."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_module, find_op
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.modules import (
    B,
    T,
    check_function,
    check_module,
    constructor_message,
    make,
    message,
    module_message,
    nearly,
    several,
    sizes,
)

ATTENTION = "torch.nn.functional.scaled_dot_product_attention"


@several
@given(st.data(), st.lists(sizes, max_size=2).map(tuple), sizes, sizes, sizes, sizes)
def test_dot_product_attention_agrees_with_torch(data, leading, length, source, width, out):
    shapes = ((*leading, length, width), (*leading, source, width), (*leading, source, out))
    query, key, value = (torch.zeros(data.draw(nearly(shape))) for shape in shapes)
    check_function(ATTENTION, query, key, value)


@several
@given(st.data(), sizes, sizes, sizes)
def test_masks_broadcast_as_in_torch(data, heads, length, source):
    query, key = torch.zeros(2, heads, length, 4), torch.zeros(2, heads, source, 4)
    full = (2, heads, length, source)
    mask = torch.zeros(data.draw(nearly(full[data.draw(st.integers(0, 2)) :]).filter(lambda shape: len(shape) > 1)))
    check_function(ATTENTION, query, key, key, mask)


@several
@given(st.data(), sizes, sizes, st.booleans())
def test_grouped_heads_agree_with_torch(data, groups, shared, grouped):
    query = torch.zeros(2, groups * shared, 3, 4)
    key = torch.zeros(data.draw(nearly((2, shared, 5, 4)).filter(lambda shape: len(shape) == 4)))
    check_function(ATTENTION, query, key, key, enable_gqa=grouped)


@st.composite
def attentions(draw):
    """Options, inputs and masks of a multi-head attention, mostly fitting."""
    heads, batch, length, source = draw(st.integers(1, 3)), draw(sizes), draw(sizes), draw(sizes)
    width = heads * draw(st.integers(1, 3))
    kdim, vdim = draw(st.sampled_from([(None, None), (None, None), (3, 4)]))
    first, batched = draw(st.booleans()), draw(st.integers(0, 3)) > 0
    options = {
        "embed_dim": width,
        "num_heads": draw(st.sampled_from([heads, heads, heads, 2])),
        "batch_first": first,
        "kdim": kdim,
        "vdim": vdim,
        "add_bias_kv": draw(st.booleans()),
        "add_zero_attn": draw(st.booleans()),
    }

    def shape(steps, features):
        if not batched:
            return (steps, features)
        return (batch, steps, features) if first else (steps, batch, features)

    shapes = (shape(length, width), shape(source, kdim or width), shape(source, vdim or width))
    inputs = tuple(torch.zeros(draw(nearly(each))) for each in shapes)
    call = {}
    if draw(st.booleans()):
        call["key_padding_mask"] = torch.zeros(draw(nearly((batch, source) if batched else (source,)))) > 0
    if draw(st.booleans()):
        full = draw(st.sampled_from([(length, source), (batch * heads, length, source)]))
        call["attn_mask"] = torch.zeros(draw(nearly(full))) > 0
    for name in ("need_weights", "average_attn_weights"):
        if draw(st.booleans()):
            call[name] = draw(st.booleans())
    return options, inputs, call


@several
@given(attentions())
def test_multi_head_attention_agrees_with_torch(case):
    options, inputs, call = case
    check_module("torch.nn.MultiheadAttention", **options, input=inputs, call=call)


def test_shapes_are_those_of_the_query():
    query, key = TensorType.of(B, 8, T, 64), TensorType.of(B, 8, 10, 64)
    assert str(find_op(ATTENTION).apply(Context(), [query, key, key], {})) == "(b, 8, t, 64)"
    made = make("torch.nn.MultiheadAttention", 64, 8, batch_first=True)
    x = TensorType.of(B, T, 64)
    output, weights = made.call(Context(), [x, x, x], {})
    assert (str(output), str(weights)) == ("(b, t, 64)", "(b, t, t)")


def test_what_was_not_followed_stays_unknown_and_small():
    made = make("torch.nn.MultiheadAttention", 64, 8, batch_first=UNKNOWN)
    x = TensorType.of(B, T, 64)
    output, weights = made.call(Context(), [x, x, x], {})
    assert (str(output), str(weights)) == ("(b, t, 64)", "(_, _, _)")
    assert made.call(Context(), [x, x, x], {"need_weights": UNKNOWN})[1] is UNKNOWN
    assert made.call(Context(), [UNKNOWN, UNKNOWN, UNKNOWN], {})[0].shape.rank is None


def test_the_messages_name_the_operands_and_sizes():
    query, key = TensorType.of(B, T, 64), TensorType.of(B, T, 32)
    operands = "query (b, t, 64), key (b, t, 32), value (b, t, 32)"
    assert message(ATTENTION, query, key, key)[0] == (
        f"scaled_dot_product_attention: {operands}: axis -1 of query and key, 64 and 32, differ"
    )
    made = make("torch.nn.MultiheadAttention", 64, 8)
    assert module_message(made, query, key, key)[0] == (
        f"multi_head_attention: {operands}: the last axis of the key is 32, 64 expected"
    )
    mask = TensorType.of(3, 4)
    x = TensorType.of(3, B, 64)
    assert module_message(made, x, x, x, attn_mask=mask)[0] == (
        "multi_head_attention: attn_mask (3, 4): attn_mask (3, 3) expected: sizes 4 and 3 differ"
    )
    assert constructor_message("torch.nn.MultiheadAttention", 64, 7) == (
        "nn.MultiheadAttention: embed_dim 64 is not divisible by num_heads 7"
    )


def test_the_attributes_are_torchs():
    made = make("torch.nn.MultiheadAttention", 64, 8)
    assert (made.head_dim, made.embed_dim) == (8, 64)
    assert str(made.in_proj_weight) == "(192, 64)"
    assert str(made.out_proj.weight) == "(64, 64)"
    assert made.head_dim == Dim.of(8)


def test_heads_are_known_to_divide_the_width_after_the_constructor():
    context, width, heads = Context(), Dim.quantity("width", low=1), Dim.quantity("heads", low=1)
    kind = find_module("torch.nn.MultiheadAttention")
    made = kind(context, width, heads)
    assert context.is_equal(made.head_dim * heads, width)
