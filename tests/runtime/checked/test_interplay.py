"""Checked functions beside the rest of Python: pickling, caches, reflection, jaxtyping's own switches."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import linecache
import pickle
import traceback
import typing
import weakref
from collections.abc import Callable
from typing import Any

import jaxtyping
import pytest
import torch
from jaxtyping import Float, Int, jaxtyped, print_bindings
from torch import Tensor, nn
from torch import zeros as z

from shaped.errors import ShapeError
from shaped.runtime.checked import checked

Check = Callable[[Any], Any]


@checked
def add(x: Float[Tensor, "b n"], y: Float[Tensor, "n"]) -> Float[Tensor, "b n"]:
    return x + y


class Model:
    """A class with checked methods, to be pickled."""

    @checked
    def run(self, x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x

    @staticmethod
    @checked
    def static(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x


def test_checked_functions_and_methods_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(add)) is add
    assert pickle.loads(pickle.dumps(Model.static)) is Model.static
    method = pickle.loads(pickle.dumps(Model().run))
    with pytest.raises(ShapeError):
        method(z(3, 3))


def test_a_refusal_is_pickled_whole() -> None:
    with pytest.raises(ShapeError) as caught:
        add(z(2, 3), z(4))
    loaded = pickle.loads(pickle.dumps(caught.value))
    assert str(loaded) == str(caught.value) == 'argument y of add: (4,) does not match "n": axis 0 is 4, not n=3'
    assert loaded.__notes__ == caught.value.__notes__
    assert isinstance(loaded, TypeError)


def test_copies_of_a_function_are_the_function() -> None:
    assert copy.copy(add) is add
    assert copy.deepcopy(add) is add


def test_a_refused_call_shows_the_line_that_called() -> None:
    with pytest.raises(ShapeError) as caught:
        add(z(2, 3), z(4))
    frames = traceback.extract_tb(caught.tb)
    assert frames[0].line == "add(z(2, 3), z(4))"
    assert any(frame.filename.startswith("<checked add") and frame.line for frame in frames)


def test_type_hints_are_found_where_they_were_written() -> None:
    hints = typing.get_type_hints(add)
    assert set(hints) == {"x", "y", "return"}
    assert hints["x"].dim_str == "b n"
    assert inspect.signature(add, eval_str=True).parameters["y"].annotation.dim_str == "n"


def test_a_function_that_chooses_by_annotations() -> None:
    @functools.singledispatch
    def size(x: object) -> int:
        return 0

    @size.register
    @checked
    def _(x: Tensor) -> int:
        return len(x)

    assert size(z(3)) == 3
    assert size("x") == 0


def test_a_function_that_is_dropped_is_freed() -> None:
    def make() -> weakref.ref[Any]:
        @checked
        def f(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
            return x

        with pytest.raises(ShapeError):
            f(z(3, 3))
        return weakref.ref(f)

    kept = make()
    gc.collect()
    assert kept() is None


def test_a_nested_function_decorated_at_every_call_keeps_no_memory() -> None:
    def outer(x: Tensor) -> Tensor:
        @checked
        def inner(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
            return x

        return inner(x)

    outer(z(3))
    before = len(linecache.cache)
    for _ in range(10):
        outer(z(3))
    assert len(linecache.cache) == before


def test_no_tensor_of_a_call_is_kept(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x * 2

    x = z(3)
    gone = weakref.ref(x)
    f(x)
    del x
    assert gone() is None


def test_jaxtyping_prints_the_names_of_a_checked_call(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    @check
    def f(x: Float[Tensor, "foo bar *rest"]) -> None:
        print_bindings()

    f(z(3, 4, 5))
    said = capsys.readouterr().out
    assert "foo=3\nbar=4\n" in said
    assert "rest=" in said


def test_jaxtyping_s_own_switch_switches_checks_off(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x

    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        assert f(3) == 3
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)
    with pytest.raises(TypeError):
        f(3)


def test_a_context_of_jaxtyping_has_names_of_its_own(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"]) -> bool:
        with jaxtyped("context"):
            assert isinstance(z(4), Float[Tensor, "b"])
        return isinstance(z(4), Float[Tensor, "b"])

    assert not f(z(3))
    assert f(z(4))


def test_names_are_gone_after_a_call_that_fails(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"]) -> None:
        assert isinstance(x, Float[Tensor, "b"])
        raise KeyError

    for n in (3, 4):
        with pytest.raises(KeyError):
            f(z(n))
    assert isinstance(z(5), Float[Tensor, "b"])


def test_a_union_takes_the_option_that_fits(check: Check) -> None:
    """Names that an option bound before it failed are not kept."""

    @check
    def f(x: Float[Tensor, "b n 7"] | Int[Tensor, "n b"], y: Float[Tensor, "b n"]) -> Float[Tensor, "n b"]:
        return y.T

    f(torch.zeros(3, 2, dtype=torch.int64), z(2, 3))
    f(z(2, 3, 7), z(2, 3))
    with pytest.raises(TypeError):
        f(z(3, 2, 7), z(2, 3))
    with pytest.raises(TypeError):
        f(torch.zeros(2, 3, dtype=torch.int64), z(2, 3))


def test_layers_of_modules_each_check_their_own_sizes(check: Check) -> None:
    class Layer(nn.Module):
        def __init__(self, n: int, m: int) -> None:
            super().__init__()
            self.n, self.m = n, m
            self.weight = nn.Parameter(z(n, m))

        @check
        def forward(self, x: Float[Tensor, "*b {self.n}"]) -> Float[Tensor, "*b {self.m}"]:
            return x @ self.weight

    model = nn.Sequential(Layer(3, 4), Layer(4, 5))
    assert model(z(2, 3)).shape == (2, 5)
    with pytest.raises(TypeError):
        nn.Sequential(Layer(3, 4), Layer(5, 4))(z(2, 3))
