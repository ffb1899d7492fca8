"""Lists that are passed on: the type of each parameter is met."""

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
    second = TList(torch.zeros(1, hidden.shape[1]), torch.zeros(1))
    return linear(second, hidden)


def main() -> None:
    network(Layer(torch.randn(3, 2), torch.randn(3)), torch.randn(5, 2))


if __name__ == "__main__":
    main()
