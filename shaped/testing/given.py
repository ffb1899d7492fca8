"""`@given_shapes`: a test with annotated tensor parameters becomes a Hypothesis property test."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from hypothesis import given
from hypothesis import strategies as st

from shaped.errors import AnnotationError
from shaped.testing.drawn_sizes import Limits, SizeLike
from shaped.testing.plan import Plan
from shaped.testing.record import PROPERTY_MARK

if TYPE_CHECKING:
    import torch
    from hypothesis.strategies import DrawFn, SearchStrategy

    from shaped.testing.wanted import Given

Test = Callable[..., Any]


@overload
def given_shapes(test: Test, /) -> Callable[..., None]: ...


@overload
def given_shapes(
    *,
    sizes: Mapping[str, SizeLike] | None = None,
    min_size: int = 1,
    max_size: int = 4,
    max_rank: int = 2,
    dtypes: Sequence[torch.dtype] = (),
    special: bool = True,
    minus_infinity: bool = False,
    **given: Given,
) -> Callable[[Test], Callable[..., None]]: ...


def given_shapes(
    test: Test | None = None,
    /,
    *,
    sizes: Mapping[str, SizeLike] | None = None,
    min_size: int = 1,
    max_size: int = 4,
    max_rank: int = 2,
    dtypes: Sequence[torch.dtype] = (),
    special: bool = True,
    minus_infinity: bool = False,
    **given: Given,
) -> Callable[..., Any]:
    """Make a test a property test over the tensors of its annotations.

    Drawn are the parameters whose annotation has tensors, int parameters that have the name of an axis, and those that
    are given. The others stay pytest's: fixtures and parametrized arguments. `p=...` (three dots) draws a parameter by
    its type. Works with `@settings` and `@example`. The options are those of `from_signature`.

    >>> from jaxtyping import Float
    >>> from torch import Tensor
    >>> @given_shapes(max_size=3)
    ... def test_softmax_sums_to_one(x: Float[Tensor, "b n"]) -> None:
    ...     assert (x.softmax(-1).sum(-1) - 1).abs().max() < 1e-5
    >>> test_softmax_sums_to_one()
    """
    limits = Limits(min_size, max_size, max_rank, dict(sizes or {}))

    def decorate(function: Test) -> Callable[..., None]:
        plan = Plan(function, limits, dtypes, special, minus_infinity, given)
        names = plan.drawn_by_annotation
        if not names:
            raise AnnotationError(
                plan.signature.name,
                "no parameter has an annotation with tensors",
                hint='write x: Float[Tensor, "b n"], or use @given',
            )
        property_test = _given(function, plan, names)
        setattr(property_test, PROPERTY_MARK, True)
        return property_test

    return decorate if test is None else decorate(test)


def _given(function: Test, plan: Plan, names: Sequence[str]) -> Callable[..., None]:
    """The test with one strategy for each parameter; they share one draw, as sizes are common."""
    call: SearchStrategy[dict[str, Any]] = st.shared(plan.strategy(names), key=object())
    return given(**{name: _argument(call, name) for name in names})(_without_defaults(function, names))


def _without_defaults(function: Test, names: Sequence[str]) -> Test:
    """The test without the defaults of drawn parameters, and without others that have one: `given` takes none."""
    signature = inspect.signature(function)
    if all(one.default is one.empty for one in signature.parameters.values()):
        return function
    kept = [
        one.replace(default=one.empty)
        for one in signature.parameters.values()
        if one.name in names or one.default is one.empty
    ]

    @functools.wraps(function)
    def required(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    required.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]  # read by `inspect`
    return required


@st.composite
def _argument(draw: DrawFn, call: SearchStrategy[dict[str, Any]], name: str) -> Any:
    """One argument of a drawn call. Unlike `.map`, it leaves no trace in how Hypothesis prints the value."""
    return draw(call)[name]
