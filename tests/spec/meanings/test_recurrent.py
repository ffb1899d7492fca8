"""One step of recurrent networks: as torch."""

from __future__ import annotations

import pytest
import torch

from tests.spec.meanings.against_torch import SUM_BOUND, assert_as_torch, assert_backward

SIZES = {"b": 2, "d": 3, "h": 2}


@pytest.mark.parametrize(("name", "gates"), [("rnn_tanh_cell", 1), ("rnn_relu_cell", 1), ("gru_cell", 3)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_cell_is_that_of_torch(name: str, gates: int, bias: bool) -> None:
    rows = f"{gates}*h"
    axes = ["b d", "b h", f"{rows} d", f"{rows} h", *([rows, rows] if bias else [])]
    assert_as_torch(lambda *x: getattr(torch, name)(*x), *axes, bound=SUM_BOUND, **SIZES)
    assert_backward(name, *axes, **SIZES)


@pytest.mark.parametrize("bias", [["4*h", "4*h"], []])
def test_a_cell_of_long_short_term_memory_is_that_of_torch(bias: list[str]) -> None:
    weights = ["4*h d", "4*h h", *bias]
    assert_as_torch(
        lambda x, h, c, *rest: torch.lstm_cell(x, (h, c), *rest),
        "b d",
        "b h",
        "b h",
        *weights,
        bound=SUM_BOUND,
        **SIZES,
    )
    assert_backward("lstm_cell", "b d", ("b h", "b h"), *weights, **SIZES)
