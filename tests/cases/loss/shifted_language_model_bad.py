"""The scores are cut by one step to predict the next token, the targets are not.

Kind: loss.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


class LanguageModel(nn.Module):
    def __init__(self, vocab_size: int, n_embd: int) -> None:
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)

    def forward(self, input_ids: Int[Tensor, "b t"]) -> Float[Tensor, ""]:
        logits = self.lm_head(self.wte(input_ids))
        shift_logits = logits[..., :-1, :].contiguous()
        shift_labels = input_ids.contiguous()
        loss = F.cross_entropy(shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1))  # error[shape]
        return loss


def main() -> None:
    for b in (1, 3):
        LanguageModel(11, 4)(torch.randint(11, (b, 6)))


if __name__ == "__main__":
    main()
