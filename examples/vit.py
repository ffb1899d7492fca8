"""A vision transformer reads handwritten digits: patches of an image are its words."""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from sklearn.datasets import load_digits  # type: ignore[import-untyped]
from torch import Tensor, nn


class PatchEmbedding(nn.Module):
    """Cuts images into square patches and maps each one to a vector; a strided convolution does both."""

    def __init__(self, channels: int, patch: int, d_model: int) -> None:
        super().__init__()
        self.patch = patch
        self.project = nn.Conv2d(channels, d_model, kernel_size=patch, stride=patch)

    def forward(
        self, images: Float[Tensor, "batch channels h w"]
    ) -> Float[Tensor, "batch (h//{self.patch})*(w//{self.patch}) d_model"]:
        grid = self.project(images)
        return grid.flatten(start_dim=2).transpose(1, 2)


class EncoderBlock(nn.Module):
    """Attention among all positions and a feed-forward net, each with a residual connection."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.norm2 = nn.LayerNorm(d_model)
        self.expand = nn.Linear(d_model, 4 * d_model)
        self.contract = nn.Linear(4 * d_model, d_model)

    def forward(self, x: Float[Tensor, "batch seq d_model"]) -> Float[Tensor, "batch seq d_model"]:
        normed = self.norm1(x)
        attended, _ = self.attention(normed, normed, normed, need_weights=False)
        x = x + attended
        return x + self.contract(F.gelu(self.expand(self.norm2(x))))


class ViT(nn.Module):
    """Patches and a class token go through the encoder; the class token's end state gives the scores."""

    def __init__(
        self, image_size: int, patch: int, classes: int, d_model: int = 64, n_heads: int = 4, n_layers: int = 2
    ) -> None:
        super().__init__()
        patches = (image_size // patch) ** 2
        self.patches = PatchEmbedding(1, patch, d_model)
        self.class_token = nn.Parameter(torch.randn(1, 1, d_model) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, patches + 1, d_model) * 0.02)
        self.blocks = nn.Sequential(*[EncoderBlock(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, classes)

    def forward(self, images: Float[Tensor, "batch 1 image_size image_size"]) -> Float[Tensor, "batch classes"]:
        patches = self.patches(images)
        class_token = self.class_token.expand(images.shape[0], -1, -1)
        x = torch.cat((class_token, patches), dim=1) + self.positions
        x = self.norm(self.blocks(x))
        return self.head(x[:, 0])


def load() -> tuple[Float[Tensor, "n 1 8 8"], Int[Tensor, "n"]]:
    """All images with pixels from 0 to 1, and their digits."""
    digits = load_digits()
    pixels: Float[np.ndarray, "n 8 8"] = digits.images
    labels: Int[np.ndarray, "n"] = digits.target
    return torch.tensor(pixels, dtype=torch.float32).unsqueeze(1) / 16, torch.tensor(labels)


def train_step(
    model: ViT,
    optimizer: torch.optim.Optimizer,
    images: Float[Tensor, "batch 1 8 8"],
    labels: Int[Tensor, "batch"],
) -> float:
    """One step of gradient descent; gives the loss before it."""
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model: ViT, images: Float[Tensor, "n 1 8 8"], labels: Int[Tensor, "n"]) -> float:
    """The share of images whose digit is read right."""
    model.eval()
    guess = model(images).argmax(dim=1)
    return (guess == labels).float().mean().item()


def experiment(images: Float[Tensor, "n 1 8 8"], labels: Int[Tensor, "n"]) -> float:
    """Train on 1,500 images, in random batches of 50; gives the accuracy on the others."""
    order = torch.randperm(len(images))
    training, held_out = order[:1500], order[1500:]
    model = ViT(image_size=8, patch=2, classes=10)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step, picks in enumerate(torch.randint(len(training), (400, 50))):
        rows = training[picks]
        loss = train_step(model, optimizer, images[rows], labels[rows])
        if step % 100 == 0:
            print(f"step {step}: loss {loss:.3f}")
    return accuracy(model, images[held_out], labels[held_out])


def main() -> None:
    torch.manual_seed(0)
    reached = experiment(*load())
    print(f"accuracy on held-out digits: {reached:.3f}")
    assert reached > 0.9


if __name__ == "__main__":
    main()
