"""What is wrong under a decorator that checks calls at run time is found before anything runs."""

from dataclasses import dataclass

import torch
from beartype import beartype
from jaxtyping import Float, jaxtyped
from torch import Tensor, nn

import shaped
from shaped import checked


@checked
def normalized(x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    return x / x.norm(dim=1)  # error[shape]: sizes d and n of axis -1 differ


@shaped.checked()
def scores(queries: Float[Tensor, "n d"], keys: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    return queries @ keys  # error[shape]: inner dimensions d and m differ


@jaxtyped(typechecker=beartype)
def best(scores: Float[Tensor, "n m"]) -> Float[Tensor, "n"]:
    return scores.amax(0)  # error[shape]: return of best


class Head(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)

    @checked
    def forward(self, x: Float[Tensor, "b 5"]) -> Float[Tensor, "b 4"]:
        return self.linear(x)  # error[shape]: inner dimensions 5 and 3 differ


@checked
@dataclass
class Batch:
    x: Float[Tensor, "b 3"]
    y: Float[Tensor, "b 1"]

    def both(self) -> Float[Tensor, "b 4"]:
        return torch.cat((self.x, self.y), dim=0)  # error[shape]: cat


def main() -> None:
    x, y = torch.randn(6, 3), torch.randn(6, 1)
    calls = (
        lambda: normalized(x),
        lambda: scores(x, torch.randn(2, 3)),
        lambda: best(x),
        lambda: Head()(torch.randn(2, 5)),
        lambda: Batch(x, y).both(),
    )
    for call in calls:
        try:
            call()
        except (RuntimeError, TypeError):
            continue
        raise AssertionError("it runs")
    raise ValueError("none runs")


if __name__ == "__main__":
    main()
