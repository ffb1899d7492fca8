"""The gate's weights are multiplied with the experts' outputs on the wrong axis.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class MixtureOfExperts(nn.Module):
    def __init__(self, d: int, n_experts: int) -> None:
        super().__init__()
        self.gate = nn.Linear(d, n_experts)
        self.experts = nn.ModuleList(nn.Linear(d, d) for _ in range(n_experts))

    def forward(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
        weights = self.gate(x).softmax(dim=-1)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=1)
        return torch.bmm(weights.unsqueeze(1), outputs).squeeze(1)


def main() -> None:
    for b in (2, 3):
        assert MixtureOfExperts(4, 5)(torch.randn(b, 4)).shape == (b, 4)


if __name__ == "__main__":
    main()
