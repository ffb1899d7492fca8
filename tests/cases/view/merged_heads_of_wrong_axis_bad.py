"""After attention the heads are merged by their number instead of their width.

Kind: view.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Merge(nn.Module):
    def __init__(self, n_head: int, d_k: int, d_v: int, d_model: int) -> None:
        super().__init__()
        self.n_head, self.d_k, self.d_v = n_head, d_k, d_v
        self.fc = nn.Linear(n_head * d_v, d_model)

    def forward(self, context: Float[Tensor, "b n_head t d_v"]) -> Float[Tensor, "b t d_model"]:
        sz_b, _, len_q, _ = context.size()
        context = context.transpose(1, 2).contiguous()
        context = context.view(sz_b, len_q, self.n_head * self.d_k)  # error[shape]
        return self.fc(context)


def main() -> None:
    for b in (1, 2):
        assert Merge(2, 3, 4, 8)(torch.randn(b, 2, 5, 4)).shape == (b, 5, 8)


if __name__ == "__main__":
    main()
