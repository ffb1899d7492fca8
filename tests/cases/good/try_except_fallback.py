"""Something faster is tried first."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def attention(
    q: Float[Tensor, "b h t d"], k: Float[Tensor, "b h s d"], v: Float[Tensor, "b h s d"]
) -> Float[Tensor, "b h t d"]:
    try:
        return F.scaled_dot_product_attention(q, k, v)
    except (RuntimeError, AttributeError):
        w = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return w @ v
    finally:
        torch.manual_seed(0)


def stack_or_pad(xs: list[Tensor]) -> Tensor:
    try:
        return torch.stack(xs)
    except RuntimeError:
        n = max(len(x) for x in xs)
        return torch.stack([F.pad(x, (0, n - len(x))) for x in xs])


def main() -> None:
    for b in (1, 2):
        assert attention(torch.randn(b, 2, 3, 4), torch.randn(b, 2, 5, 4), torch.randn(b, 2, 5, 4)).shape == (
            b,
            2,
            3,
            4,
        )
    assert stack_or_pad([torch.ones(3), torch.ones(5)]).shape == (2, 5)


if __name__ == "__main__":
    main()
