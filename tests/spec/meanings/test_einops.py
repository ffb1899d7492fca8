"""einops' patterns: the same as the torch operations that they stand for."""

from __future__ import annotations

from typing import Any

import pytest

from shaped.errors import ShapeError
from shaped.spec.calls import call_named
from shaped.spec.dims import Dim
from shaped.spec.tensor import NotExpressible, variable

b, t, h, d = map(Dim.name, "bthd")
X = variable("x", (b, t, h * d))


def einops(name: str, *args: Any, **lengths: Any) -> Any:
    return call_named(f"einops.{name}", args, lengths)


@pytest.mark.parametrize(
    ("pattern", "lengths", "same"),
    [
        ("b t d -> t b d", {}, X.transpose(0, 1)),
        ("b t (h d) -> b h t d", {"h": h}, X.view(b, t, h, -1).transpose(1, 2)),
        ("b t d -> (b t) d", {}, X.flatten(0, 1)),
        ("b ... -> ... b", {}, X.permute(1, 2, 0)),
        ("b t d -> b 1 t d", {}, X.unsqueeze(1)),
    ],
)
def test_rearranging_is_reshaping_and_permuting(pattern: str, lengths: dict[str, Any], same: Any) -> None:
    found = einops("rearrange", X, pattern, **lengths)
    assert found.sizes == same.sizes
    assert str(found) == str(same)


def test_reducing_sums_the_axes_that_are_gone() -> None:
    assert str(einops("reduce", X, "b t d -> b d", "sum")) == str(X.sum(1))
    assert str(einops("reduce", X, "b t d -> d", "mean")) == str(X.mean((0, 1)))


def test_repeating_adds_an_axis() -> None:
    assert einops("repeat", X, "b t d -> b r t d", r=3).sizes == (b, Dim.of(3), t, h * d)
    assert str(einops("repeat", X, "b t d -> (r b) t d", r=3)) == str(X.repeat(3, 1, 1))


def test_einsum_names_its_axes() -> None:
    y = variable("y", (b, h * d))
    found = einops("einsum", X, y, "b t d, b d -> b t")
    assert found.sizes == (b, t)


def test_packing_and_unpacking_go_back() -> None:
    y = variable("y", (b, h * d))
    packed, shapes = einops("pack", [X, y], "b * d")
    assert packed.sizes == (b, t + 1, h * d)
    parts = einops("unpack", packed, shapes, "b * d")
    assert [part.sizes for part in parts] == [X.sizes, y.sizes]


def test_what_does_not_fit_is_a_fault_and_what_may_not_fit_is_refused() -> None:
    with pytest.raises(ShapeError, match="the pattern has 2 axes, the tensor 3"):
        einops("rearrange", X, "b t -> t b")
    with pytest.raises(NotExpressible, match="need not divide"):
        einops("rearrange", X, "b (k t) d -> b k t d", k=2)
