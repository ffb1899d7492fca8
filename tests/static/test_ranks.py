"""What a body says of the number of axes of a tensor: elsewhere, too, and from its beginning."""

from __future__ import annotations

from pathlib import Path

from shaped.static.check import Checker

HEAD = """\
import torch
import torch.nn.functional as F
from torch import Tensor, nn

"""


def shapes(source: str) -> dict[str, str]:
    """The shape of each expression, by its text; of one that stands there more often, the last one's."""
    report = Checker().check(Path("ranks.py"), HEAD + source)
    assert not report.diagnostics
    return {shown.source: shown.shape for shown in report.shapes}


def test_unpacking_a_shape_says_the_rank_from_the_beginning() -> None:
    found = shapes("def f(x: Tensor) -> Tensor:\n    y = x.relu()\n    b, t, d = y.shape\n    return y\n")
    assert found["x"] == found["y"] == "_ _ _"


def test_unpacking_a_spread_shape_says_the_rank() -> None:
    assert shapes("def f(x: Tensor, heads: int):\n    b, t, d, h = *x.shape, heads\n    return x\n")["x"] == "_ _ _"


def test_a_layer_that_takes_one_rank_says_it_of_what_its_input_was_made_from() -> None:
    source = """\
class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        return self.norm(y) + x
"""
    found = shapes(source)
    assert found["x"] == "_ _ _ _"
    assert found["self.conv(x)"] == "_ width _ _"


def test_linear_layers_and_norms_keep_the_axes_before_the_last_one() -> None:
    source = """\
class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(width), nn.Linear(width, 2 * width)

    def forward(self, x: Tensor) -> Tensor:
        y = self.linear(self.norm(x))
        b, t, d = y.shape
        return x
"""
    assert shapes(source)["x"] == "_ _ _"


def test_what_is_learned_on_one_path_only_is_not_known_at_the_beginning() -> None:
    source = """\
def f(x: Tensor, flat: bool) -> Tensor:
    y = x.relu()
    if flat:
        b, t, d = x.shape
        return y
    return y.exp()
"""
    found = shapes(source)
    assert found["x.relu()"] == found["y.exp()"] == "..."


def test_a_rank_that_is_asked_for_is_not_the_rank() -> None:
    found = shapes("def f(x: Tensor) -> Tensor:\n    if x.ndim == 3:\n        x = x[None]\n    return x\n")
    assert found["x"] == "..."
    assert found["x[None]"] == "1 _ _ _"


def test_what_a_caught_error_may_have_stopped_is_not_learned() -> None:
    source = """\
def f(x: Tensor) -> Tensor:
    try:
        b, t, d = x.shape
    except ValueError:
        pass
    return x.relu()
"""
    assert shapes(source)["x.relu()"] == "..."


def test_an_image_may_lack_its_batch_axis() -> None:
    source = """\
def f(x: Tensor, weight: Tensor) -> Tensor:
    y = F.conv2d(x, weight)
    return F.max_pool2d(y, 2)
"""
    assert shapes(source)["y"].startswith("... ")


def test_dims_from_the_front_are_among_the_last_ones_of_few_axes() -> None:
    """`x[:, 0]` and `x.size(-2)` may ask for the same axis."""
    source = """\
def f(x: Tensor) -> Tensor:
    x.size(1), x.size(-2)
    b, t = x.shape
    return x
"""
    assert shapes(source)["x"] == "_ _"


def test_a_loop_learns_nothing_of_the_next_round() -> None:
    source = """\
def f(x: Tensor, count: int) -> Tensor:
    for _ in range(count):
        b, t, d = x.shape
        x = x.flatten(1)[None]
    return x
"""
    assert shapes(source)["x"] in ("...", "_ _ _")


def test_a_parameter_that_is_counted_to_is_a_number() -> None:
    source = """\
def positions(width, steps):
    omega = torch.arange(width // 4) / (width // 4 - 1)
    return torch.arange(steps)[:, None] * omega
"""
    assert shapes(source)["omega"] == "width//4"


def test_a_name_that_is_bound_again_says_nothing_of_the_parameter() -> None:
    source = "def f(x, y):\n    z = x * torch.ones(3)\n    x = x.shape[0]\n    return torch.arange(x), z\n"
    assert shapes(source)["z"] == "... 3"
