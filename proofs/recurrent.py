"""One step of recurrent networks."""

from __future__ import annotations

from shaped.verify.theorem import Theorem


def _cell(name: str, gates: int, state: object, *, bias: bool = True) -> Theorem:
    rows = f"{gates}*h"
    weights = {"w_ih": f"{rows} d", "w_hh": f"{rows} h"}
    biases = {"b_ih": rows, "b_hh": rows} if bias else {}
    return Theorem(name, {"input": "b d", "hx": state, **weights, **biases})


THEOREMS = [
    _cell("rnn_tanh_cell", 1, "b h"),
    _cell("rnn_tanh_cell", 1, "b h", bias=False),
    _cell("rnn_relu_cell", 1, "b h"),
    _cell("gru_cell", 3, "b h"),
    _cell("lstm_cell", 4, ["b h", "b h"]),
]
