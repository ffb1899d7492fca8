"""The transformer modules, composed of attention, linear maps and norms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.dtype_demands import MASK, like_parameters, takes
from shaped.spec.dtypes import FLOAT32, DType
from shaped.spec.op import Module, module, op
from shaped.spec.ops.attention import MultiheadAttention
from shaped.spec.ops.linear import Linear
from shaped.spec.ops.normalization_modules import LayerNorm
from shaped.spec.ops.options import flag, option_size, require_equal
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.dims import Dim


def _output(value: Value, fallback: TensorType) -> TensorType:
    """The tensor that a module gave, or one like its input."""
    return value if isinstance(value, TensorType) else fallback


class _Layer(Module):
    """What an encoder's and a decoder's layer share: self-attention and two linear maps, with their norms."""

    def __init__(
        self,
        context: Context,
        d_model: Value,
        nhead: Value,
        dim_feedforward: Value = 2048,
        dropout: Value = 0.1,
        activation: Value = UNKNOWN,
        layer_norm_eps: Value = 1e-5,
        batch_first: Value = False,
        norm_first: Value = False,
        bias: Value = True,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        model, hidden = option_size(context, d_model), option_size(context, dim_feedforward)
        self.self_attn = MultiheadAttention(context, model, nhead, bias=bias, batch_first=batch_first, dtype=dtype)
        self.linear1 = Linear(context, model, hidden, bias, device, dtype)
        self.linear2 = Linear(context, hidden, model, bias, device, dtype)
        self.norm1 = LayerNorm(context, model, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(context, model, bias=bias, dtype=dtype)
        self.norm_first = norm_first

    def _attend(
        self,
        context: Context,
        attention: MultiheadAttention,
        query: TensorType,
        source: TensorType,
        mask: Value,
        padding: Value,
    ) -> TensorType:
        output = attention.forward(context, query, source, source, padding, False, mask)[0]
        return _output(output, query)

    def _feed_forward(self, context: Context, input: TensorType) -> TensorType:
        return self.linear2.forward(context, self.linear1.forward(context, input))


@module("torch.nn.TransformerEncoderLayer")
class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network."""

    dtypes = takes(src_mask=MASK, src_key_padding_mask=MASK) + like_parameters("src")

    def forward(
        self,
        context: Context,
        src: TensorType,
        src_mask: Value = None,
        src_key_padding_mask: Value = None,
        is_causal: Value = False,
    ) -> TensorType:
        """(t, b, d_model), or (b, t, d_model) with batch_first -> the same."""
        attended = self._attend(context, self.self_attn, src, src, src_mask, src_key_padding_mask)
        return self._feed_forward(context, attended)


@module("torch.nn.TransformerDecoderLayer")
class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to an encoder's output, and a feed-forward network."""

    dtypes = takes(
        tgt_mask=MASK, memory_mask=MASK, tgt_key_padding_mask=MASK, memory_key_padding_mask=MASK
    ) + like_parameters("tgt", "memory")

    def __init__(
        self,
        context: Context,
        d_model: Value,
        nhead: Value,
        dim_feedforward: Value = 2048,
        dropout: Value = 0.1,
        activation: Value = UNKNOWN,
        layer_norm_eps: Value = 1e-5,
        batch_first: Value = False,
        norm_first: Value = False,
        bias: Value = True,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        model = option_size(context, d_model)
        super().__init__(
            context,
            model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
            dtype,
        )
        self.multihead_attn = MultiheadAttention(context, model, nhead, bias=bias, batch_first=batch_first, dtype=dtype)
        self.norm3 = LayerNorm(context, model, bias=bias, dtype=dtype)

    def forward(
        self,
        context: Context,
        tgt: TensorType,
        memory: TensorType,
        tgt_mask: Value = None,
        memory_mask: Value = None,
        tgt_key_padding_mask: Value = None,
        memory_key_padding_mask: Value = None,
        tgt_is_causal: Value = False,
        memory_is_causal: Value = False,
    ) -> TensorType:
        """(t, b, d_model) and a memory (s, b, d_model), batches first with batch_first -> as the target."""
        own = self._attend(context, self.self_attn, tgt, tgt, tgt_mask, tgt_key_padding_mask)
        crossed = self._attend(context, self.multihead_attn, own, memory, memory_mask, memory_key_padding_mask)
        return self._feed_forward(context, crossed)


@module("torch.nn.TransformerEncoder")
class TransformerEncoder(Module):
    """Several equal encoder layers."""

    dtypes = takes(mask=MASK, src_key_padding_mask=MASK) + like_parameters("src")

    def __init__(
        self,
        context: Context,
        encoder_layer: Value,
        num_layers: Value,
        norm: Value = None,
        enable_nested_tensor: Value = True,
        mask_check: Value = True,
    ) -> None:
        self.layer, self.norm, self.num_layers = encoder_layer, norm, num_layers

    def forward(
        self,
        context: Context,
        src: TensorType,
        mask: Value = None,
        src_key_padding_mask: Value = None,
        is_causal: Value = None,
    ) -> Value:
        """As the layer's, whose output is as its input."""
        if not isinstance(self.layer, TransformerEncoderLayer):
            return UNKNOWN
        output: Value = self.layer.forward(context, src, mask, src_key_padding_mask)
        return self.norm.call(context, [output], {}) if isinstance(self.norm, Module) else output


@module("torch.nn.TransformerDecoder")
class TransformerDecoder(Module):
    """Several equal decoder layers."""

    dtypes = like_parameters("tgt", "memory")

    def __init__(self, context: Context, decoder_layer: Value, num_layers: Value, norm: Value = None) -> None:
        self.layer, self.norm, self.num_layers = decoder_layer, norm, num_layers

    def forward(
        self,
        context: Context,
        tgt: TensorType,
        memory: TensorType,
        tgt_mask: Value = None,
        memory_mask: Value = None,
        tgt_key_padding_mask: Value = None,
        memory_key_padding_mask: Value = None,
        tgt_is_causal: Value = None,
        memory_is_causal: Value = False,
    ) -> Value:
        """As the layer's, whose output is as its target."""
        if not isinstance(self.layer, TransformerDecoderLayer):
            return UNKNOWN
        output: Value = self.layer.forward(
            context, tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        )
        return self.norm.call(context, [output], {}) if isinstance(self.norm, Module) else output


@module("torch.nn.Transformer")
class Transformer(Module):
    """An encoder and a decoder."""

    dtypes = like_parameters("src", "tgt")

    def __init__(
        self,
        context: Context,
        d_model: Value = 512,
        nhead: Value = 8,
        num_encoder_layers: Value = 6,
        num_decoder_layers: Value = 6,
        dim_feedforward: Value = 2048,
        dropout: Value = 0.1,
        activation: Value = UNKNOWN,
        custom_encoder: Value = None,
        custom_decoder: Value = None,
        layer_norm_eps: Value = 1e-5,
        batch_first: Value = False,
        norm_first: Value = False,
        bias: Value = True,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.d_model, self.nhead = option_size(context, d_model), option_size(context, nhead, low=1)
        self.batch_first = batch_first
        shared: dict[str, Value] = {
            "dim_feedforward": dim_feedforward,
            "batch_first": batch_first,
            "norm_first": norm_first,
            "bias": bias,
            "dtype": dtype,
        }
        self.encoder: Value = custom_encoder
        if custom_encoder is None:
            layer = TransformerEncoderLayer(context, self.d_model, self.nhead, **shared)
            norm = LayerNorm(context, self.d_model, bias=bias, dtype=dtype)
            self.encoder = TransformerEncoder(context, layer, num_encoder_layers, norm)
        self.decoder: Value = custom_decoder
        if custom_decoder is None:
            other = TransformerDecoderLayer(context, self.d_model, self.nhead, **shared)
            norm = LayerNorm(context, self.d_model, bias=bias, dtype=dtype)
            self.decoder = TransformerDecoder(context, other, num_decoder_layers, norm)

    def forward(
        self,
        context: Context,
        src: TensorType,
        tgt: TensorType,
        src_mask: Value = None,
        tgt_mask: Value = None,
        memory_mask: Value = None,
        src_key_padding_mask: Value = None,
        tgt_key_padding_mask: Value = None,
        memory_key_padding_mask: Value = None,
        src_is_causal: Value = None,
        tgt_is_causal: Value = None,
        memory_is_causal: Value = False,
    ) -> Value:
        """A source (s, b, d_model) and a target (t, b, d_model), batches first with batch_first -> as the target.

        Raises:
            ShapeError: the batch sizes or features differ, or what attention demands.
        """
        self._check_batches(context, src, tgt)
        if not isinstance(self.encoder, Module) or not isinstance(self.decoder, Module):
            return UNKNOWN
        memory = self.encoder.call(context, [src, src_mask, src_key_padding_mask], {})
        masks = [tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask]
        return self.decoder.call(context, [tgt, memory, *masks], {})

    def _check_batches(self, context: Context, src: TensorType, tgt: TensorType) -> None:
        first = flag(self.batch_first)
        if src.shape.rank != 3 or tgt.shape.rank != 3 or first is None:
            return
        axis = 0 if first else 1
        a, b = src.shape.dims[axis], tgt.shape.dims[axis]

        def fault() -> Fault:
            operands = f"src {src}, tgt {tgt}"
            return ShapeError("transformer", f"batch sizes {a} and {b} differ", operands, dims=(a, b))

        require_equal(context, (src, tgt), a, b, fault)


@op(
    "generate_square_subsequent_mask",
    "torch.nn.Transformer.generate_square_subsequent_mask",
    formula="m[i, j] = 0 if j <= i else -inf",
)
def generate_square_subsequent_mask(
    context: Context, sz: Value, device: Value = None, dtype: Value = None
) -> TensorType:
    """The causal mask (sz, sz)."""
    size: Dim = option_size(context, sz)
    return TensorType(Shape.of(size, size), dtype if isinstance(dtype, DType) else FLOAT32)
