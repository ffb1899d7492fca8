"""Ints, slices, None, Ellipsis, masks and index tensors together."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def mixed(x: Float[Tensor, "b t h w"], rows: Int[Tensor, "k"]) -> Float[Tensor, "b k 1 w"]:
    y = x[:, rows]
    assert y.shape[2] > 0
    return y[:, :, -1:, :]


def borders(x: Float[Tensor, "b h w"]) -> Float[Tensor, "b h-2 w-2"]:
    return x[..., 1:-1, 1:-1]


def shift(x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t d"]:
    return torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)


def every_other(x: Float[Tensor, "b 2*t d"]) -> Float[Tensor, "b t d"]:
    return x[:, ::2] + x[:, 1::2]


def batched_pick(x: Float[Tensor, "b t d"], i: Int[Tensor, "b"]) -> Float[Tensor, "b d"]:
    return x[torch.arange(x.shape[0]), i]


def where(x: Float[Tensor, "b d"], keep: Bool[Tensor, "b"]) -> Float[Tensor, "m d"]:
    return torch.cat([x[keep], x[~keep]])[keep.nonzero().squeeze(1)]


def grid(x: Float[Tensor, "n n"], i: Int[Tensor, "k"]) -> Float[Tensor, "k k"]:
    return x[i[:, None], i[None, :]]


def main() -> None:
    for b in (1, 3):
        assert mixed(torch.randn(b, 4, 5, 6), torch.tensor([0, 2])).shape == (b, 2, 1, 6)
        assert borders(torch.randn(b, 5, 6)).shape == (b, 3, 4)
        assert shift(torch.randn(b, 5, 6)).shape == (b, 5, 6)
        assert every_other(torch.randn(b, 6, 2)).shape == (b, 3, 2)
        assert batched_pick(torch.randn(b, 5, 6), torch.zeros(b, dtype=torch.long)).shape == (b, 6)
        where(torch.randn(b, 2), torch.ones(b, dtype=torch.bool))
    assert grid(torch.randn(4, 4), torch.tensor([0, 1, 3])).shape == (3, 3)


if __name__ == "__main__":
    main()
