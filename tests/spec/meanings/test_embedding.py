"""Rows of a table, looked up: as torch."""

from __future__ import annotations

from typing import Any

import pytest
from torch.nn import functional as F

from shaped.spec.dims import Dim
from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

SIZES = {"b": 2, "t": 3, "d": 4, "v": 5}


@pytest.mark.parametrize("axes", ["b t", "t", ""])
def test_rows_are_those_of_torch(axes: str) -> None:
    assert_as_torch(lambda i, w: F.embedding(i, w), f"int: {axes} < v", "v d", **SIZES)
    for seed in range(3):
        assert_backward("embedding", f"int: {axes} < v", "v d", seed=seed, **SIZES)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_are_those_of_torch(mode: str) -> None:
    assert_as_torch(lambda i, w: F.embedding_bag(i, w, mode=mode), "int: b t < v", "v d", bound=1e-15, **SIZES)


def test_weighted_bags_are_those_of_torch() -> None:
    def program(i: Any, w: Any, weights: Any) -> Any:
        return F.embedding_bag(i, w, mode="sum", per_sample_weights=weights)

    assert_as_torch(program, "int: b t < v", "v d", "b t", bound=1e-15, **SIZES)


@pytest.mark.parametrize("options", [{"padding_idx": 0}, {"max_norm": 1.0}, {"scale_grad_by_freq": True}])
def test_options_whose_gradient_is_no_derivative_are_refused(options: dict[str, Any]) -> None:
    index, weight = variable("i", ("n",), "int", Dim.name("v")), variable("w", ("v", "d"))
    with pytest.raises(NotExpressible, match=next(iter(options))):
        F.embedding(index, weight, **options)  # type: ignore[arg-type]  # spec tensors
