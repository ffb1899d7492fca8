"""One image without a batch is flattened as if it had one.

Kind: conv.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class SmallNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.fc = nn.Linear(8 * 16 * 16, 10)

    def forward(self, x):
        x = F.relu(self.conv(x))
        x = torch.flatten(x, 1)
        return self.fc(x)


def predict(net: SmallNet, image: Float[Tensor, "3 32 32"]) -> Float[Tensor, "10"]:
    net.eval()
    return net(image.unsqueeze(0))[0]


def main() -> None:
    assert predict(SmallNet(), torch.randn(3, 32, 32)).shape == (10,)


if __name__ == "__main__":
    main()
