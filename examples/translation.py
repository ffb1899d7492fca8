"""An encoder-decoder Transformer learns to translate English to German: genders, cases, and where the verb goes."""

import random

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from shaped.runtime.data import causal_mask, pad_sequence, padding_mask
from shaped.trainers import WarmupCosine

NOUNS = {"man": ("Mann", "m"), "dog": ("Hund", "m"), "cow": ("Kuh", "f"), "child": ("Kind", "n"), "lamb": ("Lamm", "n")}
ADJECTIVES = {"small": "klein", "young": "jung", "clever": "klug", "wild": "wild"}
VERBS = {"sees": "sieht", "hears": "hört", "loves": "liebt", "finds": "findet", "follows": "verfolgt"}
OPENINGS = {"": "", "today": "heute", "perhaps": "vielleicht", "I hope that": "ich hoffe, dass"}
# By the English article and the case, for each gender: the German article, and how an adjective ends behind it.
ARTICLES = {
    ("the", "subject"): {"m": ("der", "e"), "f": ("die", "e"), "n": ("das", "e")},
    ("the", "object"): {"m": ("den", "en"), "f": ("die", "e"), "n": ("das", "e")},
    ("a", "subject"): {"m": ("ein", "er"), "f": ("eine", "e"), "n": ("ein", "es")},
    ("a", "object"): {"m": ("einen", "en"), "f": ("eine", "e"), "n": ("ein", "es")},
}
PADDING, BEGIN, END = 0, 1, 2


def random_phrase(case: str) -> tuple[str, str]:
    """Such as "a small dog"; as an object, "einen kleinen Hund"."""
    article, adjective, noun = (random.choice(list(words)) for words in (["the", "a"], ADJECTIVES, NOUNS))
    german_noun, gender = NOUNS[noun]
    german_article, ending = ARTICLES[article, case][gender]
    if random.random() < 0.5:
        return f"{article} {noun}", f"{german_article} {german_noun}"
    return f"{article} {adjective} {noun}", f"{german_article} {ADJECTIVES[adjective]}{ending} {german_noun}"


def random_pair() -> tuple[str, str]:
    """A sentence in both languages. The German verb comes second, but last behind "dass"."""
    (subject, german_subject), (thing, german_thing) = random_phrase("subject"), random_phrase("object")
    opening, verb = random.choice(list(OPENINGS)), random.choice(list(VERBS))
    german = [german_subject, VERBS[verb], german_thing]
    if opening.endswith("that"):
        german = [OPENINGS[opening], german_subject, german_thing, VERBS[verb]]
    elif opening:
        german = [OPENINGS[opening], VERBS[verb], german_subject, german_thing]
    return f"{opening} {subject} {verb} {thing}".strip(), " ".join(german)


def encode(sentences: list[str], words: list[str]) -> tuple[Int[Tensor, "batch len"], Int[Tensor, "batch"]]:
    """Each sentence as the numbers of its words, from <bos> to <eos>, padded to the longest; and how many they are."""
    numbers = [torch.tensor([BEGIN, *map(words.index, sentence.split()), END]) for sentence in sentences]
    return pad_sequence(numbers, padding=PADDING)


SourceWords = Int[Tensor, "batch source"]
TargetWords = Int[Tensor, "batch target"]
Lengths = Int[Tensor, "batch"]
Source = Float[Tensor, "batch source d_model"]
Target = Float[Tensor, "batch target d_model"]
Keep = Bool[Tensor, "batch 1 source"]  # where the source is no padding, for all queries alike


class Attention(nn.Module):
    """Each query takes what it looks for from the values of the keys, in `n_heads` subspaces."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        assert d_model % n_heads == 0, "the heads share d_model equally"
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def heads(self, x: Float[Tensor, "batch n d_model"]) -> Float[Tensor, "batch {self.n_heads} n {self.d_head}"]:
        return x.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

    def forward(
        self,
        x: Float[Tensor, "batch queries d_model"],
        memory: Float[Tensor, "batch keys d_model"],
        keep: Bool[Tensor, "#batch #queries keys"],
    ) -> Float[Tensor, "batch queries d_model"]:
        q, k, v = self.heads(self.query(x)), self.heads(self.key(memory)), self.heads(self.value(memory))
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None])
        return self.out(found.transpose(1, 2).flatten(2))


class EncoderLayer(nn.Module):
    """Each word of the source looks at all of them."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.ReLU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x: Source, keep: Keep) -> Source:
        normed = self.norm1(x)
        x = x + self.attention(normed, normed, keep)
        return x + self.mlp(self.norm2(x))


class DecoderLayer(nn.Module):
    """Each word of the target looks at those up to itself, and then at the source."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention, self.cross_attention = Attention(d_model, n_heads), Attention(d_model, n_heads)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.ReLU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x: Target, causal: Bool[Tensor, "1 target target"], memory: Source, keep: Keep) -> Target:
        normed = self.norm1(x)
        x = x + self.attention(normed, normed, causal)
        x = x + self.cross_attention(self.norm2(x), memory, keep)
        return x + self.mlp(self.norm3(x))


class Translator(nn.Module):
    """Reads a sentence in one language, and scores each next word of it in the other."""

    def __init__(self, vocab: int, max_len: int, d_model: int = 64, n_heads: int = 4) -> None:
        super().__init__()
        self.source_words, self.target_words = nn.Embedding(vocab, d_model), nn.Embedding(vocab, d_model)
        self.source_places, self.target_places = nn.Embedding(max_len, d_model), nn.Embedding(max_len, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads) for _ in range(2))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads) for _ in range(2))
        self.source_norm, self.target_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab)

    def encode(self, source: SourceWords, keep: Keep) -> Source:
        x = self.source_words(source) + self.source_places(torch.arange(source.shape[1]))
        for layer in self.encoder:
            x = layer(x, keep)
        return self.source_norm(x)

    def decode(self, target: TargetWords, memory: Source, keep: Keep) -> Float[Tensor, "batch target vocab"]:
        # No word looks at those behind it, and padding is behind the words: being causal is mask enough.
        causal = causal_mask(target.shape[1], true_means="keep")
        x = self.target_words(target) + self.target_places(torch.arange(target.shape[1]))
        for layer in self.decoder:
            x = layer(x, causal, memory, keep)
        return self.head(self.target_norm(x))

    def loss(self, source: SourceWords, lengths: Lengths, target: TargetWords) -> Float[Tensor, ""]:
        """The mean cross-entropy of each word of the target, given those before it and the source."""
        keep = padding_mask(lengths, source.shape[1], true_means="keep")
        logits = self.decode(target[:, :-1], self.encode(source, keep), keep)
        return F.cross_entropy(logits.transpose(1, 2), target[:, 1:], ignore_index=PADDING)

    @torch.no_grad()
    def translate(self, source: SourceWords, lengths: Lengths, max_len: int) -> Int[Tensor, "batch {max_len}"]:
        """The likeliest next word, again and again, until every sentence has ended."""
        keep = padding_mask(lengths, source.shape[1], true_means="keep")
        memory = self.encode(source, keep)
        target = torch.full((len(source), max_len), PADDING)
        target[:, 0] = BEGIN
        for place in range(1, max_len):
            ended = (target == END).any(dim=1)
            if ended.all():
                break
            words = self.decode(target, memory, keep)[:, place - 1].argmax(dim=-1)
            target[:, place] = words.masked_fill(ended, PADDING)
        return target


def main() -> None:
    random.seed(0)
    torch.manual_seed(0)
    pairs = list(dict.fromkeys(random_pair() for _ in range(4000)))  # each once: none held out is trained on
    held_out, training = pairs[:300], pairs[300:]
    words = ["<pad>", "<bos>", "<eos>", *sorted({word for pair in pairs for word in " ".join(pair).split()})]
    model = Translator(len(words), max_len=16)

    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = WarmupCosine(optimizer, warmup=30, t_max=300)
    for step in range(300):
        batch = random.sample(training, 64)
        source, lengths = encode([english for english, _ in batch], words)
        target, _ = encode([german for _, german in batch], words)
        loss = model.loss(source, lengths, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 50 == 0 or step == 299:
            print(f"step {step}: loss {loss.item():.4f}")

    source, lengths = encode([english for english, _ in held_out], words)
    found = model.translate(source, lengths, max_len=16).tolist()
    translated = [" ".join(words[number] for number in row if number > END) for row in found]
    for (english, _), german in zip(held_out[:5], translated):
        print(f"{english}: {german}")
    exact = sum(german == right for german, (_, right) in zip(translated, held_out)) / len(held_out)
    print(f"translated exactly, of {len(held_out)} new sentences: {exact:.3f}")
    assert exact >= 0.95


if __name__ == "__main__":
    main()
