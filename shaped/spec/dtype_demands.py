"""What torch demands of the dtypes of an operation's tensors, beyond what its rule needs to know.

The tables name operations and their parameters. A demand refuses only what no backend takes: torch's CPU and CUDA
kernels differ in what they add (integer products on the CPU, half precision with float32 statistics).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.errors import DtypeError
from shaped.spec.dims import Dim
from shaped.spec.dtypes import BOOL, COMPLEX, FLOATS, INTEGERS, DType
from shaped.spec.promotion import result_type
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WHOLE = INTEGERS | BOOL
_INDEX = frozenset(["int32", "int64"])


@dataclass(frozen=True)
class _Allowed:
    """Dtypes that a parameter may have."""

    names: frozenset[str]
    expected: str
    hint: str


_FLOATING = _Allowed(FLOATS | COMPLEX, "a float dtype", ".float()?")
_OF_FLOATS_OR_BYTES = _Allowed(FLOATS | frozenset(["uint8"]), "a float dtype or uint8", ".float()?")
_CONDITION = _Allowed(BOOL | frozenset(["uint8"]), "bool", ".bool()?")
_CLASSES = _Allowed(frozenset(["int64", "uint8"]), "int64", ".long()?")
_CLASSES_OR_PROBABILITIES = _Allowed(FLOATS | _CLASSES.names, "int64", ".long()?")
_MASK = _Allowed(BOOL | FLOATS, "bool or a float dtype", ".bool()?")
_INT64 = _Allowed(frozenset(["int64"]), "int64", ".long()?")
_COUNTS = _Allowed(_INDEX, "int32 or int64", ".long()?")

# What a parameter has to be.
_DEMANDS: dict[str, dict[str, _Allowed]] = {
    **{
        name: {"input": _FLOATING}
        for name in (
            *("layer_norm", "rms_norm", "batch_norm", "instance_norm", "group_norm"),
            *("multinomial", "poisson", "normal_", "uniform_", "log_normal_", "cauchy_"),
        )
    },
    **{
        f"nn.init.{name}_": {"tensor": _FLOATING}
        for name in (
            *("uniform", "normal", "trunc_normal", "xavier_uniform", "xavier_normal"),
            *("kaiming_uniform", "kaiming_normal", "orthogonal", "sparse"),
        )
    },
    "normal": {"mean": _FLOATING},
    "bernoulli_with": {"p": _FLOATING},
    "bernoulli_with_": {"p": _FLOATING},
    "kl_div": {"input": _FLOATING, "target": _FLOATING},
    "interpolate": {"input": _OF_FLOATS_OR_BYTES},
    "where": {"condition": _CONDITION},
    "Tensor.where": {"condition": _CONDITION},
    "one_hot": {"tensor": _INT64},
    "bincount": {"input": _Allowed(INTEGERS, "an integer dtype", ".long()?")},
    "nll_loss": {"input": _FLOATING, "target": _CLASSES},
    "cross_entropy": {"target": _CLASSES_OR_PROBABILITIES},
    "multi_margin_loss": {"target": _INT64},
    "multilabel_margin_loss": {"target": _INT64},
    "ctc_loss": {
        "input_lengths": _Allowed(INTEGERS, "an integer dtype", ".long()?"),
        "target_lengths": _Allowed(INTEGERS, "an integer dtype", ".long()?"),
    },
    "repeat_interleave": {"repeats": _COUNTS},
    "embedding_bag": {"offsets": _COUNTS},
    "EmbeddingBag": {"offsets": _COUNTS},
    "CrossEntropyLoss": {"target": _CLASSES_OR_PROBABILITIES},
    "NLLLoss": {"input": _FLOATING, "target": _CLASSES},
    "bitwise_left_shift": {
        "input": _Allowed(_WHOLE, "an integer dtype", ""),
        "other": _Allowed(_WHOLE, "an integer", ""),
    },
    "bitwise_right_shift": {
        "input": _Allowed(_WHOLE, "an integer dtype", ""),
        "other": _Allowed(_WHOLE, "an integer", ""),
    },
    "binary_cross_entropy_with_logits": {"input": _FLOATING, "target": _FLOATING},
    "binary_cross_entropy": {"input": _FLOATING, "target": _FLOATING},
    "nn.functional.gumbel_softmax": {"logits": _FLOATING},
    "MultiheadAttention": {"key_padding_mask": _MASK, "attn_mask": _MASK},
    "TransformerEncoderLayer": {"src_mask": _MASK, "src_key_padding_mask": _MASK},
    "TransformerEncoder": {"mask": _MASK, "src_key_padding_mask": _MASK},
    "TransformerDecoderLayer": dict.fromkeys(
        ("tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask"), _MASK
    ),
}

# Losses and distances of what the operands promote to.
_OF_FLOAT_RESULT = {
    "mse_loss": ("input", "target"),
    "smooth_l1_loss": ("input", "target"),
    "huber_loss": ("input", "target"),
    "cosine_similarity": ("x1", "x2"),
}

# Parameters that have to be of one dtype.
_ALIKE: dict[str, tuple[str, ...]] = {
    **{f"conv{n}d": ("input", "weight", "bias") for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": ("input", "weight", "bias") for n in (1, 2, 3)},
    "linear": ("input", "weight", "bias"),
    "bilinear": ("input1", "input2", "weight", "bias"),
    "nn.functional.prelu": ("input", "weight"),
    "scaled_dot_product_attention": ("query", "key", "value"),
    "binary_cross_entropy": ("input", "target"),
    "grid_sample": ("input", "grid"),
    "cdist": ("x1", "x2"),
    "cross_entropy": ("input", "weight"),
    "nll_loss": ("input", "weight"),
    "embedding_bag": ("weight", "per_sample_weights"),
    "index_put": ("input", "values"),
    "lstm_cell": ("input", "w_ih"),
    "gru_cell": ("input", "w_ih"),
}
# Here half precision goes with float32 statistics and weights on some devices.
_ALIKE_BUT_HALF: dict[str, tuple[str, ...]] = {
    "layer_norm": ("input", "weight", "bias"),
    "group_norm": ("input", "weight", "bias"),
    "batch_norm": ("input", "running_mean", "running_var", "weight", "bias"),
    "instance_norm": ("input", "running_mean", "running_var", "weight", "bias"),
}
_WIDE = frozenset(["float64"])
_PRODUCTS = frozenset(["matmul", "mm", "bmm", "mv", "dot", "vdot", "inner", "rmatmul"])

# What the input of a module is, as far as its parameters' dtype is concerned.
_MODULES_LIKE_PARAMETERS: dict[str, tuple[str, ...]] = {
    **{f"Conv{n}d": ("input",) for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": ("input",) for n in (1, 2, 3)},
    "Linear": ("input",),
    "Bilinear": ("input1", "input2"),
    "PReLU": ("input",),
    **dict.fromkeys(("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"), ("input", "hx")),
    "MultiheadAttention": ("query", "key", "value"),
    "TransformerEncoderLayer": ("src",),
    "TransformerEncoder": ("src",),
    "TransformerDecoderLayer": ("tgt", "memory"),
    "TransformerDecoder": ("tgt", "memory"),
    "Transformer": ("src", "tgt"),
}
_MODULES_LIKE_PARAMETERS_BUT_HALF = frozenset(
    ["LayerNorm", "GroupNorm"]
    + [f"{kind}{n}d" for kind in ("BatchNorm", "InstanceNorm") for n in (1, 2, 3)]
    + ["SyncBatchNorm"]
)
_MODULES_OF_FLOATS = frozenset(["RMSNorm"])

_DROPOUTS = {
    **dict.fromkeys(("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"), "training"),
    "torch.dropout": "train",
}
_FILLED = {
    "masked_fill": ("value",),
    "fill": ("value",),
    "index_fill": ("value",),
    "scatter": ("value", "src"),
    "pad": ("value",),
    "clamp": ("min", "max"),
    "clip": ("min", "max"),
    "clamp_min": ("min",),
    "clamp_max": ("max",),
}
_DRAWS_FLOATS = frozenset(["rand", "randn", "rand_like", "randn_like"])
_KNOWN = frozenset(["lerp", *_DEMANDS, *_OF_FLOAT_RESULT, *_ALIKE, *_ALIKE_BUT_HALF, *_PRODUCTS, *_DROPOUTS, *_FILLED])
_FILLS_RESULT = frozenset(["full", "full_like", "new_full"])
_LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    **{f"int{bits}": 2.0 ** (bits - 1) - 1 for bits in (8, 16, 32)},
    **{f"uint{bits}": 2.0**bits - 1 for bits in (8, 16, 32)},
    "int64": 2.0**63,
}


def check(operation: str, arguments: Mapping[str, Value], result: Value) -> None:
    """Demand of an operation's arguments what torch demands of their dtypes.

    Raises:
        DtypeError: torch refuses them, for certain.
    """
    name = operation if operation in _KNOWN else operation.removesuffix("_")
    for parameter, allowed in _DEMANDS.get(name, {}).items():
        if operation != "where" or "input" in arguments:  # a condition alone may be of any dtype
            _require_allowed(operation, parameter, arguments.get(parameter), allowed)
    if name in _OF_FLOAT_RESULT:
        _require_float_result(operation, [arguments.get(each) for each in _OF_FLOAT_RESULT[name]])
    elif name == "l1_loss" and arguments.get("reduction", "mean") == "mean" and not arguments.get("size_average"):
        _require_float_result(operation, [arguments.get("input"), arguments.get("target")])
    if name in _ALIKE:
        _require_alike(operation, _tensors(arguments, _ALIKE[name]))
    elif name in _ALIKE_BUT_HALF:
        _require_alike_but_half(operation, _tensors(arguments, _ALIKE_BUT_HALF[name]))
    elif name in _PRODUCTS:
        _refuse_bool(operation, list(arguments.items()))
    elif name in _DROPOUTS:
        _check_dropout(operation, arguments, _DROPOUTS[name])
    elif name in _FILLED:
        # A float bound of integers makes them float32.
        filled = result if name.startswith("cl") else arguments.get("input")
        _require_room(operation, filled, [arguments.get(each) for each in _FILLED[name]])
    elif name in _FILLS_RESULT:
        _require_room(operation, result, [arguments.get("fill_value")])
    if name == "lerp" and not isinstance(arguments.get("weight"), TensorType):
        # A tensor as weight makes a float of any input.
        _require_allowed(operation, "input", arguments.get("input"), _FLOATING)
    if name == "scaled_dot_product_attention":
        _check_attention_mask(operation, arguments)
    elif name in _DRAWS_FLOATS and _has_elements(result):
        _require_allowed(operation, "the result", result, _FLOATING)
    elif operation == "bernoulli" and arguments.get("p") is None:
        _require_allowed(operation, "input", arguments.get("input"), _FLOATING)
    if arguments.get("requires_grad") is True:
        require_differentiable(operation, result)


def check_module(name: str, parameters: TensorType | None, arguments: Mapping[str, Value]) -> None:
    """Demand of the arguments of a module what torch demands of their dtypes; `parameters` is one of its parameters.

    Raises:
        DtypeError: torch refuses them, for certain.
    """
    operation = f"nn.{name}"
    for parameter, allowed in _DEMANDS.get(name, {}).items():
        _require_allowed(operation, parameter, arguments.get(parameter), allowed)
    if name in _MODULES_OF_FLOATS:
        _require_allowed(operation, "input", arguments.get("input"), _FLOATING)
    if parameters is None:
        return
    own = ("parameters", parameters)
    for parameter in _MODULES_LIKE_PARAMETERS.get(name, ()):
        for tensor in _of(arguments.get(parameter)):
            _require_alike(operation, [(parameter, tensor), own])
    if name in _MODULES_LIKE_PARAMETERS_BUT_HALF:
        for tensor in _of(arguments.get("input")):
            _require_allowed(operation, "input", tensor, _FLOATING)
            _require_alike_but_half(operation, [("input", tensor), own])


def _is_empty(tensor: TensorType) -> bool:
    """Whether a tensor has no elements for certain: of them nothing is computed, and nothing refused."""
    return any(isinstance(axis, Dim) and axis.constant == 0 for axis in tensor.shape.axes)


def _has_elements(value: Value) -> bool:
    """Whether a tensor has elements for certain: of none, none are drawn."""
    if not isinstance(value, TensorType) or value.shape.rank is None:
        return False
    return all(
        dim.symbol.low == 1 if dim.symbol is not None else dim.constant is not None and dim.constant > 0
        for dim in value.shape.dims
    )


def _of(value: Value) -> list[TensorType]:
    return [each for each in (value if isinstance(value, tuple) else (value,)) if isinstance(each, TensorType)]


def _tensors(arguments: Mapping[str, Value], names: tuple[str, ...]) -> list[tuple[str, TensorType]]:
    given = ((name, arguments.get(name)) for name in names)
    return [(name, value) for name, value in given if isinstance(value, TensorType)]


def _require_allowed(operation: str, parameter: str, value: Value, allowed: _Allowed) -> None:
    if isinstance(value, TensorType) and not value.dtype.names & allowed.names and not _is_empty(value):
        reason = f"{parameter} is {value.dtype}, {allowed.expected} expected"
        raise DtypeError(operation, reason, f"{value.dtype}{value}", allowed.hint)


def _require_float_result(operation: str, operands: list[Value]) -> None:
    tensors = [operand for operand in operands if isinstance(operand, TensorType)]
    if len(tensors) == 2 and result_type(*tensors).is_all(_WHOLE):
        shown = ", ".join(f"{each.dtype}{each}" for each in tensors)
        raise DtypeError(operation, "one of them has to be of a float dtype", shown, ".float()?")


def _require_alike(operation: str, tensors: list[tuple[str, TensorType]]) -> None:
    for name, tensor in tensors[1:]:
        first_name, first = tensors[0]
        if not first.dtype.names & tensor.dtype.names:
            raise _unlike(operation, (first_name, first), (name, tensor))


def _require_alike_but_half(operation: str, tensors: list[tuple[str, TensorType]]) -> None:
    for name, tensor in tensors[1:]:
        first_name, first = tensors[0]
        for one, other in ((first, tensor), (tensor, first)):
            if one.dtype.is_all(_WIDE) and other.dtype.is_all(FLOATS - _WIDE):
                raise _unlike(operation, (first_name, first), (name, tensor))


def _unlike(operation: str, first: tuple[str, TensorType], second: tuple[str, TensorType]) -> DtypeError:
    (name, tensor), (other_name, other) = first, second
    operands = f"{name} {tensor.dtype}{tensor}, {other_name} {other.dtype}{'' if other_name == 'parameters' else other}"
    wanted = other.dtype.single
    hint = ".float()?" if wanted in (None, "float32") and other.dtype.is_all(FLOATS) else f".to(torch.{wanted})?"
    reason = f"dtypes {tensor.dtype} and {other.dtype} differ"
    return DtypeError(operation, reason, operands, f"{hint.rstrip('?')} on {name}?")


def _refuse_bool(operation: str, operands: list[tuple[str, Value]]) -> None:
    tensors = [value for _, value in operands if isinstance(value, TensorType)]
    if len(tensors) == 2 and all(each.dtype.is_all(BOOL) and not _is_empty(each) for each in tensors):
        shown = " @ ".join(f"{each.dtype}{each}" for each in tensors)
        raise DtypeError(operation, "bool tensors have no product of matrices", shown, ".float()?")


def _check_dropout(operation: str, arguments: Mapping[str, Value], training: str) -> None:
    p = arguments.get("p")
    default = training == "training"
    tensor = arguments.get("input")
    if arguments.get(training, default) is True and isinstance(p, float) and 0 < p < 1 and _has_elements(tensor):
        _require_allowed(operation, "input", tensor, _FLOATING)


def _check_attention_mask(operation: str, arguments: Mapping[str, Value]) -> None:
    mask, query = arguments.get("attn_mask"), arguments.get("query")
    if isinstance(mask, TensorType) and isinstance(query, TensorType):
        allowed = BOOL | {"float32"} | query.dtype.names
        expected = f"bool or {query.dtype}" if query.dtype.single else "bool or a float dtype"
        _require_allowed(operation, "attn_mask", mask, _Allowed(allowed, expected, ".bool()?"))


def _require_room(operation: str, tensor: Value, values: list[Value]) -> None:
    """Demand that numbers fit into a tensor's dtype."""
    dtype = tensor.dtype.single if isinstance(tensor, TensorType) else None
    largest = _LARGEST.get(dtype or "")
    for value in values:
        number = value.constant if isinstance(value, Dim) else value if isinstance(value, float) else None
        if largest is None or dtype is None or number is None or number != number:
            continue  # nan stands for a float that was not followed
        is_infinite = number in (float("inf"), float("-inf"))
        if is_infinite and dtype in FLOATS:
            continue
        least = -largest - (1 if dtype.startswith("int") else 0)
        if not least <= number <= largest:
            hint = "torch.finfo(x.dtype).min?" if dtype in FLOATS and number < 0 else ""
            raise DtypeError(operation, f"{number:g} does not fit into {dtype}", f"{dtype}{tensor}", hint)


def require_differentiable(operation: str, tensor: Value) -> None:
    """Demand a dtype that has gradients.

    Raises:
        DtypeError: it is of integers or bool.
    """
    if isinstance(tensor, TensorType) and tensor.dtype.is_all(_WHOLE):
        reason = f"tensors of {tensor.dtype} have no gradients"
        raise DtypeError(operation, reason, f"{tensor.dtype}{tensor}", "a float dtype, or requires_grad=False?")


def gives_dtype_of_parameters(name: str) -> bool:
    """Whether the result of a module has the dtype of its parameters."""
    return name in _MODULES_LIKE_PARAMETERS or name in ("Embedding", "EmbeddingBag")


def require_written(operation: str, target: TensorType, items: Sequence[object], value: TensorType) -> None:
    """Demand of `target[items] = value` that a value which is written at the places of index tensors has the dtype.

    Raises:
        DtypeError: it has another. Of slices and of one element, which are cast, nothing is demanded.
    """
    if target.dtype.names & value.dtype.names:
        return
    is_several = any(dim.constant is not None and dim.constant > 1 for dim in (*value.shape.head, *value.shape.tail))
    for item in items:
        if not isinstance(item, TensorType) or not item.shape.least_rank:
            continue
        if item.dtype.is_all(INTEGERS - {"uint8"}) or (item.dtype.is_all(BOOL) and is_several):
            raise _unlike(operation, ("the value", value), ("the tensor", target))


def require_range(operation: str, data: Value, dtype: DType) -> None:
    """Demand that the ints of a list fit into an integer dtype.

    Raises:
        DtypeError: one does not.
    """
    largest = _LARGEST.get(dtype.single or "")
    if largest is None or not dtype.is_all(INTEGERS):
        return
    for item in data if isinstance(data, tuple) else (data,):
        if isinstance(item, tuple):
            require_range(operation, item, dtype)
        elif isinstance(item, Dim) and item.constant is not None and not -largest - 1 <= item.constant <= largest:
            raise DtypeError(operation, f"{item} does not fit into {dtype}", str(item))
