"""Annotations that the program's own code makes, and what annotations promise across scopes."""

from __future__ import annotations

from tests.static.oracle import check, errors

ARRAY_TYPES = """
from jaxtyping import Float, Int
from torch import Tensor

class ArrayType:
    def __init__(self, kind):
        self.kind = kind
    def __getitem__(self, axes):
        return self.kind[Tensor, axes]

Floats, Ints = ArrayType(Float), ArrayType(Int)
Image = Floats["3 h w"]
AXES = "b d"
"""


def errors_of(source: str) -> list[str]:
    """What is wrong in a program after `ARRAY_TYPES`, without lines."""
    return [error.partition(": ")[2] for error in errors(check(ARRAY_TYPES + source))]


def test_an_object_that_answers_subscripts_gives_annotations() -> None:
    found = errors_of('def f(x: Floats["b t d"], lengths: Ints["b"]) -> Floats["b d"]: return x.sum(2)')
    assert found == ['return of f: (b, t) does not match "b d": axis 1 is t, not d']
    assert errors_of('def f(x: Floats["b t d"]) -> Floats["b t"] | None: return x.sum(2)') == []


def test_an_alias_may_be_made_by_such_an_object() -> None:
    assert errors_of('def f(x: Image) -> Floats["h w"]: return x.sum(0)') == []
    assert errors_of("def f(x: Image) -> Image: return x.sum(0)") == [
        'return of f: (h, w) does not match "3 h w": it has 2 axes, not 3'
    ]


def test_a_class_may_answer_subscripts() -> None:
    source = """
class Mask:
    def __class_getitem__(cls, axes):
        return Float[Tensor, axes]
def f(x: Mask["b d"]) -> Mask["b"]:
    return x
"""
    assert errors_of(source) == ['return of f: (b, d) does not match "b": it has 2 axes, not 1']


def test_axes_may_stand_in_a_name() -> None:
    assert errors_of('def f(x: Float[Tensor, AXES]) -> Float[Tensor, "d"]: return x.sum(0)') == []
    assert errors_of('def f(x: Float[Tensor, AXES]) -> Float[Tensor, "d"]: return x[:, 0]') == [
        'return of f: (b,) does not match "d": axis 0 is b, not d'
    ]


def test_malformed_axes_of_such_an_object_are_reported_where_they_are_given() -> None:
    (found,) = errors_of('def f(x: Floats["b (d"]) -> None: ...')
    assert '"(d" has a "(" without its partner' in found


def test_an_object_that_does_more_than_that_is_not_followed() -> None:
    source = """
class Counted:
    def __getitem__(self, axes):
        axes = axes.replace(" ", " _ ")
        return Float[Tensor, axes]
counted = Counted()
def f(x: counted["b d"]) -> Float[Tensor, "b 2"]:
    return x
"""
    assert errors_of(source) == []


def test_a_name_stands_for_what_its_own_path_returns() -> None:
    source = """
def basis(weights: Float[Tensor, "rows d"]) -> Float[Tensor, "d rank"]:
    if weights.shape[0] == 1:
        return weights.T
    return weights.T[:, 1:]
"""
    assert errors_of(source) == []


def test_a_name_of_a_local_annotation_stands_for_what_its_own_path_or_round_has() -> None:
    source = """
import torch
def branches(x: Float[Tensor, "n d"], twice: bool):
    if twice:
        y: Float[Tensor, "n k"] = torch.cat([x, x], 1)
    else:
        y: Float[Tensor, "n k"] = x
    return y
def rounds(x: Float[Tensor, "n d"]):
    for _ in range(3):
        x = torch.cat([x, x], 1)
        y: Float[Tensor, "n k"] = x
    return y
def one_path(x: Float[Tensor, "n d"]):
    y: Float[Tensor, "n k"] = x
    z: Float[Tensor, "n k"] = torch.cat([x, x], 1)
    return y, z
"""
    assert errors_of(source) == ['z: (n, 2*d) does not match "n k": axis 1 is 2*d, not k=d']


MAKER = """
import torch
from dataclasses import dataclass
class Confidence:
    def __init__(self, breaks: Float[Tensor, "breaks"], scale: Float[Tensor, "m"]):
        self.breaks = breaks
    def centers(self):
        return torch.cat([self.breaks, self.breaks[-1:]])
    def expected(self, logits: Float[Tensor, "n bins"]) -> Float[Tensor, "n"]:
        return logits @ self.centers()
@dataclass
class Rays:
    origins: Float[Tensor, "n 3"]
    weights: Float[Tensor, "n d"]
    def weighted(self, by: Float[Tensor, "k c"]) -> Float[Tensor, "n d"]:
        return self.weights * by
"""


def test_a_size_of_what_an_object_was_made_of_may_be_that_of_an_argument() -> None:
    assert errors_of(MAKER) == []
    assert errors_of("def f(rays: Rays, x: Float[Tensor, 'm 3']): return rays.origins + x") == []


def test_sizes_that_a_constructor_or_a_method_meets_by_itself_still_differ() -> None:
    wrong = MAKER.replace("self.breaks = breaks", "self.breaks = breaks + scale")
    assert errors_of(wrong) == ["add: (breaks,) + (m,): sizes breaks and m of axis -1 differ"]
    wrong = MAKER.replace("self.weights * by", "self.weights * self.origins * by")
    assert errors_of(wrong) == ["mul: (n, d) * (n, 3): sizes d and 3 of axis -1 differ"]


def test_the_size_of_a_default_tensor_is_a_choice() -> None:
    source = """
import torch
class Confidence:
    def __init__(self, breaks=torch.arange(0, 31.5, 0.5)):
        self.breaks = breaks
class Model:
    def __init__(self):
        self.confidence = Confidence()
    def expected(self, logits: Float[Tensor, "n bins"]) -> Float[Tensor, "n bins"]:
        return logits * self.confidence.breaks
    def fixed(self):
        return torch.zeros(63) * self.confidence.breaks
"""
    assert errors_of(source) == []
    wrong = source.replace("zeros(63)", "zeros(64)")
    assert errors_of(wrong) == []
