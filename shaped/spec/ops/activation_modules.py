"""Modules that keep their input's shape, or change it as one function does: activations, softmax, dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.dtype_demands import like_parameters
from shaped.spec.op import Module, find_op, module
from shaped.spec.ops.options import option_size, parameter_dtype
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value
from shaped.spec.wrong_axis import DEFAULT_ONE

if TYPE_CHECKING:
    from shaped.spec.context import Context


LAST = Dim.of(-1)


def call_function(context: Context, name: str, *args: Value, **kwargs: Value) -> Value:
    """The result of `torch.nn.functional.{name}`; UNKNOWN if there is no rule for it."""
    function = find_op(f"torch.nn.functional.{name}")
    return UNKNOWN if function is None else function.apply(context, args, kwargs)


class Elementwise(Module):
    """A module that applies one function of one tensor, whose other arguments leave the shape alone."""

    function: str

    def __init__(self, context: Context, *args: Value, **kwargs: Value) -> None:
        """Any arguments: they have no say in the shape."""

    def forward(self, context: Context, input: TensorType) -> Value:
        """(...) -> (...)."""
        return call_function(context, self.function, input)


_FUNCTIONS = {
    "ReLU": "relu",
    "ReLU6": "relu6",
    "RReLU": "rrelu",
    "ELU": "elu",
    "SELU": "selu",
    "CELU": "celu",
    "GELU": "gelu",
    "SiLU": "silu",
    "Mish": "mish",
    "LeakyReLU": "leaky_relu",
    "Sigmoid": "sigmoid",
    "LogSigmoid": "logsigmoid",
    "Tanh": "tanh",
    "Tanhshrink": "tanhshrink",
    "Hardtanh": "hardtanh",
    "Hardsigmoid": "hardsigmoid",
    "Hardswish": "hardswish",
    "Hardshrink": "hardshrink",
    "Softshrink": "softshrink",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Dropout": "dropout",
    "Dropout1d": "dropout1d",
    "Dropout2d": "dropout2d",
    "Dropout3d": "dropout3d",
    "AlphaDropout": "alpha_dropout",
    "FeatureAlphaDropout": "feature_alpha_dropout",
}

for _name, _function in _FUNCTIONS.items():
    module(f"torch.nn.{_name}")(type(_name, (Elementwise,), {"function": _function}))


@module("torch.nn.Identity")
class Identity(Module):
    """The input itself; any arguments are taken."""

    def __init__(self, context: Context, *args: Value, **kwargs: Value) -> None:
        """Any arguments: they have no say."""

    def forward(self, context: Context, input: Value) -> Value:
        """x -> x."""
        return input


@module("torch.nn.Threshold")
class Threshold(Module):
    """The input where it is above a threshold, else a value."""

    def __init__(self, context: Context, threshold: Value, value: Value, inplace: Value = False) -> None:
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, context: Context, input: TensorType) -> Value:
        """(...) -> (...)."""
        return call_function(context, "threshold", input, self.threshold, self.value)


@module("torch.nn.PReLU")
class PReLU(Module):
    """The input, times a learned slope below zero: one slope, or one for each channel."""

    dtypes = like_parameters("input")

    def __init__(
        self,
        context: Context,
        num_parameters: Value = 1,
        init: Value = 0.25,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.num_parameters = option_size(context, num_parameters)
        self.weight = TensorType(Shape.of(self.num_parameters), parameter_dtype(dtype))

    def forward(self, context: Context, input: TensorType) -> Value:
        """(...) -> (...)."""
        return call_function(context, "prelu", input, self.weight)


class _AlongAxis(Module):
    """A function along one axis, the axis not checked where it is None: torch guesses one, with a warning."""

    function: str

    def __init__(self, context: Context, dim: Value = None) -> None:
        self.dim = dim

    def forward(self, context: Context, input: TensorType) -> Value:
        """(...) -> (...)."""
        return call_function(context, self.function, input, self.dim)


for _name in ("Softmax", "Softmin", "LogSoftmax"):
    _function = {"LogSoftmax": "log_softmax"}.get(_name, _name.lower())
    module(f"torch.nn.{_name}")(type(_name, (_AlongAxis,), {"function": _function}))


@module("torch.nn.Softmax2d")
class Softmax2d(Module):
    """Softmax over the channels of an image."""

    def __init__(self, context: Context) -> None:
        """No arguments."""

    def forward(self, context: Context, input: TensorType) -> Value:
        """(..., c, h, w) -> (..., c, h, w)."""
        shape = input.shape
        if shape.least_rank > 4 or (shape.rank is not None and shape.rank < 3):
            raise ShapeError("softmax2d", f"{shape.least_rank} axes, 3 or 4 expected", str(input))
        return input


@module("torch.nn.GLU")
class GLU(Module):
    """One half of the input times the sigmoid of the other."""

    def __init__(self, context: Context, dim: Value = LAST) -> None:
        self.dim = dim

    def forward(self, context: Context, input: TensorType) -> Value:
        """(..., 2*n) -> (..., n)."""
        return call_function(context, "glu", input, self.dim)


@module("torch.nn.CosineSimilarity")
class CosineSimilarity(Module):
    """The cosine of the angle between vectors along an axis."""

    def __init__(self, context: Context, dim: Value = DEFAULT_ONE, eps: Value = 1e-8) -> None:
        self.dim, self.eps = dim, eps

    def forward(self, context: Context, x1: TensorType, x2: TensorType) -> Value:
        """The broadcast shape without the axis."""
        return call_function(context, "cosine_similarity", x1, x2, self.dim)


@module("torch.nn.PairwiseDistance")
class PairwiseDistance(Module):
    """The distance between vectors along the last axis."""

    def __init__(self, context: Context, p: Value = 2.0, eps: Value = 1e-6, keepdim: Value = False) -> None:
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, context: Context, x1: TensorType, x2: TensorType) -> Value:
        """The broadcast shape without its last axis."""
        return call_function(context, "pairwise_distance", x1, x2, keepdim=self.keepdim)
