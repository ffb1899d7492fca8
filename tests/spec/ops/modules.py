"""Modules held against torch's: the same constructor and input for both, in the views of `against_torch`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import Op, find_module
from shaped.spec.values import Value
from tests.spec.ops.against_torch import (
    VIEWS,
    Comparison,
    NamedBySize,
    Outcome,
    View,
    compare,
    compare_by_name,
    resolve,
    to_values,
)

SETTLED = (Outcome.EXACT, Outcome.REFUSED)


class NamedOptions(NamedBySize):
    """Names for the sizes of tensors, and for the ints of the constructor, too."""

    name = "names in the constructor"


def named(value: Value, view: View) -> Value:
    """A constructor's argument with a name for each int above 1."""
    if isinstance(value, Dim) and value.constant is not None and value.constant > 1:
        return view.symbol(f"n{value.constant}", value.constant)
    return tuple(named(item, view) for item in value) if isinstance(value, tuple) else value


def compare_module(
    torch_name: str,
    options: Sequence[Any],
    keywords: Mapping[str, Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    views: Sequence[type[View]] = (*VIEWS, NamedOptions),
) -> list[Comparison]:
    """The comparisons of a module made with `options` and `keywords`, called with `args` and `kwargs`."""
    kind = find_module(torch_name)
    assert kind is not None, f"{torch_name} has no rule"
    made = kind
    constructor: Callable[..., torch.nn.Module] = resolve(torch_name)  # type: ignore[assignment]  # it is one

    def function(*inputs: Any, **named_inputs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return constructor(*options, **keywords)(*inputs, **named_inputs)

    found = []
    for view_type in views:
        view = view_type()
        values, more = to_values(options, keywords, View())
        if view_type is NamedOptions:
            values = [named(value, view) for value in values]
            more = {key: named(value, view) for key, value in more.items()}

        def rule(context: Context, *inputs: Value, _values: Any = values, _more: Any = more, **rest: Value) -> Value:
            return made(context, *_values, **_more).call(context, inputs, rest)

        call = f"{torch_name}({', '.join([*map(repr, options), *(f'{k}={v!r}' for k, v in keywords.items())])})"
        found += compare(Op(call, "", (call,), rule), function, args, kwargs, [view_type])
    return found


def check_module(
    torch_name: str, *options: Any, input: Any = (), call: Mapping[str, Any] | None = None, **keywords: Any
) -> Outcome:
    """Assert that no view shows the module to be wrong, and that it agrees with torch where all is known.

    Args:
        torch_name: the module.
        options: its constructor's arguments.
        input: the shape of its input, or all its inputs as tensors.
        call: keyword arguments of the call.
        keywords: its constructor's keyword arguments.
    """
    inputs = (torch.zeros(input),) if all(isinstance(size, int) for size in input) else tuple(input)
    comparisons = compare_module(torch_name, options, keywords, inputs, call or {})
    return settled(comparisons)


def check_function(torch_name: str, *args: Any, **kwargs: Any) -> Outcome:
    """Assert that no view shows the rule to be wrong, and that it agrees with torch where all is known."""
    return settled(compare_by_name(torch_name, *args, **kwargs))


def settled(comparisons: Sequence[Comparison]) -> Outcome:
    """The outcome with all sizes known, after the assertions."""
    defects = [comparison for comparison in comparisons if comparison.outcome.is_defect]
    assert not defects, "\n".join(map(str, defects))
    assert comparisons[0].outcome in SETTLED, str(comparisons[0])
    return comparisons[0].outcome


sizes = st.integers(1, 5)


def shapes(*axes: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes with these axes."""
    return st.tuples(*axes)


@st.composite
def nearly(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape itself two times of three, else with a size changed, an axis dropped or added."""
    axes = list(shape)
    if draw(st.integers(0, 2)) or not axes:
        return shape
    place = draw(st.integers(0, len(axes) - 1))
    match draw(st.sampled_from(["change", "drop", "add"])):
        case "change":
            axes[place] = draw(sizes)
        case "drop":
            del axes[place]
        case "add":
            axes.insert(place, draw(sizes))
    return tuple(axes)


def parameters_of(torch_name: str) -> list[tuple[str, Any]] | None:
    """The parameters of a function or a module's constructor with their defaults; None where Python cannot tell."""
    try:
        found = inspect.signature(resolve(torch_name)).parameters.values()
    except (ValueError, TypeError):
        return None
    return [(parameter.name, parameter.default) for parameter in found]
