"""Maximum of windows of two: both entries of a tie get the whole gradient.

Kind: ties. Effect of the wrong form: silent.
Source: https://github.com/mni-ml/framework/pull/22
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b 2*l"]) -> Float[Tensor, "b l"]:
    return F.max_pool1d(x.unsqueeze(1), 2).squeeze(1)


def wrong_backward(grad: Float[Tensor, "b l"], x: Float[Tensor, "b 2*l"]) -> tuple[Float[Tensor, "b 2*l"]]:
    pairs = x.unflatten(1, (-1, 2))
    top = pairs.amax(-1, keepdim=True)
    return (((pairs == top) * grad.unsqueeze(-1)).flatten(1),)  # BUG


def right_backward(grad: Float[Tensor, "b l"], x: Float[Tensor, "b 2*l"]) -> tuple[Float[Tensor, "b 2*l"]]:
    pairs = x.unflatten(1, (-1, 2))
    winner = pairs.argmax(-1, keepdim=True)
    return (torch.zeros_like(pairs).scatter_(-1, winner, grad.unsqueeze(-1)).flatten(1),)
