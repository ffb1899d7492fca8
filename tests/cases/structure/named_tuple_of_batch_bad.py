"""A field of a named tuple has another axis first.

Kind: structure.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Rollout(NamedTuple):
    values: Float[Tensor, "t n"]
    rewards: Float[Tensor, "t n"]
    last_value: Float[Tensor, "n"]


def advantages(rollout: Rollout, gamma: float = 0.99) -> Float[Tensor, "t n"]:
    next_values = torch.cat([rollout.values[1:], rollout.last_value], dim=0)  # error[shape]
    return rollout.rewards + gamma * next_values - rollout.values


def main() -> None:
    for n in (1, 3):
        assert advantages(Rollout(torch.randn(5, n), torch.randn(5, n), torch.randn(n))).shape == (5, n)


if __name__ == "__main__":
    main()
