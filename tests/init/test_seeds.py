"""Seeds of parameters: by name they never meet, by TorchLean's stream they are TorchLean's."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.init.schemes import SchemeError
from shaped.init.seeds import next_seed, parameter_seed, reference_stream
from tests.init.golden import NEXT_SEED

NAMES = st.text(max_size=40)
SEEDS = st.integers(-(2**65), 2**65)


@pytest.mark.parametrize("arguments, expected", NEXT_SEED.items())
def test_the_stream_of_seeds_is_that_of_the_reference(arguments: tuple[int, int], expected: int) -> None:
    assert next_seed(*arguments) == expected


def test_the_stream_counts_its_draws() -> None:
    assert list(islice(reference_stream(0), 4)) == list(NEXT_SEED.values())


def test_streams_of_neighbouring_seeds_share_seeds_which_names_avoid() -> None:
    assert list(islice(reference_stream(0), 1, 5)) == list(islice(reference_stream(1), 4))
    names = [f"layers.{layer}.{part}" for layer in range(50) for part in ("weight", "bias")]
    by_name = {parameter_seed(seed, name) for seed in range(100) for name in names}
    assert len(by_name) == 100 * len(names)


@given(SEEDS, NAMES, NAMES)
def test_two_names_have_two_seeds(seed: int, name: str, other: str) -> None:
    assert (parameter_seed(seed, name) == parameter_seed(seed, other)) == (name == other)


@given(SEEDS, SEEDS, NAMES)
def test_two_seeds_of_a_model_give_a_name_two_seeds(seed: int, other: int, name: str) -> None:
    # Each step is a bijection of the state, so this holds for all seeds.
    assert (parameter_seed(seed, name) == parameter_seed(other, name)) == ((seed - other) % 2**64 == 0)


@pytest.mark.parametrize("name, other", [("a", "a\0"), ("", "\0"), ("a" * 8, "a" * 8 + "\0" * 8), ("ab", "ba")])
def test_zeros_at_a_names_end_and_the_order_of_its_bytes_count(name: str, other: str) -> None:
    assert parameter_seed(0, name) != parameter_seed(0, other)


@given(SEEDS, NAMES)
def test_a_seed_is_a_word_of_64_bits(seed: int, name: str) -> None:
    assert 0 <= parameter_seed(seed, name) < 2**64
    assert parameter_seed(seed, name) == parameter_seed(seed % 2**64, name)


def test_a_seed_of_another_type_is_an_error() -> None:
    with pytest.raises(SchemeError, match="seed is '0': an int is needed"):
        parameter_seed("0", "weight")
    with pytest.raises(SchemeError, match="name is 0: the name of a parameter is needed"):
        parameter_seed(0, 0)
    with pytest.raises(SchemeError, match=r"seed is 0\.0: an int is needed"):
        next_seed(0.0, 1)
