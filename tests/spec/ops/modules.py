"""Modules held against torch's: the same constructor and input for both, in the views of `against_torch`."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from shaped.errors import Fault
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import Module, Op, find_module, find_op
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shaped.spec.values import Value

# The tensors are tiny: more threads only wait for each other.
torch.set_num_threads(1)

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
    *,
    training: bool = True,
) -> list[Comparison]:
    """The comparisons of a module made with `options` and `keywords`, called with `args` and `kwargs`."""
    kind = find_module(torch_name)
    assert kind is not None, f"{torch_name} has no rule"
    made = kind
    constructor: Callable[..., torch.nn.Module] = resolve(torch_name)  # type: ignore[assignment]  # it is one

    @functools.cache
    def answer() -> Any:
        try:
            return constructor(*options, **keywords).train(training)(*args, **kwargs)
        except Exception as error:  # whatever torch raises is its answer
            return error

    def function(*_: Any, **__: Any) -> Any:
        result = answer()
        if isinstance(result, Exception):
            raise result
        return result

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
    torch_name: str,
    *options: Any,
    input: Any = (),
    call: Mapping[str, Any] | None = None,
    training: bool = True,
    **keywords: Any,
) -> Outcome:
    """Assert that no view shows the module to be wrong, and that it agrees with torch where all is known.

    Args:
        torch_name: the module.
        options: its constructor's arguments.
        input: the shape of its input, or all its inputs as tensors.
        call: keyword arguments of the call.
        training: whether torch's module is in training.
        keywords: its constructor's keyword arguments.
    """
    inputs = (torch.zeros(input),) if all(isinstance(size, int) for size in input) else tuple(input)
    comparisons = compare_module(torch_name, options, keywords, inputs, call or {}, training=training)
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


# torch answers each example, so a few dozen are what a test can spend.
several = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])


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


def parameters_of(function: Callable[..., Any]) -> list[tuple[str, Any]] | None:
    """The parameters of a function or a constructor with their defaults; None where Python cannot tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return None
    return [(parameter.name, parameter.default) for parameter in found]


def plain(default: Any) -> Any:
    """A rule's default as torch writes it."""
    return default.constant if isinstance(default, Dim) else default


# Names for the sizes of messages.
B, T, C, H, W, N, V = map(Dim.name, ("b", "t", "c", "h", "w", "n", "v"))


def message(torch_name: str, *args: Value, **kwargs: Value) -> tuple[str, str]:
    """What a rule says of a call with a fault, and its hint."""
    operation = find_op(torch_name)
    assert operation is not None, torch_name
    with pytest.raises(Fault) as caught:
        operation.apply(Context(), args, kwargs)
    return str(caught.value), caught.value.hint


def make(torch_name: str, *options: Value | int, **keywords: Value) -> Module:
    """A module of the table with these arguments."""
    kind = find_module(torch_name)
    assert kind is not None, torch_name
    dims = [Dim.of(option) if type(option) is int else option for option in options]
    more = {key: Dim.of(value) if type(value) is int else value for key, value in keywords.items()}
    return kind(Context(), *dims, **more)


def module_message(made: Module, *args: Value, **kwargs: Value) -> tuple[str, str]:
    """What a module says of a call with a fault, and its hint."""
    with pytest.raises(Fault) as caught:
        made.call(Context(), args, kwargs)
    return str(caught.value), caught.value.hint


def constructor_message(torch_name: str, *options: Value | int, **keywords: Value) -> str:
    """What a module says of a fault in its constructor."""
    with pytest.raises(Fault) as caught:
        make(torch_name, *options, **keywords)
    return str(caught.value)
