"""Layers chosen by classes in variables, and modules that are built from a list of settings."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

CFG = {"A": [8, "M", 16, "M"], "B": [8, 8, "M", 16, 16, "M"]}


def make_layers(cfg, batch_norm=False):
    layers = []
    in_channels = 3
    for v in cfg:
        if v == "M":
            layers += [nn.MaxPool2d(kernel_size=2, stride=2)]
        else:
            conv2d = nn.Conv2d(in_channels, v, kernel_size=3, padding=1)
            if batch_norm:
                layers += [conv2d, nn.BatchNorm2d(v), nn.ReLU(inplace=True)]
            else:
                layers += [conv2d, nn.ReLU(inplace=True)]
            in_channels = v
    return nn.Sequential(*layers)


class Vgg(nn.Module):
    def __init__(self, name: str, norm_layer: type[nn.Module] = nn.LayerNorm, act: type[nn.Module] = nn.ReLU) -> None:
        super().__init__()
        self.features = make_layers(CFG[name], batch_norm=True)
        self.classifier = nn.Sequential(nn.Linear(16 * 8 * 8, 32), norm_layer(32), act(), nn.Linear(32, 10))

    def forward(self, x: Float[Tensor, "b 3 32 32"]) -> Float[Tensor, "b 10"]:
        x = self.features(x)
        x = x.view(x.size(0), -1)
        return self.classifier(x)


def main() -> None:
    for name in CFG:
        assert Vgg(name)(torch.randn(2, 3, 32, 32)).shape == (2, 10)


if __name__ == "__main__":
    main()
