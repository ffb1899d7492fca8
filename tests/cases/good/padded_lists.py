"""Lists of tensors of different lengths, padded and masked."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


def collate(seqs: list[Float[Tensor, "_ d"]]) -> tuple[Float[Tensor, "b t d"], Bool[Tensor, "b t"]]:
    lengths = torch.tensor([len(s) for s in seqs])
    padded = nn.utils.rnn.pad_sequence(seqs, batch_first=True)
    mask = torch.arange(padded.size(1))[None, :] < lengths[:, None]
    return padded, mask


def masked_mean(x: Float[Tensor, "b t d"], mask: Bool[Tensor, "b t"]) -> Float[Tensor, "b d"]:
    m = mask.unsqueeze(-1).float()
    return (x * m).sum(1) / m.sum(1).clamp(min=1)


def by_hand(seqs):
    longest = max(s.shape[0] for s in seqs)
    out = seqs[0].new_zeros(len(seqs), longest, seqs[0].shape[1])
    for i, s in enumerate(seqs):
        out[i, : s.shape[0]] = s
    return out


def main() -> None:
    seqs = [torch.randn(n, 3) for n in (4, 2, 6)]
    x, mask = collate(seqs)
    assert masked_mean(x, mask).shape == (3, 3)
    assert torch.equal(by_hand(seqs), x)


if __name__ == "__main__":
    main()
