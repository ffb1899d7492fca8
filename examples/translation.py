"""An encoder-decoder Transformer learns to translate English to German: genders, cases, and where the verb goes."""

import random
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from shaped.runtime.data import causal_mask, pad_sequence, padding_mask
from shaped.trainers import WarmupCosine

# The little grammar that both languages are made from. A sentence is a list of words.

NOUNS = {
    "man": ("Mann", "m"),
    "dog": ("Hund", "m"),
    "bird": ("Vogel", "m"),
    "woman": ("Frau", "f"),
    "cat": ("Katze", "f"),
    "child": ("Kind", "n"),
    "horse": ("Pferd", "n"),
}
VERBS = {"sees": "sieht", "hears": "hört", "loves": "liebt", "finds": "findet", "follows": "verfolgt"}
ADJECTIVES = {"small": "klein", "young": "jung", "clever": "klug", "wild": "wild"}
ADVERBS = {"today": "heute", "here": "hier", "often": "oft"}
# By the article, the case and the gender: the German article, and how an adjective ends behind it.
ARTICLES = {
    ("the", "subject"): {"m": ("der", "e"), "f": ("die", "e"), "n": ("das", "e")},
    ("the", "object"): {"m": ("den", "en"), "f": ("die", "e"), "n": ("das", "e")},
    ("a", "subject"): {"m": ("ein", "er"), "f": ("eine", "e"), "n": ("ein", "es")},
    ("a", "object"): {"m": ("einen", "en"), "f": ("eine", "e"), "n": ("ein", "es")},
}


@dataclass(frozen=True)
class Pair:
    """A sentence in both languages."""

    english: tuple[str, ...]
    german: tuple[str, ...]


def noun_phrase(case: str) -> tuple[list[str], list[str]]:
    """Such as "a small dog"; as an object, "einen kleinen Hund"."""
    article, noun = random.choice(["the", "a"]), random.choice(list(NOUNS))
    german_noun, gender = NOUNS[noun]
    german_article, ending = ARTICLES[article, case][gender]
    if random.random() < 0.5:
        return [article, noun], [german_article, german_noun]
    adjective = random.choice(list(ADJECTIVES))
    return [article, adjective, noun], [german_article, ADJECTIVES[adjective] + ending, german_noun]


def sentence() -> Pair:
    """The German verb comes second, also behind an adverb, and last in a subordinate clause."""
    subject, german_subject = noun_phrase("subject")
    object_, german_object = noun_phrase("object")
    verb = random.choice(list(VERBS))
    english, german = [*subject, verb, *object_], [*german_subject, VERBS[verb], *german_object]
    if random.random() < 0.5:
        adverb = random.choice(list(ADVERBS))
        english, german = [adverb, *english], [ADVERBS[adverb], VERBS[verb], *german_subject, *german_object]
    if random.random() < 0.3:
        subject, german_subject = noun_phrase("subject")
        object_, german_object = noun_phrase("object")
        verb = random.choice(list(VERBS))
        english += ["because", *subject, verb, *object_]
        german += [",", "weil", *german_subject, *german_object, VERBS[verb]]
    return Pair(tuple(english), tuple(german))


# Sentences as numbers.

PADDING, BEGIN, END = 0, 1, 2


class Vocabulary:
    """The words of a language, numbered from 3."""

    def __init__(self, sentences: list[tuple[str, ...]]) -> None:
        words = sorted({word for sentence in sentences for word in sentence})
        self.words = ["<padding>", "<begin>", "<end>", *words]
        self.index = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, sentence: tuple[str, ...]) -> Int[Tensor, "length"]:
        """The numbers of the words, between a beginning and an end."""
        return torch.tensor([BEGIN, *(self.index[word] for word in sentence), END])

    def decode(self, numbers: list[int]) -> tuple[str, ...]:
        """The words up to the end."""
        end = numbers.index(END) if END in numbers else len(numbers)
        return tuple(self.words[number] for number in numbers[1:end])


# The model.


class Attention(nn.Module):
    """Each query takes what it wants from the keys' values, in `n_heads` subspaces."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        assert d_model % n_heads == 0, "the heads share d_model equally"
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)

    def split(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch {self.n_heads} length {self.d_head}"]:
        return x.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

    def forward(
        self,
        x: Float[Tensor, "batch queries d_model"],
        memory: Float[Tensor, "batch keys d_model"],
        keep: Bool[Tensor, "#batch #queries keys"],
    ) -> Float[Tensor, "batch queries d_model"]:
        q, k, v = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None])
        return self.out(heads.transpose(1, 2).flatten(2))


class FeedForward(nn.Sequential):
    """The same small net at each position."""

    def __init__(self, d_model: int) -> None:
        super().__init__(nn.Linear(d_model, 4 * d_model), nn.ReLU(), nn.Linear(4 * d_model, d_model))


class EncoderLayer(nn.Module):
    """Each word of the source looks at all others."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(d_model), Attention(d_model, n_heads)
        self.norm2, self.feed_forward = nn.LayerNorm(d_model), FeedForward(d_model)

    def forward(
        self, x: Float[Tensor, "batch source d_model"], keep: Bool[Tensor, "batch 1 source"]
    ) -> Float[Tensor, "batch source d_model"]:
        normed = self.norm1(x)
        x = x + self.attention(normed, normed, keep)
        return x + self.feed_forward(self.norm2(x))


class DecoderLayer(nn.Module):
    """Each word of the target looks at those before it, and then at the source."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(d_model), Attention(d_model, n_heads)
        self.norm2, self.cross_attention = nn.LayerNorm(d_model), Attention(d_model, n_heads)
        self.norm3, self.feed_forward = nn.LayerNorm(d_model), FeedForward(d_model)

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        causal: Bool[Tensor, "1 target target"],
        memory: Float[Tensor, "batch source d_model"],
        keep: Bool[Tensor, "batch 1 source"],
    ) -> Float[Tensor, "batch target d_model"]:
        normed = self.norm1(x)
        x = x + self.attention(normed, normed, causal)
        x = x + self.cross_attention(self.norm2(x), memory, keep)
        return x + self.feed_forward(self.norm3(x))


class Translator(nn.Module):
    """Reads a sentence in one language, and scores each next word of it in the other."""

    def __init__(
        self,
        source_words: int,
        target_words: int,
        max_length: int,
        d_model: int = 64,
        n_heads: int = 4,
        n_layers: int = 2,
    ) -> None:
        super().__init__()
        self.max_length = max_length
        self.source_words = nn.Embedding(source_words, d_model, padding_idx=PADDING)
        self.target_words = nn.Embedding(target_words, d_model, padding_idx=PADDING)
        self.positions = nn.Embedding(max_length, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads) for _ in range(n_layers))
        self.norm_source, self.norm_target = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, target_words)

    def encode(
        self, source: Int[Tensor, "batch source"], keep: Bool[Tensor, "batch 1 source"]
    ) -> Float[Tensor, "batch source d_model"]:
        x = self.source_words(source) + self.positions(torch.arange(source.shape[1]))
        for layer in self.encoder:
            x = layer(x, keep)
        return self.norm_source(x)

    def decode(
        self,
        target: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        keep: Bool[Tensor, "batch 1 source"],
    ) -> Float[Tensor, "batch target words"]:
        # No word looks at those behind it, so none looks at the padding: the decoder needs no mask for it.
        causal = causal_mask(target.shape[1], true_means="keep")
        x = self.target_words(target) + self.positions(torch.arange(target.shape[1]))
        for layer in self.decoder:
            x = layer(x, causal, memory, keep)
        return self.head(self.norm_target(x))

    def loss(
        self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, "batch"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, ""]:
        """The mean cross-entropy of each word of the target, given those before it."""
        keep = padding_mask(lengths, source.shape[1], true_means="keep")
        logits = self.decode(target[:, :-1], self.encode(source, keep), keep)
        return F.cross_entropy(logits.transpose(1, 2), target[:, 1:], ignore_index=PADDING)

    @torch.no_grad()
    def translate(
        self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, "batch"]
    ) -> Int[Tensor, "batch {self.max_length}"]:
        """The likeliest word behind those so far, again and again: what is yet to come is seen by none of them."""
        keep = padding_mask(lengths, source.shape[1], true_means="keep")
        memory = self.encode(source, keep)
        target = torch.full((len(source), self.max_length), PADDING)
        target[:, 0] = BEGIN
        for end in range(1, self.max_length):
            logits = self.decode(target, memory, keep)[:, end - 1]
            target[:, end] = logits.argmax(dim=-1)
        return target


def batch_of(
    pairs: list[Pair], english: Vocabulary, german: Vocabulary
) -> tuple[Int[Tensor, "batch source"], Int[Tensor, "batch"], Int[Tensor, "batch target"]]:
    """The sentences as numbers, padded to the longest, with the lengths of the English ones."""
    source, lengths = pad_sequence([english.encode(pair.english) for pair in pairs], padding=PADDING)
    target, _ = pad_sequence([german.encode(pair.german) for pair in pairs], padding=PADDING)
    return source, lengths, target


def train(model: Translator, pairs: list[Pair], english: Vocabulary, german: Vocabulary, steps: int) -> None:
    """Train on random batches of 64 sentences."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = WarmupCosine(optimizer, warmup=steps // 10, t_max=steps)
    for step in range(steps):
        loss = model.loss(*batch_of(random.sample(pairs, 64), english, german))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            print(f"step {step}: loss {loss.item():.4f}")


def main() -> None:
    random.seed(0)
    torch.manual_seed(0)
    pairs = list(dict.fromkeys(sentence() for _ in range(5000)))  # each once: those held out are not trained on
    training, held_out = pairs[300:], pairs[:300]
    english = Vocabulary([pair.english for pair in training])
    german = Vocabulary([pair.german for pair in training])
    model = Translator(len(english), len(german), max_length=20)
    train(model, training, english, german, steps=300)

    source, lengths, _ = batch_of(held_out, english, german)
    translated = [german.decode(numbers) for numbers in model.translate(source, lengths).tolist()]
    for pair, words in list(zip(held_out, translated))[:5]:
        print(f"{' '.join(pair.english)}: {' '.join(words).replace(' ,', ',')}")
    right = sum(pair.german == words for pair, words in zip(held_out, translated)) / len(held_out)
    print(f"translated without a fault, of {len(held_out)} new sentences: {right:.3f}")
    assert right >= 0.95


if __name__ == "__main__":
    main()
