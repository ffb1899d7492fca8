"""Embeddings against torch, and their messages."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dtypes import FLOAT32, INT64
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.modules import (
    B,
    T,
    check_function,
    check_module,
    make,
    message,
    module_message,
    nearly,
    several,
    sizes,
)

kinds = st.sampled_from([torch.int64, torch.int64, torch.int32, torch.float32, torch.uint8])


@several
@given(st.data(), st.lists(sizes, max_size=3).map(tuple), sizes, kinds)
def test_embedding_agrees_with_torch(data, shape, width, kind):
    indices = torch.zeros(shape, dtype=kind)
    check_module("torch.nn.Embedding", 7, width, dtype=torch.float32, input=(indices,))
    weight = torch.zeros(data.draw(nearly((7, width))))
    check_function("torch.nn.functional.embedding", indices, weight)


@several
@given(st.data(), sizes, sizes, st.booleans(), st.booleans())
def test_embedding_bag_agrees_with_torch(data, count, width, flat, last):
    shape = data.draw(nearly((count * 2,) if flat else (2, count)))
    indices = torch.zeros(shape, dtype=torch.int64)
    offsets = torch.tensor([0, count, len(indices)] if last else [0, count]) if flat and shape else None
    if offsets is not None and int(offsets.max()) > len(indices):
        offsets = torch.zeros_like(offsets)
    inputs = (indices,) if offsets is None else (indices, offsets)
    check_module("torch.nn.EmbeddingBag", 7, width, include_last_offset=last, dtype=torch.float32, input=inputs)


def test_an_input_that_was_not_followed_keeps_the_width():
    result = make("torch.nn.Embedding", 100, 64).call(Context(), [UNKNOWN], {})
    assert result.shape.rank is None
    assert result.shape.at(-1) == 64


def test_a_table_that_is_given_is_the_weight():
    operation = find_op("torch.nn.Embedding.from_pretrained")
    made = operation.apply(Context(), [TensorType.of(100, 64, dtype=FLOAT32)], {})
    result = made.call(Context(), [TensorType.of(B, T, dtype=INT64)], {})
    assert (str(result), result.dtype) == ("(b, t, 64)", FLOAT32)
    assert message("torch.nn.Embedding.from_pretrained", TensorType.of(100)) == (
        "from_pretrained: (100,): 1 axes, 2 expected",
        "",
    )


def test_the_message_names_the_dtype_of_the_indices():
    made = make("torch.nn.Embedding", 100, 64)
    assert module_message(made, TensorType.of(B, T, dtype=FLOAT32))[0] == (
        "embedding: (b, t): indices are float32, int32 or int64 expected"
    )
