"""Features collected in lists and dicts over stages, with matching decoders."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class EncoderDecoder(nn.Module):
    def __init__(self, widths: tuple[int, ...] = (4, 8, 16)) -> None:
        super().__init__()
        chans = (3, *widths)
        self.downs = nn.ModuleList([nn.Conv2d(i, o, 3, stride=2, padding=1) for i, o in zip(chans, chans[1:])])
        rev = widths[::-1]
        self.ups = nn.ModuleList([nn.ConvTranspose2d(i, o, 2, stride=2) for i, o in zip(rev, rev[1:])])
        self.last = nn.ConvTranspose2d(widths[0], 3, 2, stride=2)

    def forward(self, x: Float[Tensor, "b 3 8*h 8*w"]) -> Float[Tensor, "b 3 8*h 8*w"]:
        skips = []
        for down in self.downs:
            x = F.relu(down(x))
            skips.append(x)
        skips = skips[:-1]
        for up, skip in zip(self.ups, reversed(skips)):
            x = up(x) + skip
        return self.last(x)


def features_by_name(x: Float[Tensor, "b 3 h w"]) -> dict[str, Tensor]:
    out = {}
    for name, scale in [("full", 1), ("half", 2)]:
        out[name] = F.avg_pool2d(x, scale)
    out["global"] = x.mean((2, 3))
    return out


def main() -> None:
    for b in (1, 2):
        assert EncoderDecoder()(torch.randn(b, 3, 16, 24)).shape == (b, 3, 16, 24)
        assert features_by_name(torch.randn(b, 3, 4, 4))["global"].shape == (b, 3)


if __name__ == "__main__":
    main()
