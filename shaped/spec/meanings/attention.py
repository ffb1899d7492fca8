"""Scaled dot product attention."""

from __future__ import annotations

from fractions import Fraction

from shaped.errors import ShapeError
from shaped.spec.expr import index_nonnegative, power, real
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.blend import masked_fill
from shaped.spec.meanings.sizes import quotient
from shaped.spec.meanings.softmax import softmax
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import NotExpressible, Tensor, TensorLike, build, constant, tensor

Grads = tuple[Tensor | None, ...]


def _scale(query: Tensor, scale: TensorLike | None) -> Tensor:
    """What scores are multiplied by: 1/sqrt(e) where nothing is given."""
    if scale is not None:
        return tensor(scale)
    return build((), lambda: power(real(query.sizes[-1]), Fraction(-1, 2)))


def _shared_heads(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> tuple[Tensor, Tensor]:
    """Key and value with each head repeated for the group of query heads that shares it."""
    if not enable_gqa:
        return key, value
    repeated = []
    for each in (key, value):
        times = quotient("scaled_dot_product_attention", query.sizes[-3], each.sizes[-3])
        repeated.append(each.repeat_interleave(times, -3))
    return repeated[0], repeated[1]


def _allowed(query: Tensor, key: Tensor, attn_mask: Tensor | None, is_causal: bool) -> Tensor | None:
    """Which key each query may see, None if all."""
    if is_causal:
        if attn_mask is not None:
            raise ShapeError("scaled_dot_product_attention", "attn_mask and is_causal exclude each other")
        return build((query.sizes[-2], key.sizes[-2]), lambda i, j: index_nonnegative(i - j))
    return attn_mask if attn_mask is not None and attn_mask.kind == "bool" else None


def _weights(query: Tensor, key: Tensor, attn_mask: Tensor | None, is_causal: bool, scale: TensorLike | None) -> Tensor:
    """How much of each value a query takes; none of any where it may see no key at all."""
    scores: Tensor = query @ key.transpose(-2, -1) * _scale(query, scale)
    allowed = _allowed(query, key, attn_mask, is_causal)
    if allowed is None:
        return softmax(scores if attn_mask is None else scores + attn_mask, -1)
    masked = softmax(scores.masked_fill(~allowed, constant(float("-inf"))), -1)
    if is_causal:  # every query sees the first key
        return masked
    return masked_fill(masked, ~allowed.any(-1, keepdim=True), 0)


def _without_dropout(dropout_p: float) -> None:
    if dropout_p != 0:
        raise NotExpressible("attention with dropout")


@meaning("scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: TensorLike | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    _without_dropout(dropout_p)
    key, value = _shared_heads(query, key, value, enable_gqa)
    return _weights(query, key, attn_mask, is_causal, scale) @ value


@backward("scaled_dot_product_attention")
def scaled_dot_product_attention_backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: TensorLike | None = None,
    enable_gqa: bool = False,
) -> Grads:
    """Dao et al., FlashAttention, 2022, appendix B.2: `dS = P * (dP - rowsum(dP * P))`."""
    all_keys, all_values = _shared_heads(query, key, value, enable_gqa)
    weights = _weights(query, all_keys, attn_mask, is_causal, scale)
    to_weights = grad @ all_values.transpose(-2, -1)
    to_scores = weights * (to_weights - (to_weights * weights).sum(-1, keepdim=True))
    scaled = to_scores * _scale(query, scale)
    to_query = unbroadcast(scaled @ all_keys, query)
    to_key, to_value = (
        _to_shared(full, each, enable_gqa)
        for full, each in ((scaled.transpose(-2, -1) @ query, key), (weights.transpose(-2, -1) @ grad, value))
    )
    to_mask = None if attn_mask is None or attn_mask.kind == "bool" else unbroadcast(to_scores, attn_mask)
    return to_query, to_key, to_value, *(() if attn_mask is None else (to_mask,))


def _to_shared(grad: Tensor, operand: Tensor, enable_gqa: bool) -> Tensor:
    """The gradient of a key or value, summed over the query heads that share it."""
    if enable_gqa:
        grad = grad.unflatten(-3, (operand.sizes[-3], -1)).sum(-3)
    return unbroadcast(grad, operand)
