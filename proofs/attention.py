"""Scaled dot product attention, causal, masked and with shared heads."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_HEADS = {"query": "b h q e", "key": "b h k e", "value": "b h k d"}

THEOREMS = [
    Theorem("scaled_dot_product_attention", {"query": "q e", "key": "k e", "value": "k d"}),
    Theorem("scaled_dot_product_attention", _HEADS),
    Theorem("scaled_dot_product_attention", {**_HEADS, "scale": 2}),
    Theorem("scaled_dot_product_attention", {**_HEADS, "is_causal": True}),
    Theorem("scaled_dot_product_attention", {**_HEADS, "attn_mask": "q k"}),
    Theorem("scaled_dot_product_attention", {**_HEADS, "attn_mask": "bool: b 1 q k"}),
    Theorem(
        "scaled_dot_product_attention",
        {"query": "b h*g q e", "key": "b h k e", "value": "b h k d", "enable_gqa": True},
        note="g query heads share a key head",
    ),
]
