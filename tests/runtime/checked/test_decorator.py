"""What `checked` gives back: the same function to everyone who asks, and classes with a checked `__init__`."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import linecache
import pickle
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor
from torch import zeros as z

import shaped
from shaped.errors import Fault, ShapeError
from shaped.runtime.checked import checked, decorator


@checked
def scale(x: Float[Tensor, "b"], /, factor: float = 2.0, *rest: int, power: int = 1, **names: str) -> Tensor:
    """Scale a row."""
    return x * factor**power + len(rest) + len(names)


def test_the_function_keeps_its_name_signature_and_docs() -> None:
    plain = inspect.unwrap(scale)
    assert plain is not scale
    assert (scale.__name__, scale.__qualname__, scale.__doc__) == ("scale", "scale", "Scale a row.")
    assert scale.__module__ == __name__
    assert inspect.signature(scale) == inspect.signature(plain)
    assert scale.__annotations__ == plain.__annotations__


def test_all_kinds_of_parameters_arrive() -> None:
    assert scale(z(1) + 1) == 2
    assert scale(z(1) + 1, 3.0, 1, 2, power=2, a="a") == 9 + 3
    assert scale(z(1) + 1, factor=3.0) == 3


def test_a_wrong_call_is_the_usual_error_of_python() -> None:
    for call in (lambda: scale(), lambda: scale(x=z(1)), lambda: mixed(1)):  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="argument") as caught:
            call()
        assert not isinstance(caught.value, Fault)


@checked
def mixed(x: object, y: object) -> None: ...


def test_a_function_is_pickled_and_copied_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(scale)) is scale
    assert copy.deepcopy(scale) is scale


def test_the_source_of_the_checks_can_be_seen_in_tracebacks() -> None:
    with pytest.raises(ShapeError) as caught:
        scale(z(3, 3))
    frames = traceback.extract_tb(caught.value.__traceback__)
    generated = next(frame for frame in frames if frame.filename.startswith("<checked scale"))
    assert generated.line is not None
    assert generated.line.startswith("refuse(")
    assert linecache.getline(generated.filename, 1).startswith("def scale(x, /, factor=")


def test_checked_twice_is_checked_once() -> None:
    assert checked(scale) is scale


def test_a_function_that_demands_nothing_stays_as_it_is() -> None:
    def f(x: Any, y: object) -> object:
        return x

    assert checked(f) is f


def test_it_may_be_written_with_parentheses() -> None:
    @checked()
    def f(x: Float[Tensor, "b"]) -> None: ...

    with pytest.raises(ShapeError):
        f(z(3, 3))


def test_what_is_neither_function_nor_class_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a function or a class, not 3"):
        checked(3)


def test_the_package_gives_it_by_name() -> None:
    assert shaped.checked is checked


def test_an_omitted_default_is_not_checked_and_a_given_one_is() -> None:
    @checked
    def f(x: Float[Tensor, "b"], mask: Float[Tensor, "b"] = None) -> bool:  # type: ignore[assignment]
        return mask is None

    assert f(z(3))
    assert not f(z(3), z(3))
    with pytest.raises(Fault):
        f(z(3), None)  # type: ignore[arg-type]


def test_a_decorated_function_gets_its_arguments_as_they_came() -> None:
    """The wrapper below tells an argument that was given from one that was not."""

    def doubling(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            seen.append((len(args), sorted(kwargs)))
            return function(*args, **kwargs)

        return call

    seen: list[tuple[int, list[str]]] = []

    @checked
    @doubling
    def f(x: Float[Tensor, "b"], y: Float[Tensor, "b"] | None = None) -> Float[Tensor, "b"]:
        return x

    f(z(3))
    f(z(3), y=z(3))
    f(x=z(3))
    assert seen == [(1, []), (1, ["y"]), (0, ["x"])]
    with pytest.raises(ShapeError, match=r"argument y of .*f: "):
        f(z(3), y=z(4))
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        f()  # type: ignore[call-arg]


def test_below_no_grad() -> None:
    @checked
    @torch.no_grad()
    def f(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x * 2

    assert not f(torch.ones(3, requires_grad=True)).requires_grad
    with pytest.raises(ShapeError):
        f(z(3, 3))


def test_a_partial_function() -> None:
    def f(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> None: ...

    bound = checked(functools.partial(f, z(3)))
    bound(z(3))
    with pytest.raises(ShapeError):
        bound(z(3, 3))


def test_a_cached_property_is_checked_when_it_is_computed() -> None:
    class Model:
        @checked
        @functools.cached_property
        def rows(self) -> Float[Tensor, "b"]:
            return z(3, 3)

    with pytest.raises(ShapeError, match=r"return of Model\.rows"):
        _ = Model().rows


def test_a_dataclass_checks_its_fields_and_other_classes_nothing() -> None:
    @checked
    @dataclasses.dataclass
    class Pair:
        x: Float[Tensor, "b"]
        y: Float[Tensor, "b"]
        names: list[str] = dataclasses.field(default_factory=list)

    assert Pair(z(3), z(3)).names == []
    with pytest.raises(ShapeError, match=r"argument y of Pair.__init__: \(4,\)"):
        Pair(z(3), z(4))

    @checked
    class Other:
        def __init__(self, x: int) -> None: ...

    Other("a")  # type: ignore[arg-type]


def test_a_forward_reference_is_resolved_at_the_first_call() -> None:
    @checked
    def f(x: Later) -> Later:
        return x

    globals()["Later"] = Float[Tensor, "b"]
    try:
        assert f(z(3)).shape == (3,)
        with pytest.raises(ShapeError):
            f(z(3, 3))
        assert inspect.signature(f).parameters["x"].name == "x"
    finally:
        del globals()["Later"]


def test_what_never_exists_demands_nothing() -> None:
    @checked
    def f(x: Never, y: Float[Tensor, "b"]) -> None: ...  # type: ignore[name-defined]

    f("x", z(3))
    with pytest.raises(ShapeError):
        f("x", z(3, 3))


def test_a_fault_of_the_generator_leaves_the_work_to_jaxtyping(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("broken")

    monkeypatch.setattr(decorator, "generate", broken)

    def f(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x

    with pytest.warns(RuntimeWarning, match="jaxtyping checks .*f, shaped cannot: RuntimeError"):
        g = checked(f)
    assert g(z(3)).shape == (3,)
    with pytest.raises(Fault, match="parameter 'x'"):
        g(z(3, 3))


def test_what_nobody_can_decorate_runs_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("broken")

    monkeypatch.setattr(decorator, "generate", broken)
    monkeypatch.setattr(decorator, "by_jaxtyping", broken)

    def f(x: Float[Tensor, "b"]) -> None: ...

    with pytest.warns(RuntimeWarning) as warned:
        assert checked(f) is f
    assert ["shaped cannot" in str(w.message) for w in warned] == [True, False]
    assert "are not checked" in str(warned[1].message)


def test_without_beartype_what_is_understood_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "beartype", None)

    def f(x: Float[Tensor, "b"], n: int, names: list[str]) -> None: ...

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = checked(f)
    g(z(3), 1, [2])  # type: ignore[list-item]
    for arguments in ((z(3, 3), 1, []), (z(3), "a", [])):
        with pytest.raises(Fault):
            g(*arguments)


def test_axes_of_leaves_are_left_to_jaxtyping() -> None:
    def f(x: Float[Tensor, "?b"]) -> None: ...

    with pytest.raises(Fault, match="Cannot use `\\?` annotations"):
        checked(f)(z(3))
