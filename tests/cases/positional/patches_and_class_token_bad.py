"""One position for each patch, none for the class token.

Kind: positional.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ViT(nn.Module):
    def __init__(self, num_patches: int, dim: int) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches, dim))
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.dropout = nn.Dropout(0.1)

    def forward(self, patches: Float[Tensor, "b num_patches dim"]) -> Float[Tensor, "b dim"]:
        b, _, _ = patches.shape
        cls_tokens = self.cls_token.repeat(b, 1, 1)
        x = torch.cat((cls_tokens, patches), dim=1)
        x += self.pos_embedding  # error[shape]
        return self.dropout(x)[:, 0]


def main() -> None:
    for b in (1, 3):
        assert ViT(9, 4)(torch.randn(b, 9, 4)).shape == (b, 4)


if __name__ == "__main__":
    main()
