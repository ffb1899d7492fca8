"""Recurrent networks and cells against torch, over symbolic sizes, and their messages."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.modules import (
    B,
    T,
    check_module,
    constructor_message,
    make,
    module_message,
    nearly,
    several,
    sizes,
)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
@several
@given(st.data(), sizes, st.integers(2, 4), st.integers(1, 2), st.booleans(), st.booleans(), st.booleans())
def test_recurrent_networks_agree_with_torch(name, data, features, hidden, layers, first, both, batched):
    projected = data.draw(st.sampled_from([0, 0, 1, 2])) if name == "LSTM" else 0
    options = {"num_layers": layers, "batch_first": first, "bidirectional": both}
    options |= {"proj_size": projected} if projected else {}
    batch, steps = data.draw(sizes), data.draw(sizes)
    shape = ((batch, steps) if first else (steps, batch)) if batched else (steps,)
    input = torch.zeros(data.draw(nearly((*shape, features))))
    places = (layers * (2 if both else 1), *([batch] if batched else []))
    inputs = [input]
    if data.draw(st.booleans()):
        state = torch.zeros(data.draw(nearly((*places, projected or hidden))))
        inputs.append((state, torch.zeros(data.draw(nearly((*places, hidden))))) if name == "LSTM" else state)
    check_module(f"torch.nn.{name}", features, hidden, **options, input=tuple(inputs))


@pytest.mark.parametrize("name", ["RNNCell", "LSTMCell", "GRUCell"])
@several
@given(st.data(), sizes, sizes, st.booleans())
def test_cells_agree_with_torch(name, data, features, hidden, batched):
    leading = (data.draw(sizes),) if batched else ()
    inputs = [torch.zeros(data.draw(nearly((*leading, features))))]
    if data.draw(st.booleans()):
        # torch takes a square state for an input without a batch, or crashes the process on it: never drawn here.
        shape = data.draw(nearly((*leading, hidden)).filter(lambda shape: inputs[0].ndim > 1 or len(shape) < 2))
        state = torch.zeros(shape)
        inputs.append((state, state) if name == "LSTMCell" else state)
    check_module(f"torch.nn.{name}", features, hidden, input=tuple(inputs))


def test_shapes_are_formulas_of_the_input_sizes():
    made = make("torch.nn.LSTM", 32, 64, 2, batch_first=True, bidirectional=True)
    output, (hidden, cell) = made.call(Context(), [TensorType.of(B, T, 32)], {})
    assert (str(output), str(hidden), str(cell)) == ("(b, t, 128)", "(4, b, 64)", "(4, b, 64)")


def test_options_that_were_not_followed_leave_the_rank():
    made = make("torch.nn.GRU", 32, 64, batch_first=UNKNOWN, bidirectional=UNKNOWN)
    output, hidden = made.call(Context(), [TensorType.of(B, T, 32)], {})
    assert (str(output), str(hidden)) == ("(b, t, 64*_)", "(_, _, 64)")
    again, _ = made.call(Context(), [TensorType.of(B, T, 32)], {})
    assert output == again


def test_an_input_that_was_not_followed_may_be_packed():
    output, hidden = make("torch.nn.GRU", 32, 64).call(Context(), [UNKNOWN], {})
    assert output is UNKNOWN
    assert str(hidden) == "(1, ..., 64)"


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("both", [False, True])
def test_parameters_have_torchs_names_and_shapes(name, both):
    real = getattr(torch.nn, name)(3, 4, 2, bidirectional=both)
    made = make(f"torch.nn.{name}", 3, 4, 2, bidirectional=both)
    for parameter, tensor in real.named_parameters():
        assert [dim.constant for dim in getattr(made, parameter).shape.dims] == list(tensor.shape), parameter


def test_the_messages_name_axis_and_state():
    made = make("torch.nn.LSTM", 3, 7, batch_first=True)
    assert module_message(made, TensorType.of(B, 3, T)) == (
        "lstm: (b, 3, t) with input size 3: axis 2 is t, 3 expected",
        ".transpose(1, 2)?",
    )
    state = TensorType.of(2, B, 7)
    assert module_message(made, TensorType.of(B, T, 3), (state, state))[0] == (
        "lstm: h_0 (2, b, 7): (1, b, 7) expected: sizes 2 and 1 differ"
    )
    assert module_message(make("torch.nn.GRU", 3, 7), TensorType.of(B))[0] == "gru: (b,): 1 axis, 2 or 3 expected"
    assert constructor_message("torch.nn.LSTM", 3, 7, proj_size=7) == (
        "nn.LSTM: proj_size 7 is not smaller than hidden_size 7"
    )
    assert constructor_message("torch.nn.GRU", 3, 7, proj_size=2) == "nn.GRU: proj_size is for LSTM only"
