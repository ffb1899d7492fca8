"""Any leading axes are flattened and restored."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class Codebook(nn.Module):
    def __init__(self, n_codes: int, dim: int) -> None:
        super().__init__()
        self.codes = nn.Embedding(n_codes, dim)

    def forward(self, z: Float[Tensor, "*lead dim"]) -> tuple[Float[Tensor, "*lead dim"], Int[Tensor, "*lead"]]:
        flat = z.reshape(-1, z.shape[-1])
        dist = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.codes.weight.t() + self.codes.weight.pow(2).sum(1)
        index = dist.argmin(dim=-1)
        quantized = self.codes(index).view(*z.shape)
        return z + (quantized - z).detach(), index.view(*z.shape[:-1])


def per_head(x: Float[Tensor, "... d"], heads: int) -> Float[Tensor, "... heads d_head"]:
    return x.view(*x.shape[:-1], heads, -1)


def main() -> None:
    for lead in ((2,), (2, 3), (2, 3, 4)):
        z, index = Codebook(8, 5)(torch.randn(*lead, 5))
        assert z.shape == (*lead, 5) and index.shape == lead
        assert per_head(torch.randn(*lead, 6), 2).shape == (*lead, 2, 3)


if __name__ == "__main__":
    main()
