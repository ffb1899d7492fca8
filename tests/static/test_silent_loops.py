"""What runs and is wrong in a loop over layers whose number is not known: said where every round does the same."""

from __future__ import annotations

from tests.static.test_silent_broadcast import is_reported_as_marked, is_silent

NET = """
        class Net(nn.Module):
            def __init__(self, width: int, depth: int) -> None:
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
                self.attention = nn.ModuleList([nn.MultiheadAttention(width, 4) for _ in range(depth)])
                self.heads = 4

"""


def test_a_fault_of_every_round_is_reported() -> None:
    assert is_reported_as_marked(
        NET
        + """
            def forward(self, x: Float[Tensor, "b t d"]) -> Tensor:
                b, t, d = x.shape
                for layer in self.layers:
                    x = x * layer(x).softmax(0)  # error[shape-reduce]: axis 0, b, the batch
                for attention in self.attention:
                    x = x + attention(x, x, x)[0]  # error[shape-layout]: is read as the sequence
                return x

            def split(self, x: Float[Tensor, "b t d"], n: int) -> Tensor:
                b, t, d = x.shape
                for _ in range(n):
                    for layer in self.layers:
                        keys = layer(x).view(b, self.heads, t, d // self.heads)  # error[shape-axes]: in the order
                        x = x + keys.transpose(1, 2).flatten(2)
                return x
        """
    )


def test_what_only_some_rounds_do_is_silent() -> None:
    assert is_silent(
        NET
        + """
            def of_some_rounds(self, x: Float[Tensor, "b t d"], is_wanted) -> Tensor:
                for i, layer in enumerate(self.layers):
                    if is_wanted(i):
                        continue
                    x = x + layer(x).softmax(0)
                return x

            def turned(self, x: Float[Tensor, "b t d"]) -> Tensor:
                for layer in self.layers:
                    x = x.transpose(0, 1)
                    x = x + x.softmax(0)
                return x

            def tried(self, x: Float[Tensor, "b t d"]) -> Tensor:
                for layer in self.layers:
                    try:
                        x = x + layer(x)
                    except RuntimeError:
                        x = x + layer(x).softmax(0)
                return x
        """
    )
