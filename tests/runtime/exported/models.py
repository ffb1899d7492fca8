"""Models that the tests export."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


def seeded(model_class: type[nn.Module], *args: object) -> nn.Module:
    """A model with the same weights each time, in evaluation mode."""
    torch.manual_seed(0)
    return model_class(*args).eval()


class Net(nn.Module):
    """A convolution, a norm with buffers, and a linear layer whose width has a name in the annotation."""

    def __init__(self, d: int = 8) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.linear = nn.Linear(d, 4)

    def forward(self, image: Float[Tensor, "b 3 h w"], code: Float[Tensor, "b d"]) -> Float[Tensor, "b 4"]:
        features: Tensor = self.norm(self.convolution(image)).mean((2, 3))
        return features + self.linear(code)


class Pieces(nn.Module):
    """Containers of tensors, a number, and an argument by name that may be left out."""

    def forward(
        self,
        parts: tuple[Float[Tensor, "n 2"], Float[Tensor, "m 2"]],
        batch: dict[str, Float[Tensor, "n"]],
        factor: int = 2,
        *,
        mask: Bool[Tensor, "n"] | None = None,
    ) -> dict[str, Tensor]:
        one, other = parts
        total = one.sum(1) * factor + batch["weight"]
        if mask is not None:
            total = total.masked_fill(mask, 0.0)
        return {"total": total, "all": torch.cat([one, other])}


class Plain(nn.Module):
    """No annotations."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x, y):  # type: ignore[no-untyped-def]  # that is the point
        return self.linear(x) + y


class Embedded(nn.Module):
    """Takes integers; the length is limited by a table of positions."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(11, 4)
        self.positions = nn.Embedding(6, 4)

    def forward(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t 4"]:
        torch._check(ids.shape[1] <= 6)
        found: Tensor = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        return found


class TreatsOne(nn.Module):
    """Does something else for one row than for many."""

    def forward(self, x: Float[Tensor, "b 3"]) -> Float[Tensor, "b 3"]:
        return x * 2 if x.shape[0] == 1 else x * 3


class Script(nn.Module):
    """Every kind of parameter that TorchScript has."""

    def forward(
        self, x: Tensor, others: list[Tensor], n: int = 2, scale: float = 1.0, mask: Tensor | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        total = x * scale
        for other in others:
            total = total + other * n
        if mask is not None:
            total = total * mask
        return total, {"total": total}
