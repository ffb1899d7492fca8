"""A function's arguments are passed in the wrong order.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def attend(
    query: Float[Tensor, "b d"], keys: Float[Tensor, "b s d"], values: Float[Tensor, "b s v"]
) -> Float[Tensor, "b v"]:
    weights = torch.einsum("bd,bsd->bs", query, keys).softmax(dim=-1)
    return torch.einsum("bs,bsv->bv", weights, values)


def read_memory(
    controller: Float[Tensor, "b d"], memory: Float[Tensor, "b s d"], contents: Float[Tensor, "b s v"]
) -> Float[Tensor, "b v"]:
    return attend(controller, memory, contents)


def main() -> None:
    for b in (1, 2):
        assert read_memory(torch.randn(b, 3), torch.randn(b, 4, 3), torch.randn(b, 4, 5)).shape == (b, 5)


if __name__ == "__main__":
    main()
