"""A U-Net removes noise from images of handwritten digits."""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from sklearn.datasets import load_digits  # type: ignore[import-untyped]
from torch import Tensor, nn


class DoubleConv(nn.Module):
    """Two 3x3 convolutions that keep the resolution."""

    def __init__(self, c_in: int, c_out: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(c_in, c_out, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.Conv2d(c_out, c_out, kernel_size=3, padding=1),
            nn.ReLU(),
        )

    def forward(self, x: Float[Tensor, "batch c_in h w"]) -> Float[Tensor, "batch c_out h w"]:
        return self.layers(x)


class Up(nn.Module):
    """Doubles the resolution and joins the features that the encoder had at that resolution."""

    def __init__(self, c_in: int, c_skip: int, c_out: int) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(c_in, c_out, kernel_size=2, stride=2)
        self.conv = DoubleConv(c_out + c_skip, c_out)

    def forward(
        self, x: Float[Tensor, "batch c_in h w"], skip: Float[Tensor, "batch c_skip 2*h 2*w"]
    ) -> Float[Tensor, "batch c_out 2*h 2*w"]:
        return self.conv(torch.cat((self.up(x), skip), dim=1))


class UNet(nn.Module):
    """Two levels down, two levels up. Height and width are multiples of four, so that each skip connection fits."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.encode1 = DoubleConv(channels, width)
        self.encode2 = DoubleConv(width, 2 * width)
        self.bottom = DoubleConv(2 * width, 4 * width)
        self.decode2 = Up(4 * width, 2 * width, 2 * width)
        self.decode1 = Up(2 * width, width, width)
        self.head = nn.Conv2d(width, channels, kernel_size=1)

    def forward(self, images: Float[Tensor, "batch channels 4*h 4*w"]) -> Float[Tensor, "batch channels 4*h 4*w"]:
        full = self.encode1(images)
        half = self.encode2(F.max_pool2d(full, 2))
        x = self.bottom(F.max_pool2d(half, 2))
        x = self.decode2(x, half)
        x = self.decode1(x, full)
        return self.head(x)


def load() -> Float[Tensor, "n 1 8 8"]:
    """All images with pixels from 0 to 1."""
    pixels: Float[np.ndarray, "n 8 8"] = load_digits().images
    return torch.tensor(pixels, dtype=torch.float32).unsqueeze(1) / 16


def denoise_any(model: UNet, images: Float[Tensor, "batch 1 h w"]) -> Float[Tensor, "batch 1 h w"]:
    """Images of any size: padded to multiples of four, and cut back."""
    h, w = images.shape[-2:]
    padded = F.pad(images, (0, -w % 4, 0, -h % 4))
    return model(padded)[:, :, :h, :w]


def train_step(
    model: UNet, optimizer: torch.optim.Optimizer, clean: Float[Tensor, "batch 1 8 8"], noise: float
) -> float:
    """One step: guess the clean images from noisy ones; gives the loss before it."""
    noisy = clean + noise * torch.randn_like(clean)
    loss = F.mse_loss(model(noisy), clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def experiment(images: Float[Tensor, "n 1 8 8"], noise: float) -> tuple[float, float]:
    """Train on 1,500 images, in random batches of 50; gives the others' errors with the noise and without it."""
    training, held_out = images[:1500], images[1500:]
    model = UNet(channels=1, width=8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step, rows in enumerate(torch.randint(len(training), (240, 50))):
        loss = train_step(model, optimizer, training[rows], noise)
        if step % 60 == 0:
            print(f"step {step}: loss {loss:.4f}")
    with torch.no_grad():
        noisy = held_out + noise * torch.randn_like(held_out)
        assert denoise_any(model, noisy[:, :, :7, :5]).shape[-2:] == (7, 5)
        return F.mse_loss(noisy, held_out).item(), F.mse_loss(model(noisy), held_out).item()


def main() -> None:
    torch.manual_seed(0)
    before, after = experiment(load(), noise=0.3)
    print(f"mean squared error: {before:.4f} with the noise, {after:.4f} after the U-Net")
    assert after < before / 2


if __name__ == "__main__":
    main()
