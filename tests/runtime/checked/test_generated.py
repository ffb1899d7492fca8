"""The generated code means what the plain reading of the hints means, and is as short as it can be."""

from __future__ import annotations

import inspect
import linecache
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Float, Int, Shaped
from torch import Tensor
from torch import zeros as z

from shaped.errors import Fault
from shaped.runtime.checked import checked, failure, reference
from shaped.runtime.checked.arithmetic import inlined
from shaped.runtime.checked.lowering import lower
from shaped.runtime.checked.reference import Bound, Mismatch, Unbound, evaluate
from shaped.spec.axis_arithmetic import read_arithmetic


def source(function: Any) -> str:
    """The generated source of a checked function."""
    return "".join(linecache.getlines(function.__code__.co_filename))


def test_names_that_are_bound_are_compared_all_at_once() -> None:
    @checked
    def f(x: Float[Tensor, "b d"], y: Float[Tensor, "d b 3"]) -> Tensor:
        return x

    assert "size_b, size_d = shape" in source(f)
    assert "y.shape != (size_d, size_b, 3,)" in source(f)


def test_one_dtype_is_compared_and_many_are_looked_up() -> None:
    @checked
    def f(x: Float[Tensor, "b"], y: Shaped[Tensor, "b"], i: Int[Tensor, "b"] | None) -> Tensor:
        return x

    assert "x.dtype not in dtypes" in source(f)
    assert "y.dtype" not in source(f)
    assert "if i is not None:" in source(f)


def test_a_call_with_nothing_to_check_after_it_is_the_last_thing() -> None:
    @checked
    async def f(x: Float[Tensor, "b"]) -> Any:
        return x

    assert source(f).endswith("    return await function(x)\n")


# What hints are reduced to.

T = TypeVar("T", Float[Tensor, "b"], int)


class Pair(NamedTuple):
    x: Float[Tensor, "b"]


@pytest.mark.parametrize(
    "hint, text",
    [
        (Float[Tensor, "b  3"] | None, 'Float[Tensor, "b  3"] | None'),
        (T, 'Float[Tensor, "b"] | int'),
        (list[int] | Float[Tensor, "b"] | None, 'Float[Tensor, "b"] | None | list[int]'),
        (tuple[Float[Tensor, "b"], ...], 'tuple[Float[Tensor, "b"], ...]'),
        (dict[str, Float[Tensor, "b"]], 'dict[str, Float[Tensor, "b"]]'),
        (Float[Float[Tensor, "b"], "c"], 'Float[Tensor, "c b"]'),
        (Float[float, ""], "float"),
        (Shaped[Any, "..."], 'Shaped[Any, "..."]'),
        (Pair, "Pair"),
        (Literal[1, 2], "Literal[1, 2]"),
        (Any | Float[Tensor, "b"], "Any"),
    ],
)
def test_hints_are_reduced_to_checks(hint: Any, text: str) -> None:
    assert str(lower(hint)) == text


# Arithmetic.


@given(
    st.sampled_from(["b+1", "2*b-c", "b//c", "b%c", "min(b,c)", "-b+c", "b/2", "{n}*b", "{n}-{n}*c", "max({n},b)-c"])
)
def test_arithmetic_as_code_is_what_jaxtyping_evaluates(text: str) -> None:
    axis = read_arithmetic(text)
    code = inlined(axis, frozenset(["n"]))
    assert code is not None
    for b, c, n in [(1, 1, 0), (5, 2, 3), (7, 3, 11)]:
        expression = code.text(["n"] * len(code.fields), {"b": "b", "c": "c"})
        assert eval(expression, {"b": b, "c": c, "n": n}) == evaluate(axis, {"b": b, "c": c}, {"n": n})


@pytest.mark.parametrize("text", ["{n!r}", "b**2", "{n:d}", "h{n}", "b.real", "(lambda:3)()"])
def test_what_may_mean_something_else_as_text_is_evaluated_as_text(text: str) -> None:
    assert inlined(read_arithmetic(text), frozenset(["n"])) is None


@pytest.mark.parametrize("d, wanted", [(-3, 2), ("b-1", 4), (True, None), (2.0, 7.0), (None, None)])
def test_a_field_that_is_no_plain_size(d: object, wanted: float | None) -> None:
    """jaxtyping writes the field into the text of the axis: `5--3` is 8, `5+b-1` is 9."""

    @checked
    def f(d: object, x: Float[Tensor, "b"]) -> Float[Tensor, "b+{d}"]:
        return z(int(given_size))

    for given_size in range(1, 14):
        try:
            expected = given_size == eval(f"5+{d}", {"b": 5})
        except TypeError:
            expected = False
        assert passes(f, d, z(5)) == expected


def passes(function: Any, *arguments: object) -> bool:
    try:
        function(*arguments)
    except Fault:
        return False
    return True


# The explainer and the code agree.

HINTS: list[Any] = [
    Float[Tensor, "b"],
    Float[Tensor, "b c"],
    Float[Tensor, "#b c"],
    Float[Tensor, "*b c"],
    Float[Tensor, "*#b"],
    Float[Tensor, "b b+c"],
    Float[Tensor, "b c"] | Float[Tensor, "c"],
    Float[Tensor, "c b"] | Float[Tensor, "b c"] | None,
    list[Float[Tensor, "b"]],
    tuple[Float[Tensor, "b"], Float[Tensor, "*#b"]],
    list[Float[Tensor, "b"] | Int[Tensor, "c b"]] | Float[Tensor, "c"],
    dict[int, tuple[Float[Tensor, "b"], ...]] | list[Float[Tensor, "c"]] | None,
    list[Float[Tensor, "b"]] | list[Float[Tensor, "#c b"]] | None,
    list[Float[Tensor, "*#b"]] | tuple[Float[Tensor, "*b"], ...] | Float[Tensor, "*b"],
]
TENSORS = st.lists(st.integers(1, 2), max_size=2).map(lambda shape: z(tuple(shape))) | st.just(torch.zeros(2, 1).long())
VALUES = st.recursive(
    TENSORS | st.none(),
    lambda parts: st.lists(parts, max_size=2) | st.lists(parts, max_size=2).map(tuple) | parts.map(lambda x: {1: x}),
    max_leaves=3,
)


@given(st.lists(st.tuples(st.sampled_from(HINTS), VALUES), min_size=1, max_size=3), st.sampled_from(HINTS), VALUES)
def test_generated_code_passes_the_calls_that_the_plain_reading_passes(
    arguments: list[tuple[Any, Any]], result_hint: Any, result: Any
) -> None:
    names = [f"x{i}" for i in range(len(arguments))]
    scope: dict[str, Any] = {"result": result}
    exec(f"def f({', '.join(names)}): return result", scope)
    f = scope["f"]
    f.__annotations__ = {name: hint for name, (hint, _) in zip(names, arguments)} | {"return": result_hint}
    bound = Bound()
    try:
        for name, (hint, value) in zip(names, arguments):
            reference.check(lower(hint), value, name, bound)
        reference.check(lower(result_hint), result, "return", bound)
        expected = True
    except (Mismatch, Unbound):
        expected = False
    assert passes_unexplained(f, *(value for _, value in arguments)) == expected


def passes_unexplained(function: Any, *arguments: object) -> bool:
    """Whether generated code passes a call by itself: no second opinion on what it refuses."""

    def refuse(*_: object) -> None:
        raise Fault("call", "refused")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failure.Explainer, "refuse", refuse)
        patch.setattr(failure.Explainer, "refuse_result", refuse)
        return passes(checked(function), *arguments)


T1, T2, T3 = z(1), z(2), z(3)


@pytest.mark.parametrize(
    "hints, values, expected",
    [
        (["#b", "#b", "b"], [T1, T1, T3], True),
        (["#b", "#b", "#b"], [T1, T2, T3], False),
        (["#b", "b", "b"], [T1, T2, T3], False),
        (["#b", "b b"], [T2, z(2, 2)], True),
        (["b b"], [z(2, 3)], False),
        (["*#b", "*b"], [T1, T3], True),
        (["*b", "*#b"], [T1, T3], False),
    ],
)
def test_names_that_may_be_bound(hints: list[str], values: list[Tensor], expected: bool) -> None:
    scope: dict[str, Any] = {}
    names = [f"x{i}" for i in range(len(hints))]
    exec(f"def f({', '.join(names)}): pass", scope)
    scope["f"].__annotations__ = {name: Float[Tensor, text] for name, text in zip(names, hints)}
    assert passes_unexplained(scope["f"], *values) == expected


def test_a_list_in_a_union_is_left_at_its_first_wrong_item() -> None:
    def f(x: list[Float[Tensor, "b"]] | list[Float[Tensor, "3 b"]], y: Float[Tensor, "b"]) -> None: ...

    assert passes_unexplained(f, [T2, T2], T2)
    assert passes_unexplained(f, [z(3, 2), z(3, 2)], T2)
    assert not passes_unexplained(f, [T2, z(3, 2)], T2)
    assert not passes_unexplained(f, [z(3, 2), T2], T2)


def test_a_name_in_an_option_that_was_not_taken_is_not_bound() -> None:
    def f(x: Float[Tensor, "b"] | Float[Tensor, "c 2"] | None, y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return y

    assert passes_unexplained(f, None, T3)
    assert passes_unexplained(f, z(3, 2), T1)
    assert not passes_unexplained(f, T1, T3)


def test_what_has_grown_before_a_loop_grows_in_it() -> None:
    def f(x: Float[Tensor, "*#b"], ys: list[Float[Tensor, "*#b"]], y: Float[Tensor, "*b"]) -> None: ...

    assert passes_unexplained(f, T1, [T3], T3)
    assert not passes_unexplained(f, T1, [T3], T1)


def test_what_grows_in_a_loop_has_grown_after_it() -> None:
    def f(xs: list[Float[Tensor, "*#b"]], y: Float[Tensor, "*b"]) -> None: ...

    assert passes_unexplained(f, [T1, T3, T1], T3)
    assert not passes_unexplained(f, [T1, T3, T1], T1)
    assert not passes_unexplained(f, [T2, T3], T3)


def test_the_explainer_is_asked_about_refused_calls_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(failure.Explainer, "refuse", lambda *_: asked.append("arguments"))
    monkeypatch.setattr(failure.Explainer, "refuse_result", lambda *_: asked.append("result"))

    @checked
    def f(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x + y.sum()

    f(z(3), z(3))
    assert asked == []
    # A call that nothing is found wrong with passes.
    assert f(z(3), z(4)).shape == (3,)
    assert asked == ["arguments"]


def test_arrays_of_numpy_are_checked_by_their_dtype() -> None:
    @checked
    def f(x: Float[np.ndarray, "b"], y: Int[np.ndarray, "b"]) -> None: ...

    assert passes(f, np.zeros(3), np.zeros(3, int))
    assert not passes(f, np.zeros(3), np.zeros(3))
    assert not passes(f, np.zeros(3, "U1"), np.zeros(3, int))
    assert inspect.isfunction(f)


def test_functions_of_equal_source_are_compiled_each_by_itself() -> None:
    """torch.compile keeps what it compiled by code object."""

    def scaling(factor: float) -> Any:
        @checked
        def scale(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
            return x * factor

        return scale

    double, triple = scaling(2.0), scaling(3.0)
    torch._dynamo.reset()
    results = [torch.compile(function, backend="eager")(torch.ones(1)).item() for function in (double, triple)]
    torch._dynamo.reset()
    assert results == [2.0, 3.0]
    assert double.__code__.co_filename == triple.__code__.co_filename  # the source is kept once
