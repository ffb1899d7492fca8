"""torch's own transformer modules in both layouts."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class Translator(nn.Module):
    def __init__(self, vocab: int, d: int, heads: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.transformer = nn.Transformer(d, heads, layers, layers, 4 * d, batch_first=True)
        self.out = nn.Linear(d, vocab)

    def forward(self, src: Int[Tensor, "b s"], tgt: Int[Tensor, "b t"]) -> Float[Tensor, "b t vocab"]:
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        y = self.transformer(
            self.embed(src),
            self.embed(tgt),
            tgt_mask=mask,
            src_key_padding_mask=src == 0,
            memory_key_padding_mask=src == 0,
        )
        return self.out(y)


class SeqFirst(nn.Module):
    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(d, heads, dim_feedforward=16)
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(d), enable_nested_tensor=False)

    def forward(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b d"]:
        return self.encoder(x.transpose(0, 1)).mean(0)


def main() -> None:
    for b in (1, 3):
        assert Translator(9, 8, 2, 1)(torch.ones(b, 4, dtype=torch.long), torch.ones(b, 5, dtype=torch.long)).shape == (
            b,
            5,
            9,
        )
        assert SeqFirst(8, 2)(torch.randn(b, 4, 8)).shape == (b, 8)


if __name__ == "__main__":
    main()
