"""An actor and a critic share a trunk whose width one of them missed.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ActorCritic(nn.Module):
    def __init__(self, obs_dim: int, act_dim: int, hidden: int = 64) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden // 2), nn.Tanh())
        self.pi = nn.Linear(hidden // 2, act_dim)
        self.v = nn.Linear(hidden, 1)

    def forward(self, obs: Float[Tensor, "n obs_dim"]) -> tuple[Float[Tensor, "n act_dim"], Float[Tensor, "n"]]:
        z = self.trunk(obs)
        return self.pi(z), self.v(z).squeeze(-1)  # error[shape]


def main() -> None:
    for n in (1, 3):
        pi, v = ActorCritic(3, 2)(torch.randn(n, 3))
        assert pi.shape == (n, 2) and v.shape == (n,)


if __name__ == "__main__":
    main()
