"""Views whose free size torch computes."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def cross_entropy(logits: Float[Tensor, "b t v"], targets: Int[Tensor, "b t"]) -> Float[Tensor, ""]:
    return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def split_three(x: Float[Tensor, "b t 3*d"]) -> tuple[Tensor, Tensor, Tensor]:
    b, t, c = x.size()
    q, k, v = x.view(b, t, 3, -1).unbind(2)
    return q, k, v


def patchify(x: Float[Tensor, "b c h w"], p: int) -> Float[Tensor, "b n d"]:
    b, c, h, w = x.shape
    assert h % p == 0 and w % p == 0
    x = x.reshape(b, c, h // p, p, w // p, p)
    return x.permute(0, 2, 4, 3, 5, 1).reshape(b, (h // p) * (w // p), p * p * c)


def unpatchify(x: Float[Tensor, "b n d"], p: int, c: int) -> Float[Tensor, "b c s s"]:
    side = int(x.shape[1] ** 0.5)
    x = x.reshape(x.shape[0], side, side, p, p, c)
    x = torch.einsum("nhwpqc->nchpwq", x)
    return x.reshape(x.shape[0], c, side * p, side * p)


def main() -> None:
    for b in (1, 3):
        cross_entropy(torch.randn(b, 2, 5), torch.zeros(b, 2, dtype=torch.long))
        split_three(torch.randn(b, 2, 12))
        assert unpatchify(patchify(torch.randn(b, 3, 8, 8), 2), 2, 3).shape == (b, 3, 8, 8)


if __name__ == "__main__":
    main()
