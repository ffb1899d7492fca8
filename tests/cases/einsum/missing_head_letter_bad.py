"""The equation is for one head, the tensors have several.

Kind: einsum.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def attend(
    q: Float[Tensor, "b h i d"], k: Float[Tensor, "b h j d"], v: Float[Tensor, "b h j d"]
) -> Float[Tensor, "b h i d"]:
    dots = torch.einsum("bid,bjd->bij", q, k) * q.shape[-1] ** -0.5  # error[shape]
    attn = dots.softmax(dim=-1)
    return torch.einsum("bhij,bhjd->bhid", attn, v)


def main() -> None:
    for b in (1, 3):
        assert attend(torch.randn(b, 2, 5, 4), torch.randn(b, 2, 6, 4), torch.randn(b, 2, 6, 4)).shape == (b, 2, 5, 4)


if __name__ == "__main__":
    main()
