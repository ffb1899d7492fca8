"""021 two outputs (normed, residual): the residual gradient is pushed through the norm's backward as well.

Kind: missing-term. Effect of the wrong form: silent.
Source: https://github.com/Dao-AILab/quack/pull/53
"""

import torch
from jaxtyping import Float
from torch import Tensor

EPS = 1e-6


def forward(x: Float[Tensor, "b d"], res: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b d"]]:
    s = x + res
    return s * torch.rsqrt((s * s).mean(-1, keepdim=True) + EPS), s


def _norm_bwd(g: Float[Tensor, "b d"], s: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    r = torch.rsqrt((s * s).mean(-1, keepdim=True) + EPS)
    return r * (g - s * r * r * (g * s).mean(-1, keepdim=True))


def wrong_backward(
    grad: tuple[Float[Tensor, "b d"], Float[Tensor, "b d"]], x: Float[Tensor, "b d"], res: Float[Tensor, "b d"]
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b d"]]:
    d = _norm_bwd(grad[0] + grad[1], x + res)  # BUG
    return d, d


def right_backward(
    grad: tuple[Float[Tensor, "b d"], Float[Tensor, "b d"]], x: Float[Tensor, "b d"], res: Float[Tensor, "b d"]
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b d"]]:
    d = _norm_bwd(grad[0], x + res) + grad[1]
    return d, d


def inputs() -> tuple[Tensor, ...]:
    return torch.randn(3, 4), torch.randn(3, 4)
