"""Recurrent networks over any number of steps: the reversed scan of a cell's backward is the adjoint of the scan."""

from __future__ import annotations

from torch import Tensor

from shaped.spec.meaning import MEANINGS, load
from shaped.verify.theorem import ScanTheorem

load()


def linear_step(state: Tensor, input: Tensor, carry: Tensor, gain: Tensor) -> Tensor:
    """A step with the Jacobians `carry` and `gain`: the next state of any recurrence, to first order."""
    return state @ carry.T + input @ gain.T


def linear_step_backward(
    grad: Tensor, state: Tensor, input: Tensor, carry: Tensor, gain: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return grad @ carry, grad @ gain, grad.T @ state, grad.T @ input


def elman_step(state: Tensor, input: Tensor, recurrent: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The step of a tanh RNN."""
    return (state @ recurrent.T + input @ weight.T + bias).tanh()


def elman_step_backward(
    grad: Tensor, state: Tensor, input: Tensor, recurrent: Tensor, weight: Tensor, bias: Tensor
) -> tuple[Tensor, ...]:
    result = elman_step(state, input, recurrent, weight, bias)
    inner = grad * (1 - result * result)
    return inner @ recurrent, inner @ weight, inner.T @ state, inner.T @ input, inner.sum(0)


def gru_step(hx: Tensor, input: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> Tensor:
    """torch's GRU cell."""
    return MEANINGS["gru_cell"].entry(input, hx, w_ih, w_hh, b_ih, b_hh)


def gru_step_backward(
    grad: Tensor, hx: Tensor, input: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, ...]:
    backward = MEANINGS["gru_cell"].backward
    assert backward is not None
    of_input, of_state, *of_weights = backward(grad, input, hx, w_ih, w_hh, b_ih, b_hh)
    return of_state, of_input, *of_weights


def lstm_step(
    state: tuple[Tensor, Tensor], input: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor]:
    """torch's LSTM cell: the state is the hidden state and the cell."""
    return MEANINGS["lstm_cell"].entry(input, state, w_ih, w_hh, b_ih, b_hh)


def lstm_step_backward(
    grad: tuple[Tensor, Tensor],
    state: tuple[Tensor, Tensor],
    input: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor,
    b_hh: Tensor,
) -> tuple[object, ...]:
    backward = MEANINGS["lstm_cell"].backward
    assert backward is not None
    of_input, of_state, *of_weights = backward(grad, input, state, w_ih, w_hh, b_ih, b_hh)
    return of_state, of_input, *of_weights


THEOREMS = [
    ScanTheorem(
        "linear_step",
        linear_step,
        linear_step_backward,
        {"state": "b h", "input": "b d", "carry": "h h", "gain": "h d"},
    ),
    ScanTheorem(
        "elman_step",
        elman_step,
        elman_step_backward,
        {"state": "b h", "input": "b d", "recurrent": "h h", "weight": "h d", "bias": "h"},
    ),
    ScanTheorem(
        "gru_cell",
        gru_step,
        gru_step_backward,
        {"hx": "b h", "input": "b d", "w_ih": "3*h d", "w_hh": "3*h h", "b_ih": "3*h", "b_hh": "3*h"},
    ),
    ScanTheorem(
        "lstm_cell",
        lstm_step,
        lstm_step_backward,
        {"state": ("b h", "b h"), "input": "b d", "w_ih": "4*h d", "w_hh": "4*h h", "b_ih": "4*h", "b_hh": "4*h"},
    ),
]
