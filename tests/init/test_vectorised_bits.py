"""SplitMix64 on int64 tensors has the bits of SplitMix64 on ints."""

from __future__ import annotations

import torch
from hypothesis import example, given
from hypothesis import strategies as st

from shaped.init.splitmix64 import low_bits, splitmix64
from shaped.init.vectorised_bits import Stream, as_int64

CPU = torch.device("cpu")
ANY_INT = st.integers(-(2**70), 2**70)


@given(ANY_INT, ANY_INT, st.integers(1, 3), st.integers(1, 40))
@example(0, 2**63 - 2, 1, 40)
@example(2**64 - 1, 2**64 - 2, 2, 40)
def test_a_stream_has_the_bits_of_its_positions(seed: int, first: int, step: int, size: int) -> None:
    out = torch.empty(size, dtype=torch.float64)
    Stream(seed, step, size, CPU).low_bits_into(out, first)
    assert out.tolist() == [low_bits(seed, first + step * i) for i in range(size)]


@given(ANY_INT, ANY_INT)
def test_unmixed_bits_add_the_position_after_mixing(seed: int, first: int) -> None:
    out = torch.empty(9, dtype=torch.float64)
    Stream(seed, 2, 9, CPU).unmixed_low_bits_into(out, first)
    assert out.tolist() == [(splitmix64(splitmix64(seed)) + first + 2 * i) % 2**32 for i in range(9)]


def test_a_stream_is_used_again_for_fewer_positions() -> None:
    stream = Stream(3, 1, 10, CPU)
    for first, size in [(0, 10), (10, 4), (0, 0), (5, 10)]:
        out = torch.empty(size, dtype=torch.float64)
        stream.low_bits_into(out, first)
        assert out.tolist() == [low_bits(3, first + i) for i in range(size)]


@given(ANY_INT)
def test_an_int64_has_the_low_64_bits_of_an_int(x: int) -> None:
    assert -(2**63) <= as_int64(x) < 2**63
    assert (as_int64(x) - x) % 2**64 == 0
