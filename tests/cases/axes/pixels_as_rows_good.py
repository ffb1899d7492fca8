"""The pixels of channels-first images are listed with a view to (-1, channels).

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class PixelClassifier(nn.Module):
    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.channels = channels
        self.linear = nn.Linear(channels, classes)

    def forward(self, x: Float[Tensor, "b channels h w"]) -> Float[Tensor, "b*h*w classes"]:
        return self.linear(x.permute(0, 2, 3, 1).reshape(-1, self.channels))


def main() -> None:
    model, x = PixelClassifier(3, 2), torch.randn(2, 3, 4, 5)
    assert torch.allclose(model(x)[1], model.linear(x[0, :, 0, 1]), atol=1e-6)


if __name__ == "__main__":
    main()
