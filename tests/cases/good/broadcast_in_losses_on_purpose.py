"""Losses over candidates and ensembles, where one side is stretched on purpose."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def ensemble_mse(preds: Float[Tensor, "k n"], y: Float[Tensor, "n"]) -> Float[Tensor, "k"]:
    return ((preds - y) ** 2).mean(dim=1)


def quantile_loss(preds: Float[Tensor, "n q"], y: Float[Tensor, "n"], qs: Float[Tensor, "q"]) -> Float[Tensor, ""]:
    err = y.unsqueeze(1) - preds
    return torch.maximum(qs * err, (qs - 1) * err).mean()


def label_smoothing(logits: Float[Tensor, "n c"], y: Int[Tensor, "n"], eps: float) -> Float[Tensor, ""]:
    logp = logits.log_softmax(-1)
    nll = -logp.gather(1, y[:, None]).squeeze(1)
    return ((1 - eps) * nll - eps * logp.mean(-1)).mean()


def main() -> None:
    for n in (1, 3):
        assert ensemble_mse(torch.randn(4, n), torch.randn(n)).shape == (4,)
        quantile_loss(torch.randn(n, 2), torch.randn(n), torch.tensor([0.1, 0.9]))
        label_smoothing(torch.randn(n, 5), torch.zeros(n, dtype=torch.long), 0.1)


if __name__ == "__main__":
    main()
