"""Conditions on dtypes decide which branch is run, and teach the branch which dtypes are left."""

from __future__ import annotations

import pytest

from tests.static.oracle import check, errors

FUNCTIONS = """
from jaxtyping import Bool, Float, Int, Num, Shaped
from torch import Tensor
def mask(image: Bool[Tensor, "n 1"]) -> Bool[Tensor, "n"]:
    return image[:, 0]
def looked_up(image: Int[Tensor, "n 1"]) -> Float[Tensor, "n 3"]:
    return torch.zeros(4, 3)[image[:, 0]]
def coloured(image):
    if image.dtype == torch.bool:
        return mask(image)
    if image.dtype in (torch.int64, torch.int32):
        return looked_up(image)
    return image
"""


def errors_of(source: str) -> list[str]:
    """What is wrong in a program after `FUNCTIONS`, without lines."""
    return [error.partition(": ")[2] for error in errors(check(FUNCTIONS + source))]


@pytest.mark.parametrize("word", ["Float", "Bool", "Int", "Num", "Shaped"])
def test_a_branch_for_another_dtype_is_not_run(word: str) -> None:
    assert errors_of(f'def f(x: {word}[Tensor, "n 1"]): return coloured(x)') == []


@pytest.mark.parametrize(
    "condition",
    [
        "x.dtype == torch.bool",
        "not x.is_floating_point()",
        "not torch.is_floating_point(x)",
        "x.dtype not in [torch.float16, torch.float32, torch.float64, torch.bfloat16]",
    ],
)
def test_a_branch_knows_the_dtypes_that_are_left(condition: str) -> None:
    source = f"""
def f(x: Shaped[Tensor, "n 1"]):
    if {condition}:
        return x
    return mask(x)
"""
    (found,) = errors_of(source)
    assert found.startswith("argument image of mask: dtype")


def test_a_cast_of_what_has_another_dtype_is_followed() -> None:
    source = """
def f(x: Float[Tensor, "n 1"], y: Num[Tensor, "n 1"]):
    if x.dtype != torch.bool:
        x = x > 0
    if y.dtype != torch.bool:
        y = y.bool()
    return mask(x), mask(y)
"""
    assert errors_of(source) == []
