"""The text of a tensor makes it again."""

from __future__ import annotations

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from jaxtyping import Float
from torch import Tensor

from shaped.testing import given_shapes, tensors
from shaped.testing.literal import literal
from tests.testing.test_drawn_tensors import DTYPES, SHAPES


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_text_makes_the_tensor_again(dtype: torch.dtype) -> None:
    @settings(max_examples=50)
    @given(st.data(), SHAPES)
    def law(data: st.DataObject, shape: tuple[int, ...]) -> None:
        x = data.draw(tensors(shape, dtype, minus_infinity=dtype.is_floating_point and dtype.itemsize > 1))
        again = eval(literal(x), {"torch": torch})
        assert (again.dtype, again.shape) == (x.dtype, x.shape)
        assert torch.equal(again.view(torch.uint8), x.view(torch.uint8)) if x.ndim else again == x

    law()


@given(st.floats(width=32), st.floats())
def test_every_float_is_written_in_full(single: float, double: float) -> None:
    for x in (torch.tensor(single), torch.tensor(double, dtype=torch.float64)):
        assert torch.equal(eval(literal(x), {"torch": torch}), x) or x.isnan()


def test_a_number_is_written_with_the_fewest_digits() -> None:
    assert literal(torch.tensor([0.1, 1 / 3])) == "torch.tensor([0.1, 0.33333334])"


def test_parameters_and_leaves_are_told_apart() -> None:
    assert literal(torch.zeros(1, requires_grad=True)) == "torch.tensor([0.0]).requires_grad_()"
    assert literal(torch.nn.Parameter(torch.zeros(1))) == "torch.nn.Parameter(torch.tensor([0.0]))"


def test_a_tensor_with_many_entries_is_left_to_torch() -> None:
    assert "..." in literal(torch.zeros(2000))


def test_hypothesis_prints_a_failing_example_as_text_that_runs() -> None:
    @settings(phases=[Phase.generate, Phase.shrink])
    @given_shapes
    def fails(x: Float[Tensor, "n"]) -> None:
        assert x.shape[0] < 2

    with pytest.raises(AssertionError) as caught:
        fails()
    assert "x=torch.tensor([0.0, 0.0])" in "\n".join(caught.value.__notes__)
