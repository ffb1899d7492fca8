"""In-place forms that keep or change the shape of their tensor."""

import torch
from jaxtyping import Float
from torch import Tensor


def causal(scores: Float[Tensor, "b t t"]) -> Float[Tensor, "b t t"]:
    mask = torch.triu(torch.ones(scores.size(-1), scores.size(-1), dtype=torch.bool), diagonal=1)
    scores.masked_fill_(mask, float("-inf"))
    return scores.softmax(-1)


def grow(x: Float[Tensor, "b d"], bias: Float[Tensor, "d"]) -> Float[Tensor, "b 1 d"]:
    x.add_(bias).mul_(2)
    x.unsqueeze_(1)
    return x


def fill(out: Float[Tensor, "n m"], row: Float[Tensor, "m"]) -> Float[Tensor, "n m"]:
    out[0] = row
    out[1:, :2] = 0.0
    out[:, -1] += 1
    out[out < 0] = 0
    return out


def swap(x: Float[Tensor, "a c"]) -> Float[Tensor, "c a"]:
    x.t_()
    return x


def main() -> None:
    for b in (1, 3):
        assert causal(torch.randn(b, 4, 4)).shape == (b, 4, 4)
        assert grow(torch.randn(b, 4), torch.ones(4)).shape == (b, 1, 4)
        assert fill(torch.randn(b + 1, 4), torch.ones(4)).shape == (b + 1, 4)
        assert swap(torch.randn(b, 4)).shape == (4, b)


if __name__ == "__main__":
    main()
