"""Look-up of rows by index: `embedding` and `embedding_bag`, functions and modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import DtypeError, ShapeError
from shaped.spec.dims import Dim
from shaped.spec.dtype_demands import INT32_OR_INT64, alike, like_parameters, takes
from shaped.spec.extent import require_within
from shaped.spec.op import Module, module, op
from shaped.spec.ops.options import flag, is_less, option_size, optional_tensor, parameter_dtype
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

INDICES = frozenset(["int32", "int64"])


def _row_length(context: Context, operation: str, weight: TensorType) -> Dim:
    """The second axis of a weight (rows, length)."""
    shape = weight.shape
    if shape.least_rank > 2 or (shape.rank is not None and shape.rank != 2):
        raise ShapeError(operation, f"the weight has {shape.least_rank} axes, 2 expected", f"weight {weight}")
    length = shape.at(-1) if shape.rank == 2 or shape.tail else None
    return context.fresh() if length is None else length


def _check_indices(operation: str, indices: TensorType) -> None:
    if not indices.dtype.may_be(INDICES):
        raise DtypeError(operation, f"indices are {indices.dtype}, int32 or int64 expected", str(indices), ".long()?")


def _check_rows(context: Context, indices: TensorType, weight: TensorType, padding_idx: Value) -> None:
    rows = weight.shape.at(0) if weight.shape.rank == 2 else None
    if rows is None:
        return
    require_within(context, "embedding", indices, rows, f"a table of {rows} rows", f"{indices} in {weight}")
    _check_padding(context, rows, padding_idx)


def _check_padding(context: Context, rows: Dim, padding_idx: Value) -> None:
    if isinstance(padding_idx, Dim) and (
        is_less(context, rows, padding_idx + 1) or is_less(context, padding_idx, -rows)
    ):
        raise ShapeError(
            "embedding", f"padding_idx {padding_idx} is no row of a table of {rows}", dims=(rows, padding_idx)
        )


@op("embedding", "torch.nn.functional.embedding", formula="y[..., d] = w[x[...], d]")
def embedding(
    context: Context,
    input: TensorType,
    weight: TensorType,
    padding_idx: Value = None,
    max_norm: Value = None,
    norm_type: Value = 2.0,
    scale_grad_by_freq: Value = False,
    sparse: Value = False,
) -> TensorType:
    """The rows of `weight` that `input` names.

    Raises:
        DtypeError: the indices are no ints of 32 or 64 bits.
        ShapeError: the weight has not two axes.
    """
    length = _row_length(context, "embedding", weight)
    _check_indices("embedding", input)
    _check_rows(context, input, weight, padding_idx)
    return input.with_shape(input.shape + Shape.of(length)).with_dtype(weight.dtype)


@op(
    "embedding_bag",
    "torch.nn.functional.embedding_bag",
    formula="y[b, d] = mean(i in bag b) w[x[i], d]",
    dtypes=takes(offsets=INT32_OR_INT64) + alike("weight", "per_sample_weights"),
)
def embedding_bag(
    context: Context,
    input: TensorType,
    weight: TensorType,
    offsets: Value = None,
    max_norm: Value = None,
    norm_type: Value = 2,
    scale_grad_by_freq: Value = False,
    mode: Value = "mean",
    sparse: Value = False,
    per_sample_weights: Value = None,
    include_last_offset: Value = False,
    padding_idx: Value = None,
) -> TensorType:
    """Sums, means or maxima of the rows of `weight` that each bag names: (b, n), or (n,) with offsets (b,), -> (b, d).

    Raises:
        DtypeError: the indices are no ints of 32 or 64 bits.
        ShapeError: the indices have not one or two axes, or offsets do not fit them.
    """
    operation = "embedding_bag"
    length = _row_length(context, operation, weight)
    _check_indices(operation, input)
    rank, starts = input.shape.rank, optional_tensor(context, offsets)
    if (rank is not None and rank not in (1, 2)) or input.shape.least_rank > 2:
        raise ShapeError(operation, f"{input.shape.least_rank} axes, 1 or 2 expected", str(input))
    if rank == 2 and isinstance(offsets, TensorType):
        raise ShapeError(operation, "offsets are for indices of one axis", f"{input} with offsets {offsets}")
    if rank == 1 and offsets is None:
        raise ShapeError(operation, "indices of one axis need offsets", str(input))
    if rank == 1 and starts is not None and starts.shape.rank not in (1, None):
        raise ShapeError(operation, f"offsets have {starts.shape.rank} axes, 1 expected", f"offsets {starts}")
    weights = optional_tensor(context, per_sample_weights)
    if weights is not None and None not in (weights.shape.rank, rank) and weights.shape.rank != rank:
        raise ShapeError(operation, f"per_sample_weights {weights}, the shape of the indices expected", str(input))
    bags = context.fresh()
    if rank == 2:
        bags = input.shape.dims[0]
    elif rank == 1 and starts is not None and starts.shape.rank == 1:
        last = flag(include_last_offset)
        bags = context.fresh() if last is None else starts.shape.dims[0] - int(last)
    return input.with_shape(Shape.of(bags, length)).with_dtype(weight.dtype)


@module("torch.nn.Embedding")
class Embedding(Module):
    """A table of `num_embeddings` vectors, looked up by index."""

    dtypes = like_parameters()

    def __init__(
        self,
        context: Context,
        num_embeddings: Value,
        embedding_dim: Value,
        padding_idx: Value = None,
        max_norm: Value = None,
        norm_type: Value = 2.0,
        scale_grad_by_freq: Value = False,
        sparse: Value = False,
        _weight: Value = None,
        _freeze: Value = False,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.num_embeddings = option_size(context, num_embeddings)
        self.embedding_dim = option_size(context, embedding_dim)
        self.padding_idx = padding_idx
        self.weight = TensorType(Shape.of(self.num_embeddings, self.embedding_dim), parameter_dtype(dtype))
        _check_padding(context, self.num_embeddings, padding_idx)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(...) -> (..., embedding_dim)."""
        return embedding(context, input, self.weight)


@module("torch.nn.EmbeddingBag")
class EmbeddingBag(Module):
    """Sums, means or maxima of bags of rows of a table."""

    dtypes = takes(offsets=INT32_OR_INT64) + like_parameters()

    def __init__(
        self,
        context: Context,
        num_embeddings: Value,
        embedding_dim: Value,
        max_norm: Value = None,
        norm_type: Value = 2.0,
        scale_grad_by_freq: Value = False,
        mode: Value = "mean",
        sparse: Value = False,
        _weight: Value = None,
        include_last_offset: Value = False,
        padding_idx: Value = None,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.num_embeddings = option_size(context, num_embeddings)
        self.embedding_dim = option_size(context, embedding_dim)
        self.include_last_offset = include_last_offset
        self.weight = TensorType(Shape.of(self.num_embeddings, self.embedding_dim), parameter_dtype(dtype))

    def forward(
        self, context: Context, input: TensorType, offsets: Value = None, per_sample_weights: Value = None
    ) -> TensorType:
        """(b, n), or (n,) with offsets (b,), -> (b, embedding_dim)."""
        return embedding_bag(
            context,
            input,
            self.weight,
            offsets,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
        )


def _from_pretrained(context: Context, kind: type[Module], embeddings: TensorType) -> Value:
    shape = embeddings.shape
    if shape.rank is not None and shape.rank != 2:
        raise ShapeError("from_pretrained", f"{shape.rank} axes, 2 expected", str(embeddings))
    if shape.rank is None:
        return kind(context, UNKNOWN, UNKNOWN)  # type: ignore[call-arg]  # both classes take these two sizes first
    made = kind(context, *shape.dims)  # type: ignore[call-arg]  # as above
    made.weight = embeddings  # type: ignore[attr-defined]  # both classes have a weight
    return made


@op("embedding_from_pretrained", "torch.nn.Embedding.from_pretrained", formula="w = embeddings")
def embedding_from_pretrained(
    context: Context,
    embeddings: TensorType,
    freeze: Value = True,
    padding_idx: Value = None,
    max_norm: Value = None,
    norm_type: Value = 2.0,
    scale_grad_by_freq: Value = False,
    sparse: Value = False,
) -> Value:
    """The module with a given table."""
    return _from_pretrained(context, Embedding, embeddings)
