"""A DQN for 84x84 frames with the head of another paper's net.

Kind: linear.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class DQN(nn.Module):
    """Three convolutions and two linear layers, as in the Nature paper."""

    def __init__(self, in_frames: int, n_actions: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_frames, 32, kernel_size=8, stride=4)
        self.conv2 = nn.Conv2d(32, 64, kernel_size=4, stride=2)
        self.conv3 = nn.Conv2d(64, 64, kernel_size=3, stride=1)
        self.fc4 = nn.Linear(7 * 7 * 64, 512)
        self.fc5 = nn.Linear(512, n_actions)

    def forward(self, x: Float[Tensor, "batch in_frames 84 84"]) -> Float[Tensor, "batch n_actions"]:
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        x = F.relu(self.fc4(x.view(x.size(0), -1)))
        return self.fc5(x)


def main() -> None:
    for b in (1, 32):
        assert DQN(4, 6)(torch.rand(b, 4, 84, 84)).shape == (b, 6)


if __name__ == "__main__":
    main()
