"""An LSTM tags each bracket of a padded batch of strings with its nesting depth."""

import random

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

PADDING, OPEN, CLOSE = 0, 1, 2
IGNORED = -100


class Tagger(nn.Module):
    """Reads a string in both directions and scores every depth at every position."""

    def __init__(self, symbols: int, d_model: int, depths: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(symbols, d_model, padding_idx=PADDING)
        self.lstm = nn.LSTM(d_model, d_model, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * d_model, depths)

    def forward(self, symbols: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq depths"]:
        states, _ = self.lstm(self.embedding(symbols))
        return self.head(states)


def random_string(max_depth: int) -> tuple[list[int], list[int]]:
    """A balanced string of brackets and the depth of each of them."""
    brackets: list[int] = []
    depths: list[int] = []
    depth = 0
    for _ in range(random.randrange(4, 20)):
        opens = depth == 0 or (depth < max_depth and random.random() < 0.5)
        depth += opens
        brackets.append(OPEN if opens else CLOSE)
        depths.append(depth)
        depth -= not opens
    brackets += [CLOSE] * depth
    depths += range(depth, 0, -1)
    return brackets, depths


def row_of(numbers: list[int]) -> Int[Tensor, "length"]:
    """The numbers of one string, as many as it has brackets."""
    return torch.tensor(numbers)


def batch_of(count: int, max_depth: int) -> tuple[Int[Tensor, "batch seq"], Int[Tensor, "batch seq"]]:
    """Strings and depths, padded to the longest."""
    pairs = [random_string(max_depth) for _ in range(count)]
    strings = [row_of(brackets) for brackets, _ in pairs]
    depths = [row_of(depths) for _, depths in pairs]
    return (
        pad_sequence(strings, batch_first=True, padding_value=PADDING),
        pad_sequence(depths, batch_first=True, padding_value=IGNORED),
    )


def loss_of(logits: Float[Tensor, "batch seq depths"], targets: Int[Tensor, "batch seq"]) -> Float[Tensor, ""]:
    """The mean cross-entropy over the positions that are no padding."""
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=IGNORED)


def accuracy(logits: Float[Tensor, "batch seq depths"], targets: Int[Tensor, "batch seq"]) -> float:
    """The share of the brackets whose depth is right."""
    real: Bool[Tensor, "batch seq"] = targets != IGNORED
    right = (logits.argmax(dim=-1) == targets) & real
    return (right.sum() / real.sum()).item()


def main() -> None:
    random.seed(0)
    torch.manual_seed(0)
    max_depth = 4
    model = Tagger(symbols=3, d_model=32, depths=max_depth + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(101):
        strings, depths = batch_of(32, max_depth)
        loss = loss_of(model(strings), depths)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step}: loss {loss.item():.3f}")
    strings, depths = batch_of(100, max_depth)
    with torch.no_grad():
        reached = accuracy(model(strings), depths)
    print(f"accuracy on new strings: {reached:.3f}")
    assert reached > 0.9


if __name__ == "__main__":
    main()
