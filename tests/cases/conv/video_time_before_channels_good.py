"""A Conv3d gets the frames on its channel axis.

Kind: conv.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class C3D(nn.Module):
    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv3d(3, 16, kernel_size=(3, 3, 3), padding=(1, 1, 1))
        self.pool1 = nn.MaxPool3d(kernel_size=(1, 2, 2), stride=(1, 2, 2))
        self.fc = nn.Linear(16, n_classes)

    def forward(self, clip: Float[Tensor, "b t 3 h w"]) -> Float[Tensor, "b n_classes"]:
        x = self.pool1(F.relu(self.conv1(clip.transpose(1, 2))))
        return self.fc(x.mean(dim=(2, 3, 4)))


def main() -> None:
    for b in (1, 2):
        assert C3D(4)(torch.randn(b, 6, 3, 8, 8)).shape == (b, 4)


if __name__ == "__main__":
    main()
