"""The heads' outputs are merged while the heads still stand in front of the tokens.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Attention(nn.Module):
    def __init__(self, num_heads: int, head_dim: int) -> None:
        super().__init__()
        self.num_heads, self.head_dim = num_heads, head_dim

    def merge(self, x: Tensor) -> Tensor:
        return x.reshape(x.size(0), -1, self.num_heads * self.head_dim)  # error[shape-axes]

    def forward(
        self, q: Float[Tensor, "b t num_heads head_dim"], v: Float[Tensor, "b t num_heads head_dim"]
    ) -> Float[Tensor, "b t num_heads*head_dim"]:
        q, v = q.transpose(1, 2), v.transpose(1, 2)
        weights = (q @ q.transpose(-2, -1)).softmax(-1)
        return self.merge(weights @ v)


def main() -> None:
    q, v = torch.randn(2, 5, 3, 4), torch.ones(2, 5, 3, 4) * torch.arange(3)[:, None]
    assert torch.allclose(Attention(3, 4)(q, v)[0, 0], torch.arange(3.0).repeat_interleave(4))


if __name__ == "__main__":
    main()
