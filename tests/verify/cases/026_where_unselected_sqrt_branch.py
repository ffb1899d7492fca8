"""026 where(x > 0, sqrt(x), x): gradient of the branch not taken is 0 * NaN.

Kind: where-nan. Effect of the wrong form: silent (NaN).
Source: https://github.com/pytorch/pytorch/issues/23395 ; https://github.com/pytorch/pytorch/issues/187297 ; https://github.com/jax-ml/jax/issues/347
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.where(x > 0, torch.sqrt(x.clamp(min=0)), x)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    m = (x > 0).to(x.dtype)
    return (grad * m * 0.5 / torch.sqrt(x) + grad * (1 - m),)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    safe = torch.where(x > 0, x, torch.ones_like(x))
    return (torch.where(x > 0, grad * 0.5 / torch.sqrt(safe), grad),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.tensor([-1.0, -4.0, 9.0]),)
