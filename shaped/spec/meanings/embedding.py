"""Rows of a table, looked up and added up."""

from __future__ import annotations

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, bracket, index_zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.extremes import amax
from shaped.spec.meanings.labels import require_rank
from shaped.spec.meanings.reduction import mean, sum_
from shaped.spec.meanings.reshape import reshape
from shaped.spec.meanings.scatter import index_select, total
from shaped.spec.tensor import NotExpressible, Tensor, build

Grads = tuple[Tensor | None, ...]


def _plain(padding_idx: int | None, max_norm: float | None, scale_grad_by_freq: bool) -> None:
    """Refuse options whose gradient is not the derivative of the value, or that write to the table."""
    if padding_idx is not None:
        raise NotExpressible("embedding with padding_idx: the gradient of that row is set to 0, against its derivative")
    if max_norm is not None:
        raise NotExpressible("embedding with max_norm, which rescales the table in place")
    if scale_grad_by_freq:
        raise NotExpressible("embedding with scale_grad_by_freq: the gradient is not the derivative")


@meaning("embedding")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    _plain(padding_idx, max_norm, scale_grad_by_freq)
    require_rank("embedding", weight, 2)
    rows = index_select(weight, 0, input.reshape(-1))
    return reshape(rows, *input.sizes, weight.sizes[1])


@backward("embedding")
def embedding_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Grads:
    """The sum of the gradients of a row's appearances."""

    def gradient(row: Dim, column: Dim) -> Expr:
        def term(*at: Dim) -> Expr:
            return bracket(index_zero(input.whole_at(*at) - row)) * grad.at(*at, column)

        return total(input.sizes, term)

    return None, build(weight.sizes, gradient)


@meaning("embedding_bag")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    _plain(padding_idx, max_norm, scale_grad_by_freq)
    if offsets is not None or input.rank == 1:
        raise NotExpressible("embedding_bag with offsets: the length of a bag depends on values")
    require_rank("embedding_bag", input, 2)
    rows: Tensor = embedding(input, weight)
    if per_sample_weights is not None:
        if mode != "sum":
            raise ShapeError("embedding_bag", "per_sample_weights go with mode='sum' only")
        rows = rows * per_sample_weights.unsqueeze(-1)
    if mode == "max":
        return amax(rows, 1)
    if mode not in ("sum", "mean"):
        raise ShapeError("embedding_bag", f"there is no mode {mode!r}")
    return sum_(rows, 1) if mode == "sum" else mean(rows, 1)
