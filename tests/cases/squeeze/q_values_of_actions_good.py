"""The value of each action taken, squeezed to nothing for a batch of one.

Kind: squeeze.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def td_loss(
    q_values: Float[Tensor, "batch n_actions"],
    actions: Int[Tensor, "batch"],
    rewards: Float[Tensor, "batch"],
    next_q: Float[Tensor, "batch n_actions"],
    gamma: float = 0.99,
) -> Float[Tensor, "batch"]:
    q = q_values.gather(1, actions.unsqueeze(1)).squeeze(1)
    target = rewards + gamma * next_q.max(1)[0].detach()
    return torch.stack([q, target]).diff(dim=0)[0]


def main() -> None:
    for b in (8, 1):
        out = td_loss(torch.randn(b, 3), torch.zeros(b, dtype=torch.long), torch.randn(b), torch.randn(b, 3))
        assert out.shape == (b,)


if __name__ == "__main__":
    main()
