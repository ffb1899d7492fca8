"""A small package: the configuration in one module, the layers in another."""

import torch
from jaxtyping import Float, Int
from model import Block, Config
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(config.vocab, config.d_model)
        self.blocks = nn.ModuleList([Block(config) for _ in range(2)])

    def forward(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b d_model"]:
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)  # cause: the call
        return x.mean(dim=1)


def main() -> None:
    for b in (1, 3):
        assert Encoder(Config())(torch.randint(100, (b, 5))).shape == (b, 32)


if __name__ == "__main__":
    main()
