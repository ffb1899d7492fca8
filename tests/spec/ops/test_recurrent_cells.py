"""Cells of recurrent networks as functions: the sizes of their results are torch's, and wrong sizes are refused."""

from __future__ import annotations

import pytest

from shaped.errors import ShapeError
from tests.spec.ops.against_torch import check_exact
from tests.spec.ops.shapes import b, d, floats, h, of, shape_of


@pytest.mark.parametrize(("name", "gates"), [("rnn_tanh_cell", 1), ("rnn_relu_cell", 1), ("gru_cell", 3)])
def test_the_next_state_has_the_shape_of_the_last(name: str, gates: int) -> None:
    assert shape_of(f"torch.{name}", of(b, d), of(b, h), of(gates * h, d), of(gates * h, h)) == "(b, h)"
    check_exact(f"torch.{name}", floats([2, 3]), floats([2, 4]), floats([gates * 4, 3]), floats([gates * 4, 4]))


def test_an_lstm_cell_gives_both_states() -> None:
    states = of(b, h), of(b, h)
    assert shape_of("torch.lstm_cell", of(b, d), states, of(4 * h, d), of(4 * h, h)) == "(b, h) (b, h)"


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (((2, 5), (2, 4), (12, 3), (12, 4)), "the input has 5 features, its weight 3"),
        (((2, 3), (2, 5), (12, 3), (12, 4)), "the hidden state has 5 features, its weight 4"),
        (((2, 3), (2, 4), (12, 3), (16, 4)), "the weight has 16 rows, 12 expected"),
    ],
)
def test_a_wrong_size_is_named(sizes: tuple[tuple[int, int], ...], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        shape_of("torch.gru_cell", *(of(*each) for each in sizes))
