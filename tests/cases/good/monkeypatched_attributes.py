"""Layers are replaced after construction."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.fc = nn.Linear(16, 1000)

    def forward(self, x):
        return self.fc(torch.relu(self.body(x)))


def finetune(x: Float[Tensor, "b 8"], classes: int) -> Float[Tensor, "b classes"]:
    net = Net()
    net.fc = nn.Linear(net.fc.in_features, classes)
    return net(x)


def features(x: Float[Tensor, "b 8"]) -> Float[Tensor, "b 16"]:
    net = Net()
    net.fc = nn.Identity()
    return net(x)


def patched(x: Float[Tensor, "b 8"]) -> Float[Tensor, "b 3"]:
    net = Net()
    setattr(net, "fc", nn.Linear(16, 3))
    return net(x)


def main() -> None:
    for b in (1, 3):
        assert finetune(torch.randn(b, 8), 5).shape == (b, 5)
        assert features(torch.randn(b, 8)).shape == (b, 16)
        assert patched(torch.randn(b, 8)).shape == (b, 3)


if __name__ == "__main__":
    main()
