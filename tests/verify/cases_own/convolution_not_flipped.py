"""The gradient by the signal correlates with the kernel where it should convolve.

Kind: missing-flip. Effect of the wrong form: silent.
"""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "1 1 n+2"], kernel: Float[Tensor, "1 1 3"]) -> Float[Tensor, "1 1 n"]:
    return F.conv1d(x, kernel)


def wrong_backward(
    grad: Float[Tensor, "1 1 n"], x: Float[Tensor, "1 1 n+2"], kernel: Float[Tensor, "1 1 3"]
) -> tuple[Float[Tensor, "1 1 n+2"], Float[Tensor, "1 1 3"]]:
    return F.conv1d(F.pad(grad, (2, 2)), kernel), F.conv1d(x, grad)  # BUG


def right_backward(
    grad: Float[Tensor, "1 1 n"], x: Float[Tensor, "1 1 n+2"], kernel: Float[Tensor, "1 1 3"]
) -> tuple[Float[Tensor, "1 1 n+2"], Float[Tensor, "1 1 3"]]:
    return F.conv1d(F.pad(grad, (2, 2)), kernel.flip(-1)), F.conv1d(x, grad)
