"""Recurrent networks over a sequence, and their cells for one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.axis_layout import check_sequence, check_unbatched
from shaped.spec.axis_order import remembered
from shaped.spec.dims import ONE, Dim
from shaped.spec.dtype_demands import like_parameters
from shaped.spec.op import Module, module
from shaped.spec.ops.linear import last_axis_hint, parameter_if
from shaped.spec.ops.options import (
    common_dtype,
    flag,
    is_less,
    option_size,
    optional_tensor,
    parameter_dtype,
    require_equal,
)
from shaped.spec.ops.sequences import PackedSequence
from shaped.spec.shape import Axis, Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.dtypes import DType


def _require_features(context: Context, operation: str, input: TensorType, features: Dim) -> None:
    """The last axis of the input has the features."""
    found = input.shape.at(-1)
    if found is None:
        return
    axis = -1 if input.shape.rank is None else input.shape.rank - 1

    def fault() -> Fault:
        operands = f"{input} with input size {features}"
        hint = last_axis_hint(input.shape, features) if axis > 0 else ""
        return ShapeError(operation, f"axis {axis} is {found}, {features} expected", operands, hint, (found, features))

    require_equal(context, (input,), found, features, fault)


def _require_state(context: Context, operation: str, name: str, state: TensorType, expected: tuple[Dim, ...]) -> None:
    """A state has exactly the expected shape."""
    if state.shape.rank is None:
        return
    reason, operands = f"{Shape(expected)} expected", f"{name} {state}"
    dims = state.shape.dims
    hint = f"{name}.transpose(0, 1)?" if (*dims[1:2], *dims[:1], *dims[2:]) == expected != dims else ""
    if state.shape.rank != len(expected):
        raise ShapeError(operation, reason, operands)
    for found, wanted in zip(state.shape.dims, expected, strict=True):

        def fault(found: Dim = found, wanted: Dim = wanted) -> Fault:
            return ShapeError(
                operation, f"{reason}: sizes {found} and {wanted} differ", operands, hint, (found, wanted)
            )

        require_equal(context, (state,), found, wanted, fault)


@dataclass(frozen=True)
class _States:
    """The hidden state's size, the cell state's (None without one), and the number of layers times directions."""

    layers: Dim
    hidden: Dim
    cell: Dim | None


class _Recurrent(Module):
    """What RNN, LSTM and GRU share."""

    dtypes = like_parameters("input", "hx")
    operation: str
    gates = 1
    has_cell = False

    def __init__(
        self,
        context: Context,
        input_size: Value,
        hidden_size: Value,
        num_layers: Value = 1,
        bias: Value = True,
        batch_first: Value = False,
        dropout: Value = 0.0,
        bidirectional: Value = False,
        proj_size: Value = 0,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.input_size = option_size(context, input_size)
        self.hidden_size = option_size(context, hidden_size, low=1)
        self.num_layers = option_size(context, num_layers, low=1)
        self.batch_first, self.bidirectional = batch_first, bidirectional
        self.dropout, self.bias = dropout, bias
        self.proj_size = option_size(context, proj_size)
        self._check_sizes(context)
        both = flag(self.bidirectional)
        self.directions = context.fresh(1) if both is None else Dim.of(2 if both else 1)
        projected = self.proj_size.constant
        # An unknown projection leaves the output's size unknown: without one it is the hidden size.
        self.output_size = (
            context.fresh() if projected is None else self.hidden_size if projected == 0 else self.proj_size
        )
        self.states = _States(
            self.num_layers * self.directions, self.output_size, self.hidden_size if self.has_cell else None
        )
        self.dtype = parameter_dtype(dtype)
        self._make_parameters(both)

    def _check_sizes(self, context: Context) -> None:
        name = self.torch_name.removeprefix("torch.")
        for argument, size in (("hidden_size", self.hidden_size), ("num_layers", self.num_layers)):
            if is_less(context, size, 1):
                raise ShapeError(name, f"{argument} is {size}, a positive int expected", dims=(size,))
        if is_less(context, 0, self.proj_size) and not self.has_cell:
            raise ShapeError(name, "proj_size is for LSTM only", dims=(self.proj_size,))
        if is_less(context, self.hidden_size - 1, self.proj_size):
            reason = f"proj_size {self.proj_size} is not smaller than hidden_size {self.hidden_size}"
            raise ShapeError(name, reason, dims=(self.proj_size, self.hidden_size))

    def _make_parameters(self, both: bool | None) -> None:
        """`weight_ih_l0` and its kin, for a number of layers that is known and small."""
        layers = self.num_layers.constant
        if layers is None or layers > 32:
            return
        for layer in range(layers):
            size = self.input_size if layer == 0 else self.directions * self.output_size
            for suffix in ("", "_reverse") if both else ("",):
                rows = self.gates * self.hidden_size
                place = f"l{layer}{suffix}"
                setattr(self, f"weight_ih_{place}", TensorType(Shape.of(rows, size), self.dtype))
                setattr(self, f"weight_hh_{place}", TensorType(Shape.of(rows, self.output_size), self.dtype))
                for kind in ("ih", "hh"):
                    bias = parameter_if(flag(self.bias), Shape.of(rows), self.dtype)
                    setattr(self, f"bias_{kind}_{place}", bias)

    def forward(self, context: Context, input: Value, hx: Value = None) -> tuple[Value, ...]:
        """(t, b, input_size), or (b, t, input_size) with batch_first, or (t, input_size) -> output and last state.

        Raises:
            ShapeError: the rank, the features or a state's shape are others.
        """
        if isinstance(input, PackedSequence):
            self._check_packed(context, input)
            packed = PackedSequence(input.batch, (self.directions * self.output_size,), input.dtype)
            return packed, self._last(context, input.batch, input.dtype)
        if not isinstance(input, TensorType):
            # Perhaps a packed sequence: then the output is one, too.
            return UNKNOWN, self._last(context, None, self.dtype)
        shape, rank = input.shape, input.shape.rank
        if shape.least_rank > 3 or (rank is not None and rank < 2):
            axes = f"{shape.least_rank} {'axis' if shape.least_rank == 1 else 'axes'}"
            raise ShapeError(self.operation, f"{axes}, 2 or 3 expected", str(input))
        _require_features(context, self.operation, input, self.input_size)
        first = flag(self.batch_first)
        check_sequence(context, self.operation, input, batch_first=first)
        check_unbatched(context, self.operation, input)
        batch: Dim | None = None
        if rank == 3 and first is not None:
            batch = shape.dims[0 if first else 1]
        kind = common_dtype(input, TensorType(Shape(()), self.dtype))
        if rank is not None:
            self._check_states(context, hx, batch if batch is not None else context.fresh(), batched=rank == 3)
        output_size = self.directions * self.output_size
        if shape.at(-1) is not None:
            output = input.with_shape(shape.replace(-1, output_size))
        else:
            output = input.with_shape(Shape.of(context.fresh_pack(), output_size))
        if rank == 2:
            return output.with_dtype(kind), self._last_unbatched(kind)
        known = batch if batch is not None else context.fresh() if rank == 3 else None
        return output.with_dtype(kind), self._last(context, known, kind)

    def _check_packed(self, context: Context, input: PackedSequence) -> None:
        if len(input.features) == 1:
            _require_features(context, self.operation, TensorType(Shape(input.features), input.dtype), self.input_size)

    def _named_states(self, hx: Value) -> list[tuple[str, Value, Dim]]:
        """The parts of a state with their names and sizes."""
        if self.states.cell is None:
            return [("h_0", hx, self.states.hidden)]
        if isinstance(hx, tuple) and len(hx) == 2:
            return [("h_0", hx[0], self.states.hidden), ("c_0", hx[1], self.states.cell)]
        return []

    def _check_states(self, context: Context, hx: Value, batch: Dim, *, batched: bool) -> None:
        for name, value, size in self._named_states(hx):
            state = optional_tensor(context, value)
            if state is not None:
                axes = (self.states.layers, *((batch,) if batched else ()), size)
                _require_state(context, self.operation, name, state, axes)

    def _last(self, context: Context, batch: Dim | None, kind: DType) -> Value:
        """The last state, for a batch size that may not be known; then it is not known whether there is a batch."""
        middle = batch if batch is not None else context.fresh_pack()
        return self._states_of(kind, middle)

    def _last_unbatched(self, kind: DType) -> Value:
        return self._states_of(kind)

    def _states_of(self, kind: DType, *batch: Axis) -> Value:
        """The last state, and the last cell state if there is one. The directions stand inside of the layers."""
        order = (self.num_layers, self.directions)
        sizes = [size for size in (self.states.hidden, self.states.cell) if size is not None]
        states = [TensorType(Shape.of(self.states.layers, *batch, size), kind) for size in sizes]
        if ONE not in order:
            states = [remembered(state, (order,)) for state in states]
        return states[0] if self.states.cell is None else tuple(states)


@module("torch.nn.RNN")
class RNN(_Recurrent):
    """A recurrent network with tanh or ReLU."""

    operation = "rnn"

    def __init__(
        self,
        context: Context,
        input_size: Value,
        hidden_size: Value,
        num_layers: Value = 1,
        nonlinearity: Value = "tanh",
        bias: Value = True,
        batch_first: Value = False,
        dropout: Value = 0.0,
        bidirectional: Value = False,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        super().__init__(
            context,
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )


@module("torch.nn.LSTM")
class LSTM(_Recurrent):
    """A network with long short-term memory."""

    operation = "lstm"
    gates = 4
    has_cell = True


@module("torch.nn.GRU")
class GRU(_Recurrent):
    """A network with gated recurrent units."""

    operation = "gru"
    gates = 3


class _Cell(Module):
    """One step of a recurrent network."""

    dtypes = like_parameters("input", "hx")
    operation: str
    gates = 1
    has_cell = False

    def __init__(
        self,
        context: Context,
        input_size: Value,
        hidden_size: Value,
        bias: Value = True,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.input_size = option_size(context, input_size)
        self.hidden_size = option_size(context, hidden_size)
        kind, rows = parameter_dtype(dtype), self.gates * self.hidden_size
        self.weight_ih = TensorType(Shape.of(rows, self.input_size), kind)
        self.weight_hh = TensorType(Shape.of(rows, self.hidden_size), kind)
        self.bias_ih = parameter_if(flag(bias), Shape.of(rows), kind)
        self.bias_hh = parameter_if(flag(bias), Shape.of(rows), kind)

    def forward(self, context: Context, input: TensorType, hx: Value = None) -> Value:
        """(b, input_size) or (input_size,) -> the new state.

        Raises:
            ShapeError: the rank, the features or a state's shape are others.
        """
        shape = input.shape
        if shape.least_rank > 2 or shape.rank == 0:
            raise ShapeError(self.operation, f"{shape.least_rank} axes, 1 or 2 expected", str(input))
        _require_features(context, self.operation, input, self.input_size)
        kind = common_dtype(input, self.weight_ih)
        if shape.at(-1) is not None:
            state = shape.replace(-1, self.hidden_size)
        else:
            state = Shape.of(context.fresh_pack(), self.hidden_size)
        given = hx if self.has_cell and isinstance(hx, tuple) else (hx,)
        for name, value in zip(("h_0", "c_0"), given, strict=False):
            tensor = optional_tensor(context, value)
            if tensor is not None and state.rank == 1 and tensor.shape.rank == 2:
                # torch takes a square state for an input without a batch, and gives a square one.
                _require_state(context, self.operation, name, tensor, (self.hidden_size, self.hidden_size))
                state = Shape.of(context.fresh_pack(), self.hidden_size)
            elif tensor is not None and state.rank is not None:
                _require_state(context, self.operation, name, tensor, state.dims)
        new = input.with_shape(state).with_dtype(kind)
        return (new, new) if self.has_cell else new


@module("torch.nn.RNNCell")
class RNNCell(_Cell):
    """One step of an `RNN`."""

    operation = "rnn_cell"

    def __init__(
        self,
        context: Context,
        input_size: Value,
        hidden_size: Value,
        bias: Value = True,
        nonlinearity: Value = "tanh",
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        super().__init__(context, input_size, hidden_size, bias, device, dtype)


@module("torch.nn.LSTMCell")
class LSTMCell(_Cell):
    """One step of an `LSTM`."""

    operation = "lstm_cell"
    gates = 4
    has_cell = True


@module("torch.nn.GRUCell")
class GRUCell(_Cell):
    """One step of a `GRU`."""

    operation = "gru_cell"
    gates = 3
