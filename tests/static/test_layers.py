"""Classes of layers among the arguments of a constructor, and layers."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaped.static.check import Checker

HEAD = """\
from functools import partial
from jaxtyping import Float, Int
from torch import Tensor, nn

"""


def shapes(source: str) -> dict[str, str]:
    """The shape of each expression, by its text."""
    report = Checker().check(Path("net.py"), HEAD + source)
    assert not report.diagnostics
    return {shown.source: shown.shape for shown in report.shapes}


def net(parameter: str, making: str = "layer(width)") -> str:
    """A module that applies what its parameter makes."""
    name = parameter.partition(":")[0].partition("=")[0].strip()
    return f"""
class Net(nn.Module):
    def __init__(self, width: int, {parameter}) -> None:
        super().__init__()
        self.linear, self.made = nn.Linear(width, width), {making.replace("layer", name, 1)}

    def forward(self, x: Tensor) -> Tensor:
        x = self.linear(x)
        return self.made(x)
"""


@pytest.mark.parametrize(
    "parameter",
    [
        "norm: type[nn.Module] = nn.LayerNorm",
        "norm=partial(nn.LayerNorm, eps=1e-6)",
        "act=nn.GELU",
        "norm_layer=None",
        "act_layer: type[nn.Module] | None = None",
    ],
)
def test_norms_and_activations_that_are_given_keep_the_shape(parameter: str) -> None:
    assert shapes(net(parameter))["self.made(x)"] == "... width"


@pytest.mark.parametrize("parameter", ["pool=nn.AdaptiveAvgPool2d", "block: type[nn.Module] = None", "layer=nn.Linear"])
def test_of_other_classes_that_are_given_nothing_is_known(parameter: str) -> None:
    assert shapes(net(parameter)).get("self.made(x)", "...") == "..."


def test_a_norm_that_may_be_none_is_asked_for() -> None:
    source = """
class Net(nn.Module):
    def __init__(self, width: int, norm_layer: type[nn.Module] | None = None) -> None:
        super().__init__()
        self.norm = norm_layer(width) if norm_layer is not None else None

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        if self.norm is not None:
            x = self.norm(x)
        return x
"""
    assert shapes(source)["x"] == "_ _ _"


def test_a_call_says_which_class_it_gives() -> None:
    source = net("norm=nn.LayerNorm") + "\n\ndef f(x: Tensor) -> Tensor:\n    return Net(3, nn.Flatten)(x)\n"
    assert "Net(3, nn.Flatten)(x)" in shapes(source.replace("norm(width)", "norm()"))


def test_a_layer_that_is_given_keeps_the_axes_that_its_class_keeps() -> None:
    found = shapes(
        """
def embedded(x: "Float[Tensor, 'b t d']", head: nn.Linear, ids: "Int[Tensor, 'b t']", table: nn.Embedding) -> Tensor:
    return head(x) + table(ids)

class Adapted(nn.Module):
    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer, self.down = layer, nn.Linear(layer.in_features, rank)

    def forward(self, x: "Float[Tensor, 'b t d']") -> Tensor:
        return self.layer(x), self.down(x)
"""
    )
    assert found["head(x)"] == found["table(ids)"] == found["self.layer(x)"] == "b t _"
    assert found["self.down(x)"] == "b t rank"
