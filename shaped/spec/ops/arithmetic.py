"""Functions of two elements: the arithmetic and bitwise operators and what is like them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.errors import DtypeError
from shaped.spec.dtype_demands import Allowed, takes
from shaped.spec.dtypes import BOOL, BOOLEAN, COMPLEX, FLOATS, INTEGERS, DType
from shaped.spec.op import op
from shaped.spec.pointwise import keep, pointwise, pointwise_op
from shaped.spec.promotion import as_float, excluding, is_number
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Demands


@dataclass(frozen=True)
class _Binary:
    """One line of the table: a function `torch.{name}` of two tensors or numbers."""

    name: str
    formula: str
    dtype: Callable[[DType], DType] = keep
    symbol: str = ", "  # between the operands in messages
    refuses: frozenset[str] = frozenset()
    also: tuple[str, ...] = ()  # further torch names, operators among them
    writes: bool = True  # Tensor.{name}_ exists
    in_place: tuple[str, ...] = ()  # in-place operators
    dtypes: Demands = ()


def _operators(name: str) -> tuple[str, ...]:
    return (f"Tensor.__{name}__", f"Tensor.__r{name}__")


def _refuse_bool_difference(name: str, *operands: Value) -> None:
    for operand in operands:
        if isinstance(operand, bool) or (isinstance(operand, TensorType) and operand.dtype == BOOLEAN):
            inverts = any(is_number(each) for each in operands)
            tensors = [f"{each.dtype}{each}" for each in operands if isinstance(each, TensorType)]
            hint = "~x to invert a mask?" if inverts else "^ or .logical_xor?"
            raise DtypeError(name, "bool tensors cannot be subtracted", " - ".join(tensors), hint)


_INTEGERS_ONLY = FLOATS | COMPLEX
_SHIFTS = takes(
    input=Allowed(INTEGERS | BOOL, "an integer dtype", ""),
    other=Allowed(INTEGERS | BOOL, "an integer", ""),
)
_BINARY = [
    _Binary("mul", "z = x y", symbol=" * ", also=_operators("mul"), in_place=("Tensor.__imul__",)),
    _Binary("multiply", "z = x y", symbol=" * "),
    _Binary(
        "floor_divide",
        "z = floor(x/y)",
        symbol=" // ",
        refuses=BOOL | COMPLEX,
        also=_operators("floordiv"),
        in_place=("Tensor.__ifloordiv__",),
    ),
    _Binary("true_divide", "z = x/y", as_float, symbol=" / "),
    _Binary(
        "remainder",
        "z = x - y floor(x/y)",
        symbol=" % ",
        refuses=BOOL | COMPLEX,
        also=_operators("mod"),
        in_place=("Tensor.__imod__",),
    ),
    _Binary("fmod", "z = x - y trunc(x/y)", symbol=" % ", refuses=BOOL | COMPLEX),
    _Binary("maximum", "z = max(x, y)", refuses=COMPLEX, writes=False),
    _Binary("minimum", "z = min(x, y)", refuses=COMPLEX, writes=False),
    _Binary("fmax", "z = max(x, y), the other for nan", refuses=COMPLEX, writes=False),
    _Binary("fmin", "z = min(x, y), the other for nan", refuses=COMPLEX, writes=False),
    _Binary("atan2", "z = the angle of (y, x)", as_float, refuses=COMPLEX),
    _Binary("arctan2", "z = the angle of (y, x)", as_float, refuses=COMPLEX),
    _Binary("hypot", "z = (x^2 + y^2)^(1/2)"),
    _Binary("logaddexp", "z = ln(e^x + e^y)", writes=False),
    _Binary("logaddexp2", "z = log2(2^x + 2^y)", writes=False),
    _Binary("copysign", "z = |x| sign y", as_float, refuses=COMPLEX),
    _Binary("nextafter", "z = the float next to x in the direction of y"),
    _Binary("ldexp", "z = x 2^y", as_float),
    _Binary("gcd", "z = the greatest common divisor", refuses=_INTEGERS_ONLY | BOOL),
    _Binary("lcm", "z = the least common multiple", refuses=_INTEGERS_ONLY | BOOL),
    _Binary("igamma", "z = P(x, y)", as_float, also=("torch.special.gammainc",)),
    _Binary("igammac", "z = 1 - P(x, y)", as_float, also=("torch.special.gammaincc",)),
    _Binary("xlogy", "z = x ln y", as_float, refuses=COMPLEX, also=("torch.special.xlogy",)),
    _Binary(
        "bitwise_and",
        "z = x & y",
        symbol=" & ",
        refuses=_INTEGERS_ONLY,
        also=_operators("and"),
        in_place=("Tensor.__iand__",),
    ),
    _Binary(
        "bitwise_or",
        "z = x | y",
        symbol=" | ",
        refuses=_INTEGERS_ONLY,
        also=_operators("or"),
        in_place=("Tensor.__ior__",),
    ),
    _Binary(
        "bitwise_xor",
        "z = x ^ y",
        symbol=" ^ ",
        refuses=_INTEGERS_ONLY,
        also=_operators("xor"),
        in_place=("Tensor.__ixor__",),
    ),
    _Binary(
        "bitwise_left_shift",
        "z = x << y",
        symbol=" << ",
        also=_operators("lshift"),
        in_place=("Tensor.__ilshift__",),
        dtypes=_SHIFTS,
    ),
    _Binary(
        "bitwise_right_shift",
        "z = x >> y",
        symbol=" >> ",
        also=_operators("rshift"),
        in_place=("Tensor.__irshift__",),
        dtypes=_SHIFTS,
    ),
]


def _declare_binary(row: _Binary) -> None:
    names = (f"torch.{row.name}", f"Tensor.{row.name}", *row.also)
    written = (f"Tensor.{row.name}_",) if row.writes else ()

    @pointwise_op(row.name, *names, formula=row.formula, in_place=(*written, *row.in_place), dtypes=row.dtypes)
    def rule(context: Context, input: Value, other: Value, *, out: Value = None) -> Value:
        return _apply(context, row, input, other)


def _apply(context: Context, row: _Binary, x: Value, y: Value) -> Value:
    def dtype(promoted: DType) -> DType:
        return row.dtype(excluding(row.name, promoted, row.refuses, "operands are not allowed"))

    return pointwise(context, row.name, x, y, dtype=dtype, symbol=row.symbol)


for _row in _BINARY:
    _declare_binary(_row)


def _sum_or_difference(name: str, symbol: str, also: tuple[str, ...], in_place: tuple[str, ...]) -> None:
    @pointwise_op(
        name,
        f"torch.{name}",
        f"Tensor.{name}",
        *also,
        formula=f"z = x{symbol}alpha y",
        in_place=(f"Tensor.{name}_", *in_place),
    )
    def rule(context: Context, input: Value, other: Value, *, alpha: Value = 1, out: Value = None) -> Value:
        if symbol == " - ":
            _refuse_bool_difference(name, input, other)
        return pointwise(context, name, input, other, symbol=symbol)


_sum_or_difference("add", " + ", _operators("add"), ("Tensor.__iadd__",))
_sum_or_difference("sub", " - ", _operators("sub"), ("Tensor.__isub__",))
_sum_or_difference("subtract", " - ", (), ())


@op("rsub", "torch.rsub", formula="z = y - alpha x")
def rsub(context: Context, input: Value, other: Value, *, alpha: Value = 1) -> Value:
    _refuse_bool_difference("rsub", input, other)
    return pointwise(context, "rsub", input, other)


def _quotient(name: str, also: tuple[str, ...], in_place: tuple[str, ...]) -> None:
    @pointwise_op(
        name, f"torch.{name}", f"Tensor.{name}", *also, formula="z = x/y", in_place=(f"Tensor.{name}_", *in_place)
    )
    def rule(context: Context, input: Value, other: Value, *, rounding_mode: Value = None, out: Value = None) -> Value:
        def dtype(promoted: DType) -> DType:
            if rounding_mode is None:
                return as_float(promoted)
            return promoted if isinstance(rounding_mode, str) else DType(promoted.names | as_float(promoted).names)

        return pointwise(context, name, input, other, dtype=dtype, symbol=" / ")


_quotient("div", _operators("truediv"), ("Tensor.__itruediv__", "Tensor.__idiv__"))
_quotient("divide", ("Tensor.__div__", "Tensor.__rdiv__"), ())


@pointwise_op(
    "pow",
    "torch.pow",
    "Tensor.pow",
    "Tensor.__pow__",
    "Tensor.__rpow__",
    formula="z = x^y",
    in_place=("Tensor.pow_", "Tensor.__ipow__"),
)
def pow_(context: Context, input: Value, exponent: Value, *, out: Value = None) -> Value:
    return pointwise(context, "pow", input, exponent, symbol=" ** ")


@pointwise_op(
    "float_power", "torch.float_power", "Tensor.float_power", formula="z = x^y", in_place=("Tensor.float_power_",)
)
def float_power(context: Context, input: Value, exponent: Value, *, out: Value = None) -> Value:
    def dtype(promoted: DType) -> DType:
        return DType(frozenset("complex128" if name in COMPLEX else "float64" for name in promoted.names))

    return pointwise(context, "float_power", input, exponent, dtype=dtype, symbol=" ** ")


@pointwise_op(
    "heaviside",
    "torch.heaviside",
    "Tensor.heaviside",
    formula="z = 0, y or 1 by the sign of x",
    in_place=("Tensor.heaviside_",),
)
def heaviside(context: Context, input: Value, values: Value, *, out: Value = None) -> Value:
    return pointwise(context, "heaviside", input, values)


def _special(name: str, formula: str) -> None:
    @op(f"special.{name}", f"torch.special.{name}", formula=formula)
    def rule(context: Context, input: Value, other: Value, *, out: Value = None) -> Value:
        return pointwise(context, f"special.{name}", input, other, dtype=as_float)


def _polynomial(name: str, formula: str) -> None:
    @op(f"special.{name}", f"torch.special.{name}", formula=formula)
    def rule(context: Context, input: Value, n: Value, *, out: Value = None) -> Value:
        return pointwise(context, f"special.{name}", input, n, dtype=as_float)


_special("xlog1py", "z = x ln(1 + y)")
_special("zeta", "z = the Hurwitz zeta function")
for _kind in "tuvw":
    _polynomial(f"chebyshev_polynomial_{_kind}", f"z = {_kind.upper()}_n(x)")
    _polynomial(f"shifted_chebyshev_polynomial_{_kind}", f"z = {_kind.upper()}*_n(x)")
_polynomial("hermite_polynomial_h", "z = H_n(x)")
_polynomial("hermite_polynomial_he", "z = He_n(x)")
_polynomial("laguerre_polynomial_l", "z = L_n(x)")
_polynomial("legendre_polynomial_p", "z = P_n(x)")
