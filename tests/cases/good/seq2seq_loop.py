"""A decoder that runs step by step, with teacher forcing."""

import random

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class Seq2Seq(nn.Module):
    def __init__(self, vocab: int, d: int, sos: int = 1) -> None:
        super().__init__()
        self.sos = sos
        self.embed = nn.Embedding(vocab, d)
        self.encoder = nn.GRU(d, d, batch_first=True)
        self.cell = nn.GRUCell(2 * d, d)
        self.out = nn.Linear(d, vocab)

    def attend(self, h, memory):
        weights = torch.softmax((memory @ h.unsqueeze(-1)).squeeze(-1), dim=-1)
        return (weights.unsqueeze(1) @ memory).squeeze(1)

    def forward(
        self, src: Int[Tensor, "b s"], tgt: Int[Tensor, "b t"], ratio: float = 0.5
    ) -> Float[Tensor, "b t vocab"]:
        memory, h = self.encoder(self.embed(src))
        h = h[-1]
        batch, steps = tgt.shape
        token = torch.full((batch,), self.sos, dtype=torch.long, device=src.device)
        outputs = torch.zeros(batch, steps, self.out.out_features)
        for t in range(steps):
            h = self.cell(torch.cat([self.embed(token), self.attend(h, memory)], dim=-1), h)
            logits = self.out(h)
            outputs[:, t] = logits
            token = tgt[:, t] if random.random() < ratio else logits.argmax(-1)
        return outputs


def main() -> None:
    for b in (1, 3):
        ids = torch.zeros(b, 4, dtype=torch.long)
        assert Seq2Seq(7, 5)(ids, ids).shape == (b, 4, 7)


if __name__ == "__main__":
    main()
