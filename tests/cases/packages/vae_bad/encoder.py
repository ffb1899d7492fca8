import torch
from jaxtyping import Float
from sizes import HIDDEN, IMAGE, LATENT
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(IMAGE, HIDDEN), nn.ReLU())
        self.mean = nn.Linear(HIDDEN, LATENT)
        self.logvar = nn.Linear(HIDDEN, LATENT)

    def forward(self, x: Float[Tensor, "b 1 28 28"]) -> tuple[Float[Tensor, "b 16"], Float[Tensor, "b 16"]]:
        h = self.body(x)
        return self.mean(h), self.logvar(h)


def sample(mean: Float[Tensor, "b z"], logvar: Float[Tensor, "b z"]) -> Float[Tensor, "b z"]:
    return mean + torch.randn_like(mean) * torch.exp(0.5 * logvar)
