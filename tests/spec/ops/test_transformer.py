"""Transformer modules against torch, over symbolic sizes, and their messages."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import check_exact
from tests.spec.ops.modules import B, T, check_module, make, module_message, nearly, several, sizes


@st.composite
def sequences(draw):
    """A model's width, its heads, whether batches come first, and a source and a target that mostly fit."""
    heads, batch, first = draw(st.integers(1, 2)), draw(sizes), draw(st.booleans())
    width = heads * draw(st.integers(1, 3))
    steps = draw(sizes), draw(sizes)
    shapes = [(batch, step, width) if first else (step, batch, width) for step in steps]
    return width, heads, first, tuple(torch.zeros(draw(nearly(shape))) for shape in shapes)


@several
@given(sequences())
def test_layers_agree_with_torch(case):
    width, heads, first, (source, target) = case
    check_module("torch.nn.TransformerEncoderLayer", width, heads, 4, batch_first=first, input=(source,))
    check_module("torch.nn.TransformerDecoderLayer", width, heads, 4, batch_first=first, input=(target, source))


@settings(several, max_examples=10)
@given(sequences())
def test_the_whole_transformer_agrees_with_torch(case):
    width, heads, first, inputs = case
    check_module("torch.nn.Transformer", width, heads, 1, 1, 4, batch_first=first, input=inputs)


def test_stacks_of_layers_keep_symbolic_shapes():
    layer = make("torch.nn.TransformerEncoderLayer", 64, 8, batch_first=True)
    encoder = make("torch.nn.TransformerEncoder", layer, 6, make("torch.nn.LayerNorm", 64))
    assert str(encoder.call(Context(), [TensorType.of(B, T, 64)], {})) == "(b, t, 64)"
    decoder_layer = make("torch.nn.TransformerDecoderLayer", 64, 8, batch_first=True)
    decoder = make("torch.nn.TransformerDecoder", decoder_layer, 6)
    memory = TensorType.of(B, 10, 64)
    assert str(decoder.call(Context(), [TensorType.of(B, T, 64), memory], {})) == "(b, t, 64)"


def test_a_layer_that_was_not_followed_gives_an_unknown_result():
    for name in ("TransformerEncoder", "TransformerDecoder"):
        made = make(f"torch.nn.{name}", UNKNOWN, 6)
        assert made.call(Context(), [TensorType.of(B, T, 64)] * (2 if "De" in name else 1), {}) is UNKNOWN
    custom = make("torch.nn.Transformer", 64, 8, custom_encoder=UNKNOWN)
    assert custom.call(Context(), [TensorType.of(T, B, 64)] * 2, {}) is UNKNOWN


def test_the_causal_mask_is_square():
    check_exact("torch.nn.Transformer.generate_square_subsequent_mask", 5)
    operation = find_op("torch.nn.Transformer.generate_square_subsequent_mask")
    assert str(operation.apply(Context(), [T], {})) == "(t, t)"


def test_the_messages_are_those_of_the_parts():
    layer = make("torch.nn.TransformerEncoderLayer", 64, 8)
    x = TensorType.of(T, B, 32)
    assert module_message(layer, x)[0] == (
        "multi_head_attention: query (t, b, 32), key (t, b, 32), value (t, b, 32): "
        "the last axis of the query is 32, 64 expected"
    )
    whole = make("torch.nn.Transformer", 64, 8)
    pair = TensorType.of(T, 2, 64), TensorType.of(T, 3, 64)
    assert module_message(whole, *pair)[0] == "transformer: src (t, 2, 64), tgt (t, 3, 64): batch sizes 2 and 3 differ"


def test_a_mask_of_another_length_is_refused_in_every_part():
    layer = make("torch.nn.TransformerEncoderLayer", 64, 8)
    mask = TensorType.of(Dim.of(4), 4)
    assert module_message(layer, TensorType.of(3, B, 64), mask)[0].endswith(
        "attn_mask (3, 3) expected: sizes 4 and 3 differ"
    )
