"""Forward with the biased variance, backward with torch's default: n - 1.

Kind: missing-factor. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b t d"], weight: Float[Tensor, "d"], bias: Float[Tensor, "d"]) -> Float[Tensor, "b t d"]:
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, 1e-5)


def _all(grad: Tensor, x: Tensor, weight: Tensor, unbiased: bool) -> tuple[Tensor, Tensor, Tensor]:
    var, mean = torch.var_mean(x, -1, unbiased=unbiased, keepdim=True)
    rstd = torch.rsqrt(var + 1e-5)
    norm = (x - mean) * rstd
    wg = weight * grad
    dx = (wg - wg.mean(-1, keepdim=True) - norm * torch.mean(wg * norm, -1, True)) * rstd
    return dx, torch.einsum("btd,btd->d", grad, norm), torch.einsum("btd->d", grad)


def wrong_backward(
    grad: Float[Tensor, "b t d"], x: Float[Tensor, "b t d"], weight: Float[Tensor, "d"], bias: Float[Tensor, "d"]
) -> tuple[Float[Tensor, "b t d"], Float[Tensor, "d"], Float[Tensor, "d"]]:
    return _all(grad, x, weight, True)  # BUG


def right_backward(
    grad: Float[Tensor, "b t d"], x: Float[Tensor, "b t d"], weight: Float[Tensor, "d"], bias: Float[Tensor, "d"]
) -> tuple[Float[Tensor, "b t d"], Float[Tensor, "d"], Float[Tensor, "d"]]:
    return _all(grad, x, weight, False)
