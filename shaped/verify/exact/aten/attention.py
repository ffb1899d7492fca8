"""Rules of torch's fused attention on the CPU.

Forward: softmax(scale q k' + mask) v, with the logarithm of the softmax's denominator. Backward: that of Dao and
others (FlashAttention, 2022, appendix B), which makes the weights anew from that logarithm.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact.arithmetic import add, matrix_product, subtract, times, total, where
from shaped.verify.exact.aten.registry import UnsupportedError, rule
from shaped.verify.exact.functions import exp, log, with_shadow
from shaped.verify.exact.value import Value


def _scores(query: Value, key: Value, is_causal: bool, mask: Any, scale: float) -> Value:
    scores = times(matrix_product(query, key.move(lambda one: one.mT)), scale)
    if is_causal:
        visible = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = where(visible, scores, -math.inf)
    if mask is None:
        return scores
    if isinstance(mask, Tensor):
        return where(mask, scores, -math.inf)
    return add(scores, mask)


@rule("_scaled_dot_product_flash_attention_for_cpu")
def _attention(
    query: Value,
    key: Value,
    value: Value,
    dropout: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Any = None,
    scale: float | None = None,
) -> tuple[Value, Value]:
    if dropout:
        raise UnsupportedError("fused attention with dropout")
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = _scores(query, key, is_causal, attn_mask, factor)
    sums = log(total(exp(scores), [-1], keepdim=True))
    sums = with_shadow(sums, torch.logsumexp(scores.shadow, -1, keepdim=True))
    result = matrix_product(exp(subtract(scores, sums)), value)
    return result, sums.move(lambda one: one.squeeze(-1))


@rule("_scaled_dot_product_flash_attention_for_cpu_backward")
def _attention_backward(
    upstream: Value,
    query: Value,
    key: Value,
    value: Value,
    result: Value,
    sums: Value,
    dropout: float,
    is_causal: bool,
    *,
    attn_mask: Any = None,
    scale: float | None = None,
) -> tuple[Value, Value, Value]:
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = _scores(query, key, is_causal, attn_mask, factor)
    weights = exp(subtract(scores, sums.move(lambda one: one.unsqueeze(-1))))
    of_value = matrix_product(weights.move(lambda one: one.mT), upstream)
    of_weights = matrix_product(upstream, value.move(lambda one: one.mT))
    rows = total(times(upstream, result), [-1], keepdim=True)
    of_scores = times(times(weights, subtract(of_weights, rows)), factor)
    of_query = matrix_product(of_scores, key)
    of_key = matrix_product(of_scores.move(lambda one: one.mT), query)
    return of_query, of_key, of_value
