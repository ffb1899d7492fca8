"""Rows that the annotation lists step by step are taken apart environment by environment.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def by_environment(values: Float[Tensor, "steps*envs d"], rewards: Float[Tensor, "steps envs"]) -> Tensor:
    steps, envs = rewards.shape
    return values.view(steps, envs, -1).transpose(0, 1)


def main() -> None:
    values = torch.arange(6.0)[:, None]
    assert by_environment(values, torch.zeros(2, 3))[:, 0, 0].tolist() == [0.0, 1.0, 2.0]


if __name__ == "__main__":
    main()
