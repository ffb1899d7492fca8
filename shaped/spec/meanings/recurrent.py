"""One step of a recurrent network. The gates of a cell stand one after the other in its weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.linear import linear
from shaped.spec.meanings.splitting import joined
from shaped.spec.tensor import Tensor, constant

Grads = tuple[Tensor | None, ...]


class _LinearGrads(NamedTuple):
    """The gradients of `linear`; no bias has none."""

    input: Tensor
    weight: Tensor
    bias: tuple[Tensor, ...]


def _linear_backward(gates: Sequence[Tensor], input: Tensor, weight: Tensor, bias: Tensor | None) -> _LinearGrads:
    """The backward of `linear` whose result is cut into gates, from the gradient of each gate."""
    rows = [gate if gate.rank == 2 else gate.unsqueeze(0) for gate in gates]
    seen = input if input.rank == 2 else input.unsqueeze(0)
    to_input: Tensor = sum((gate @ own for gate, own in zip(gates, weight.chunk(len(gates)))), constant(0))
    to_weight = joined([gate.t() @ seen for gate in rows], 0)
    return _LinearGrads(to_input, to_weight, () if bias is None else (joined([gate.sum(0) for gate in rows], 0),))


def _declare_plain(
    name: str, activate: Callable[[Tensor], Tensor], slope: Callable[[Tensor], Tensor], kinks: str
) -> None:
    """A cell without gates; `slope` is the derivative of the activation by its result."""

    @meaning(name, kinks=kinks)
    def cell(
        input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
    ) -> Tensor:
        return activate(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))

    @backward(name)
    def cell_backward(
        grad: Tensor,
        input: Tensor,
        hx: Tensor,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None = None,
        b_hh: Tensor | None = None,
    ) -> Grads:
        inner = grad * slope(cell(input, hx, w_ih, w_hh, b_ih, b_hh))
        to_input, to_state = _linear_backward([inner], input, w_ih, b_ih), _linear_backward([inner], hx, w_hh, b_hh)
        return to_input.input, to_state.input, to_input.weight, to_state.weight, *to_input.bias, *to_state.bias


_declare_plain("rnn_tanh_cell", lambda x: x.tanh(), lambda y: 1 - y * y, "")
_declare_plain("rnn_relu_cell", lambda x: x.relu(), lambda y: (y > 0).to("float64"), "0: 0")


@meaning("lstm_cell")
def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    hidden, cell = hx
    inner, forget, candidate, outer = _lstm_gates(input, hidden, w_ih, w_hh, b_ih, b_hh)
    new_cell = forget * cell + inner * candidate
    return outer * new_cell.tanh(), new_cell


def _lstm_gates(
    input: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    inner, forget, candidate, outer = (linear(input, w_ih, b_ih) + linear(hidden, w_hh, b_hh)).chunk(4, -1)
    return inner.sigmoid(), forget.sigmoid(), candidate.tanh(), outer.sigmoid()


@backward("lstm_cell")
def lstm_cell_backward(
    grads: Sequence[Tensor],
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor | tuple[Tensor, ...] | None, ...]:
    hidden, cell = hx
    inner, forget, candidate, outer = _lstm_gates(input, hidden, w_ih, w_hh, b_ih, b_hh)
    bent = (forget * cell + inner * candidate).tanh()
    to_hidden, to_cell = grads
    total = to_cell + to_hidden * outer * (1 - bent * bent)
    gates = [
        total * candidate * inner * (1 - inner),
        total * cell * forget * (1 - forget),
        total * inner * (1 - candidate * candidate),
        to_hidden * bent * outer * (1 - outer),
    ]
    to_input, to_state = _linear_backward(gates, input, w_ih, b_ih), _linear_backward(gates, hidden, w_hh, b_hh)
    states = to_state.input, total * forget
    return to_input.input, states, to_input.weight, to_state.weight, *to_input.bias, *to_state.bias


class _GruGates(NamedTuple):
    """The gates of a GRU, and what the state passes to the candidate."""

    reset: Tensor
    update: Tensor
    candidate: Tensor
    passed: Tensor


def _gru_gates(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> _GruGates:
    from_input, from_state = linear(input, w_ih, b_ih).chunk(3, -1), linear(hx, w_hh, b_hh).chunk(3, -1)
    reset = (from_input[0] + from_state[0]).sigmoid()
    update = (from_input[1] + from_state[1]).sigmoid()
    return _GruGates(reset, update, (from_input[2] + reset * from_state[2]).tanh(), from_state[2])


@meaning("gru_cell")
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    gates = _gru_gates(input, hx, w_ih, w_hh, b_ih, b_hh)
    return (1 - gates.update) * gates.candidate + gates.update * hx


@backward("gru_cell")
def gru_cell_backward(
    grad: Tensor,
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Grads:
    reset, update, candidate, passed = _gru_gates(input, hx, w_ih, w_hh, b_ih, b_hh)
    to_candidate = grad * (1 - update) * (1 - candidate * candidate)
    to_update = grad * (hx - candidate) * update * (1 - update)
    to_reset = to_candidate * passed * reset * (1 - reset)
    to_input = _linear_backward([to_reset, to_update, to_candidate], input, w_ih, b_ih)
    to_state = _linear_backward([to_reset, to_update, to_candidate * reset], hx, w_hh, b_hh)
    to_hx = to_state.input + grad * update
    return to_input.input, to_hx, to_input.weight, to_state.weight, *to_input.bias, *to_state.bias
