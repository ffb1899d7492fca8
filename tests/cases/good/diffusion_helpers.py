"""Coefficients picked by time step and shaped to broadcast against images."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def extract(a, t, x_shape):
    batch_size = t.shape[0]
    out = a.gather(-1, t)
    return out.reshape(batch_size, *((1,) * (len(x_shape) - 1)))


class Diffusion(nn.Module):
    def __init__(self, steps: int) -> None:
        super().__init__()
        betas = torch.linspace(1e-4, 0.02, steps)
        alphas = torch.cumprod(1.0 - betas, dim=0)
        self.register_buffer("sqrt_alphas", alphas.sqrt())
        self.register_buffer("sqrt_one_minus", (1.0 - alphas).sqrt())

    def q_sample(self, x: Float[Tensor, "b c h w"], t: Int[Tensor, "b"], noise=None) -> Float[Tensor, "b c h w"]:
        noise = torch.randn_like(x) if noise is None else noise
        return extract(self.sqrt_alphas, t, x.shape) * x + extract(self.sqrt_one_minus, t, x.shape) * noise


def timestep_embedding(t: Int[Tensor, "b"], dim: int) -> Float[Tensor, "b dim"]:
    half = dim // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32) / half)
    args = t[:, None].float() * freqs[None]
    emb = torch.cat([torch.cos(args), torch.sin(args)], dim=-1)
    if dim % 2:
        emb = torch.cat([emb, torch.zeros_like(emb[:, :1])], dim=-1)
    return emb


def main() -> None:
    for b in (1, 3):
        t = torch.zeros(b, dtype=torch.long)
        assert Diffusion(10).q_sample(torch.randn(b, 3, 4, 4), t).shape == (b, 3, 4, 4)
        assert timestep_embedding(t, 7).shape == (b, 7)
        assert timestep_embedding(t, 8).shape == (b, 8)


if __name__ == "__main__":
    main()
