"""A swish with its own derivative keeps one tensor for the backward instead of two, and a small net learns with it."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from shaped import custom_grad


@custom_grad
def swish(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    return x * torch.sigmoid(x)


@swish.backward
def swish_backward(grad: Float[Tensor, "*shape"], x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    s = torch.sigmoid(x)
    return grad * (s + x * s * (1 - s))


class Net(nn.Module):
    """A number in, a number out."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(1, hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, x: Float[Tensor, "n 1"]) -> Float[Tensor, "n 1"]:
        return self.fc2(swish(self.fc1(x)))


def main() -> None:
    torch.manual_seed(0)
    x = torch.linspace(-3, 3, 64)[:, None]
    y = torch.sin(x)
    net = Net(hidden=32)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(501):
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
    assert loss.item() < 0.01
    print(f"sin(1) = {torch.sin(torch.ones(())).item():.3f}, the net says {net(torch.ones(1, 1)).item():.3f}")


if __name__ == "__main__":
    main()
