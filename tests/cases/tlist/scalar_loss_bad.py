"""A loss over typed lists whose first layer is not transposed."""

import torch
from jaxtyping import Float
from torch import Tensor

from shaped import TList

Params = TList[Float[Tensor, "8 2"], Float[Tensor, "8"], Float[Tensor, "1 8"], Float[Tensor, "1"]]
Inputs = TList[Float[Tensor, "b 2"]]
Labels = TList[Float[Tensor, "b 1"]]


def loss(params: Params, inputs: Inputs, labels: Labels) -> Float[Tensor, ""]:
    w1, b1, w2, b2 = params
    (x,) = inputs
    hidden = torch.relu(x @ w1 + b1)  # error[shape]: inner dimensions 2 and 8 differ
    output = hidden @ w2.T + b2
    return ((output - labels[0]) ** 2).mean()


def main() -> None:
    params = Params(torch.randn(8, 2), torch.zeros(8), torch.randn(1, 8), torch.zeros(1))
    loss(params, Inputs(torch.randn(5, 2)), Labels(torch.randn(5, 1)))


if __name__ == "__main__":
    main()
