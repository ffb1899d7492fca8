"""Keys are laid over the groups in front of the heads, where the queries have the heads in front.

Kind: axes.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def attend(
    q: Float[Tensor, "b t kv_heads groups d"], k: Float[Tensor, "b s kv_heads d"], v: Float[Tensor, "b s kv_heads d"]
) -> Float[Tensor, "b kv_heads*groups t d"]:
    groups = q.size(3)
    queries = q.flatten(2, 3).transpose(1, 2)
    keys = k.repeat(1, 1, groups, 1).transpose(1, 2)
    values = v.repeat(1, 1, groups, 1).transpose(1, 2)
    return F.scaled_dot_product_attention(queries, keys, values)  # error[shape-axes]


def main() -> None:
    values = torch.arange(2.0)[:, None].expand(1, 4, 2, 3)
    found = attend(torch.randn(1, 5, 2, 2, 3), torch.randn(1, 4, 2, 3), values)
    assert torch.allclose(found[0, :, 0, 0], torch.tensor([0.0, 0.0, 1.0, 1.0]))


if __name__ == "__main__":
    main()
