"""Axes of size one, removed by name or where nothing else can be one."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def scores(h: Float[Tensor, "b t 16"], w: nn.Linear) -> Float[Tensor, "b t"]:
    return w(h).squeeze(-1)


def loss_value(x: Float[Tensor, "b d"]) -> float:
    return x.pow(2).mean().squeeze().item()


def last_layer(h: Float[Tensor, "1 b 16"]) -> Float[Tensor, "b 16"]:
    return h.squeeze(0)


def fixed(x: Float[Tensor, "8 1 16"]) -> Float[Tensor, "8 16"]:
    return x.squeeze()


def single(image: Float[Tensor, "1 3 h w"]) -> Float[Tensor, "3 h w"]:
    return image[0]


def untouched(x: Float[Tensor, "b 3"]) -> Float[Tensor, "b 3"]:
    return x.squeeze(1)


def main() -> None:
    for b in (1, 3):
        assert scores(torch.randn(b, 4, 16), nn.Linear(16, 1)).shape == (b, 4)
        assert last_layer(torch.randn(1, b, 16)).shape == (b, 16)
        assert untouched(torch.randn(b, 3)).shape == (b, 3)
    assert fixed(torch.randn(8, 1, 16)).shape == (8, 16)
    loss_value(torch.randn(2, 3))


if __name__ == "__main__":
    main()
