"""A test decorated with `given_shapes` is a property test, and stays a pytest test."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from beartype import beartype
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from jaxtyping import Float, Int, jaxtyped
from torch import Tensor

from shaped.errors import AnnotationError
from shaped.testing import entries, given_shapes, indices


def failure(test: Any, *arguments: object) -> str:
    """The arguments of the simplest failing example, as Hypothesis prints them."""
    with pytest.raises(AssertionError) as caught:
        test(*arguments)
    return "\n".join(getattr(caught.value, "__notes__", []))


def test_a_failing_property_shrinks_to_the_smallest_sizes_and_values() -> None:
    @settings(phases=[Phase.generate, Phase.shrink])
    @given_shapes
    def fails(x: Float[Tensor, "n"], w: Float[Tensor, "n m"]) -> None:
        assert x.shape[0] < 2 or not (x != 0).any()

    text = failure(fails)
    assert "x=torch.tensor([0.0, 1.0])" in text
    assert "w=torch.tensor([[0.0], [0.0]])" in text


def test_all_arguments_of_an_example_share_their_sizes() -> None:
    seen: set[tuple[int, int]] = set()

    @settings(max_examples=200)
    @given_shapes(max_size=3)
    def holds(x: Float[Tensor, "n m"], y: Float[Tensor, "m n"], i: Int[Tensor, "m"]) -> None:
        assert x.shape == y.T.shape
        assert i.shape == y.shape[:1]
        seen.add((x.shape[0], x.shape[1]))

    holds()
    assert seen == {(n, m) for n in (1, 2, 3) for m in (1, 2, 3)}


# Hypothesis also draws numbers that it finds in the modules of the process: in one of its own they are always the same.
MEETS_SPECIAL_POINTS = """
from collections import Counter
from hypothesis import seed, settings
from jaxtyping import Bool, Float, Int
from torch import Tensor
from shaped.testing import given_shapes

for number in (0, 22, 25):  # with less variety, the last two miss a point
    met = Counter()

    @seed(number)
    @settings(max_examples=100, derandomize=False, database=None)
    @given_shapes
    def holds(x: Float[Tensor, "rows n"], mask: Bool[Tensor, "rows n"], i: Int[Tensor, "k"]) -> None:
        constant = (x == x[:, :1]).all(1)
        met["one entry"] += x.numel() == 1
        met["zeros"] += not x.any()
        met["a row of zeros"] += bool((x == 0).all(1).any()) and bool(x.any())
        met["a constant row"] += x.shape[1] > 1 and bool((constant & (x[:, 0] != 0)).any())
        met["large"] += bool((x > 100).any())
        met["tiny"] += bool(((x != 0) & (x.abs() < 1e-6)).any())
        met["all different"] += x.numel() > 3 and x.unique().numel() == x.numel()
        met["a masked row"] += x.shape[1] > 1 and not bool(mask.any(1).all()) and bool(mask.any())
        met["a row with no mask"] += x.shape[1] > 1 and bool(mask.all(1).any())
        met["repeated indices"] += i.unique().numel() < i.numel() and bool(i.any())

    holds()
    print(len(met), [point for point, count in met.items() if not count])
"""


def test_a_hundred_examples_meet_every_special_point() -> None:
    done = subprocess.run([sys.executable, "-c", MEETS_SPECIAL_POINTS], capture_output=True, text=True, check=False)
    assert done.stdout == "10 []\n" * 3, done.stdout + done.stderr


def test_the_number_of_examples_is_that_of_the_settings() -> None:
    for place in ("above", "below"):
        calls = []

        def count(x: Float[Tensor, "n m"], calls: list[int] = calls) -> None:
            calls.append(1)

        limited = settings(max_examples=7)
        (limited(given_shapes(count)) if place == "above" else given_shapes(limited(count)))()
        assert len(calls) == 7


def test_an_example_is_run() -> None:
    seen = []

    @example(x=torch.full((9,), 7.0))
    @settings(max_examples=5)
    @given_shapes
    def holds(x: Float[Tensor, "n"]) -> None:
        seen.append(x.tolist())

    holds()
    assert [7.0] * 9 in seen


def test_strategies_and_sizes_are_the_callers() -> None:
    @given_shapes(sizes={"c": 5}, target=indices("c"), p=entries(st.integers(2, 3)), eps=st.just(0.5))
    def holds(target: Int[Tensor, "b"], p: Float[Tensor, "b c"], eps: float = 0.0) -> None:
        assert p.shape[1] == 5
        assert p.min() >= 2
        assert target.max() < 5
        assert eps == 0.5

    holds()


def test_what_has_no_tensor_is_left_to_pytest() -> None:
    @given_shapes
    def holds(mode: str, x: Float[Tensor, "n d"], d: int, scale: float = 2.0) -> None:
        assert (mode, scale) == ("mean", 2.0)
        assert x.shape[1] == d

    holds("mean")


@pytest.mark.parametrize("mode", ["mean", "sum"])
@given_shapes
def test_parametrized_arguments_stand_beside_drawn_ones(mode: str, x: Float[Tensor, "n"]) -> None:
    assert mode in ("mean", "sum")
    assert x.ndim == 1


@pytest.fixture(scope="module")
def weight() -> float:
    return 3.0


@given_shapes
def test_fixtures_stand_beside_drawn_arguments(x: Float[Tensor, "n"], weight: float) -> None:
    assert torch.equal(weight * x, x * 3)


@given_shapes
@jaxtyped(typechecker=beartype)
def test_a_test_may_check_its_own_arguments(x: Float[Tensor, "n m"], y: Float[Tensor, "m 2*n"]) -> None:
    assert (x @ y).shape == (x.shape[0], 2 * x.shape[0])


class TestInAClass:
    @given_shapes
    def test_a_method_is_a_property_test(self, x: Float[Tensor, "n"]) -> None:
        assert isinstance(self, TestInAClass)
        assert x.ndim == 1


def test_another_drawn_argument_may_be_added_by_given() -> None:
    @given(scale=st.integers(1, 3))
    @given_shapes
    def holds(x: Float[Tensor, "n"], scale: int) -> None: ...

    with pytest.raises(Exception, match="@given"):
        holds()


def test_a_test_without_tensors_is_refused() -> None:
    with pytest.raises(AnnotationError, match="no parameter has an annotation with tensors"):

        @given_shapes
        def holds(x: int) -> None: ...


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AnnotationError, match="has no parameter y"):

        @given_shapes(y=st.none())
        def holds(x: Float[Tensor, "n"]) -> None: ...
