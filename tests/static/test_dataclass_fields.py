"""Fields of dataclasses: what constructors give them, what is known of them where that is not followed."""

from __future__ import annotations

from tests.static.oracle import agree, check, errors, notes

CONFIG = """
from dataclasses import dataclass, replace
from jaxtyping import Float
from torch import Tensor
from shaped import reveal_shape
import elsewhere

@dataclass
class Config:
    width: int
    vocabulary: int = -1

@dataclass
class Rays:
    origins: Float[Tensor, "*batch 3"]
    near: Tensor = None
    def moved(self, by):
        return replace(self, origins=self.origins + by)
    def mapped(self, function):
        return replace(self, **{name: function(value) for name, value in elsewhere.items(self)})
"""


def shapes_of(source: str) -> list[str]:
    """The shapes that a program reveals after `CONFIG`, without errors."""
    report = check(CONFIG + source)
    assert errors(report) == []
    return [shape for _, shape in notes(report)]


def test_a_default_is_not_taken_for_a_field_that_was_given_a_value_elsewhere() -> None:
    source = """
class Derived(Config):
    def __init__(self, width, vocabulary=-1, **rest):
        super().__init__(width=width, vocabulary=vocabulary, **rest)
def embed(given):
    config = Derived(width=given["width"], vocabulary=given["vocabulary"])
    return torch.zeros(config.vocabulary, config.width)
def of_options(**options):
    config = Config(**options)
    return torch.zeros(config.vocabulary)
"""
    assert shapes_of(source) == []


def test_super_init_of_a_dataclass_sets_its_fields() -> None:
    shapes = agree(
        """
        from dataclasses import dataclass
        @dataclass
        class Config:
            width: int
            depth: int = 2
            def __post_init__(self):
                self.size = self.width * self.depth
        class Derived(Config):
            def __init__(self, width):
                super().__init__(width + 1)
        config = Derived(3)
        reveal_shape(torch.zeros(config.width, config.depth, config.size))
        """
    )
    assert shapes == ["4 2 8"]


def test_fields_of_an_object_that_anyone_may_have_made_are_as_declared() -> None:
    assert shapes_of("def f(rays: Rays): reveal_shape(rays.origins)") == ["... 3"]
    assert shapes_of("def f(rays: Rays):\n    if rays.near is not None: reveal_shape(rays.origins[..., 0])") == ["..."]


def test_replace_keeps_the_fields_that_it_is_not_given() -> None:
    source = """
def f(x: Float[Tensor, "n 3"]):
    rays = replace(Rays(x[:, None], x), near=x[0])
    reveal_shape(rays.origins)
    reveal_shape(rays.near)
    reveal_shape(rays.moved(x).origins)
"""
    assert shapes_of(source) == ["n 1 3", "3", "n n 3"]


def test_what_replace_is_given_unseen_is_as_declared() -> None:
    source = """
def f(x: Float[Tensor, "n 3"], function):
    reveal_shape(Rays(x).mapped(function).origins)
"""
    assert shapes_of(source) == ["... 3"]


def test_attributes_that_are_set_by_names_unseen_are_not_known() -> None:
    source = """
@dataclass
class Broadcast:
    x: Tensor
    size: int = 3
    def __post_init__(self):
        for name, value in elsewhere.broadcast(self).items():
            object.__setattr__(self, name, value)
def f(x: Float[Tensor, "n 3"], y: Float[Tensor, "n 4"]):
    made = Broadcast(x)
    reveal_shape(made.x)
    return made.x + y, torch.zeros(made.size) + y[0]
"""
    assert shapes_of(source) == ["..."]


def test_a_value_of_the_class_is_not_taken_for_one_that_methods_set() -> None:
    source = """
class Counter(torch.nn.Module):
    size = -1
    def set(self, x):
        self.size = len(x)
    def forward(self):
        return torch.zeros(self.size)
"""
    assert shapes_of(source) == []


def test_fields_of_the_object_that_stands_for_all_stay_as_declared_whatever_post_init_does() -> None:
    source = """
@dataclass
class Samples:
    starts: Float[Tensor, "*batch 1"]
    ends: Float[Tensor, "*batch 1"]
    def __post_init__(self):
        for name, value in elsewhere.broadcast(self).items():
            object.__setattr__(self, name, value)
    def middle(self) -> Float[Tensor, "*other 1"]:
        reveal_shape(self.starts + self.ends)
        return (self.starts + self.ends) / 2
    def shifted(self, by: Float[Tensor, "*rays 1"]):
        return self.starts + by
"""
    assert shapes_of(source) == ["*batch 1"]


def test_a_field_whose_annotation_is_not_understood_may_be_a_tensor() -> None:
    source = """
from elsewhere import Int, Table
@dataclass
class Context:
    index: Int[Tensor, "n"]
    table: Table
    def shifted(self, by: Float[Tensor, ""]):
        reveal_shape(self.index + by)
        reveal_shape(by * self.table)
    def moved(self, by: Float[Tensor, "3"]):
        reveal_shape(self.index + by)
"""
    assert shapes_of(source) == ["...", "...", "... 3"]
