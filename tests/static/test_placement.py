"""What is followed of the dtype and device of modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaped.static.check import Checker

IMPORTS = """\
import torch
from torch import Tensor, nn
"""
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.blocks = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        self.weights = nn.ParameterList([nn.Parameter(torch.zeros(3, 3))])

    def forward(self, x):
        x = self.layer(x)
        for block in self.blocks:
            x = block(x)
        for weight in self.weights:
            x = x @ weight
        return x
"""


def codes(source: str) -> list[str]:
    """The codes of what is reported."""
    found = Checker(show_traceback=True).check(Path("program.py").absolute(), IMPORTS + NET + source).diagnostics
    return [one.code for one in found if one.severity == "error"]


@pytest.mark.parametrize(
    "cast", ["double()", "to(torch.float64)", "to(dtype=torch.float64)", "to(torch.zeros(1).double())"]
)
def test_all_parameters_of_an_object_are_cast(cast):
    assert codes(f"Net().{cast}(torch.zeros(2, 3))") == ["dtype"]
    assert codes(f"Net().{cast}(torch.zeros(2, 3).double())") == []
    assert codes(f"net = Net()\nnet.{cast}\nnet(torch.zeros(2, 3).double())") == []


@pytest.mark.parametrize("move", ["cuda()", "cuda(0)", "to('cuda')", "to(torch.device('cuda'))", "to(device='cuda:0')"])
def test_all_parameters_of_an_object_are_moved(move):
    assert "device" in codes(f"Net().{move}(torch.zeros(2, 3))")
    assert codes(f"Net().{move}(torch.zeros(2, 3, device='cuda'))") == []


def test_what_a_module_is_cast_to_under_a_condition_is_not_known():
    assert (
        codes("def f(half: bool):\n    net = Net()\n    if half:\n        net.half()\n    net(torch.zeros(2, 3))") == []
    )


def test_what_an_argument_called_device_names_keeps_the_dtype():
    assert codes("def f(device):\n    Net().to(device)(torch.zeros(2, 3).double())") == ["dtype"]
    assert codes("def f(device):\n    Net()(torch.zeros(2, 3).double().to(device))") == ["dtype"]
    assert codes("def f(what):\n    Net().to(what)(torch.zeros(2, 3).double())") == []


def test_in_a_method_parameters_may_have_been_cast_and_moved_by_any_caller():
    method = (
        "    def run(self, x):\n        return self.layer(x.double()), self.layer(x.half()), self.layer(x.cuda())\n"
    )
    assert codes(f"class Other(Net):\n{method}") == []


def test_a_function_that_is_not_followed_may_cast_the_modules_that_it_is_given():
    assert codes("from elsewhere import prepare\nnet = Net()\nprepare(net)\nnet(torch.zeros(2, 3).double())") == []
    assert codes("net = Net()\nnet.apply(lambda m: m.double())\nnet(torch.zeros(2, 3).double())") == []


def test_what_the_top_level_of_a_file_makes_may_be_cast_before_its_functions_are_called():
    source = "net = Net()\n\ndef f(x: Tensor):\n    return net(x.double())\n"
    assert codes(source + "\nnet.double()\n") == []
    assert codes(source + "\nf(torch.zeros(2, 3))\n") == ["dtype"]


def test_a_copy_is_cast_apart():
    source = "import copy\nnet = Net()\nother = copy.deepcopy(net).double()\n"
    assert codes(source + "net(torch.zeros(2, 3))\nother(torch.zeros(2, 3).double())") == []


def test_a_device_that_is_compared_is_not_decided():
    source = "def f(x: Tensor, y: Tensor):\n    x = x.cuda()\n    if {}:\n        return x + torch.ones(3)\n"
    for condition in ("x.device == y.device", "x.device.type == 'cuda'", "str(x.device) == 'cpu'", "x.is_cuda"):
        assert "internal" not in codes(source.format(condition))


def test_float64_is_not_moved_to_where_there_is_none():
    assert codes("Net().double().to('mps')") == ["device"]
    assert codes("Net().to('mps')") == []
