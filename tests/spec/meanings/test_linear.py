"""Linear and bilinear maps: as torch."""

from __future__ import annotations

import pytest
from torch.nn import functional as F

from shaped.errors import ShapeError
from shaped.spec.tensor import variable
from tests.spec.meanings.against_torch import SUM_BOUND, assert_as_torch, assert_backward

SIZES = {"b": 2, "t": 3, "d": 4, "m": 5, "k": 2}


@pytest.mark.parametrize("axes", [["b t d", "m d", "m"], ["b t d", "m d"], ["d", "m d", "m"], ["b d", "d"]])
def test_linear_is_that_of_torch(axes: list[str]) -> None:
    assert_as_torch(lambda *x: F.linear(*x), *axes, bound=SUM_BOUND, **SIZES)
    assert_backward("linear", *axes, **SIZES)


@pytest.mark.parametrize("axes", [["b t d", "b t k", "m d k", "m"], ["b d", "b k", "m d k"]])
def test_bilinear_is_that_of_torch(axes: list[str]) -> None:
    assert_as_torch(lambda *x: F.bilinear(*x), *axes, bound=SUM_BOUND, **SIZES)
    assert_backward("bilinear", *axes, **SIZES)


def test_features_that_differ_are_a_fault() -> None:
    with pytest.raises(ShapeError, match="in_features d and m differ"):
        F.linear(variable("x", ("b", "d")), variable("w", ("o", "m")))  # type: ignore[arg-type]  # spec tensors
