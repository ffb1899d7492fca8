"""Sizes that were not followed are called by the names that an annotation is the first to give them."""

from __future__ import annotations

import pytest

from shaped.static.report import Report
from tests.static.oracle import check, errors

HEAD = """
import numpy as np
from jaxtyping import Float, Int
from torch import Tensor
from somewhere import rows, unknown
"""


def report_of(source: str) -> Report:
    return check(HEAD + source)


def is_all_known(source: str) -> bool:
    statistics = report_of(source).statistics
    assert statistics.tensors > 0
    return statistics.shape_known == statistics.tensors


def test_a_local_annotation_names_a_size() -> None:
    source = """
def f():
    x{annotation} = torch.zeros(len(rows()), 3)
    return x.relu()
"""
    assert is_all_known(source.format(annotation=': Float[Tensor, "n 3"]'))
    assert not is_all_known(source.format(annotation=""))


def test_a_return_names_a_size_where_it_is_made_and_where_it_is_called() -> None:
    source = """
def row() -> Float[Tensor, "n"]:
    return torch.zeros(len(rows()) + 2)
def pair() -> tuple[Float[Tensor, "n"], Float[Tensor, "m 2"]]:
    return torch.zeros(len(rows())), torch.zeros(len(rows()), 2)
def g():
    x, y = pair()
    return row().relu(), x.relu(), y.relu()
"""
    assert is_all_known(source)


def test_tensors_of_one_name_have_one_size() -> None:
    source = """
def f():
    x: Float[Tensor, "n"] = torch.zeros(len(rows()))
    y: Float[Tensor, "n"] = torch.zeros(len(unknown()))
    return x + y
"""
    assert report_of(source).shapes[-1].shape == "n"


def test_a_name_in_a_callee_does_not_rename_what_the_caller_gives() -> None:
    source = """
def same(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x.relu()
def f():
    x = torch.zeros(len(rows()))
    return x - same(x)
"""
    assert not is_all_known(source)
    assert errors(report_of(source)) == []


@pytest.mark.parametrize("wrong", ['"n 4"', '"n 3 1"'])
def test_what_is_known_is_still_held_to_the_annotation(wrong: str) -> None:
    source = f"def f():\n    x: Float[Tensor, {wrong}] = torch.zeros(len(rows()), 3)\n"
    assert len(errors(report_of(source))) == 1


def test_names_may_be_annotated_before_they_are_unpacked() -> None:
    source = """
class Swish(torch.autograd.Function):
    @staticmethod
    def backward(ctx, grad: Float[Tensor, "*s"]):
        {x}
        {y}
        x, y = ctx.saved_tensors
        return grad * x.sigmoid() * y
def load():
    {pixels}
    pixels, labels = unknown()
    return torch.tensor(pixels) / 16
"""
    shapes = {
        "x": 'x: Float[Tensor, "*s"]',
        "y": 'y: Float[Tensor, "*s"]',
        "pixels": 'pixels: Float[np.ndarray, "n 64"]',
    }
    assert is_all_known(source.format(**shapes))
    for name in shapes:
        assert not is_all_known(source.format(**{**shapes, name: "pass"}))


def test_a_value_that_is_known_says_more_than_an_annotation_before_it() -> None:
    source = """
def f():
    x: Float[Tensor, "n"]
    x = torch.zeros(3)
    return x.relu()
"""
    assert report_of(source).shapes[-1].shape == "3"


def test_a_compiled_forward_is_called_as_its_model() -> None:
    source = """
from shaped.runtime import compile_forward
def f(x: Float[Tensor, "n 8"]) -> Float[Tensor, "n {size}"]:
    return compile_forward(torch.nn.Linear(8, 3), (x,))(x)
"""
    assert errors(report_of(source.replace("{size}", "3"))) == []
    assert len(errors(report_of(source.replace("{size}", "4")))) == 1
