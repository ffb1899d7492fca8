"""A small GPT learns to write a nursery rhyme, one character at a time: AdamW, clipping, warmup and cosine."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from shaped.trainers import WarmupCosine, clip_grad_norm

TEXT = """\
This is the house that Jack built.
This is the malt that lay in the house that Jack built.
This is the rat that ate the malt that lay in the house that Jack built.
This is the cat that killed the rat that ate the malt that lay in the house that Jack built.
"""
ALPHABET = sorted(set(TEXT))


@dataclass(frozen=True)
class Config:
    """The sizes of a GPT."""

    vocab: int
    context: int = 64
    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2


class CausalSelfAttention(nn.Module):
    """Each position attends to itself and to those before it, in `n_heads` subspaces."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        assert d_model % n_heads == 0, "the heads share d_model equally"
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x: Float[Tensor, "batch seq d_model"]) -> Float[Tensor, "batch seq d_model"]:
        batch, seq, d_model = x.shape
        q, k, v = self.qkv(x).split(d_model, dim=-1)
        q = q.view(batch, seq, self.n_heads, self.d_head).transpose(1, 2)
        k = k.view(batch, seq, self.n_heads, self.d_head).transpose(1, 2)
        v = v.view(batch, seq, self.n_heads, self.d_head).transpose(1, 2)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        causal = torch.ones(seq, seq, dtype=torch.bool, device=x.device).tril()
        weights = scores.masked_fill(~causal, float("-inf")).softmax(dim=-1)
        heads = (weights @ v).transpose(1, 2)
        return self.out(heads.reshape(batch, seq, d_model))


class Block(nn.Module):
    """Attention and a feed-forward net, each on a normalised input and added to the residual stream."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = CausalSelfAttention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(
            nn.Linear(d_model, 4 * d_model),
            nn.GELU(),
            nn.Linear(4 * d_model, d_model),
        )

    def forward(self, x: Float[Tensor, "batch seq d_model"]) -> Float[Tensor, "batch seq d_model"]:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Token and position embeddings, a stack of blocks, and the next token's scores at each position."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.context = config.context
        self.tokens = nn.Embedding(config.vocab, config.d_model)
        self.positions = nn.Embedding(config.context, config.d_model)
        self.blocks = nn.ModuleList(Block(config.d_model, config.n_heads) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)
        self.head = nn.Linear(config.d_model, config.vocab, bias=False)

    def forward(self, tokens: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab"]:
        seq = tokens.shape[1]
        positions = torch.arange(seq, device=tokens.device)
        x = self.tokens(tokens) + self.positions(positions)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    def loss(self, tokens: Int[Tensor, "batch seq"], targets: Int[Tensor, "batch seq"]) -> Float[Tensor, ""]:
        """The mean cross-entropy of predicting `targets[:, i]` from `tokens[:, : i + 1]`."""
        logits = self(tokens)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def generate(self, prompt: Int[Tensor, "batch seq"], count: int) -> Int[Tensor, "batch seq+{count}"]:
        """The prompt and the `count` likeliest tokens after it.

        No position sees those after it, so the tokens that are yet to come may hold anything.
        """
        seq = prompt.shape[1]
        assert seq + count <= self.context, "there are no positions for more tokens"
        tokens = F.pad(prompt, (0, count))
        for end in range(seq, seq + count):
            logits = self(tokens)[:, end - 1]
            tokens[:, end] = logits.argmax(dim=-1)
        return tokens


def encode(text: str) -> Int[Tensor, "length"]:
    """Each character's place in the alphabet."""
    return torch.tensor([ALPHABET.index(character) for character in text])


def sample(
    data: Int[Tensor, "length"], batch: int, seq: int
) -> tuple[Int[Tensor, "{batch} {seq}"], Int[Tensor, "{batch} {seq}"]]:
    """Random stretches of the data, and the same stretches one character on."""
    starts = torch.randint(len(data) - seq, (batch, 1))
    inputs = starts + torch.arange(seq)
    return data[inputs], data[inputs + 1]


def adamw(model: GPT, lr: float) -> torch.optim.AdamW:
    """Two groups: weight decay for the matrices of linear layers, none for biases, norms and embeddings."""
    matrices = [layer.weight for layer in model.modules() if isinstance(layer, nn.Linear)]
    decayed = {id(one) for one in matrices}
    others = [one for one in model.parameters() if id(one) not in decayed]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95))


def train(model: GPT, data: Int[Tensor, "length"], steps: int) -> float:
    """Train on random stretches of the data; gives the last loss."""
    optimizer = adamw(model, lr=5e-3)
    schedule = WarmupCosine(optimizer, warmup=steps // 10, t_max=steps, eta_min=5e-4)
    for step in range(steps):
        loss = model.loss(*sample(data, batch=16, seq=model.context))
        optimizer.zero_grad()
        loss.backward()
        norm = clip_grad_norm(model, max_norm=1.0)
        optimizer.step()
        if step % 20 == 0 or step == steps - 1:
            rate = optimizer.param_groups[0]["lr"]
            print(f"step {step}: loss {loss.item():.3f}, gradients {norm.item():.2f}, learning rate {rate:.1e}")
        schedule.step()
    return loss.item()


def main() -> None:
    torch.manual_seed(0)
    data = encode(TEXT)
    model = GPT(Config(vocab=len(ALPHABET)))
    loss = train(model, data, steps=160)
    written = model.generate(encode("This is the ").unsqueeze(0), count=50)
    print("".join(ALPHABET[index] for index in written[0].tolist()))
    assert loss < 0.2


if __name__ == "__main__":
    main()
