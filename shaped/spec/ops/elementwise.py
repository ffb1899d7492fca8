"""Functions of one element: exponentials, roundings, signs, and the tests for nan and infinity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.errors import DtypeError
from shaped.spec.dtypes import BOOL, BOOLEAN, COMPLEX, FLOATS, INTEGERS, DType
from shaped.spec.op import op
from shaped.spec.pointwise import keep, pointwise, pointwise_op
from shaped.spec.promotion import as_complex, as_float, as_real, excluding, mapped
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.context import Context


@dataclass(frozen=True)
class _Unary:
    """One line of the table: a function `torch.{name}` of one tensor and what it does to the dtype."""

    name: str
    formula: str
    dtype: Callable[[DType], DType]
    refuses: frozenset[str] = frozenset()
    also: tuple[str, ...] = ()  # further torch names
    method: bool = True  # Tensor.{name} exists
    writes: bool = True  # Tensor.{name}_ exists


def _boolean(dtype: DType) -> DType:
    return BOOLEAN


def _square(dtype: DType) -> DType:
    return mapped(dtype, {"bool": "int64"})


def _special(name: str, formula: str, *also: str) -> _Unary:
    return _Unary(f"special.{name}", formula, as_float, also=also, method=False, writes=False)


_INTEGRAL = INTEGERS | BOOL
_UNARY = [
    _Unary("exp", "y = e^x", as_float),
    _Unary("exp2", "y = 2^x", as_float, also=("torch.special.exp2",)),
    _Unary("expm1", "y = e^x - 1", as_float, also=("torch.special.expm1",)),
    _Unary("log", "y = ln x", as_float),
    _Unary("log2", "y = log2 x", as_float),
    _Unary("log10", "y = log10 x", as_float),
    _Unary("log1p", "y = ln(1 + x)", as_float, also=("torch.special.log1p",)),
    _Unary("sqrt", "y = x^(1/2)", as_float),
    _Unary("rsqrt", "y = x^(-1/2)", as_float),
    _Unary("sin", "y = sin x", as_float),
    _Unary("cos", "y = cos x", as_float),
    _Unary("tan", "y = tan x", as_float),
    _Unary("sinh", "y = sinh x", as_float),
    _Unary("cosh", "y = cosh x", as_float),
    _Unary("tanh", "y = tanh x", as_float, also=("torch.nn.functional.tanh",)),
    _Unary("asin", "y = arcsin x", as_float),
    _Unary("acos", "y = arccos x", as_float),
    _Unary("atan", "y = arctan x", as_float),
    _Unary("asinh", "y = arsinh x", as_float),
    _Unary("acosh", "y = arcosh x", as_float),
    _Unary("atanh", "y = artanh x", as_float),
    _Unary("arcsin", "y = arcsin x", as_float),
    _Unary("arccos", "y = arccos x", as_float),
    _Unary("arctan", "y = arctan x", as_float),
    _Unary("arcsinh", "y = arsinh x", as_float),
    _Unary("arccosh", "y = arcosh x", as_float),
    _Unary("arctanh", "y = artanh x", as_float),
    _Unary("erf", "y = erf x", as_float, also=("torch.special.erf",)),
    _Unary("erfc", "y = 1 - erf x", as_float, also=("torch.special.erfc",)),
    _Unary("erfinv", "erf y = x", as_float, also=("torch.special.erfinv",)),
    _Unary("sigmoid", "y = 1/(1 + e^-x)", as_float, also=("torch.special.expit", "torch.nn.functional.sigmoid")),
    _Unary("lgamma", "y = ln |gamma(x)|", as_float, also=("torch.special.gammaln",)),
    _Unary("digamma", "y = d/dx ln gamma(x)", as_float, also=("torch.special.digamma", "torch.special.psi")),
    _Unary("reciprocal", "y = 1/x", as_float),
    _Unary("sinc", "y = sin(pi x)/(pi x)", as_float, also=("torch.special.sinc",)),
    _Unary("i0", "y = I0(x)", as_float, also=("torch.special.i0",)),
    _Unary("deg2rad", "y = pi/180 x", as_float, COMPLEX),
    _Unary("rad2deg", "y = 180/pi x", as_float, COMPLEX),
    _Unary("angle", "y = arg x", lambda dtype: as_float(as_real(dtype)), writes=False),
    _Unary("abs", "y = |x|", as_real, BOOL, also=("Tensor.__abs__",)),
    _Unary("absolute", "y = |x|", as_real, BOOL),
    _Unary("neg", "y = -x", keep, BOOL, also=("Tensor.__neg__",)),
    _Unary("negative", "y = -x", keep, BOOL),
    _Unary("positive", "y = x", keep, BOOL, also=("Tensor.__pos__",), writes=False),
    _Unary("floor", "y = the greatest integer <= x", keep, BOOL | COMPLEX),
    _Unary("ceil", "y = the least integer >= x", keep, BOOL | COMPLEX),
    _Unary("trunc", "y = x rounded to zero", keep, BOOL | COMPLEX),
    _Unary("fix", "y = x rounded to zero", keep, BOOL | COMPLEX),
    _Unary("frac", "y = x - trunc x", keep, INTEGERS | BOOL | COMPLEX),
    _Unary("sign", "y = -1, 0 or 1", keep, COMPLEX),
    _Unary("sgn", "y = x/|x|", keep),
    _Unary("square", "y = x^2", _square),
    _Unary("conj", "y = the conjugate of x", keep, writes=False),
    _Unary("conj_physical", "y = the conjugate of x", keep),
    _Unary("resolve_conj", "y = x", keep, writes=False),
    _Unary("resolve_neg", "y = x", keep, writes=False),
    _Unary("bitwise_not", "y = ~x", keep, FLOATS | COMPLEX, also=("Tensor.__invert__",)),
    _Unary("logical_not", "y = not x", _boolean),
    _Unary("isnan", "y = x is nan", _boolean, writes=False),
    _Unary("isinf", "y = x is infinite", _boolean, writes=False),
    _Unary("isfinite", "y = x is finite", _boolean, writes=False),
    _Unary("isneginf", "y = x is -inf", _boolean, COMPLEX, writes=False),
    _Unary("isposinf", "y = x is inf", _boolean, COMPLEX, writes=False),
    _Unary("isreal", "y = the imaginary part of x is 0", _boolean, writes=False),
    _Unary("signbit", "y = x < 0", _boolean, COMPLEX, writes=False),
    _Unary("real", "y = the real part of x", as_real, writes=False),
    _Unary("imag", "y = the imaginary part of x", as_real, FLOATS | INTEGERS | BOOL, writes=False),
    _special("airy_ai", "y = Ai(x)"),
    _special("bessel_j0", "y = J0(x)"),
    _special("bessel_j1", "y = J1(x)"),
    _special("bessel_y0", "y = Y0(x)"),
    _special("bessel_y1", "y = Y1(x)"),
    _special("entr", "y = -x ln x"),
    _special("erfcx", "y = e^(x^2) erfc x"),
    _special("i0e", "y = e^-|x| I0(x)"),
    _special("i1", "y = I1(x)"),
    _special("i1e", "y = e^-|x| I1(x)"),
    _special("log_ndtr", "y = ln of the normal distribution function"),
    _special("modified_bessel_i0", "y = I0(x)"),
    _special("modified_bessel_i1", "y = I1(x)"),
    _special("modified_bessel_k0", "y = K0(x)"),
    _special("modified_bessel_k1", "y = K1(x)"),
    _special("ndtr", "y = the normal distribution function"),
    _special("ndtri", "y = its inverse"),
    _special("scaled_modified_bessel_k0", "y = e^x K0(x)"),
    _special("scaled_modified_bessel_k1", "y = e^x K1(x)"),
    _special("spherical_bessel_j0", "y = sin x / x"),
]

# Of these torch.{name}_ does not exist.
_METHOD_WRITES_ONLY = {"erfinv", "lgamma", "digamma", "absolute", "sign", "sgn", "bitwise_not", "logical_not"}


def _declare_unary(row: _Unary) -> None:
    names = [f"torch.{row.name}", *([f"Tensor.{row.name}"] if row.method else []), *row.also]
    in_place = [f"Tensor.{row.name}_"] if row.writes else []
    if row.writes and row.name not in _METHOD_WRITES_ONLY:
        in_place.append(f"torch.{row.name}_")

    @pointwise_op(row.name, *names, formula=row.formula, in_place=in_place)
    def rule(context: Context, input: TensorType, *, out: Value = None) -> Value:
        allowed = excluding(row.name, input.dtype, row.refuses, "tensors are not allowed")
        return pointwise(context, row.name, input.with_dtype(allowed), dtype=row.dtype)


for _row in _UNARY:
    _declare_unary(_row)


@pointwise_op(
    "round", "torch.round", "torch.special.round", "Tensor.round", formula="y = x rounded", in_place=("Tensor.round_",)
)
def round_(context: Context, input: TensorType, *, decimals: Value = None, out: Value = None) -> Value:
    return input.with_dtype(excluding("round", input.dtype, BOOL | COMPLEX, "tensors are not allowed"))


@pointwise_op(
    "logit",
    "torch.logit",
    "torch.special.logit",
    "Tensor.logit",
    formula="y = ln(x/(1 - x))",
    in_place=("Tensor.logit_",),
)
def logit(context: Context, input: TensorType, eps: Value = None, *, out: Value = None) -> Value:
    return input.with_dtype(as_float(input.dtype))


@pointwise_op(
    "nan_to_num", "torch.nan_to_num", "Tensor.nan_to_num", formula="y = x, nan as 0", in_place=("Tensor.nan_to_num_",)
)
def nan_to_num(
    context: Context,
    input: TensorType,
    nan: Value = None,
    posinf: Value = None,
    neginf: Value = None,
    *,
    out: Value = None,
) -> Value:
    return input


@op("polygamma", "torch.polygamma", "torch.special.polygamma", formula="y = the n-th derivative of digamma")
def polygamma(context: Context, n: Value, input: TensorType, *, out: Value = None) -> Value:
    return input.with_dtype(as_float(input.dtype))


@op("Tensor.polygamma", "Tensor.polygamma", formula="y = the n-th derivative of digamma")
def polygamma_method(context: Context, input: TensorType, n: Value) -> Value:
    return input.with_dtype(as_float(input.dtype))


@pointwise_op(
    "mvlgamma",
    "torch.mvlgamma",
    "torch.special.multigammaln",
    "Tensor.mvlgamma",
    formula="y = ln of the p-dimensional gamma function",
    in_place=("Tensor.mvlgamma_",),
)
def mvlgamma(context: Context, input: TensorType, p: Value, *, out: Value = None) -> Value:
    return input.with_dtype(as_float(input.dtype))


@op("frexp", "torch.frexp", "Tensor.frexp", formula="x = mantissa * 2^exponent")
def frexp(context: Context, input: TensorType, *, out: Value = None) -> Value:
    allowed = excluding("frexp", input.dtype, _INTEGRAL | COMPLEX, "tensors are not allowed")
    return (input.with_dtype(allowed), input.with_dtype(DType.named("int32")))


@op("view_as_real", "torch.view_as_real", formula="y[..., 0] + i y[..., 1] = x")
def view_as_real(context: Context, input: TensorType) -> Value:
    allowed = excluding("view_as_real", input.dtype, FLOATS | _INTEGRAL, "is not complex")
    return TensorType(input.shape + Shape.of(2), as_real(allowed), input.device, input.joined)


def _require_parts(operation: str, first: TensorType, second: TensorType) -> None:
    """Demand two tensors of one float dtype.

    Raises:
        DtypeError: they are not, for certain.
    """
    for part in (first, second):
        excluding(operation, part.dtype, _INTEGRAL | COMPLEX, "tensors are not allowed, use a float dtype")
    if not first.dtype.names & second.dtype.names:
        raise DtypeError(operation, f"dtypes {first.dtype} and {second.dtype} differ")


@op("complex", "torch.complex", formula="z = x + i y")
def complex_(context: Context, real: TensorType, imag: TensorType, *, out: Value = None) -> Value:
    _require_parts("complex", real, imag)
    return pointwise(context, "complex", real, imag, dtype=as_complex)


@op("polar", "torch.polar", formula="z = r e^(i phi)")
def polar(context: Context, abs: TensorType, angle: TensorType, *, out: Value = None) -> Value:
    _require_parts("polar", abs, angle)
    return pointwise(context, "polar", abs, angle, dtype=as_complex)
