"""max(sqrt(x^2 + y^2), eps): the slope of the root at 0 is multiplied by the 0 of the maximum.

Kind: singular-point. Effect of the wrong form: silent (NaN).
Source: https://github.com/ml-explore/mlx/issues/3668
"""

import torch
from jaxtyping import Float
from torch import Tensor

EPS = 1e-3


def forward(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.clamp_min(torch.sqrt(x * x + y * y), EPS)


def wrong_backward(
    grad: Float[Tensor, "n"], x: Float[Tensor, "n"], y: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    rho = torch.sqrt(x * x + y * y)
    slope = grad * (rho > EPS).to(rho.dtype) / rho  # BUG
    return slope * x, slope * y


def right_backward(
    grad: Float[Tensor, "n"], x: Float[Tensor, "n"], y: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    rho = torch.sqrt(x * x + y * y)
    slope = grad * (rho > EPS).to(rho.dtype) / rho.clamp_min(EPS)
    return slope * x, slope * y
