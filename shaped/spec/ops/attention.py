"""Attention: `scaled_dot_product_attention`, and the multi-head attention with its projections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.axis_layout import check_heads, check_sequence
from shaped.spec.broadcast import broadcast, new_axes_hint, uncertain_if_joined
from shaped.spec.dims import ONE, Dim
from shaped.spec.dtype_demands import MASK, Allowed, alike, like_parameters, require_allowed, takes
from shaped.spec.dtypes import BOOL
from shaped.spec.op import Module, module, op
from shaped.spec.ops.arguments import require_expands
from shaped.spec.ops.linear import Linear, parameter_if
from shaped.spec.ops.options import (
    common_dtype,
    flag,
    never_divides,
    option_size,
    optional_tensor,
    parameter_dtype,
    require_divides,
    require_equal,
)
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Call


def _mask_goes_with_query(call: Call) -> None:
    mask, query = call.arguments.get("attn_mask"), call.arguments.get("query")
    if isinstance(query, TensorType):
        expected = f"bool or {query.dtype}" if query.dtype.single else "bool or a float dtype"
        allowed = Allowed(BOOL | {"float32"} | query.dtype.names, expected, ".bool()?")
        require_allowed(call.name, "attn_mask", mask, allowed)


@op(
    "scaled_dot_product_attention",
    "torch.nn.functional.scaled_dot_product_attention",
    formula="softmax(q k^T / sqrt(e) + mask) v",
    dtypes=(*alike("query", "key", "value"), _mask_goes_with_query),
)
def scaled_dot_product_attention(
    context: Context,
    query: TensorType,
    key: TensorType,
    value: TensorType,
    attn_mask: Value = None,
    dropout_p: Value = 0.0,
    is_causal: Value = False,
    scale: Value = None,
    enable_gqa: Value = False,
) -> TensorType:
    """(..., l, e), (..., s, e), (..., s, v) -> (..., l, v); the leading axes broadcast.

    Raises:
        ShapeError: sizes that have to agree differ, or the mask does not broadcast to (..., l, s).
    """
    operation = "scaled_dot_product_attention"
    operands = f"query {query}, key {key}, value {value}"
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.shape.rank is not None and tensor.shape.rank < 2:
            axes = f"{name} has {tensor.shape.rank} {'axis' if tensor.shape.rank == 1 else 'axes'}"
            raise ShapeError(operation, f"{axes}, at least 2 expected", operands)
    for (name, left, axis), (other, right) in (
        (("query", query, -1), ("key", key)),
        (("key", key, -2), ("value", value)),
    ):
        a, b = left.shape.at(axis), right.shape.at(axis)
        if a is not None and b is not None:

            def fault(name: str = name, other: str = other, axis: int = axis, a: Dim = a, b: Dim = b) -> Fault:
                return ShapeError(
                    operation, f"axis {axis} of {name} and {other}, {a} and {b}, differ", operands, dims=(a, b)
                )

            require_equal(context, (left, right), a, b, fault)
    leading = _leading_axes(context, operation, query, key, value, flag(enable_gqa), operands)
    check_heads(context, operation, (query, key), operands)
    length, source = query.shape.at(-2), key.shape.at(-2)
    length = context.fresh() if length is None else length
    source = context.fresh() if source is None else source
    mask = optional_tensor(context, attn_mask)
    if mask is not None:
        _check_mask(context, operation, mask, leading + Shape.of(length, source))
    width = value.shape.at(-1)
    shape = leading + Shape.of(length, context.fresh() if width is None else width)
    return query.with_shape(shape).with_dtype(common_dtype(query, key, value))


def _leading(context: Context, tensor: TensorType, count: int = 2) -> TensorType:
    """A tensor with the axes before the last `count`."""
    shape = tensor.shape
    if shape.rank is None and len(shape.tail) < count:
        return tensor.with_shape(Shape.of(context.fresh_pack()))
    return tensor.with_shape(Shape(shape.axes[:-count]))


def _leading_axes(
    context: Context,
    operation: str,
    query: TensorType,
    key: TensorType,
    value: TensorType,
    grouped: bool | None,
    operands: str,
) -> Shape:
    """The axes before the last two that query, key and value broadcast to."""
    if not grouped:
        tensors = [_leading(context, tensor) for tensor in (query, key, value)]
        if grouped is None:
            return tensors[0].shape
        return broadcast(context, operation, *tensors, operands=operands)
    heads = query.shape.at(-3)
    for name, tensor in (("key", key), ("value", value)):
        shared = tensor.shape.at(-3)
        if heads is not None and shared is not None and never_divides(context, heads, shared):
            reason = f"{shared} heads of the {name} do not divide {heads} heads of the query"
            raise ShapeError(operation, reason, operands, dims=(heads, shared))
    batches = [_leading(context, tensor, 3) for tensor in (query, key, value)]
    batch = broadcast(context, operation, *batches, operands=operands)
    return batch + Shape.of(context.fresh() if heads is None else heads)


def _check_mask(context: Context, operation: str, mask: TensorType, scores: Shape) -> None:
    """A mask broadcasts to the scores, and does not make them larger."""
    operands = f"mask {mask} for scores {scores}"
    if scores.rank is not None and mask.shape.least_rank > scores.rank:
        raise ShapeError(operation, f"the mask has {mask.shape.least_rank} axes, at most {scores.rank} fit", operands)

    ranked = scores.rank is not None and mask.shape.rank is not None and mask.shape.rank < scores.rank
    hint = new_axes_hint([scores.dims, mask.shape.dims]) if ranked else ""

    def fault(own: Dim, wanted: Dim) -> Fault:
        return ShapeError(operation, f"sizes {own} and {wanted} differ", operands, hint, (own, wanted))

    with uncertain_if_joined(context, mask):
        require_expands(context, mask.shape, scores, fault)


@dataclass(frozen=True)
class MultiHead:
    """The sizes of a multi-head attention."""

    embed_dim: Dim
    num_heads: Dim
    key_dim: Dim
    value_dim: Dim
    batch_first: bool | None
    extra_keys: Dim

    def attend(
        self,
        context: Context,
        query: TensorType,
        key: TensorType,
        value: TensorType,
        key_padding_mask: Value,
        need_weights: Value,
        attn_mask: Value,
        average_attn_weights: Value,
    ) -> tuple[Value, ...]:
        """The output and the weights (None if they are not needed).

        Raises:
            ShapeError: ranks or sizes that have to agree differ.
        """
        operands = f"query {query}, key {key}, value {value}"
        rank = self._check_ranks(query, key, value, operands)
        self._check_sizes(context, query, key, value, rank, operands)
        self._check_layout(context, query, key, operands)
        batch, length, source = self._read(context, query, key, rank)
        self._check_masks(context, key_padding_mask, attn_mask, rank, batch, length, source)
        weights = self._weights(context, need_weights, average_attn_weights, rank, batch, length, source)
        shape = query.shape
        found = shape.at(-1)
        if found is not None and found.has_unknown:
            shape = shape.replace(-1, self.embed_dim)
        kind = common_dtype(query, key, value)
        output = query.with_shape(shape).with_dtype(kind)
        return output, weights.with_dtype(kind) if isinstance(weights, TensorType) else weights

    def _check_layout(self, context: Context, query: TensorType, key: TensorType, operands: str) -> None:
        """Report a batch that is read as the sequence, of the query or else of the keys."""
        shown = str(query) if query.shape == key.shape else operands
        for name, tensor in (("query", query), ("key", key)):
            if check_sequence(
                context,
                "multi_head_attention",
                tensor,
                batch_first=self.batch_first,
                operands=shown,
                name=name,
                single_samples=True,
            ):
                return

    def _check_ranks(self, query: TensorType, key: TensorType, value: TensorType, operands: str) -> int | None:
        rank = None
        for name, tensor in (("query", query), ("key", key), ("value", value)):
            own = tensor.shape.rank
            if tensor.shape.least_rank > 3 or (own is not None and own < 2):
                raise self._fault(f"{name} has {tensor.shape.least_rank} axes, 2 or 3 expected", operands)
            if rank is not None and own is not None and own != rank:
                raise self._fault(f"{name} has {own} axes, {rank} expected as the query has", operands)
            rank = own if rank is None else rank
        return rank

    def _fault(self, reason: str, operands: str, *dims: Dim, hint: str = "") -> ShapeError:
        return ShapeError("multi_head_attention", reason, operands, hint, dims)

    def _check_sizes(
        self,
        context: Context,
        query: TensorType,
        key: TensorType,
        value: TensorType,
        rank: int | None,
        operands: str,
    ) -> None:
        sizes = (("query", query, self.embed_dim), ("key", key, self.key_dim), ("value", value, self.value_dim))
        for name, tensor, wanted in sizes:
            found = tensor.shape.at(-1)
            if found is not None:

                def wrong_width(name: str = name, found: Dim = found, wanted: Dim = wanted) -> Fault:
                    return self._fault(
                        f"the last axis of the {name} is {found}, {wanted} expected", operands, found, wanted
                    )

                require_equal(context, (tensor,), found, wanted, wrong_width)
        if rank is None:
            return
        pairs = [("key", key, "value", value, axis) for axis in range(rank - 1)]
        batch_axis = 0 if self.batch_first else 1
        if rank == 3 and self.batch_first is not None:
            pairs.insert(0, ("query", query, "key", key, batch_axis))
        for name, left, other, right, axis in pairs:
            a, b = left.shape.at(axis), right.shape.at(axis)
            if a is not None and b is not None and left.shape.rank and right.shape.rank:

                def differ(name: str = name, other: str = other, axis: int = axis, a: Dim = a, b: Dim = b) -> Fault:
                    what = "batch axis" if rank == 3 and axis == batch_axis else "length"
                    return self._fault(f"the {what} of {name} and {other}, {a} and {b}, differ", operands, a, b)

                require_equal(context, (left, right), a, b, differ)

    def _read(self, context: Context, query: TensorType, key: TensorType, rank: int | None) -> tuple[Dim, Dim, Dim]:
        """The batch size (1 without a batch axis), the query's length and the key's."""
        if rank is None or (rank == 3 and self.batch_first is None):
            return context.fresh(), context.fresh(), context.fresh()
        axis = 1 if rank == 3 and self.batch_first else 0
        length = query.shape.dims[axis] if query.shape.rank is not None else context.fresh()
        source = key.shape.dims[axis] if key.shape.rank is not None else context.fresh()
        if rank == 2:
            return ONE, length, source
        known = query if query.shape.rank is not None else key
        batch = known.shape.dims[1 - axis] if known.shape.rank is not None else context.fresh()
        return batch, length, source

    def _check_masks(
        self,
        context: Context,
        key_padding_mask: Value,
        attn_mask: Value,
        rank: int | None,
        batch: Dim,
        length: Dim,
        source: Dim,
    ) -> None:
        padding, mask = optional_tensor(context, key_padding_mask), optional_tensor(context, attn_mask)
        if padding is not None and rank is not None:
            wanted = (source,) if rank == 2 else (batch, source)
            self._require_shape(context, "key_padding_mask", padding, Shape(wanted))
        if mask is not None and rank is not None and mask.shape.rank is not None:
            if mask.shape.rank not in (2, 3):
                raise self._fault(f"attn_mask has {mask.shape.rank} axes, 2 or 3 expected", f"attn_mask {mask}")
            heads = batch * self.num_heads
            scores = Shape.of(length, source) if mask.shape.rank == 2 else Shape.of(heads, length, source)
            self._require_shape(context, "attn_mask", mask, scores)

    def _require_shape(self, context: Context, name: str, tensor: TensorType, expected: Shape) -> None:
        if tensor.shape.rank is None:
            return
        reason, operands = f"{name} {expected} expected", f"{name} {tensor}"
        if tensor.shape.rank != expected.rank:
            raise self._fault(reason, operands)
        for a, b in zip(tensor.shape.dims, expected.dims, strict=True):

            def fault(a: Dim = a, b: Dim = b) -> Fault:
                return self._fault(f"{reason}: sizes {a} and {b} differ", operands, a, b)

            require_equal(context, (tensor,), a, b, fault)

    def _weights(
        self,
        context: Context,
        need_weights: Value,
        average: Value,
        rank: int | None,
        batch: Dim,
        length: Dim,
        source: Dim,
    ) -> Value:
        needed, averaged = flag(need_weights), flag(average)
        if needed is None:
            return UNKNOWN
        if not needed:
            return None
        scores = Shape.of(length, source + self.extra_keys)
        if averaged is None or rank is None:
            return TensorType(Shape.of(context.fresh_pack()) + scores)
        leading = [batch] if rank == 3 else []
        return TensorType(Shape.of(*leading, *([] if averaged else [self.num_heads])) + scores)


@op(
    "multi_head_attention_forward",
    "torch.nn.functional.multi_head_attention_forward",
    formula="concat(softmax(q_h k_h^T / sqrt(e/h)) v_h) w_out^T",
)
def multi_head_attention_forward(
    context: Context,
    query: TensorType,
    key: TensorType,
    value: TensorType,
    embed_dim_to_check: Value,
    num_heads: Value,
    in_proj_weight: Value,
    in_proj_bias: Value,
    bias_k: Value,
    bias_v: Value,
    add_zero_attn: Value,
    dropout_p: Value,
    out_proj_weight: Value,
    out_proj_bias: Value,
    training: Value = True,
    key_padding_mask: Value = None,
    need_weights: Value = True,
    attn_mask: Value = None,
    use_separate_proj_weight: Value = False,
    q_proj_weight: Value = None,
    k_proj_weight: Value = None,
    v_proj_weight: Value = None,
    static_k: Value = None,
    static_v: Value = None,
    average_attn_weights: Value = True,
    is_causal: Value = False,
) -> Value:
    """Attention of (l, n, e) to (s, n, k), (s, n, v) in several heads, with its projections.

    Raises:
        ShapeError: ranks or sizes that have to agree differ.
    """
    embed_dim = option_size(context, embed_dim_to_check)
    heads = option_size(context, num_heads, low=1)
    separate = flag(use_separate_proj_weight)
    widths = [embed_dim if separate is False else context.fresh() for _ in range(2)]
    extra = _extra_keys(context, None if bias_k is UNKNOWN else bias_k is not None, flag(add_zero_attn))
    if static_k is not None or static_v is not None:
        return UNKNOWN
    attention = MultiHead(embed_dim, heads, widths[0], widths[1], False, extra)
    return attention.attend(context, query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights)


def _extra_keys(context: Context, bias: bool | None, zero: bool | None) -> Dim:
    """How many keys are added to the source."""
    return context.fresh() if bias is None or zero is None else Dim.of(int(bias) + int(zero))


@module("torch.nn.MultiheadAttention")
class MultiheadAttention(Module):
    """Attention in several heads, with its projections."""

    dtypes = takes(key_padding_mask=MASK, attn_mask=MASK) + like_parameters("query", "key", "value")

    def __init__(
        self,
        context: Context,
        embed_dim: Value,
        num_heads: Value,
        dropout: Value = 0.0,
        bias: Value = True,
        add_bias_kv: Value = False,
        add_zero_attn: Value = False,
        kdim: Value = None,
        vdim: Value = None,
        batch_first: Value = False,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.embed_dim = option_size(context, embed_dim)
        self.num_heads = option_size(context, num_heads, low=1)
        sizes = (self.embed_dim, self.num_heads)
        reason = f"embed_dim {self.embed_dim} is not divisible by num_heads {self.num_heads}"
        require_divides(context, *sizes, lambda: ShapeError("nn.MultiheadAttention", reason, dims=sizes))
        self.kdim = self.embed_dim if kdim is None else option_size(context, kdim)
        self.vdim = self.embed_dim if vdim is None else option_size(context, vdim)
        self.head_dim = self.embed_dim // self.num_heads
        self.dropout, self.batch_first = dropout, batch_first
        kind, has_bias = parameter_dtype(dtype), flag(bias)
        triple = 3 * self.embed_dim
        joint = self.kdim == self.embed_dim and self.vdim == self.embed_dim
        self.in_proj_weight = parameter_if(joint, Shape.of(triple, self.embed_dim), kind)
        self.q_proj_weight = parameter_if(not joint, Shape.of(self.embed_dim, self.embed_dim), kind)
        self.k_proj_weight = parameter_if(not joint, Shape.of(self.embed_dim, self.kdim), kind)
        self.v_proj_weight = parameter_if(not joint, Shape.of(self.embed_dim, self.vdim), kind)
        self.in_proj_bias = parameter_if(has_bias, Shape.of(triple), kind)
        self.out_proj = Linear(context, self.embed_dim, self.embed_dim, bias, device, dtype)
        self.bias_k = parameter_if(flag(add_bias_kv), Shape.of(1, 1, self.embed_dim), kind)
        self.bias_v = self.bias_k
        extra = _extra_keys(context, flag(add_bias_kv), flag(add_zero_attn))
        self.attention = MultiHead(self.embed_dim, self.num_heads, self.kdim, self.vdim, flag(batch_first), extra)

    def forward(
        self,
        context: Context,
        query: TensorType,
        key: TensorType,
        value: TensorType,
        key_padding_mask: Value = None,
        need_weights: Value = True,
        attn_mask: Value = None,
        average_attn_weights: Value = True,
        is_causal: Value = False,
    ) -> tuple[Value, ...]:
        """(l, n, e), or (n, l, e) with batch_first, -> the same, and the weights (n, l, s)."""
        return self.attention.attend(
            context, query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights
        )
