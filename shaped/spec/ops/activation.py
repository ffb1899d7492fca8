"""Activations, softmax and dropout."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.axis_layout import check_channels
from shaped.spec.broadcast import uncertain_if_joined
from shaped.spec.dims import ONE, Dim
from shaped.spec.dtype_demands import FLOATING, alike, has_elements, require_allowed, takes
from shaped.spec.dtypes import BOOL, COMPLEX, INTEGERS
from shaped.spec.op import op
from shaped.spec.ops.arguments import quotient
from shaped.spec.pointwise import pointwise_op
from shaped.spec.promotion import as_float, excluding, requested
from shaped.spec.reduce import LAST, reduced
from shaped.spec.shape import Shape
from shaped.spec.wrong_axis import DEFAULT_ONE, check_softmax, check_vectors

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Call, Demands
    from shaped.spec.values import TensorType, Value

_TWO = Dim.of(2)
_WHOLE = INTEGERS | BOOL


@dataclass(frozen=True)
class _Activation:
    """One line of the table: `torch.nn.functional.{name}`, with the names of its further parameters."""

    name: str
    formula: str
    parameters: tuple[str, ...] = ()
    refuses: frozenset[str] = _WHOLE
    to_float: bool = False
    also: tuple[str, ...] = ()
    in_place: tuple[str, ...] = ()
    dtypes: Demands = ()


def _drops_floats(training: str) -> Demands:
    """The input has a float dtype where some are dropped: p is between 0 and 1, and this parameter is true."""

    def demand(call: Call) -> None:
        p, tensor = call.arguments.get("p"), call.arguments.get("input")
        is_training = call.arguments.get(training, True) is True
        if is_training and isinstance(p, float) and 0 < p < 1 and has_elements(tensor):
            require_allowed(call.name, "input", tensor, FLOATING)

    return (demand,)


_DROPS = _drops_floats("training")
_ACTIVATIONS = [
    _Activation(
        "relu",
        "y = max(x, 0)",
        ("inplace",),
        BOOL,
        also=("torch.relu", "Tensor.relu"),
        in_place=("torch.relu_", "Tensor.relu_", "torch.nn.functional.relu_"),
    ),
    _Activation("relu6", "y = min(max(x, 0), 6)", ("inplace",), BOOL),
    _Activation("elu", "y = x, below 0 alpha (e^x - 1)", ("alpha", "inplace"), in_place=("torch.nn.functional.elu_",)),
    _Activation(
        "selu",
        "y = scale elu(x)",
        ("inplace",),
        also=("torch.selu",),
        in_place=("torch.selu_", "torch.nn.functional.selu_"),
    ),
    _Activation(
        "celu",
        "y = x, below 0 alpha (e^(x/alpha) - 1)",
        ("alpha", "inplace"),
        also=("torch.celu",),
        in_place=("torch.celu_", "torch.nn.functional.celu_"),
    ),
    _Activation("gelu", "y = x times the normal distribution function", ("approximate",)),
    _Activation("silu", "y = x sigmoid(x)", ("inplace",)),
    _Activation("mish", "y = x tanh(softplus(x))", ("inplace",)),
    _Activation("softplus", "y = ln(1 + e^(beta x)) / beta", ("beta", "threshold")),
    _Activation("softsign", "y = x / (1 + |x|)", (), BOOL, to_float=True),
    _Activation("tanhshrink", "y = x - tanh x", (), BOOL, to_float=True),
    _Activation(
        "hardtanh",
        "y = x cut to [min, max]",
        ("min_val", "max_val", "inplace"),
        BOOL,
        in_place=("torch.nn.functional.hardtanh_",),
    ),
    _Activation("hardswish", "y = x relu6(x + 3)/6", ("inplace",)),
    _Activation("hardsigmoid", "y = relu6(x + 3)/6", ("inplace",)),
    _Activation("hardshrink", "y = x, 0 within lambda", ("lambd",), also=("torch.hardshrink", "Tensor.hardshrink")),
    _Activation("softshrink", "y = x moved to 0 by lambda", ("lambd",)),
    _Activation(
        "leaky_relu",
        "y = x, below 0 slope x",
        ("negative_slope", "inplace"),
        in_place=("torch.nn.functional.leaky_relu_",),
    ),
    _Activation(
        "rrelu",
        "y = x, below 0 a random slope times x",
        ("lower", "upper", "training", "inplace"),
        in_place=("torch.rrelu_", "torch.nn.functional.rrelu_"),
    ),
    _Activation("logsigmoid", "y = ln sigmoid(x)"),
    _Activation(
        "threshold",
        "y = x above the threshold, else the value",
        ("threshold", "value", "inplace"),
        BOOL,
        also=("torch.threshold",),
        in_place=("torch.threshold_", "torch.nn.functional.threshold_"),
    ),
    _Activation("dropout", "y = x/(1 - p) or, with probability p, 0", ("p", "training", "inplace"), dtypes=_DROPS),
    _Activation("dropout1d", "dropout of whole channels", ("p", "training", "inplace"), dtypes=_DROPS),
    _Activation("dropout2d", "dropout of whole channels", ("p", "training", "inplace"), dtypes=_DROPS),
    _Activation("dropout3d", "dropout of whole channels", ("p", "training", "inplace"), dtypes=_DROPS),
    _Activation(
        "alpha_dropout",
        "dropout that keeps mean and variance",
        ("p", "training", "inplace"),
        frozenset(),
        dtypes=_DROPS,
    ),
    _Activation("feature_alpha_dropout", "alpha dropout of whole channels", ("p", "training", "inplace"), frozenset()),
]
# dropout(x, training=False) takes integers too, so an integer tensor is refused only where it is always an error.
_MAY_DO_NOTHING = {"dropout", "dropout1d", "dropout2d", "dropout3d"}
# Channels of images; those of a sequence (b, t, d), which are words, are dropped by dropout1d on purpose.
_OF_CHANNELS = {"dropout2d": 2, "dropout3d": 3}


def _declare_activation(row: _Activation) -> None:
    def rule(context: Context, input: TensorType, *args: Value, **kwargs: Value) -> Value:
        refused = frozenset() if row.name in _MAY_DO_NOTHING else row.refuses
        if row.name in _OF_CHANNELS:
            check_channels(context, row.name, input, _OF_CHANNELS[row.name])
        dtype = excluding(row.name, input.dtype, refused, "tensors are not allowed")
        return input.with_dtype(as_float(dtype) if row.to_float else dtype)

    more = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="Value")
        for name in row.parameters
    ]
    own = inspect.signature(rule).parameters
    rule.__signature__ = inspect.Signature([own["context"], own["input"], *more])  # type: ignore[attr-defined]  # read by inspect
    names = (f"torch.nn.functional.{row.name}", *row.also)
    pointwise_op(row.name, *names, formula=row.formula, in_place=row.in_place, dtypes=row.dtypes)(rule)


for _row in _ACTIVATIONS:
    _declare_activation(_row)


@op(
    "torch.dropout",
    "torch.dropout",
    formula="y = x/(1 - p) or, with probability p, 0",
    dtypes=_drops_floats("train"),
)
def torch_dropout(context: Context, input: TensorType, p: Value, train: Value) -> Value:
    return input


@op(
    "nn.functional.prelu",
    "torch.nn.functional.prelu",
    "torch.prelu",
    "Tensor.prelu",
    formula="y = x, below 0 weight x",
    dtypes=alike("input", "weight"),
)
def prelu(context: Context, input: TensorType, weight: TensorType) -> Value:
    if weight.shape.least_rank > 1:
        raise ShapeError("prelu", "the weight has at most 1 axis", f"{input}, weight {weight}")
    count = weight.shape.numel
    channels = ONE if input.shape.rank in (0, 1) else input.shape.at(1)
    if count is None or channels is None or count == ONE:
        return input

    def fault() -> Fault:
        return ShapeError(
            "prelu", f"{count} weights for {channels} channels", f"{input}, weight {weight}", dims=(count, channels)
        )

    with uncertain_if_joined(context, input, weight):
        context.require_equal(count, channels, fault)
    return input


@op("nn.functional.normalize", "torch.nn.functional.normalize", formula="y = x / max(|x|, eps) along dim")
def normalize(
    context: Context,
    input: TensorType,
    p: Value = _TWO,
    dim: Value = DEFAULT_ONE,
    eps: Value = None,
    out: Value = None,
) -> Value:
    reduced(context, "normalize", input, dim, True)
    check_vectors(context, "normalize", input, dim)
    dtype = excluding("normalize", input.dtype, INTEGERS | BOOL, "has no norm, convert to a float dtype first")
    return input.with_dtype(dtype)


def _declare_softmax(name: str, formula: str, *torch: str, functional: bool = False) -> None:
    def result(context: Context, input: TensorType, dim: Value, dtype: Value) -> Value:
        context.axis(name, input, dim)
        check_softmax(context, name, input, dim)
        if dtype is not None:
            return input.with_dtype(requested(dtype, input.dtype))
        return input.with_dtype(
            excluding(name, input.dtype, INTEGERS | BOOL | COMPLEX, "tensors are not allowed, use a float dtype")
        )

    if functional:

        @op(f"nn.functional.{name}", *torch, formula=formula)
        def in_functional(
            context: Context, input: TensorType, dim: Value = None, _stacklevel: Value = 3, dtype: Value = None
        ) -> Value:
            return result(context, input, dim, dtype)
    else:

        @op(name, *torch, formula=formula)
        def rule(context: Context, input: TensorType, dim: Value, dtype: Value = None, *, out: Value = None) -> Value:
            return result(context, input, dim, dtype)


_SOFTMAX = "y = e^x / sum e^x along dim"
_LOG_SOFTMAX = "y = x - ln sum e^x along dim"
_declare_softmax("softmax", _SOFTMAX, "torch.softmax", "torch.special.softmax", "Tensor.softmax")
_declare_softmax("log_softmax", _LOG_SOFTMAX, "torch.log_softmax", "torch.special.log_softmax", "Tensor.log_softmax")
_declare_softmax("softmax", _SOFTMAX, "torch.nn.functional.softmax", functional=True)
_declare_softmax("log_softmax", _LOG_SOFTMAX, "torch.nn.functional.log_softmax", functional=True)
_declare_softmax("softmin", "y = e^-x / sum e^-x along dim", "torch.nn.functional.softmin", functional=True)


@op(
    "nn.functional.gumbel_softmax",
    "torch.nn.functional.gumbel_softmax",
    formula="softmax of x with Gumbel noise",
    dtypes=takes(logits=FLOATING),
)
def gumbel_softmax(
    context: Context,
    logits: TensorType,
    tau: Value = None,
    hard: Value = False,
    eps: Value = None,
    dim: Value = LAST,
) -> Value:
    context.axis("gumbel_softmax", logits, dim)
    check_softmax(context, "gumbel_softmax", logits, dim)
    return logits


@op("nn.functional.glu", "torch.nn.functional.glu", formula="y = a sigmoid(b), the halves of x along dim")
def glu(context: Context, input: TensorType, dim: Value = LAST) -> Value:
    if input.shape.rank == 0:
        raise ShapeError("glu", "a tensor without axes cannot be halved", str(input))
    axis = context.axis("glu", input, dim)
    size = None if axis is None else input.shape.at(axis)
    if axis is None or size is None:
        rank = input.shape.rank
        shape = Shape.of(context.fresh_pack()) if rank is None else Shape(tuple(context.fresh() for _ in range(rank)))
        return input.with_shape(shape)
    if size.constant is not None and size.constant % 2:
        raise ShapeError("glu", f"axis {axis} of size {size} cannot be halved", str(input), dims=(size,))
    half = quotient(context, size, _TWO)
    return input.with_shape(input.shape.replace(axis, half))
