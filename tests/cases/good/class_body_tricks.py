"""Class attributes, slots, counters, default factories and enums."""

from dataclasses import dataclass, field
from enum import IntEnum

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Mode(IntEnum):
    RGB = 3
    GRAY = 1


@dataclass
class Spec:
    widths: list[int] = field(default_factory=lambda: [8, 16])
    mode: Mode = Mode.RGB


class Net(nn.Module):
    kernel, stride = 3, 2
    count = 0

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        type(self).count += 1
        w0, w1 = spec.widths
        self.conv1 = nn.Conv2d(int(spec.mode), w0, self.kernel, self.stride)
        self.conv2 = nn.Conv2d(w0, w1, self.kernel, self.stride)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(spec.widths[-1], 2)

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b 2"]:
        x = self.pool(self.conv2(self.conv1(x)))
        return self.fc(x.flatten(1))


def main() -> None:
    for mode in Mode:
        assert Net(Spec(mode=mode))(torch.randn(2, int(mode), 16, 16)).shape == (2, 2)


if __name__ == "__main__":
    main()
