"""GELU in both forms, and activations with a weight, a gate or random numbers."""

from __future__ import annotations

from fractions import Fraction

from shaped.spec.dims import Dim
from shaped.spec.expr import PI, Expr, apply, index_nonnegative, positive, power, real, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.elementwise import normal_density, normal_distribution
from shaped.spec.meanings.kinds import elementwise, number
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import NotExpressible, Tensor, build, pointwise

_HALF = Fraction(1, 2)
_ROOT_2_OVER_PI = power(real(2), _HALF) * power(PI, -_HALF)
_CUBIC = Fraction(44715, 1000000)


@meaning("gelu")
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    return elementwise(_gelu_by_tanh if _by_tanh(approximate) else lambda x: x * normal_distribution(x), input)


def _by_tanh(approximate: str) -> bool:
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate is {approximate!r}, 'none' or 'tanh' expected")
    return approximate == "tanh"


def _gate(x: Expr) -> Expr:
    return apply("tanh", _ROOT_2_OVER_PI * (x + _CUBIC * x**3))


def _gelu_by_tanh(x: Expr) -> Expr:
    """0.5 x (1 + tanh((2/pi)^(1/2) (x + 0.044715 x^3))), Hendrycks and Gimpel 2016."""
    return _HALF * x * (1 + _gate(x))


@backward("gelu")
def gelu_backward(grad: Tensor, input: Tensor, approximate: str = "none") -> Tensor:
    def by_tanh(g: Expr, x: Expr) -> Expr:
        inner = _ROOT_2_OVER_PI * (1 + 3 * _CUBIC * x**2)
        return g * (_HALF * (1 + _gate(x)) + _HALF * x * (1 - _gate(x) ** 2) * inner)

    def exact(g: Expr, x: Expr) -> Expr:
        return g * (normal_distribution(x) + x * normal_density(x))

    return pointwise(by_tanh if _by_tanh(approximate) else exact, grad, input)


@meaning("nn.functional.prelu", kinks="x = 0: the weight")
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    result: Tensor = input.where(input > 0, _channel_weight(input, weight) * input)
    return result


def _channel_weight(input: Tensor, weight: Tensor) -> Tensor:
    """The weight along axis 1, the channels."""
    if weight.rank == 1 and input.rank > 1 and weight.axes[0]:
        return Tensor((weight.axes[0], *[()] * (input.rank - 2)), weight.body, weight.kind)
    return Tensor((), weight.body, weight.kind) if weight.rank and not weight.axes[0] else weight


@backward("nn.functional.prelu")
def prelu_backward(grad: Tensor, input: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    along = _channel_weight(input, weight)
    for_weight = unbroadcast((grad * input).where(input <= 0, 0), along)
    axes = tuple(axis for axis in for_weight.axes if axis) or weight.axes
    return grad.where(input > 0, grad * along), Tensor(axes, for_weight.body, for_weight.kind)


@meaning("rrelu", kinks="x = 0: the slope")
def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    if training:
        raise NotExpressible("rrelu in training, which draws random slopes")
    slope = (number(lower) + number(upper)) / 2
    return elementwise(lambda x: where(positive(x), x, slope * x), input)


@meaning("nn.functional.glu")
def glu(input: Tensor, dim: int = -1) -> Tensor:
    first, second = _halves(input, dim)
    result: Tensor = first * second.sigmoid()
    return result


def _halves(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The two halves along an axis."""
    axis = input.axis(dim)
    half = input.sizes[axis] // 2
    sizes = [*input.sizes[:axis], half, *input.sizes[axis + 1 :]]

    def part(start: Dim) -> Tensor:
        return build(sizes, lambda *at: input.at(*at[:axis], at[axis] + start, *at[axis + 1 :]), input.kind)

    return part(half * 0), part(half)


@backward("nn.functional.glu")
def glu_backward(grad: Tensor, input: Tensor, dim: int = -1) -> Tensor:
    axis = input.axis(dim)
    half = input.sizes[axis] // 2
    first, second = _halves(input, dim)
    gate = second.sigmoid()
    for_first, for_second = grad * gate, grad * first * gate * (1 - gate)

    def entry(*at: Dim) -> Expr:
        behind = (*at[:axis], at[axis] - half, *at[axis + 1 :])
        in_first, in_second = index_nonnegative(half - 1 - at[axis]), index_nonnegative(at[axis] - half)
        return where(in_first, for_first.at(*at), 0) + where(in_second, for_second.at(*behind), 0)

    return build(input.sizes, entry)


def _declare_dropout(name: str) -> None:
    @meaning(name)
    def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        if training and p != 0:
            raise NotExpressible(f"{name} in training, which draws random numbers")
        return input

    @backward(name)
    def dropout_backward(
        grad: Tensor, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        return grad


for _name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
    _declare_dropout(_name)


@meaning("torch.dropout")
def torch_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    if train and p != 0:
        raise NotExpressible("dropout in training, which draws random numbers")
    return input
