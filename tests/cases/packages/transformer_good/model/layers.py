import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from .config import Config


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.linear1 = nn.Linear(config.d_model, config.d_ff)
        self.linear2 = nn.Linear(config.d_ff, config.d_model)

    def forward(self, x: Float[Tensor, "b t d_model"]) -> Float[Tensor, "b t d_model"]:
        return x + self.linear2(F.gelu(self.linear1(self.norm(x))))
