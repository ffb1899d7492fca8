"""The statistics of images are over batch, height and width; the backward divides by the batch size alone.

Kind: reduction-scale. Effect of the wrong form: silent.
Source: https://github.com/mlpack/mlpack/issues/1923 ; https://github.com/apache/mxnet/issues/1053
"""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

EPS = 1e-3


def forward(x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n c h w"]:
    return F.batch_norm(x, None, None, training=True, eps=EPS)


def _dx(grad: Tensor, x: Tensor, m: int) -> Tensor:
    dims = (0, 2, 3)
    centred = x - x.mean(dims, keepdim=True)
    var = centred.pow(2).mean(dims, keepdim=True)
    inv = 1.0 / (var + EPS).sqrt()
    k = (grad * centred).sum(dims, keepdim=True) * inv * inv / m
    return (grad - grad.sum(dims, keepdim=True) / m - centred * k) * inv


def wrong_backward(grad: Float[Tensor, "n c h w"], x: Float[Tensor, "n c h w"]) -> tuple[Float[Tensor, "n c h w"]]:
    return (_dx(grad, x, x.size(0)),)  # BUG


def right_backward(grad: Float[Tensor, "n c h w"], x: Float[Tensor, "n c h w"]) -> tuple[Float[Tensor, "n c h w"]]:
    return (_dx(grad, x, x.size(0) * x.size(2) * x.size(3)),)
