"""log of masked probabilities: where protects the value, the gradient still divides by 0.

Kind: where-nan. Effect of the wrong form: silent (NaN).
Source: https://github.com/kornia/kornia/issues/4183
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(p: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.where(p > 0, torch.log(p.clamp_min(1e-38)), 0.0)


def wrong_backward(grad: Float[Tensor, "n"], p: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * (p > 0) / p,)  # BUG


def right_backward(grad: Float[Tensor, "n"], p: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    positive = p > 0
    return (torch.where(positive, grad / torch.where(positive, p.clamp_min(1e-38), 1.0), 0.0),)
