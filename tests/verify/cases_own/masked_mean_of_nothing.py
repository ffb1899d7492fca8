"""The mean over kept elements, none of which may be kept.

Kind: masked-row. Effect of the wrong form: silent (NaN).
"""

from jaxtyping import Bool, Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"], keep: Bool[Tensor, "b n"]) -> Float[Tensor, "b"]:
    return (x * keep).sum(-1) / keep.sum(-1).clamp(min=1)


def wrong_backward(
    grad: Float[Tensor, "b"], x: Float[Tensor, "b n"], keep: Bool[Tensor, "b n"]
) -> tuple[Float[Tensor, "b n"], None]:
    return grad[:, None] * keep / keep.sum(-1, keepdim=True), None  # BUG


def right_backward(
    grad: Float[Tensor, "b"], x: Float[Tensor, "b n"], keep: Bool[Tensor, "b n"]
) -> tuple[Float[Tensor, "b n"], None]:
    return grad[:, None] * keep / keep.sum(-1, keepdim=True).clamp(min=1), None
