"""log_softmax: the sum of the incoming gradient is a mean.

Kind: reduction-scale. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "... c"]) -> Float[Tensor, "... c"]:
    return x.log_softmax(-1)


def wrong_backward(grad: Float[Tensor, "... c"], x: Float[Tensor, "... c"]) -> Float[Tensor, "... c"]:
    return grad - x.softmax(-1) * grad.mean(-1, keepdim=True)  # BUG


def right_backward(grad: Float[Tensor, "... c"], x: Float[Tensor, "... c"]) -> Float[Tensor, "... c"]:
    return grad - torch.exp(x - torch.logsumexp(x, -1, keepdim=True)) * grad.sum(-1, keepdim=True)
