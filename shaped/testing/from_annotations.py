"""Arguments for a function from its annotations, as one Hypothesis strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from shaped.testing.drawn_sizes import Limits, SizeLike
from shaped.testing.plan import Plan
from shaped.testing.wanted import Given

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn


def from_signature(
    function: Callable[..., object],
    *,
    sizes: Mapping[str, SizeLike] | None = None,
    min_size: int = 1,
    max_size: int = 4,
    max_rank: int = 2,
    dtypes: Sequence[torch.dtype] = (),
    special: bool = True,
    minus_infinity: bool = False,
    **given: Given,
) -> SearchStrategy[dict[str, Any]]:
    """Arguments for a function, by name: `function(**drawn)`.

    One size is drawn for each name of the annotations, then the tensors, with special points among them. An integer
    tensor holds valid indices of every named axis of the call: 0 up to the least size - 1. An int parameter that has
    the name of an axis gets its size. Other parameters get their default, or what Hypothesis draws for their type.

    Args:
        function: any annotated function, method, `nn.Module` or `torch.autograd.Function`.
        sizes: what is drawn for a name: a size, a strategy, or for a pack a tuple of sizes.
        min_size: the least size of an axis; 0 for empty tensors too.
        max_size: the greatest.
        max_rank: the most axes that a pack (`*s`, `...`) stands for.
        dtypes: the dtypes to draw, where an annotation allows several; one for each kind in a call. float32, int64,
            bool and complex64 if none are given.
        special: draw special points.
        minus_infinity: draw entries and rows of -inf too.
        **given: what is drawn for a parameter, or for a field of one (`**{"batch.tokens": indices("v")}`).

    Raises:
        AnnotationError: a parameter cannot be drawn: which, and what to pass.

    >>> from hypothesis import find
    >>> from jaxtyping import Float
    >>> def product(a: Float[torch.Tensor, "n k"], b: Float[torch.Tensor, "k m"]) -> Float[torch.Tensor, "n m"]: ...
    >>> find(from_signature(product), lambda drawn: drawn["b"].shape[0] > 1)
    {'a': tensor([[0., 0.]]), 'b': tensor([[0.],
            [0.]])}
    """
    limits = Limits(min_size, max_size, max_rank, dict(sizes or {}))
    plan = Plan(function, limits, dtypes, special, minus_infinity, given)
    plan.require_all()
    return plan.strategy()


def from_annotation(
    annotation: object,
    *,
    sizes: Mapping[str, SizeLike] | None = None,
    min_size: int = 1,
    max_size: int = 4,
    max_rank: int = 2,
    dtypes: Sequence[torch.dtype] = (),
    special: bool = True,
    minus_infinity: bool = False,
) -> SearchStrategy[Any]:
    """What one annotation describes: a tensor, a tuple of tensors, a dataclass with tensors. The options are
    `from_signature`'s.

    >>> from hypothesis import find
    >>> from jaxtyping import Float
    >>> find(from_annotation(Float[torch.Tensor, "n 2*n"], sizes={"n": 2}), lambda x: True).shape
    torch.Size([2, 4])
    """

    def holder(value: object) -> None: ...

    holder.__annotations__["value"] = annotation
    holder.__qualname__ = "from_annotation"
    drawn = from_signature(
        holder,
        sizes=sizes,
        min_size=min_size,
        max_size=max_size,
        max_rank=max_rank,
        dtypes=dtypes,
        special=special,
        minus_infinity=minus_infinity,
    )
    return _value(drawn)


@st.composite
def _value(draw: DrawFn, arguments: SearchStrategy[dict[str, Any]]) -> Any:
    """The only argument. Unlike `.map`, it leaves no trace in how Hypothesis prints it."""
    return draw(arguments)["value"]
