"""Activations that compare along an axis: softmax and its kin."""

from __future__ import annotations

from shaped.spec.meaning import backward, meaning
from shaped.spec.tensor import Tensor


@meaning("softmax")
def softmax(input: Tensor, dim: int, dtype: object = None) -> Tensor:
    exponential = (input - input.amax(dim, keepdim=True)).exp()  # the shift cancels, and is how torch rounds it
    return exponential / exponential.sum(dim, keepdim=True)


@backward("softmax")
def softmax_backward(grad: Tensor, input: Tensor, dim: int, dtype: object = None) -> Tensor:
    result = input.softmax(dim)
    return result * (grad - (grad * result).sum(dim, keepdim=True))
