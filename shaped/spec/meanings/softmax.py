"""Softmax and its kin: functions that compare the elements along an axis."""

from __future__ import annotations

from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.kinds import converted, requested
from shaped.spec.meanings.reduction import sum_
from shaped.spec.tensor import NotExpressible, Tensor


@meaning("softmax")
def softmax(input: Tensor, dim: int, dtype: object = None) -> Tensor:
    given = converted(input, requested(dtype, input.kind))
    exponential: Tensor = (given - given.amax(dim, keepdim=True)).exp()  # the shift cancels, and is how torch rounds it
    return exponential / sum_(exponential, dim, keepdim=True)


@backward("softmax")
def softmax_backward(grad: Tensor, input: Tensor, dim: int, dtype: object = None) -> Tensor:
    result = softmax(input, dim)
    return result * (grad - sum_(grad * result, dim, keepdim=True))


@meaning("log_softmax")
def log_softmax(input: Tensor, dim: int, dtype: object = None) -> Tensor:
    given = converted(input, requested(dtype, input.kind))
    shifted: Tensor = given - given.amax(dim, keepdim=True)
    log_total: Tensor = shifted.exp().sum(dim, keepdim=True).log()
    return shifted - log_total


@backward("log_softmax")
def log_softmax_backward(grad: Tensor, input: Tensor, dim: int, dtype: object = None) -> Tensor:
    return grad - softmax(input, dim) * sum_(grad, dim, keepdim=True)


@meaning("nn.functional.softmax")
def softmax_function(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: object = None) -> Tensor:
    return softmax(input, _axis(input, dim), dtype)


@backward("nn.functional.softmax")
def softmax_function_backward(
    grad: Tensor, input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: object = None
) -> Tensor:
    return softmax_backward(grad, input, _axis(input, dim))


@meaning("nn.functional.log_softmax")
def log_softmax_function(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: object = None) -> Tensor:
    return log_softmax(input, _axis(input, dim), dtype)


@backward("nn.functional.log_softmax")
def log_softmax_function_backward(
    grad: Tensor, input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: object = None
) -> Tensor:
    return log_softmax_backward(grad, input, _axis(input, dim))


@meaning("nn.functional.softmin")
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: object = None) -> Tensor:
    return softmax(-input, _axis(input, dim), dtype)


def _axis(input: Tensor, dim: int | None) -> int:
    """The axis, which torch guesses where it is not given."""
    return dim if dim is not None else 0 if input.rank in (0, 1, 3) else 1


@backward("nn.functional.softmin")
def softmin_backward(
    grad: Tensor, input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: object = None
) -> Tensor:
    return -softmax_backward(grad, -input, _axis(input, dim))


@meaning("nn.functional.gumbel_softmax")
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    raise NotExpressible("gumbel_softmax, which draws random numbers")
