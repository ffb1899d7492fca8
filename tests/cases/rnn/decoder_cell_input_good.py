"""The cell of an attentive decoder gets the context beside the embedding.

Kind: rnn.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class AttnDecoderStep(nn.Module):
    def __init__(self, emb: int, enc: int, hid: int) -> None:
        super().__init__()
        self.attn = nn.Linear(hid, enc)
        self.cell = nn.GRUCell(emb + enc, hid)

    def forward(
        self, y: Float[Tensor, "b emb"], h: Float[Tensor, "b hid"], memory: Float[Tensor, "b s enc"]
    ) -> Float[Tensor, "b hid"]:
        scores = torch.bmm(memory, self.attn(h).unsqueeze(2)).squeeze(2)
        weights = F.softmax(scores, dim=1)
        context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
        return self.cell(torch.cat((y, context), dim=1), h)


def main() -> None:
    for b in (1, 3):
        assert AttnDecoderStep(3, 4, 5)(torch.randn(b, 3), torch.randn(b, 5), torch.randn(b, 6, 4)).shape == (b, 5)


if __name__ == "__main__":
    main()
