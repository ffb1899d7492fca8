"""The programs that are changed: right ones, annotated, each with a `main` that runs it on small inputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent
CASES = _ROOT / "tests" / "cases"
EXAMPLES = _ROOT / "examples"

# What runs an example instead of its `main`, which trains for a while.
_DRIVERS = {
    "convnet": """
def main():
    for batch, model in ((2, ConvNet(width=3, classes=5)), (3, ConvNet(width=4, classes=10))):
        images, labels = torch.randn(batch, 1, 8, 8), torch.arange(batch)
        model(images)
        accuracy(model, images, labels)
        train_step(model, torch.optim.SGD(model.parameters(), lr=0.1), images, labels)
    Block(3, 5)(torch.randn(2, 3, 6, 7))
    Block(3, 5, stride=2)(torch.randn(2, 3, 6, 7))
""",
    "digits_fit": """
def main():
    for batch, model in ((2, ConvNet(channels=3, classes=5)), (3, ConvNet(channels=4, classes=10))):
        model.eval()
        images, digits = torch.randn(batch, 1, 8, 8), torch.arange(batch)
        model(images)
        held_out_accuracy(model, images, digits)
""",
    "gpt": """
def main():
    encode("This")
    sample(encode(TEXT), 3, 5)
    CausalSelfAttention(6, 2)(torch.randn(2, 5, 6))
    Block(6, 3)(torch.randn(2, 5, 6))
    model = GPT(Config(vocab=7, context=9, d_model=8, n_heads=2, n_layers=1))
    tokens, targets = torch.randint(7, (2, 5)), torch.randint(7, (2, 5))
    model(tokens)
    model.loss(tokens, targets)
    model.generate(tokens, count=3)
""",
    "mlp_digits": """
def main():
    for n, model in ((3, MLP(6, 5, 4)), (2, MLP(64, 8, 10))):
        x, y = torch.randn(n, model.fc1.in_features), torch.arange(n)
        model(x)
        accuracy(model, x, y)
        train(model, x, y, steps=2)
        model(x)
""",
    "quickstart": """
def main():
    target(torch.randn(5, 2))
    grid()
    for hidden in (3, 4):
        model = MLP(hidden)
        model(torch.randn(2))
        loss(model, TList(torch.randn(2), torch.randn(1)))
""",
    "rnn": """
def main():
    random.seed(0)
    batch_of(3, 2)
    for symbols, width, depths in ((3, 4, 3), (4, 6, 5)):
        model = Tagger(symbols, width, depths)
        logits = model(torch.randint(symbols, (2, 7)))
        loss_of(logits, torch.randint(depths, (2, 7)))
        accuracy(logits, torch.randint(depths, (2, 7)))
""",
    "unet": """
def main():
    DoubleConv(3, 4)(torch.randn(2, 3, 5, 6))
    Up(6, 3, 4)(torch.randn(2, 6, 3, 2), torch.randn(2, 3, 6, 4))
    for channels, width in ((2, 3), (1, 4)):
        model = UNet(channels, width)
        model(torch.randn(2, channels, 8, 12))
    denoise_any(model, torch.randn(2, 1, 7, 10))
    train_step(model, torch.optim.SGD(model.parameters(), lr=0.1), torch.randn(3, 1, 8, 8), 0.5)
""",
    "vit": """
def main():
    PatchEmbedding(3, 2, 5)(torch.randn(2, 3, 8, 6))
    EncoderBlock(6, 2)(torch.randn(2, 5, 6))
    for size, patch, classes, width in ((8, 2, 5, 8), (6, 3, 4, 12)):
        model = ViT(size, patch, classes, d_model=width, n_heads=2, n_layers=1)
        model(torch.randn(2, 1, size, size))
    model = ViT(8, 2, 10, d_model=8, n_heads=2, n_layers=1)
    images, labels = torch.randn(3, 1, 8, 8), torch.arange(3)
    accuracy(model, images, labels)
    train_step(model, torch.optim.SGD(model.parameters(), lr=0.1), images, labels)
""",
}


@dataclass(frozen=True)
class Source:
    """One program.

    Args:
        path: where it is.
        text: the program.
        driver: a `main` for the one that it has.
    """

    path: Path
    text: str
    driver: str | None = None

    @property
    def name(self) -> str:
        """How it is called in tables."""
        return f"{self.path.parent.name}/{self.path.stem}"


def sources() -> list[Source]:
    """The programs without a fault in `tests/cases` that one file holds, and the examples."""
    paths = [*CASES.glob("*/*_good.py"), *CASES.glob("good/*.py")]
    found = [Source(path, path.read_text(encoding="utf-8")) for path in sorted(paths)]
    found = [one for one in found if "\ndef main(" in one.text]
    examples = [EXAMPLES / f"{name}.py" for name in _DRIVERS]
    return found + [Source(path, path.read_text(encoding="utf-8"), _DRIVERS[path.stem]) for path in examples]
