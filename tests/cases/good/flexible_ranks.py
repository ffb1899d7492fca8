"""One function for several ranks."""

import torch
from jaxtyping import Float
from torch import Tensor


def layer_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / (var + eps).sqrt()


def broadcast_mask(mask: Tensor, scores: Float[Tensor, "b h q k"]) -> Float[Tensor, "b h q k"]:
    if mask.dim() == 2:
        mask = mask[None, None, :, :]
    elif mask.dim() == 3:
        mask = mask[:, None, :, :]
    return scores.masked_fill(mask == 0, -1e4)


def ensure_batched(x: Tensor, ndim: int) -> tuple[Tensor, bool]:
    if x.ndim == ndim - 1:
        return x[None], True
    return x, False


def flat_batch(x: Float[Tensor, "*b c"]) -> Float[Tensor, "n c"]:
    return x if x.ndim == 2 else x.reshape(-1, x.shape[-1])


def main() -> None:
    for shape in ((3,), (2, 3), (4, 2, 3)):
        assert layer_norm(torch.randn(shape)).shape == shape
        flat_batch(torch.randn(shape))
    scores = torch.randn(2, 3, 4, 4)
    for mask in (torch.ones(4, 4), torch.ones(2, 4, 4), torch.ones(2, 1, 4, 4)):
        assert broadcast_mask(mask, scores).shape == scores.shape
    ensure_batched(torch.randn(3), 2)


if __name__ == "__main__":
    main()
