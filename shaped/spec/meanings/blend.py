"""Functions of three elements: clamping, interpolation, products that are added, and filling under a mask."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, where
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.comparison import as_bool, chosen
from shaped.spec.meanings.kinds import elementwise
from shaped.spec.meanings.order import is_greater
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import Tensor, TensorLike, broadcast, tensor, with_entry

_ENDS = "x at a bound: 1 for x"


def at_least(x: Expr, low: Expr) -> Expr:
    """x or the bound below it; at the bound the gradient is that of x."""
    return where(is_greater(low, x), low, x)


def at_most(x: Expr, high: Expr) -> Expr:
    """x or the bound above it; at the bound the gradient is that of x."""
    return where(is_greater(x, high), high, x)


@meaning("clamp", "clip", kinks=f"{_ENDS}; bounds that are equal tensors, x below: torch gives all 0")
def clamp(input: Tensor, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    if min is None and max is None:
        raise ValueError("clamp: one of min and max must be given")
    result = input if min is None else clamp_min(input, min)
    return result if max is None else clamp_max(result, max)


@meaning("clamp_min", kinks=_ENDS)
def clamp_min(input: Tensor, min: TensorLike) -> Tensor:
    return elementwise(at_least, input, min)


@meaning("clamp_max", kinks=_ENDS)
def clamp_max(input: Tensor, max: TensorLike) -> Tensor:
    return elementwise(at_most, input, max)


@backward("clamp", "clip")
def clamp_backward(
    grad: Tensor, input: Tensor, min: TensorLike | None = None, max: TensorLike | None = None
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    below = tensor(False) if min is None else input < min
    lower = input if min is None else clamp_min(input, min)
    above = tensor(False) if max is None else lower > max
    within = ~(below | above)
    return (
        unbroadcast(grad.where(within, 0), input),
        unbroadcast(grad.where(below & ~above, 0), min),
        unbroadcast(grad.where(above, 0), max),
    )


@backward("clamp_min")
def clamp_min_backward(grad: Tensor, input: Tensor, min: TensorLike) -> tuple[Tensor, Tensor | None]:
    return unbroadcast(grad.where(input >= min, 0), input), unbroadcast(grad.where(input < min, 0), min)


@backward("clamp_max")
def clamp_max_backward(grad: Tensor, input: Tensor, max: TensorLike) -> tuple[Tensor, Tensor | None]:
    return unbroadcast(grad.where(input <= max, 0), input), unbroadcast(grad.where(input > max, 0), max)


@meaning("lerp")
def lerp(input: Tensor, end: Tensor, weight: TensorLike) -> Tensor:
    return input + weight * (end - input)


@backward("lerp")
def lerp_backward(grad: Tensor, input: Tensor, end: Tensor, weight: TensorLike) -> tuple[Tensor, Tensor, Tensor | None]:
    return (
        unbroadcast(grad * (1 - weight), input),
        unbroadcast(grad * weight, end),
        unbroadcast(grad * (end - input), weight),
    )


@meaning("addcmul")
def addcmul(input: Tensor, tensor1: TensorLike, tensor2: TensorLike, value: float = 1) -> Tensor:
    return input + tensor(tensor1) * tensor2 * value


@backward("addcmul")
def addcmul_backward(
    grad: Tensor, input: Tensor, tensor1: TensorLike, tensor2: TensorLike, value: float = 1
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    scaled = grad * value
    return unbroadcast(grad, input), unbroadcast(scaled * tensor2, tensor1), unbroadcast(scaled * tensor1, tensor2)


@meaning("addcdiv", domain="b != 0")
def addcdiv(input: Tensor, tensor1: TensorLike, tensor2: TensorLike, value: float = 1) -> Tensor:
    return input + tensor(tensor1) / tensor2 * value


@backward("addcdiv")
def addcdiv_backward(
    grad: Tensor, input: Tensor, tensor1: TensorLike, tensor2: TensorLike, value: float = 1
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    scaled = grad * value / tensor2
    return (
        unbroadcast(grad, input),
        unbroadcast(scaled, tensor1),
        unbroadcast(-scaled * tensor1 / tensor2, tensor2),
    )


@meaning("masked_fill")
def masked_fill(input: Tensor, mask: Tensor, value: TensorLike) -> Tensor:
    filled = chosen(as_bool(mask), value, input)
    return filled if filled.kind == input.kind else _in_kind(filled, input.kind)


def _in_kind(input: Tensor, kind: str) -> Tensor:
    """A mask filled with a number of another kind keeps its own: 0.0 in integers is 0."""
    return Tensor(input.axes, input.body, kind, input.imaginary)


@backward("masked_fill")
def masked_fill_backward(
    grad: Tensor, input: Tensor, mask: Tensor, value: TensorLike
) -> tuple[Tensor, None, Tensor | None]:
    return unbroadcast(grad.where(~mask, 0), input), None, unbroadcast(grad.where(mask, 0), value)


@meaning("fill")
def fill(input: Tensor, value: TensorLike) -> Tensor:
    given = tensor(value)
    axes = broadcast(input)
    return (
        with_entry(axes, given.body, input.kind)
        if given.imaginary is None
        else Tensor(axes, given.body, "complex", given.imaginary)
    )


@backward("fill")
def fill_backward(grad: Tensor, input: Tensor, value: TensorLike) -> tuple[Tensor, Tensor | None]:
    return grad * 0, unbroadcast(grad, value)


@meaning("dist", kinks="x = y: 0")
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    result: Tensor = (input - other).norm(p)
    return result


@meaning("sum_to_size")
def sum_to_size(input: Tensor, *size: Dim | int | tuple[Dim | int, ...]) -> Tensor:
    sizes = [Dim.of(each) for part in size for each in (part if isinstance(part, (tuple, list)) else (part,))]
    added = input.rank - len(sizes)
    axes = [added + axis for axis, each in enumerate(sizes) if each == 1 and input.axes[added + axis]]
    result = input.sum(axes, keepdim=True) if axes else input
    return result.sum(list(range(added))) if added else result
