"""Signatures and arguments drawn at random: `checked` and `jaxtyped(typechecker=beartype)` decide every call alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
from hypothesis import given, note, settings
from hypothesis import strategies as st
from torch import Tensor

from shaped.runtime.checked import checked
from tests.runtime.checked.agreement import DECORATORS, Call, Outcome, Parameter

# A fault of the generated code leaves a function to jaxtyping, with a warning: then nothing is compared here.
pytestmark = pytest.mark.filterwarnings("error:jaxtyping checks:RuntimeWarning")

NAMES = ("a", "b", "c")
PACKS = ("p", "q")
ARITHMETIC = ("a+1", "2*a", "a*b", "a-b", "a//2", "min(a,b)", "max(a,b)+c", "(a+b)*c", "{k}", "{k}+a", "{k-1}", "a*{k}")
WORDS = ("Float", "Float32", "Int", "Shaped", "Num", "Bool", "Real")
TORCH = (torch.float32, torch.float64, torch.int64, torch.bool)
NUMPY = (np.float32, np.float64, np.int64, np.bool_)
FITTING = {"Float": 0, "Float32": 0, "Int": 2, "Shaped": 1, "Num": 1, "Bool": 3, "Real": 2}
"""The place of a dtype that fits a word, in both tables of dtypes."""


@dataclass(frozen=True)
class Truth:
    """The sizes that the names of a call have, where all its tensors fit."""

    sizes: dict[str, int]
    packs: dict[str, tuple[int, ...]]
    k: int


sizes = st.integers(0, 4)
truths = st.builds(
    Truth,
    st.fixed_dictionaries({name: st.integers(1, 4) for name in NAMES}),
    st.fixed_dictionaries({name: st.lists(st.integers(1, 3), max_size=2).map(tuple) for name in PACKS}),
    st.integers(1, 4),
)


@st.composite
def axes_and_shapes(draw: st.DrawFn, truth: Truth) -> tuple[str, tuple[int, ...]]:
    """Axes, and a shape that nearly fits them: most do, some have a size or an axis that is wrong."""
    words: list[str] = []
    shape: list[int] = []
    has_pack = False
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["name"] * 4 + ["#name", "_", "fixed", "pack", "#pack", "...", "sum", "#sum"]))
        if kind in ("pack", "#pack", "..."):
            if has_pack:
                continue
            has_pack = True
        if kind == "name":
            name = draw(st.sampled_from(NAMES))
            words.append(name)
            shape.append(truth.sizes[name])
        elif kind == "#name":
            name = draw(st.sampled_from(NAMES))
            words.append(f"#{name}")
            shape.append(draw(st.sampled_from([1, truth.sizes[name]])))
        elif kind == "_":
            words.append(draw(st.sampled_from(["_", "_a"])))
            shape.append(draw(sizes))
        elif kind == "fixed":
            size = draw(sizes)
            words.append(draw(st.sampled_from([f"{size}", f"#{size}", f"n={size}"])))
            shape.append(size)
        elif kind == "pack":
            name = draw(st.sampled_from(PACKS))
            words.append(f"*{name}")
            shape.extend(truth.packs[name])
        elif kind == "#pack":
            name = draw(st.sampled_from(PACKS))
            words.append(draw(st.sampled_from([f"*#{name}", f"#*{name}"])))
            pack = truth.packs[name]
            shape.extend(draw(st.sampled_from([1, size])) for size in pack[draw(st.integers(0, len(pack))) :])
        elif kind == "...":
            words.append(draw(st.sampled_from(["...", "*_", "*_p"])))
            shape.extend(draw(st.lists(sizes, max_size=2)))
        else:
            text = draw(st.sampled_from(ARITHMETIC))
            filled = text.replace("{k-1}", str(truth.k - 1)).replace("{k}", str(truth.k))
            words.append("#" * (kind == "#sum") + text)
            shape.append(max(0, eval(filled, dict(truth.sizes))))
    change = draw(st.sampled_from(["none"] * 7 + ["size", "drop", "add"]))
    place = draw(st.integers(0, len(shape) - 1)) if shape else 0
    if change == "size" and shape:
        shape[place] = draw(sizes)
    elif change == "drop" and shape:
        del shape[place]
    elif change == "add":
        shape.insert(place, draw(sizes))
    return " ".join(words), tuple(shape)


@st.composite
def arrays(draw: st.DrawFn, truth: Truth) -> tuple[Any, Any]:
    """An annotation of an array and an array that nearly fits it."""
    axes, shape = draw(axes_and_shapes(truth))
    word = draw(st.sampled_from(WORDS))
    place = draw(st.sampled_from([FITTING[word]] * 9 + [0, 1, 2, 3]))
    hint: Any = draw(st.sampled_from([Tensor] * 6 + [np.ndarray, Tensor | np.ndarray, Any]))
    is_numpy = hint is np.ndarray if draw(st.integers(0, 9)) else draw(st.booleans())
    value = np.zeros(shape, NUMPY[place]) if is_numpy else torch.zeros(shape, dtype=TORCH[place])
    return getattr(jaxtyping, word)[hint, axes], value


@st.composite
def hinted(draw: st.DrawFn, truth: Truth) -> tuple[Any, Any]:
    """A hint and a value that nearly fits it: mostly an array, else something around arrays, or no array at all."""
    form = draw(
        st.sampled_from(["array"] * 8 + ["optional", "union", "ranks", "or int", "pair", "list", "dict", "int"])
    )
    if form == "int":
        return draw(st.sampled_from([(int, 3), (int | None, None), (str, "x"), (int, "x"), (Any, 3), (float, 1.0)]))
    hint, value = draw(arrays(truth))
    # jaxtyping gives one class for each annotation; a union of two arrays has no order in beartype, so that only
    # unions are drawn of which one option can fit.
    if form == "optional":
        return hint | None, draw(st.sampled_from([value, None]))
    if form == "union":
        axes, _ = draw(axes_and_shapes(truth))
        other = jaxtyping.Complex[Tensor, axes]
        return hint | other, value
    if form == "ranks" and getattr(hint, "index_variadic", 0) is None:
        longer = hint.dtype[hint.array_type, f"{hint.dim_str} z"]
        return longer | hint, draw(st.sampled_from([value, value[..., None]]))
    if form == "or int":
        return hint | int, draw(st.sampled_from([value, value, 3, "x"]))
    if form == "pair":
        second, other_value = draw(arrays(truth))
        return tuple[hint, second], draw(st.sampled_from([(value, other_value)] * 4 + [(value,), [value, other_value]]))
    # All items are alike: beartype looks at one of them.
    if form == "list":
        return list[hint], draw(st.sampled_from([[value, value], [value], [], (value,)]))
    if form == "dict":
        return dict[str, hint], draw(st.sampled_from([{"x": value}, {}, {3: value}]))
    return hint, value


@st.composite
def calls(draw: st.DrawFn) -> Call:
    """A signature, its arguments and what the function returns."""
    truth = draw(truths)
    parameters = [Parameter("k", int, (truth.k,))]
    by_name = False
    for i in range(draw(st.integers(1, 4))):
        hint, value = draw(hinted(truth))
        by_name = by_name or not draw(st.integers(0, 7))
        default = ...
        values = (value,)
        # A parameter without a default cannot follow one that has one, except by name.
        has_default = any(parameter.default is not ... for parameter in parameters)
        if (has_default and not by_name) or not draw(st.integers(0, 5)):
            default = draw(st.sampled_from([None, value]))
            is_last_given = all(len(parameter.values) == 1 for parameter in parameters)
            if (by_name and draw(st.booleans())) or not is_last_given:
                values = ()
        parameters.append(Parameter(f"x{i}", hint, values, default, by_name))
    if not draw(st.integers(0, 7)) and all(parameter.values and not parameter.by_name for parameter in parameters):
        hint, value = draw(arrays(truth))
        parameters.append(Parameter("*rest", hint, (value,) * draw(st.integers(0, 2))))
    elif not draw(st.integers(0, 7)):
        hint, value = draw(arrays(truth))
        parameters.append(Parameter("**rest", hint, (value,) * draw(st.integers(0, 2))))
    asks: list[tuple[Any, Any]] = []
    if not draw(st.integers(0, 3)):
        for _ in range(draw(st.integers(1, 3))):
            hint, value = draw(arrays(truth))
            asks.append((value, hint))
    if not draw(st.integers(0, 4)):
        return Call(tuple(parameters), has_return=False, asks=tuple(asks))
    hint, value = draw(hinted(truth))
    return Call(tuple(parameters), hint, value, asks=tuple(asks))


def agree(call: Call) -> None:
    """Both decorators decide the call alike."""
    wanted, why = call.outcome(DECORATORS["jaxtyped"])
    got, says = call.outcome(DECORATORS["checked"])
    agreed = got is wanted and (got is not Outcome.ACCEPTED or says == why)
    if not agreed:
        for parameter in call.parameters:
            note(f"{parameter.name}: {parameter.annotation} = {shown(parameter.default)}, {shown(parameter.values)}")
        note(f"-> {call.returns}, {shown(call.value)}" if call.has_return else "-> not annotated")
        note("".join(f"asks {hint} of {shown(value)}\n" for value, hint in call.asks))
        note(f"jaxtyped: {wanted} {why}\nchecked: {got} {says}")
    assert agreed


def shown(value: Any) -> str:
    """A value with the shapes of its arrays."""
    if isinstance(value, (Tensor, np.ndarray)):
        return f"{type(value).__name__}({value.dtype}, {tuple(value.shape)})"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{name}={shown(item)}' for name, item in value.items())})"
    return repr(value)


@given(calls())
@settings(max_examples=300)
def test_calls_are_decided_alike(call: Call) -> None:
    agree(call)


@given(calls())
@settings(max_examples=50)
def test_calls_are_checked_by_generated_code(call: Call) -> None:
    """Not by jaxtyping, to which what is not understood is left."""
    function = checked(call.function([]))
    assert function.__code__.co_filename.startswith("<checked ")


@pytest.mark.slow
@given(calls())
@settings(max_examples=10_000)
def test_many_more_calls_are_decided_alike(call: Call) -> None:
    agree(call)
