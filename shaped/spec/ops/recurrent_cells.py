"""One step of a recurrent network as a function: what the cells' modules call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.dtype_demands import alike
from shaped.spec.op import op
from shaped.spec.ops.options import require_equal
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Demands


def _state(
    context: Context, operation: str, gates: int, input: TensorType, hx: TensorType, w_ih: TensorType, w_hh: TensorType
) -> TensorType:
    """The next hidden state, of the shape of the last one."""
    for operand, weight, name in ((input, w_ih, "input"), (hx, w_hh, "hidden state")):
        features, wanted = operand.shape.at(-1), weight.shape.at(-1)
        if features is None or wanted is None:
            continue

        def fault(operand: TensorType = operand, weight: TensorType = weight, name: str = name) -> Fault:
            found, needed = operand.shape.at(-1), weight.shape.at(-1)
            dims = () if found is None or needed is None else (found, needed)
            return ShapeError(operation, f"the {name} has {found} features, its weight {needed}", dims=dims)

        require_equal(context, (operand, weight), features, wanted, fault)
    hidden, rows = hx.shape.at(-1), w_hh.shape.at(0)
    if hidden is not None and rows is not None:

        def fault_of_gates() -> Fault:
            return ShapeError(operation, f"the weight has {rows} rows, {gates * hidden} expected", dims=(rows, hidden))

        require_equal(context, (hx, w_hh), rows, gates * hidden, fault_of_gates)
    return hx


def _declare(name: str, formula: str, gates: int, dtypes: Demands = ()) -> None:
    @op(name, f"torch.{name}", formula=formula, dtypes=dtypes)
    def rule(
        context: Context,
        input: TensorType,
        hx: TensorType,
        w_ih: TensorType,
        w_hh: TensorType,
        b_ih: Value = None,
        b_hh: Value = None,
    ) -> Value:
        return _state(context, name, gates, input, hx, w_ih, w_hh)


_declare("rnn_tanh_cell", "h' = tanh(w_ih x + b_ih + w_hh h + b_hh)", 1)
_declare("rnn_relu_cell", "h' = relu(w_ih x + b_ih + w_hh h + b_hh)", 1)
_declare("gru_cell", "h' = (1 - z) n + z h", 3, alike("input", "w_ih"))


@op("lstm_cell", "torch.lstm_cell", formula="c' = f c + i g, h' = o tanh(c')", dtypes=alike("input", "w_ih"))
def lstm_cell(
    context: Context,
    input: TensorType,
    hx: Value,
    w_ih: TensorType,
    w_hh: TensorType,
    b_ih: Value = None,
    b_hh: Value = None,
) -> Value:
    states: Sequence[Value] = hx if isinstance(hx, tuple) else ()
    if len(states) != 2 or not all(isinstance(state, TensorType) for state in states):
        return UNKNOWN
    hidden, cell = states
    assert isinstance(hidden, TensorType)
    return (_state(context, "lstm_cell", 4, input, hidden, w_ih, w_hh), cell)
