"""The size of a group is read from the last axis alone, before the image is flattened.

Kind: shape-assumption. Effect of the wrong form: silent.
Source: https://github.com/linkedin/Liger-Kernel/pull/1376
"""

from jaxtyping import Float
from torch import Tensor

EPS = 1e-5
GROUPS = 2


def forward(x: Float[Tensor, "n 2*c h w"]) -> Float[Tensor, "n 2*c h w"]:
    y = x.reshape(x.shape[0], GROUPS, -1)
    mean = y.mean(-1, keepdim=True)
    var = y.var(-1, correction=0, keepdim=True)
    return ((y - mean) / (var + EPS).sqrt()).view_as(x)


def _group(grad: Tensor, x: Tensor, size: int) -> Tensor:
    g, y = grad.reshape(x.shape[0], GROUPS, -1), x.reshape(x.shape[0], GROUPS, -1)
    rstd = (y.var(-1, correction=0, keepdim=True) + EPS).rsqrt()
    xhat = (y - y.mean(-1, keepdim=True)) * rstd
    c1 = (g * xhat).sum(-1, keepdim=True) / size
    c2 = g.sum(-1, keepdim=True) / size
    return ((g - xhat * c1 - c2) * rstd).reshape(x.shape)


def wrong_backward(
    grad: Float[Tensor, "n 2*c h w"], x: Float[Tensor, "n 2*c h w"]
) -> tuple[Float[Tensor, "n 2*c h w"]]:
    return (_group(grad, x, x.shape[-1] * x.shape[1] // GROUPS),)  # BUG


def right_backward(
    grad: Float[Tensor, "n 2*c h w"], x: Float[Tensor, "n 2*c h w"]
) -> tuple[Float[Tensor, "n 2*c h w"]]:
    return (_group(grad, x, x[0].numel() // GROUPS),)
