"""Loops whose tensors change shape from round to round."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


def upsample_to(x: Float[Tensor, "b c h w"], size: int) -> Tensor:
    while x.shape[-1] < size:
        x = F.interpolate(x, scale_factor=2)
    return x[..., :size, :size]


def generate(net: nn.Embedding, ids: Int[Tensor, "b t"], steps: int) -> Int[Tensor, "b n"]:
    for _ in range(steps):
        logits = net(ids)[:, -1, :]
        nxt = logits.argmax(-1, keepdim=True)
        ids = torch.cat([ids, nxt], dim=1)
    return ids


def pyramid(x: Float[Tensor, "b c h w"], levels: int = 3) -> list[Tensor]:
    out = [x]
    for _ in range(levels - 1):
        x = F.avg_pool2d(x, 2)
        out.append(x)
    return out


def collapse(x: Tensor) -> Tensor:
    while x.dim() > 2:
        x = x.mean(dim=1)
    return x


def main() -> None:
    assert upsample_to(torch.randn(1, 2, 3, 3), 20).shape == (1, 2, 20, 20)
    assert generate(nn.Embedding(5, 5), torch.zeros(2, 3, dtype=torch.long), 4).shape == (2, 7)
    assert [p.shape[-1] for p in pyramid(torch.randn(1, 1, 16, 16))] == [16, 8, 4]
    assert collapse(torch.randn(2, 3, 4, 5)).shape == (2, 5)


if __name__ == "__main__":
    main()
