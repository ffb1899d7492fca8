"""`linear` and `bilinear` against torch, and their messages."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.errors import Origin
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.shape import Pack
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.modules import (
    B,
    check_function,
    check_module,
    make,
    message,
    module_message,
    nearly,
    several,
    sizes,
)

leading = st.lists(sizes, max_size=3).map(tuple)


@several
@given(st.data(), leading, sizes, sizes, st.booleans())
def test_linear_gives_torchs_shape_or_refuses_with_it(data, batch, features, out, with_bias):
    input = data.draw(nearly((*batch, features)))
    bias = torch.zeros(data.draw(nearly((out,)).filter(lambda shape: len(shape) == 1))) if with_bias else None
    check_function("torch.nn.functional.linear", torch.zeros(input), torch.zeros(out, features), bias)


@several
@given(st.data(), leading, sizes, sizes)
def test_the_linear_modules_agree_with_torchs(data, batch, features, out):
    input = data.draw(nearly((*batch, features)))
    check_module("torch.nn.Linear", features, out, input=input)
    check_module("torch.nn.LazyLinear", out, input=(torch.zeros((*batch, features)),))


@several
@given(st.data(), leading, sizes, sizes, sizes)
def test_bilinear_agrees_with_torch(data, batch, in1, in2, out):
    first, second = data.draw(nearly((*batch, in1))), data.draw(nearly((*batch, in2)))
    check_module("torch.nn.Bilinear", in1, in2, out, input=(torch.zeros(first), torch.zeros(second)))


def test_a_weight_vector_reduces_the_last_axis():
    check_function("torch.nn.functional.linear", torch.zeros(3, 4), torch.zeros(4))


def test_an_input_of_unknown_rank_keeps_what_the_weight_says():
    result = make("torch.nn.Linear", 128, 10).call(Context(), [UNKNOWN], {})
    assert isinstance(result, TensorType)
    assert result.shape.rank is None
    assert result.shape.at(-1) == 10
    kept = make("torch.nn.Linear", 128, 10).call(Context(), [TensorType.of(Pack("batch"), 128)], {})
    assert str(kept) == "(*batch, 10)"


def test_an_unknown_size_of_the_constructor_is_one_size_in_every_call():
    made = make("torch.nn.Linear", UNKNOWN, UNKNOWN)
    context = Context()
    first, second = (made.call(context, [TensorType.of(B, 3)], {}) for _ in range(2))
    assert first == second
    assert made.weight.shape.at(0) == first.shape.at(-1)


def test_origins_of_constructor_sizes_reach_weights_and_outputs():
    origin = Origin("out_features of self.fc", 10)
    made = make("torch.nn.Linear", 128, Dim.of(64).at(origin))
    assert made.weight.shape.dims[0].origin == origin
    result = made.call(Context(), [TensorType.of(B, 128)], {})
    assert result.shape.dims[-1].origin == origin


def test_the_messages_name_both_sizes_and_the_module_to_write():
    weight = TensorType.of(10, 64)
    text = "matmul: (b, 128) @ (64, 10): inner dimensions 128 and 64 differ"
    assert message("torch.nn.functional.linear", TensorType.of(B, 128), weight) == (text, "")
    made = make("torch.nn.Linear", 64, 10)
    assert module_message(made, TensorType.of(B, 128)) == (text, "nn.Linear(128, 10)?")
    assert module_message(made, TensorType.of())[0] == "matmul: () @ (64, 10): a scalar has no last axis"
    pair = make("torch.nn.Bilinear", 3, 4, 5)
    assert module_message(pair, TensorType.of(B, 3), TensorType.of(B, 3))[0] == (
        "bilinear: (b, 3), (b, 3) with weight (5, 3, 4): the second input has 3 features, 4 expected"
    )
