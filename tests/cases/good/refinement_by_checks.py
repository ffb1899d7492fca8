"""What a check has ruled out is known after it."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def merge(a: Float[Tensor, "n d"], b: Float[Tensor, "m e"]) -> Float[Tensor, "n d"]:
    if a.shape != b.shape:
        raise ValueError("shapes differ")
    return a + b


def head_split(x: Float[Tensor, "b t d"], heads: int) -> Float[Tensor, "b heads t d_head"]:
    b, t, d = x.shape
    if d % heads != 0:
        raise ValueError(f"{d} is not divisible by {heads}")
    return x.view(b, t, heads, d // heads).transpose(1, 2)


def to_batch(image: Tensor) -> Tensor:
    if image.ndim == 3:
        image = image.unsqueeze(0)
    assert image.ndim == 4, "an image or a batch of images"
    b, c, h, w = image.shape
    if c == 1:
        image = image.expand(-1, 3, -1, -1)
    return F.conv2d(image, torch.ones(2, 3, 1, 1))


def as_tensor(x: Tensor | list[float]) -> Float[Tensor, "n"]:
    if isinstance(x, list):
        x = torch.tensor(x)
    torch._check(x.dim() == 1)
    return x


def aligned(x: Float[Tensor, "n d"], y: Float[Tensor, "m d"]) -> Float[Tensor, "n d"]:
    assert x.size(0) == y.size(0), "as many queries as keys"
    return x * y


def main() -> None:
    merge(torch.ones(2, 3), torch.ones(2, 3))
    assert head_split(torch.ones(2, 3, 4), 2).shape == (2, 2, 3, 2)
    for shape in ((1, 4, 5), (3, 4, 5), (2, 1, 4, 5)):
        assert to_batch(torch.ones(*shape)).shape[1:] == (2, 4, 5)
    as_tensor([1.0, 2.0])
    aligned(torch.ones(2, 3), torch.ones(2, 3))


if __name__ == "__main__":
    main()
