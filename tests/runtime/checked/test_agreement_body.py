"""What a body binds as `*#name`, by asking `isinstance`, counts for the result as jaxtyped with beartype has it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from jaxtyping import Float
from torch import Tensor, zeros

from tests.runtime.checked.agreement import DECORATORS

SHAPES = [(), (0,), (1,), (2,), (3, 2), (1, 2)]


def bound_in_body(check: Callable[[Any], Any]) -> Callable[..., Any]:
    @check
    def f(x: Any, y: Tensor, result: Tensor) -> Float[Tensor, "*q"]:
        isinstance(y, Float[Tensor, "*#q"])
        return result

    return f  # type: ignore[no-any-return]  # what the decorator gives


def bound_before(check: Callable[[Any], Any]) -> Callable[..., Any]:
    @check
    def f(x: Float[Tensor, "*q"], y: Tensor, result: Tensor) -> Float[Tensor, "*q"]:
        isinstance(y, Float[Tensor, "*#q"])
        return result

    return f  # type: ignore[no-any-return]  # what the decorator gives


def accepts(function: Callable[..., Any], *shapes: tuple[int, ...]) -> bool:
    try:
        function(*(zeros(shape) for shape in shapes))
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("make", [bound_in_body, bound_before])
def test_a_name_of_any_number_of_axes_may_grow_in_the_body(make: Callable[..., Any]) -> None:
    reference, ours = (make(DECORATORS[name]) for name in ("jaxtyped", "checked"))
    decided = {shapes: accepts(reference, *shapes) for shapes in itertools.product(SHAPES, repeat=3)}
    assert set(decided.values()) == {True, False}
    assert {shapes: accepts(ours, *shapes) for shapes in decided} == decided
