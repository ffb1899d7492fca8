"""Attention as one operation, forward and backward, by what it is made of."""

from __future__ import annotations

import math

import torch

from shaped.runtime.compiled.rounding.bounded import Bounded, add, applied, mul, number, sub
from shaped.runtime.compiled.rounding.formats import Format
from shaped.runtime.compiled.rounding.rules.softmax import EXPONENTIAL, log_sum_exp, probabilities
from shaped.runtime.compiled.rounding.rules.table import rule
from shaped.runtime.compiled.rounding.sums import matmul, total


def _transposed(x: Bounded) -> Bounded:
    return Bounded(x.value.transpose(-1, -2), x.bound.transpose(-1, -2), x.format)


def _scores(
    to: Format, query: Bounded, key: Bounded, mask: Bounded | None, is_causal: bool, scale: float | None
) -> Bounded:
    factor = 1 / math.sqrt(query.value.shape[-1]) if scale is None else scale
    scores = mul(matmul(query, _transposed(key), to), factor, to)
    if mask is not None and mask.format.is_float:
        scores = add(scores, mask, to)
        scores.terms = None
    allowed = None
    if mask is not None and not mask.format.is_float:
        allowed = mask.value
    if is_causal:
        allowed = torch.ones(scores.value.shape[-2:], dtype=torch.bool).tril()
    if allowed is not None:
        value = torch.where(allowed, scores.value, -math.inf)
        scores = Bounded(value, torch.where(allowed, scores.bound, 0.0), to)
    return scores


@rule("_scaled_dot_product_flash_attention_for_cpu")
def attention(
    to: Format,
    query: Bounded,
    key: Bounded,
    value: Bounded,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    attn_mask: Bounded | None = None,
    scale: float | None = None,
) -> tuple[Bounded, Bounded]:
    query, key, value = number(query, to), number(key, to), number(value, to)
    scores = _scores(to, query, key, attn_mask, is_causal, scale)
    output = matmul(probabilities(scores, -1, to), value, to)
    return output, log_sum_exp(scores, -1, to, keepdim=False)


@rule("_scaled_dot_product_flash_attention_for_cpu_backward")
def attention_backward(
    to: Format,
    grad_out: Bounded,
    query: Bounded,
    key: Bounded,
    value: Bounded,
    out: Bounded,
    logsumexp: Bounded,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Bounded | None = None,
    scale: float | None = None,
) -> tuple[Bounded, Bounded, Bounded]:
    factor = 1 / math.sqrt(query.value.shape[-1]) if scale is None else scale
    scores = _scores(to, query, key, attn_mask, is_causal, scale)
    shift = Bounded(logsumexp.value[..., None], logsumexp.bound[..., None], logsumexp.format)
    weights = applied(torch.exp, sub(scores, shift, to), to, roundings=EXPONENTIAL, least=0.0)
    by_value = matmul(_transposed(weights), grad_out, to)
    by_weights = matmul(grad_out, _transposed(value), to)
    inner = total(mul(grad_out, out, to), to, -1, keepdim=True)
    by_scores = mul(weights, sub(by_weights, inner, to), to)
    by_query = mul(matmul(by_scores, key, to), factor, to)
    by_key = mul(matmul(_transposed(by_scores), query, to), factor, to)
    return by_query, by_key, by_value
