"""Random bits by position: the golden words, a bijection, uniform bits, streams that do not meet."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.init.splitmix64 import MASK, low_bits, rand01, splitmix64
from shaped.spec.splitmix64 import FIRST_MULTIPLIER, GAMMA, SECOND_MULTIPLIER
from tests.init.golden import KEY, LOW_BITS, MIXED_WORDS, NUMBERS_01, NUMBERS_01_OF_KEY

ANY_INT = st.integers(-(2**70), 2**70)


def unmixed(word: int) -> int:
    """The inverse of `splitmix64`: each of its steps undone, in the opposite order."""

    def unshifted(z: int, shift: int) -> int:
        return z ^ (z >> shift) ^ (z >> 2 * shift)

    z = unshifted(word, 31) * pow(SECOND_MULTIPLIER, -1, 2**64) & MASK
    z = unshifted(z, 27) * pow(FIRST_MULTIPLIER, -1, 2**64) & MASK
    return (unshifted(z, 30) - GAMMA) & MASK


@pytest.mark.parametrize("x, word", MIXED_WORDS.items())
def test_the_mixed_words_are_those_of_the_reference(x: int, word: int) -> None:
    assert splitmix64(x) == word


@pytest.mark.parametrize("seed", LOW_BITS)
def test_the_streams_are_those_of_the_reference(seed: int) -> None:
    assert [low_bits(seed, index) for index in range(8)] == LOW_BITS[seed]
    assert [rand01(seed, index) for index in range(8)] == NUMBERS_01[seed]


def test_the_stream_of_a_key_is_that_of_the_seed_that_is_mixed_to_it() -> None:
    assert [rand01(unmixed(KEY), index) for index in range(4)] == NUMBERS_01_OF_KEY


@given(ANY_INT)
def test_mixing_is_a_bijection_of_64_bit_words(x: int) -> None:
    assert 0 <= splitmix64(x) < 2**64
    assert unmixed(splitmix64(x)) == x % 2**64


@given(ANY_INT, ANY_INT)
def test_seeds_and_positions_are_taken_modulo_2_to_the_64(seed: int, index: int) -> None:
    assert low_bits(seed, index) == low_bits(seed % 2**64, index % 2**64)


@given(ANY_INT, ANY_INT)
def test_a_number_is_a_multiple_of_2_to_the_minus_32_in_0_1(seed: int, index: int) -> None:
    assert rand01(seed, index) * 2**32 == low_bits(seed, index)
    assert 0 <= rand01(seed, index) < 1


def test_streams_of_neighbouring_seeds_are_further_apart_than_any_tensor_is_long() -> None:
    # A stream is a window of one sequence, which starts at the key of its seed: two share bits if their keys are close.
    keys = sorted(splitmix64(seed) for seed in range(-1000, 1000))
    gaps = [(after - before) % 2**64 for before, after in zip(keys, keys[1:] + keys[:1])]
    # The least gap of 2000 random keys is about 2^64/2000^2 = 2^42. A normal element takes two positions.
    assert min(gaps) > 2 * 10**12


def test_each_bit_is_set_half_of_the_time_and_independent_of_the_others() -> None:
    count = 4000
    words = [low_bits(7, index) for index in range(count)]
    four_deviations = 4 * (count / 4) ** 0.5
    for bit in range(32):
        assert abs(sum(word >> bit & 1 for word in words) - count / 2) < four_deviations
        # and whether a word's bit equals the next one's in the same word, and the same one of the next word
        assert abs(sum((word >> bit ^ word >> (bit + 1) % 32) & 1 for word in words) - count / 2) < four_deviations
        assert abs(sum((a ^ b) >> bit & 1 for a, b in pairwise(words)) - count / 2) < four_deviations
