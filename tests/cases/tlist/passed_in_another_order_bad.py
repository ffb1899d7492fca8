"""A second layer whose weight is (in, out)."""

import torch
from jaxtyping import Float
from torch import Tensor

from shaped import TList

Layer = TList[Float[Tensor, "out in"], Float[Tensor, "out"]]


def linear(layer: Layer, x: Float[Tensor, "b in"]) -> Float[Tensor, "b out"]:
    weight, bias = layer
    return x @ weight.T + bias


def network(first: Layer, x: Float[Tensor, "b in"]) -> Float[Tensor, "b 1"]:
    hidden = torch.tanh(linear(first, x))
    second = TList(torch.zeros(8, 1), torch.zeros(1))
    return linear(second, hidden)  # error[shape]: argument layer[1] of linear: (1,) does not match "out"


def main() -> None:
    network(Layer(torch.randn(8, 2), torch.randn(8)), torch.randn(5, 2))


if __name__ == "__main__":
    main()
