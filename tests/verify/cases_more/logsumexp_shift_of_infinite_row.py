"""log-sum-exp shifted by a maximum of -inf: -inf - -inf.

Kind: log-domain-inf. Effect of the wrong form: silent (NaN).
Source: https://github.com/pytorch/pytorch/issues/31829 ; https://github.com/jax-ml/jax/issues/6811
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b"]:
    return torch.logsumexp(x, 1)


def wrong_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    top = x.amax(1, keepdim=True)
    e = (x - top).exp()  # BUG
    return (grad.unsqueeze(1) * e / e.sum(1, keepdim=True),)


def right_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    top = x.amax(1, keepdim=True)
    top = torch.where(torch.isfinite(top), top, torch.zeros_like(top))
    e = (x - top).exp()
    total = e.sum(1, keepdim=True)
    return (grad.unsqueeze(1) * e / total.masked_fill(total == 0, 1.0),)
