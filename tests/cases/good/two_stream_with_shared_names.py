"""Two instances of one class with different sizes in one model."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Projector(nn.Module):
    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.d_in, self.d_out = d_in, d_out
        self.net = nn.Sequential(nn.Linear(d_in, d_out), nn.LayerNorm(d_out))

    def forward(self, x: Float[Tensor, "b {self.d_in}"]) -> Float[Tensor, "b {self.d_out}"]:
        return self.net(x)


class Clip(nn.Module):
    def __init__(self, image_dim: int, text_dim: int, shared: int) -> None:
        super().__init__()
        self.image = Projector(image_dim, shared)
        self.text = Projector(text_dim, shared)
        self.logit_scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, image: Float[Tensor, "n image_dim"], text: Float[Tensor, "m text_dim"]) -> Float[Tensor, "n m"]:
        a, c = F.normalize(self.image(image), dim=-1), F.normalize(self.text(text), dim=-1)
        return self.logit_scale.exp() * a @ c.t()


def contrastive(model: Clip, image: Float[Tensor, "n i"], text: Float[Tensor, "n t"]) -> Float[Tensor, ""]:
    logits = model(image, text)
    labels = torch.arange(logits.shape[0], device=logits.device)
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2


def main() -> None:
    for n in (1, 4):
        contrastive(Clip(3, 5, 2), torch.randn(n, 3), torch.randn(n, 5))


if __name__ == "__main__":
    main()
