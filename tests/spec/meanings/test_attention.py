"""Scaled dot product attention: as torch, masked in every way that it allows."""

from __future__ import annotations

from typing import Any

import pytest
from torch.nn import functional as F

from shaped.errors import ShapeError
from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import SUM_BOUND, assert_as_torch, assert_backward

SIZES = {"b": 2, "h": 2, "q": 3, "k": 2, "e": 4, "d": 3}
HEADS = "b h q e", "b h k e", "b h k d"


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}])
def test_attention_is_that_of_torch(options: dict[str, Any]) -> None:
    assert_as_torch(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options), *HEADS, bound=SUM_BOUND, **SIZES
    )
    assert_backward("scaled_dot_product_attention", *HEADS, options=options, **SIZES)


def test_an_additive_mask_is_as_torch() -> None:
    assert_as_torch(
        lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v, mask), *HEADS, "q k", bound=SUM_BOUND, **SIZES
    )
    assert_backward("scaled_dot_product_attention", *HEADS, "q k", **SIZES)


@pytest.mark.parametrize("seed", range(4))
def test_a_mask_is_as_torch_also_where_a_query_sees_no_key(seed: int) -> None:
    masked = (*HEADS, "bool: b 1 q k")
    assert_as_torch(
        lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v, mask),
        *masked,
        bound=SUM_BOUND,
        seed=seed,
        **SIZES,
    )
    assert_backward("scaled_dot_product_attention", *masked, seed=seed, **SIZES)


def test_heads_that_share_keys_are_as_torch() -> None:
    shared = "b 4 q e", "b 2 k e", "b 2 k d"
    options = {"enable_gqa": True}
    assert_as_torch(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options), *shared, bound=SUM_BOUND, **SIZES
    )
    assert_backward("scaled_dot_product_attention", *shared, options=options, **SIZES)


def test_what_is_not_followed_is_refused() -> None:
    q, k, v = (variable(name, ("h", "n", "d")) for name in "qkv")
    with pytest.raises(NotExpressible, match="dropout"):
        F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)  # type: ignore[arg-type]  # spec tensors
    with pytest.raises(ShapeError, match="exclude"):
        F.scaled_dot_product_attention(q, k, v, variable("m", ("n", "n"), "bool"), is_causal=True)  # type: ignore[arg-type]
