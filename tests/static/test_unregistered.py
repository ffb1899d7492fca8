"""Modules in a plain list are reported where they can be nothing else, and torch itself is the witness."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from shaped.static.check import Checker

HEAD = """import copy
import torch
from torch import Tensor, nn

"""
LOOP = """
    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x
"""


def found_in(program: str) -> list[tuple[int, str]]:
    """The lines, from the class on, and the texts of what is reported."""
    report = Checker(show_traceback=True).check(Path("model.py"), HEAD + program)
    return [(one.span.line - HEAD.count("\n"), f"{one.message} [{one.code}]") for one in report.diagnostics]


def in_a_class(constructor: str, rest: str = LOOP, before: str = "") -> str:
    """A module whose constructor has these lines."""
    body = "\n".join(f"        {line}" for line in constructor.strip("\n").split("\n"))
    return (
        f"{before}class Net(nn.Module):\n    def __init__(self, d: int, stem: nn.Module, deep: bool = True) -> None:\n"
        f"        super().__init__()\n{body}\n{rest}"
    )


def parameters_of(program: str) -> int:
    """How many parameters torch sees in the module of the program."""
    names: dict[str, object] = {}
    exec(HEAD + program, names)
    module = names["Net"](4, nn.Linear(4, 4))  # type: ignore[operator]  # the class of the program
    assert isinstance(module, nn.Module)
    assert module(torch.ones(2, 4)).shape == (2, 4)  # it runs: nothing else would tell
    return len(list(module.parameters()))


HIDDEN = {
    "a comprehension": "self.layers = [nn.Linear(d, d) for _ in range(3)]",
    "a display": "self.layers = [nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d)]",
    "a tuple": "self.layers = (nn.Linear(d, d), nn.LayerNorm(d))",
    "a tuple of a generator": "self.layers = tuple(nn.Linear(d, d) for _ in range(3))",
    "appended in a loop": "self.layers = []\nfor _ in range(3):\n    self.layers.append(nn.Linear(d, d))",
    "appended one by one": "self.layers = []\nself.layers.append(nn.Linear(d, d))\nself.layers.append(nn.ReLU())",
    "extended": "self.layers = [nn.Linear(d, d)]\nself.layers.extend([nn.ReLU(), nn.Linear(d, d)])",
    "added to": "self.layers = [nn.Linear(d, d)]\nself.layers += [nn.ReLU(), nn.Linear(d, d)]",
    "two lists": "self.layers = [nn.Linear(d, d)] + [nn.Linear(d, d) for _ in range(2)]",
    "repeated": "self.layers = [nn.Linear(d, d)] * 3",
    "under another name first": (
        "layers = []\nfor _ in range(3):\n    layers.append(nn.Linear(d, d))\nself.layers = layers"
    ),
    "annotated": "self.layers: list[nn.Module] = [nn.Linear(d, d) for _ in range(3)]",
    "moved": "self.layers = [nn.Linear(d, d).to('cpu') for _ in range(3)]",
    "each under a name": (
        "self.layers = []\nfor _ in range(3):\n    layer = nn.Linear(d, d)\n    self.layers.append(layer)"
    ),
    "in containers": "self.layers = [nn.Sequential(nn.Linear(d, d), nn.ReLU()) for _ in range(3)]",
    "initialised": "self.layers = [nn.Linear(d, d) for _ in range(3)]\nnn.init.zeros_(self.layers[-1].weight)",
    "one of two kinds": "self.layers = [nn.Linear(d, d) if deep else nn.Identity() for _ in range(2)]",
}


@pytest.mark.parametrize("constructor", HIDDEN.values(), ids=HIDDEN.keys())
def test_modules_in_a_plain_list_are_reported(constructor: str) -> None:
    program = in_a_class(constructor)
    assert parameters_of(program) == 0
    [(line, text)] = found_in(program)
    assert "self.layers" in program.split("\n")[line - 1]
    kind = "tuple" if "tuple" in constructor or "= (" in constructor else "list"
    assert text == (
        f"self.layers: a {kind} of modules is not registered: its parameters are in no state_dict, "
        "no optimiser and no .to() [unregistered]"
    )


def test_a_hint_names_the_container_of_torch() -> None:
    [found] = Checker().check(Path("model.py"), HEAD + in_a_class(HIDDEN["a display"])).diagnostics
    assert found.hint == "nn.ModuleList(...)?"


BY_NAME = """
    def forward(self, x: Tensor) -> Tensor:
        return self.heads["a"](x) + self.heads["b"](x)
"""


def test_a_dict_of_modules_is_reported() -> None:
    for constructor in (
        "self.heads = {'a': nn.Linear(d, d), 'b': nn.Linear(d, d)}",
        "self.heads = {name: nn.Linear(d, d) for name in 'ab'}",
        "self.heads = {}\nfor name in 'ab':\n    self.heads[name] = nn.Linear(d, d)",
    ):
        program = in_a_class(constructor, BY_NAME)
        assert parameters_of(program) == 0
        [(_, text)] = found_in(program)
        assert text.startswith("self.heads: a dict of modules is not registered")


def test_a_list_of_parameters_is_reported() -> None:
    rest = "\n    def forward(self, x: Tensor) -> Tensor:\n        return x * self.scales[0] + self.scales[1]\n"
    program = in_a_class("self.scales = [nn.Parameter(torch.ones(d)) for _ in range(2)]", rest)
    assert parameters_of(program) == 0
    [(_, text)] = found_in(program)
    assert text.startswith("self.scales: a list of parameters is not registered: they are in no state_dict")


OWN = """class Block(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.body = nn.Linear(d, d)

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


def block(d: int) -> nn.Module:
    return nn.Sequential(nn.Linear(d, d), nn.ReLU())


class Silent(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


"""


@pytest.mark.parametrize("made", ["Block(d)", "block(d)"])
def test_so_are_modules_of_the_program_and_those_that_its_functions_make(made: str) -> None:
    program = in_a_class(f"self.layers = [{made} for _ in range(2)]", before=OWN)
    assert parameters_of(program) == 0
    assert len(found_in(program)) == 1


def test_modules_made_in_another_method_are_reported_there() -> None:
    rest = "\n    def build(self, d: int) -> None:\n        self.layers = [nn.Linear(d, d), nn.Linear(d, d)]\n" + LOOP
    assert len(found_in(in_a_class("self.build(d)", rest))) == 1


REGISTERED = {
    "in a ModuleList": "self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(3)])",
    "made a ModuleList later": (
        "self.layers = [nn.Linear(d, d), nn.Linear(d, d)]\nself.layers = nn.ModuleList(self.layers)"
    ),
    "in a Sequential beside": (
        "self.layers = [nn.Linear(d, d), nn.Linear(d, d)]\nself.body = nn.Sequential(*self.layers)"
    ),
    "in a Sequential of the variable": (
        "layers = [nn.Linear(d, d), nn.Linear(d, d)]\nself.layers = layers\nself.body = nn.Sequential(*layers)"
    ),
    "by add_module": (
        "self.layers = []\nfor i in range(3):\n    layer = nn.Linear(d, d)\n"
        "    self.add_module(f'layer{i}', layer)\n    self.layers.append(layer)"
    ),
    "by setattr": (
        "self.layers = [nn.Linear(d, d) for _ in range(3)]\nfor i, layer in enumerate(self.layers):\n"
        "    setattr(self, f'layer{i}', layer)"
    ),
    "names of attributes": "self.a = nn.Linear(d, d)\nself.b = nn.Linear(d, d)\nself.layers = [self.a, self.b]",
    "names of variables": "a, b = nn.Linear(d, d), nn.Linear(d, d)\nself.a, self.b = a, b\nself.layers = [a, b]",
    "one name kept twice": ("a = nn.Linear(d, d)\nb = nn.Linear(d, d)\nself.a = a\nself.b = b\nself.layers = [a, b]"),
    "one entry kept": (
        "self.layers = [nn.Linear(d, d), nn.Linear(d, d)]\nself.a = self.layers[0]\nself.b = self.layers[1]"
    ),
    "under a second name": (
        "layers = [nn.Linear(d, d), nn.Linear(d, d)]\nself.layers = layers\nothers = layers\n"
        "self.body = nn.Sequential(*others)"
    ),
    "a weight of one kept": "self.layers = [nn.Linear(d, d), nn.Linear(d, d)]\nself.weight = self.layers[0].weight",
    "given to a function": "self.layers = [nn.Linear(d, d), nn.Linear(d, d)]\nself.body = make(self.layers)",
}


@pytest.mark.parametrize("constructor", REGISTERED.values(), ids=REGISTERED.keys())
def test_modules_that_are_registered_elsewhere_are_not(constructor: str) -> None:
    program = in_a_class(
        constructor, before="def make(layers: list) -> nn.Module:\n    return nn.Sequential(*layers)\n\n\n"
    )
    assert parameters_of(program) > 0
    assert not found_in(program)


MEANT = {
    "a module of the caller": "self.layers = [stem]",
    "several of the caller": "self.layers = [stem, stem]",
    "one that is hidden": "self.layers = [nn.Linear(d, d)]",
    "frozen ones": "self.layers = [nn.Linear(d, d).eval() for _ in range(2)]",
    "frozen by hand": "self.layers = [nn.Linear(d, d).requires_grad_(False) for _ in range(2)]",
    "without parameters": "self.layers = [nn.ReLU(), nn.Dropout(0.1)]",
    "copies of the caller's": "self.layers = [copy.deepcopy(stem) for _ in range(2)]",
    "plain numbers": "self.layers = [abs for _ in range(3)]",
    "modules of the program without parameters": "self.layers = [Silent() for _ in range(2)]",
    "a name that is another class here": "Block = nn.Identity\nself.layers = [Block(d) for _ in range(2)]",
    "a copy beside one that is made": "self.layers = [nn.Linear(d, d), copy.deepcopy(stem)]",
    "one of them frozen later": (
        "self.layers = [nn.Linear(d, d), nn.Linear(d, d)]\nself.layers[0].requires_grad_(False)"
    ),
    "bound anew": "self.layers = [nn.Linear(d, d), nn.Linear(d, d)]\nself.layers = [*self.layers, stem]",
}


@pytest.mark.parametrize("constructor", MEANT.values(), ids=MEANT.keys())
def test_modules_that_are_hidden_on_purpose_are_not(constructor: str) -> None:
    program = in_a_class(constructor, before=OWN)
    parameters_of(program)
    assert not found_in(program)


SEEN_TO = {
    "their parameters are asked for": (
        "\n    def weights(self) -> list:\n        return [p for layer in self.layers for p in layer.parameters()]\n"
    ),
    "they are moved": "\n    def move(self, d) -> None:\n        for layer in self.layers:\n            layer.to(d)\n",
    "parameters is the class's own": (
        "\n    def parameters(self, recurse=True):\n        yield nn.Parameter(torch.ones(1))\n"
    ),
    "they are given away": "\n    def parts(self) -> list:\n        return self.layers\n",
    "they are registered later": (
        "\n    def register(self) -> None:\n        for i, one in enumerate(self.layers):\n"
        "            self.register_module(str(i), one)\n"
    ),
    "they are kept elsewhere": "\n    def keep(self) -> None:\n        self.body = nn.Sequential(*self.layers)\n",
    "one is moved": "\n    def move(self, d) -> None:\n        layer = self.layers[0]\n        layer.to(d)\n",
    "one is given to a method": "\n    def keep(self) -> None:\n        self.put(self.layers[0])\n",
    "they are replaced": "\n    def replace(self, layers: list) -> None:\n        self.layers = layers\n",
    "one is kept elsewhere": "\n    def keep(self) -> None:\n        self.first = self.layers[0]\n",
}


@pytest.mark.parametrize("method", SEEN_TO.values(), ids=SEEN_TO.keys())
def test_modules_that_a_method_sees_to_are_not(method: str) -> None:
    assert found_in(in_a_class(HIDDEN["a display"]))
    assert not found_in(in_a_class(HIDDEN["a display"], LOOP + method))


def test_modules_that_a_caller_may_have_given_are_not() -> None:
    constructor = "if stem is None:\n    stem = [nn.Linear(d, d), nn.Linear(d, d)]\nself.layers = stem"
    assert not found_in(in_a_class(constructor))


def test_modules_that_no_method_looks_at_are_not() -> None:
    assert not found_in(
        in_a_class(HIDDEN["a display"], "\n    def forward(self, x: Tensor) -> Tensor:\n        return x\n")
    )


def test_a_class_that_is_no_module_may_keep_lists() -> None:
    assert not found_in(in_a_class(HIDDEN["a display"]).replace("(nn.Module)", ""))


def test_a_class_of_unknown_bases_may_register_lists() -> None:
    program = "from library import Base\n\n\n" + in_a_class(HIDDEN["a display"]).replace(
        "(nn.Module)", "(Base, nn.Module)"
    )
    assert not found_in(program)


def test_a_class_that_inherits_may_register_them() -> None:
    sub = "\n\nclass Sub(Net):\n    def register(self) -> None:\n        self.body = nn.ModuleList(self.layers)\n"
    assert not found_in(in_a_class(HIDDEN["a display"]) + sub)


def test_what_a_base_class_makes_is_told_once() -> None:
    sub = "\n\nclass Sub(Net):\n    pass\n"
    assert len(found_in(in_a_class(HIDDEN["a display"]) + sub)) == 1


def test_a_comment_silences_it() -> None:
    program = in_a_class("self.layers = [nn.Linear(d, d) for _ in range(3)]  # type: ignore[unregistered]")
    assert not found_in(program)
