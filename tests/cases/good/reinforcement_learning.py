"""Advantages, one-hot actions and stacked transitions."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def gae(
    rewards: Float[Tensor, "t n"], values: Float[Tensor, "t+1 n"], dones: Float[Tensor, "t n"], gamma: float, lam: float
) -> tuple[Float[Tensor, "t n"], Float[Tensor, "t n"]]:
    advantages = torch.zeros_like(rewards)
    last = torch.zeros_like(rewards[0])
    for t in reversed(range(rewards.shape[0])):
        delta = rewards[t] + gamma * values[t + 1] * (1.0 - dones[t]) - values[t]
        last = delta + gamma * lam * (1.0 - dones[t]) * last
        advantages[t] = last
    return advantages, advantages + values[:-1]


def dqn_loss(
    q: Float[Tensor, "b a"], q_next: Float[Tensor, "b a"], actions: Int[Tensor, "b"], r: Float[Tensor, "b"]
) -> Float[Tensor, ""]:
    chosen = (q * F.one_hot(actions, q.size(1))).sum(dim=1)
    with torch.no_grad():
        target = r + 0.99 * q_next.max(dim=1).values
    return F.smooth_l1_loss(chosen, target)


def collect(transitions: list[tuple[Tensor, int, float]]) -> tuple[Tensor, Tensor, Tensor]:
    obs, actions, rewards = zip(*transitions)
    return torch.stack(obs), torch.tensor(actions), torch.tensor(rewards)


def main() -> None:
    for n in (1, 3):
        a, ret = gae(torch.randn(4, n), torch.randn(5, n), torch.zeros(4, n), 0.9, 0.9)
        assert a.shape == ret.shape == (4, n)
        dqn_loss(torch.randn(n, 3), torch.randn(n, 3), torch.zeros(n, dtype=torch.long), torch.randn(n))
    obs, actions, rewards = collect([(torch.randn(3), 1, 0.5)] * 4)
    assert obs.shape == (4, 3) and actions.shape == rewards.shape == (4,)


if __name__ == "__main__":
    main()
