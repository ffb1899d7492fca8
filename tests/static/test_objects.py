"""Objects and classes: attributes, inheritance, dataclasses, special methods."""

from __future__ import annotations

from pathlib import Path

from shaped.static.check import Checker
from tests.static.oracle import agree


def test_class_methods_and_static_methods() -> None:
    shapes = agree(
        """
        class Box:
            width = 3
            @classmethod
            def make(cls, n):
                return torch.zeros(n, cls.width)
            @staticmethod
            def pair(n):
                return torch.zeros(n, n)
        class Wide(Box):
            width = 6
        reveal_shape(Box.make(2))
        reveal_shape(Wide.make(2))
        reveal_shape(Wide().make(1))
        reveal_shape(Box.pair(2))
        reveal_shape(Box().pair(3))
        """
    )
    assert shapes == ["2 3", "2 6", "1 6", "2 2", "3 3"]


def test_super_chains() -> None:
    shapes = agree(
        """
        class A:
            def __init__(self, n):
                self.n = n
            def size(self):
                return self.n
        class B(A):
            def __init__(self, n):
                super().__init__(n + 1)
            def size(self):
                return super().size() * 10
        class C(B):
            def size(self):
                return super().size() + 1
        reveal_shape(torch.zeros(C(2).size()))
        """
    )
    assert shapes == ["31"]


def test_diamonds_follow_the_order_of_look_up() -> None:
    shapes = agree(
        """
        class Base:
            def size(self):
                return 1
        class Left(Base):
            def size(self):
                return super().size() + 10
        class Right(Base):
            def size(self):
                return super().size() + 100
        class Both(Left, Right):
            pass
        reveal_shape(torch.zeros(Both().size()))
        """
    )
    assert shapes == ["111"]


def test_mixins() -> None:
    shapes = agree(
        """
        class Named:
            def shape_of(self):
                return (self.n, 2)
        class Box(Named):
            n = 3
        reveal_shape(torch.zeros(Box().shape_of()))
        """
    )
    assert shapes == ["3 2"]


def test_dataclasses_with_defaults() -> None:
    assert agree(
        """
        from dataclasses import dataclass, field, replace
        @dataclass
        class Config:
            width: int
            depth: int = 2
            sizes: list = field(default_factory=list)
            def __post_init__(self):
                self.total = self.width * self.depth
        c = Config(3)
        reveal_shape(torch.zeros(c.width, c.depth, c.total))
        c.sizes.append(1)
        d = Config(4, depth=5)
        reveal_shape(torch.zeros(d.width, d.depth, d.total, len(d.sizes) + 1))
        e = replace(c, width=6)
        reveal_shape(torch.zeros(e.width, e.depth))
        """
    )


def test_dataclasses_that_inherit() -> None:
    shapes = agree(
        """
        from dataclasses import dataclass
        @dataclass
        class A:
            a: int = 1
            b: int = 2
        @dataclass
        class B(A):
            b: int = 7
            c: int = 3
        x = B(4, c=5)
        reveal_shape(torch.zeros(x.a, x.b, x.c))
        """
    )
    assert shapes == ["4 7 5"]


def test_named_tuples() -> None:
    assert agree(
        """
        from typing import NamedTuple
        from collections import namedtuple
        class Size(NamedTuple):
            h: int
            w: int = 4
        s = Size(3)
        h, w = s
        reveal_shape(torch.zeros(s.h, s.w, h, w))
        reveal_shape(torch.zeros(s[0], len(s)))
        P = namedtuple("P", "a b")
        p = P(2, 3)
        reveal_shape(torch.zeros(p.a, p[1]))
        t = s._replace(h=9)
        reveal_shape(torch.zeros(t.h, t.w))
        """
    )


def test_a_context_manager_of_the_program() -> None:
    assert agree(
        """
        class Scope:
            def __enter__(self):
                return 4
            def __exit__(self, *args):
                return True
        n = 1
        with Scope() as k:
            n = 2
            int("x")
            n = 3
        reveal_shape(torch.zeros(n, k))
        """
    )


def test_a_class_made_in_a_function() -> None:
    shapes = agree(
        """
        def build(n):
            class Box:
                size = n
                def make(self):
                    return torch.zeros(self.size, n)
            return Box
        reveal_shape(build(2)().make())
        reveal_shape(build(3)().make())
        """
    )
    assert shapes == ["2 2", "3 3"]


def test_a_class_body_has_a_scope_of_its_own() -> None:
    shapes = agree(
        """
        n = 2
        class Box:
            n = 5
            m = n + 1
            def make(self):
                return torch.zeros(n, self.n, self.m)
        reveal_shape(Box().make())
        """
    )
    assert shapes == ["2 5 6"]


def test_a_nested_class() -> None:
    shapes = agree(
        """
        class Outer:
            class Inner:
                n = 3
            def make(self):
                return torch.zeros(self.Inner.n)
        reveal_shape(Outer().make())
        """
    )
    assert shapes == ["3"]


def test_a_constructor_that_calls_methods() -> None:
    shapes = agree(
        """
        class Net(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.n = n
                self.build()
                self.n = n + 1
            def build(self):
                self.fc = nn.Linear(self.n, self.n * 2)
            def forward(self, x):
                return self.fc(x)
        net = Net(3)
        reveal_shape(net(torch.zeros(4, 3)))
        reveal_shape(torch.zeros(net.n))
        """
    )
    assert shapes == ["4 6", "4"]


def test_a_method_that_changes_the_object() -> None:
    shapes = agree(
        """
        class Net:
            def __init__(self):
                self.n = 1
                self.items = []
            def add(self, k):
                self.n += k
                self.items.append(k)
                return self
        net = Net().add(2).add(3)
        reveal_shape(torch.zeros(net.n, len(net.items)))
        """
    )
    assert shapes == ["6 2"]


def test_new_makes_something_else() -> None:
    assert agree(
        """
        class Box:
            def __new__(cls, n):
                return torch.zeros(n)
        reveal_shape(Box(3))
        """
    )


def test_a_metaclass() -> None:
    assert agree(
        """
        class Meta(type):
            def __call__(cls, n):
                return torch.zeros(n)
        class Box(metaclass=Meta):
            pass
        reveal_shape(Box(3))
        """
    )


def test_a_class_decorator() -> None:
    assert agree(
        """
        def replaced(cls):
            return lambda n: torch.zeros(n, 2)
        @replaced
        class Box:
            def __init__(self, n):
                pass
        reveal_shape(Box(3))
        """
    )


def test_a_list_held_by_a_class_is_shared() -> None:
    shapes = agree(
        """
        class Box:
            items = []
            def add(self):
                self.items.append(1)
        a, b = Box(), Box()
        a.add()
        b.add()
        reveal_shape(torch.zeros(len(a.items)))
        """
    )
    assert shapes == ["2"]


def test_enums() -> None:
    assert agree(
        """
        import enum
        class Size(enum.IntEnum):
            SMALL = 2
            BIG = 5
        reveal_shape(torch.zeros(Size.BIG, len(Size)))
        class Auto(enum.Enum):
            A = enum.auto()
            B = enum.auto()
        reveal_shape(torch.zeros(Auto.B.value, len([m for m in Auto])))
        """
    )


def test_slots_and_inheritance_from_builtins() -> None:
    assert agree(
        """
        class Box:
            __slots__ = ("n",)
            def __init__(self, n):
                self.n = n
        class Items(list):
            def total(self):
                return len(self)
        class Named(dict):
            pass
        reveal_shape(torch.zeros(Box(3).n, Items([1, 2]).total()))
        d = Named(a=1)
        d["b"] = 4
        reveal_shape(torch.zeros(d["b"], len(d)))
        """
    )


def test_type_and_class_of_an_object() -> None:
    shapes = agree(
        """
        class A:
            n = 2
        class B(A):
            n = 3
        def make(x):
            return torch.zeros(type(x).n, x.__class__.n)
        reveal_shape(make(B()))
        reveal_shape(make(A()))
        """
    )
    assert shapes == ["3 3", "2 2"]


LAYERS = """\
import torch
from torch import Tensor, nn


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x)

"""


def _shapes(source: str) -> dict[str, str]:
    report = Checker().check(Path("layers.py"), LAYERS + source)
    assert not report.diagnostics
    return {shown.source: shown.shape for shown in report.shapes}


def test_layers_that_a_loop_of_any_length_makes_are_followed() -> None:
    source = """
class Net(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([Layer(width), nn.Linear(width, width)]))

    def forward(self, x: Tensor) -> Tensor:
        for layer, linear in self.layers:
            y, z = layer(x), linear(x)
        return x
"""
    found = _shapes(source)
    assert found["layer(x)"] == found["linear(x)"] == "... width"


def test_an_object_that_one_branch_makes_keeps_its_attributes() -> None:
    source = """
class Net(nn.Module):
    def __init__(self, width: int, deep: bool, wide: bool) -> None:
        super().__init__()
        if deep:
            self.layer = Layer(width)
        else:
            self.layer = nn.Linear(width, width)
        self.last = Layer(width) if wide else None

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x)
        if self.last is not None:
            y = self.last(y)
        return y
"""
    found = _shapes(source)
    assert found["self.layer(x)"] == found["self.last(y)"] == "... width"


def test_an_object_that_a_later_branch_changes_is_not_followed_where_they_differ() -> None:
    source = """
def f(x: Tensor, wide: bool) -> Tensor:
    layer = Layer(3)
    if wide:
        layer.linear = nn.Linear(3, 4)
    return layer(x)
"""
    assert _shapes(source)["layer(x)"] == "... _"


def test_a_class_whose_objects_hold_others_of_their_own_class_is_followed() -> None:
    source = """
from jaxtyping import Float

class Tree:
    def __init__(self, children: list["Tree"]) -> None:
        self.children = children

    def plus_one(self, x: Float[Tensor, "b 3"]) -> Tensor:
        return x + 1
"""
    assert _shapes(source)["x + 1"] == "b 3"


def test_an_int_whose_default_is_a_float_is_no_int() -> None:
    source = """
def penalty(momentum: int = 0.55) -> Tensor:
    return torch.tensor(momentum, requires_grad=True)
"""
    assert (
        not Checker()
        .check(Path("momentum.py").absolute(), "import torch\nfrom torch import Tensor\n" + source)
        .diagnostics
    )
