"""Tensors have the specification's elements: all schemes, seeds, offsets and dtypes, whole and in shards."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from shaped.init.fans import with_fans
from shaped.init.rounding import rounded
from shaped.init.sampling import sample_at
from shaped.init.schemes import (
    KaimingUniform,
    Normal,
    NormalMode,
    Ones,
    Scheme,
    SchemeError,
    Uniform,
    XavierUniform,
    Zeros,
)
from shaped.init.tensors import fill_, kaiming_w, tensor, xavier_w
from shaped.init.vectorised_rounding import BITS, FORMATS
from tests.init.golden import KAIMING_WEIGHT, NORMAL, XAVIER_WEIGHT

DTYPES = list(FORMATS)
MODES: tuple[NormalMode, ...] = get_args(NormalMode)
SEEDS = [0, 1, 42, 2**64 - 1, -7]
OFFSETS = [0, 12345, 2**63 - 20, 2**64 - 20]
# One whose 64-bit positions wrap, within any shard's reach.
HUGE = (2**66, 3)
SCHEMES: list[Scheme] = [
    Zeros(),
    Ones(),
    Uniform(),
    Uniform(-0.3, 0.7),
    # All elements are half way between two numbers of a 16-bit dtype, and a little more.
    Uniform(1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 + 2.0**-40),
    Uniform(1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11 + 2.0**-40),
    XavierUniform(),
    KaimingUniform(),
    *(Normal(mean, std, mode) for mode in MODES for mean, std in [(0, 1), (-0.1, 0.02), (1 + 2.0**-8 + 2.0**-40, 0)]),
]

FINITE = st.floats(-1e6, 1e6)
ANY_SCHEME = st.one_of(
    st.sampled_from([Zeros(), Ones(), XavierUniform(), KaimingUniform()]),
    st.tuples(FINITE, FINITE).map(sorted).map(lambda ends: Uniform(*ends)),
    st.builds(Normal, FINITE, st.floats(0, 1e6), st.sampled_from(MODES)),
    st.builds(XavierUniform, st.integers(0, 10**6), st.integers(0, 10**6)),
    st.builds(KaimingUniform, st.integers(0, 10**6)),
)
ANY_INT = st.integers(-(2**66), 2**66)


def specified(scheme: Scheme, seed: int, dtype: torch.dtype, offset: int, count: int) -> Tensor:
    """The elements by the specification."""
    values = [rounded(sample_at(scheme, seed, offset + i), FORMATS[dtype]) for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).to(dtype)


def same_bits(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are equal in shape, dtype and bits; 0 and -0 differ."""
    return a.dtype == b.dtype and torch.equal(a.contiguous().view(BITS[a.dtype]), b.contiguous().view(BITS[b.dtype]))


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_both_renderings_have_the_same_bits(scheme: Scheme, seed: int, offset: int) -> None:
    for dtype in DTYPES:
        expected = specified(with_fans(scheme, HUGE), seed, dtype, offset, 41)
        assert same_bits(tensor(scheme, HUGE, seed, dtype, offset=offset, count=41), expected)


@given(ANY_SCHEME, ANY_INT, st.integers(0, 2**67), st.sampled_from(DTYPES))
def test_both_renderings_have_the_same_bits_for_any_scheme(
    scheme: Scheme, seed: int, offset: int, dtype: torch.dtype
) -> None:
    expected = specified(with_fans(scheme, HUGE), seed, dtype, offset, 9)
    assert same_bits(tensor(scheme, HUGE, seed, dtype, offset=offset, count=9), expected)


@pytest.mark.parametrize("scheme", [Uniform(-0.3, 0.7), Normal(), Normal(-0.1, 0.02, "clamped")], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_long_tensor_has_the_same_bits_at_the_borders_of_its_chunks(scheme: Scheme, dtype: torch.dtype) -> None:
    elements = 2 * 32768 + 1000
    whole = tensor(scheme, [elements], 3, dtype)
    for border in (0, 32768, 2 * 32768, elements - 20):
        start = max(0, border - 20)
        assert same_bits(whole[start : start + 40], specified(scheme, 3, dtype, start, len(whole[start : start + 40])))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES[2:], ids=str)
def test_a_hundred_thousand_elements_have_the_same_bits(scheme: Scheme) -> None:
    shape = (100, 1000)
    values = [sample_at(with_fans(scheme, shape), 9, index) for index in range(10**5)]
    for dtype in DTYPES:
        expected = torch.tensor([rounded(value, FORMATS[dtype]) for value in values], dtype=torch.float64).to(dtype)
        assert same_bits(tensor(scheme, shape, 9, dtype), expected.view(shape))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [0, 1, 42])
def test_normal_tensors_are_those_of_the_reference(mode: NormalMode, seed: int) -> None:
    assert tensor(Normal(mode=mode), [4], seed, torch.float64).tolist() == NORMAL[mode][seed]


def test_weights_are_those_of_the_reference() -> None:
    assert xavier_w(2, 3, dtype=torch.float64).reshape(-1).tolist() == XAVIER_WEIGHT
    assert kaiming_w(2, 3, dtype=torch.float64).reshape(-1).tolist() == KAIMING_WEIGHT
    assert same_bits(xavier_w(2, 3, 0), torch.tensor(XAVIER_WEIGHT).view(2, 3))
    assert same_bits(kaiming_w(4, 5, 6), tensor(KaimingUniform(), [4, 5], 6))


@given(
    st.sampled_from(SCHEMES),
    st.lists(st.integers(0, 9), min_size=2, max_size=4),
    ANY_INT,
    st.sampled_from(DTYPES),
    st.data(),
)
@settings(max_examples=60)
def test_shards_of_any_split_are_the_whole(
    scheme: Scheme, shape: list[int], seed: int, dtype: torch.dtype, data: st.DataObject
) -> None:
    whole = tensor(scheme, shape, seed, dtype)
    assert whole.shape == tuple(shape)
    borders = [0, *sorted(data.draw(st.lists(st.integers(0, whole.numel()), max_size=4))), whole.numel()]
    shards = [tensor(scheme, shape, seed, dtype, offset=start, count=stop - start) for start, stop in pairwise(borders)]
    assert same_bits(torch.cat(shards), whole.view(-1))


def test_a_shard_without_a_count_ends_with_the_whole() -> None:
    whole = tensor(Normal(), [3, 4])
    assert tensor(Normal(), [3, 4], offset=5).equal(whole.view(-1)[5:])
    assert tensor(Normal(), [3, 4], count=5).equal(whole.view(-1)[:5])
    assert tensor(Normal(), [3, 4], offset=12).shape == (0,)


@given(ANY_INT)
def test_a_seed_is_taken_modulo_2_to_the_64(seed: int) -> None:
    assert tensor(Normal(), [3], seed).equal(tensor(Normal(), [3], seed % 2**64))


def test_neighbouring_seeds_share_no_element_at_any_position() -> None:
    for scheme in (Uniform(), Normal()):
        drawn = [tensor(scheme, [20_000], seed, torch.float64) for seed in range(-2, 3)]
        for index, one in enumerate(drawn):
            for other in drawn[index + 1 :]:
                assert not (one == other).any()


@pytest.mark.parametrize("shape", [[0], [3, 0], [0, 2, 5], []])
@pytest.mark.parametrize("scheme", [Zeros(), Uniform(), Normal()], ids=str)
def test_tensors_of_no_elements_and_of_no_axes(scheme: Scheme, shape: list[int]) -> None:
    drawn = tensor(scheme, shape)
    assert drawn.shape == tuple(shape)
    if not shape:
        assert drawn.item() == specified(scheme, 0, torch.float32, 0, 1).item()


def test_the_dtype_is_float32_whatever_torchs_default_is() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert tensor(Normal(), [3]).dtype == torch.float32
        assert tensor(Normal(), [3]).equal(specified(Normal(), 0, torch.float32, 0, 3))
    finally:
        torch.set_default_dtype(torch.float32)


def test_torchs_own_random_numbers_are_left_alone() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = tensor(Normal(), [100])
    assert torch.get_rng_state().equal(before)
    torch.manual_seed(1)
    assert tensor(Normal(), [100]).equal(first)


# In place.


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_strides_are_filled_in_row_major_order(dtype: torch.dtype) -> None:
    whole = tensor(Normal(), [4, 6], 5, dtype)
    transposed = torch.empty(6, 4, dtype=dtype).T
    assert fill_(transposed, Normal(), 5) is transposed
    assert same_bits(transposed, whole)
    memory = torch.full([8, 12], 9.0, dtype=dtype)
    fill_(memory[::2, 1::2], Normal(), 5)
    assert same_bits(memory[::2, 1::2], whole)
    assert (memory[1::2] == 9).all()
    assert (memory[:, ::2] == 9).all()


def test_a_shard_is_filled_from_its_offset_with_the_fans_of_the_whole() -> None:
    whole = tensor(XavierUniform(), [4, 6], 5)
    shard = torch.empty(2, 6)
    fill_(shard, with_fans(XavierUniform(), [4, 6]), 5, offset=12)
    assert shard.equal(whole[2:])


def test_a_parameter_is_filled_and_stays_a_leaf() -> None:
    parameter = torch.nn.Parameter(torch.zeros(3, 4))
    assert fill_(parameter, KaimingUniform()) is parameter
    assert parameter.equal(kaiming_w(3, 4))
    assert parameter.is_leaf
    assert parameter.requires_grad
    parameter.sum().backward()
    assert parameter.grad is not None


def test_autograd_notices_that_a_saved_tensor_was_filled() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    loss = (parameter * parameter).sum()
    fill_(parameter, Uniform())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_inference_mode_does_not_matter() -> None:
    expected = tensor(Normal(), [3])
    with torch.inference_mode():
        made_inside = tensor(Normal(), [3])
        ordinary = fill_(expected.clone(), Normal(), 1)
    assert made_inside.is_inference()
    assert made_inside.equal(expected)
    assert ordinary.equal(tensor(Normal(), [3], 1))
    assert fill_(made_inside, Normal(), 1).equal(ordinary)


def test_tensors_without_numbers_are_left_as_they_are() -> None:
    on_meta = torch.empty(3, device="meta")
    assert fill_(on_meta, Normal()) is on_meta
    assert tensor(Normal(), [3, 4], device="meta").shape == (3, 4)
    with FakeTensorMode():
        assert tensor(Normal(), [3, 4]).shape == (3, 4)


def test_ints_of_numpy_are_ints() -> None:
    one, two, three = np.arange(1, 4)
    drawn = tensor(Normal(), (two, three), one, offset=one, count=np.uint8(4))
    assert same_bits(drawn, tensor(Normal(), (2, 3), 1, offset=1, count=4))
    assert sample_at(Normal(), np.int64(-1), two) == sample_at(Normal(), -1, 2)
    assert sample_at(Normal(), np.uint64(2**63 + 1), two) == sample_at(Normal(), 2**63 + 1, 2)


def test_interleaved_elements_are_no_overlap() -> None:
    # Rows of every third number, each starting one later: their ranges meet, their elements do not.
    out = torch.zeros(9).as_strided((3, 3), (1, 3))
    assert same_bits(fill_(out, Uniform()), tensor(Uniform(), [3, 3]))
    woven = torch.zeros(12).as_strided((2, 3), (3, 2))
    assert same_bits(fill_(woven, Uniform()), tensor(Uniform(), [2, 3]))


# What no tensor can be made of.

WRONG = [
    ({"shape": [3, -1]}, r"tensor: shape is \[3, -1\]: a sequence of ints of 0 or more is needed"),
    ({"shape": 3}, "tensor: shape is 3: a sequence of ints of 0 or more is needed"),
    ({"shape": "34"}, "tensor: shape is '34': a sequence of ints"),
    ({"shape": [2.0]}, r"tensor: shape is \[2.0\]: a sequence of ints"),
    ({"offset": 13}, r"tensor: offset is 13: a position in the 12 elements of \(3, 4\) is needed"),
    ({"offset": -1}, "tensor: offset is -1: a position in the 12 elements"),
    ({"offset": 1.0}, "offset is 1.0: an int is needed"),
    ({"offset": 5, "count": 8}, r"tensor: count is 8: 0 to 7 elements follow offset 5 of \(3, 4\)"),
    ({"count": -1}, "tensor: count is -1: 0 to 12 elements follow offset 0"),
    ({"count": "1"}, "count is '1': an int is needed"),
    ({"seed": 1.5}, "seed is 1.5: an int is needed"),
    ({"seed": True}, "seed is True: an int is needed"),
    (
        {"dtype": torch.int64},
        "dtype is torch.int64: one of torch.float64, torch.float32, torch.float16, torch.bfloat16",
    ),
    ({"dtype": torch.complex64}, "dtype is torch.complex64: one of"),
    ({"scheme": Normal}, r"scheme is the class Normal: Normal\(\) is needed"),
    ({"scheme": "normal"}, r"scheme is 'normal': one of Zeros\(\), Ones\(\), Uniform\(\), ... is needed"),
    ({"seed": torch.tensor(1.0)}, r"seed is tensor\(1.\): an int is needed"),
    ({"scheme": KaimingUniform(), "shape": [3]}, r"fans: the shape \(3,\) has 1 axis"),
]


@pytest.mark.parametrize("arguments, message", WRONG, ids=[message[:40] for _, message in WRONG])
def test_what_no_tensor_can_be_made_of_is_an_error(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(SchemeError, match=message):
        tensor(**{"scheme": Uniform(), "shape": [3, 4], **arguments})


@pytest.mark.parametrize(
    "out, arguments, message",
    [
        (
            torch.empty(1).expand(3),
            {},
            r"fill_: several elements of out share memory, strides \(0,\): give a copy of it",
        ),
        (torch.empty(4).as_strided((2, 3), (1, 1)), {}, r"several elements of out share memory, strides \(1, 1\)"),
        ([0.0], {}, "fill_: out is a list: a tensor is needed"),
        (torch.empty(3, 3).to_sparse(), {}, "fill_: out has layout torch.sparse_coo: a strided tensor is needed"),
        (torch.empty(3, dtype=torch.int32), {}, "dtype is torch.int32: one of"),
        (torch.empty(3), {"offset": -1}, "fill_: offset is -1: 0 or more is needed"),
        (torch.empty(3), {"seed": "0"}, "seed is '0': an int is needed"),
    ],
)
def test_what_cannot_be_filled_is_an_error(out: Tensor, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(SchemeError, match=message):
        fill_(out, Uniform(), **arguments)


def test_a_uniform_element_may_be_rounded_up_to_high_but_no_further() -> None:
    greatest = 2 * 5659834097528200730  # a position of seed 0 whose bits are all set
    assert sample_at(Uniform(), 0, greatest) == 1 - 2.0**-32
    assert tensor(Uniform(), HUGE, offset=greatest, count=1).item() == 1.0
    assert tensor(Uniform(), HUGE, dtype=torch.float64, offset=greatest, count=1).item() == 1 - 2.0**-32
