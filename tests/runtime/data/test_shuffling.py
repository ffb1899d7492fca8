"""Orders are those of a seed and an epoch, whatever the machine."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.init.splitmix64 import splitmix64
from shaped.runtime.data.shuffling import shuffled


def sorted_by_bits(count: int, seed: int, epoch: int) -> list[int]:
    """The order, computed by Python's own numbers and the SplitMix64 of the initialisers."""
    start = splitmix64(splitmix64(seed % 2**64) + epoch)

    def signed_bits(position: int) -> int:
        bits = splitmix64(start + position)
        return bits - 2**64 if bits >= 2**63 else bits

    return sorted(range(count), key=signed_bits)


@given(st.integers(0, 300), st.integers(-(2**70), 2**70), st.integers(0, 2**40))
def test_positions_are_sorted_by_the_bits_of_splitmix64(count: int, seed: int, epoch: int) -> None:
    assert shuffled(count, seed, epoch).tolist() == sorted_by_bits(count, seed, epoch)


def test_known_orders_are_kept_for_ever() -> None:
    """A checkpoint of another version of the package goes on with the batches that it would have had."""
    assert shuffled(10, seed=0).tolist() == [2, 5, 3, 9, 4, 8, 0, 1, 7, 6]
    assert shuffled(10, seed=0, epoch=1).tolist() == [0, 1, 6, 3, 4, 5, 2, 8, 9, 7]
    assert shuffled(10, seed=1).tolist() == [0, 6, 8, 7, 3, 5, 2, 4, 1, 9]


@given(st.integers(1, 200), st.integers(), st.integers(0, 1000))
def test_an_order_has_each_position_once(count: int, seed: int, epoch: int) -> None:
    assert sorted(shuffled(count, seed, epoch).tolist()) == list(range(count))


def test_neighbouring_seeds_and_epochs_share_no_order() -> None:
    orders = {tuple(shuffled(20, seed, epoch).tolist()) for seed in range(-8, 8) for epoch in range(16)}
    assert len(orders) == 16 * 16


def test_all_orders_are_equally_likely() -> None:
    counts = Counter(tuple(shuffled(4, seed).tolist()) for seed in range(4800))
    assert set(counts) == set(permutations(range(4)))
    # 200 of each are expected; chi-squared of 23 degrees of freedom is above 49.7 once in 1,000 sets of seeds, and
    # these seeds never change.
    assert sum((count - 200) ** 2 / 200 for count in counts.values()) < 49.7


@pytest.mark.parametrize("seed", [0.5, "1", None, True])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(TypeError, match=f"seed is {seed!r}: a whole number is needed"):
        shuffled(4, seed)  # type: ignore[arg-type]  # on purpose
