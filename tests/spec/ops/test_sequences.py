"""Padded and packed sequences against torch, and through a recurrent network."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.shape import Pack
from shaped.spec.values import UNKNOWN, Many, TensorType
from tests.spec.ops.against_torch import Outcome, check
from tests.spec.ops.modules import B, T, make, message, nearly, several, sizes

RNN = "torch.nn.utils.rnn"


def call(name, *args, **kwargs):
    """The result of a rule."""
    return find_op(f"{RNN}.{name}").apply(Context(), args, kwargs)


@several
@given(st.data(), sizes, st.booleans())
def test_padding_agrees_with_torch(data, width, first):
    steps = data.draw(st.lists(sizes, min_size=1, max_size=3))
    tensors = [torch.zeros(data.draw(nearly((step, width)).filter(lambda shape: len(shape) == 2))) for step in steps]
    outcome = check(f"{RNN}.pad_sequence", tensors, batch_first=first)
    assert outcome is not Outcome.MISSED


def test_a_list_that_was_not_counted_has_a_length_of_its_own():
    rows = Many(TensorType.of(T, 8), B)
    assert str(call("pad_sequence", rows)) == "(length, b, 8)"
    assert str(call("pad_sequence", rows, batch_first=True)) == "(b, length, 8)"
    assert str(call("pad_sequence", rows, batch_first=UNKNOWN)) == "(_, _, 8)"
    assert call("pad_sequence", UNKNOWN).shape.rank is None
    assert call("pad_sequence", Many(TensorType.of(Pack("any")), B)).shape.rank is None


@several
@given(st.lists(sizes, min_size=1, max_size=3), sizes, st.booleans())
def test_a_packed_sequence_keeps_batch_and_features(lengths, width, first):
    lengths = sorted(lengths, reverse=True)
    shape = (len(lengths), lengths[0], width) if first else (lengths[0], len(lengths), width)
    padded, real_lengths = pad_packed_sequence(pack_padded_sequence(torch.zeros(shape), lengths, first), first)
    packed = call("pack_padded_sequence", TensorType.of(*shape), UNKNOWN, batch_first=first)
    found, found_lengths = call("pad_packed_sequence", packed, batch_first=first)
    for dim, size in zip(found.shape.dims, padded.shape, strict=True):
        assert dim.constant in (size, None)
    assert [dim.constant is None for dim in found.shape.dims].count(True) == 1
    assert found_lengths.shape.dims == (Dim.of(len(real_lengths)),)


def test_a_packed_sequence_goes_through_a_recurrent_network():
    packed = call("pack_padded_sequence", TensorType.of(B, T, 8), UNKNOWN, batch_first=True)
    output, (hidden, _) = make("torch.nn.LSTM", 8, 16).call(Context(), [packed], {})
    assert str(hidden) == "(1, b, 16)"
    padded, lengths = call("pad_packed_sequence", output, batch_first=True, total_length=T)
    assert (str(padded), str(lengths)) == ("(b, t, 16)", "(b,)")


def test_packing_a_list_counts_its_sequences():
    packed = call("pack_sequence", (TensorType.of(3, 8), TensorType.of(2, 8)))
    assert packed.batch == 2
    rows = call("unpad_sequence", TensorType.of(T, B, 8), UNKNOWN)
    assert (str(rows.element), rows.length) == ("(_, 8)", B)


def test_the_message_names_the_axis_that_differs():
    assert message(f"{RNN}.pad_sequence", (TensorType.of(3, 8), TensorType.of(2, 7)))[0] == (
        "pad_sequence: (3, 8), (2, 7): sizes 8 and 7 of axis 1 differ"
    )
