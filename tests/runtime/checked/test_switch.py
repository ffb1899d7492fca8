"""Checks can be left out: for the whole program, by the environment, by jaxtyping's switch, for one function."""

from __future__ import annotations

import subprocess
import sys
import typing
from collections.abc import Iterator

import jaxtyping
import pytest
from jaxtyping import Float
from torch import Tensor
from torch import zeros as z

from shaped.errors import ShapeError
from shaped.runtime.checked import checked, is_checking, set_checking


@checked
def row(x: Float[Tensor, "b"]) -> Float[Tensor, "b 2"]:
    return x


@pytest.fixture(autouse=True)
def _on_afterwards() -> Iterator[None]:
    yield
    set_checking(True)
    jaxtyping.config.update("jaxtyping_disable", False)


def test_all_checks_can_be_switched_off_and_on() -> None:
    set_checking(False)
    assert not is_checking()
    assert row(z(3, 3)).shape == (3, 3)
    set_checking(True)
    assert is_checking()
    with pytest.raises(ShapeError):
        row(z(3, 3))


def test_checks_can_be_switched_off_in_the_body() -> None:
    @checked
    def f(x: Float[Tensor, "b"]) -> Float[Tensor, "b 2"]:
        set_checking(False)
        return x

    assert f(z(3)).shape == (3,)


def test_the_switch_of_jaxtyping_is_honoured_at_each_call() -> None:
    jaxtyping.config.update("jaxtyping_disable", True)
    assert not is_checking()
    assert row(z(3, 3)).shape == (3, 3)
    jaxtyping.config.update("jaxtyping_disable", False)
    with pytest.raises(ShapeError):
        row(z(3, 3))


def test_no_type_check_below_and_above() -> None:
    @checked
    @typing.no_type_check
    def below(x: Float[Tensor, "b"]) -> Float[Tensor, "b 2"]:
        return x

    @typing.no_type_check
    @checked
    def above(x: Float[Tensor, "b"]) -> Float[Tensor, "b 2"]:
        return x

    assert below(z(3, 3)) is not None
    assert above(z(3, 3)) is not None


def test_the_environment_leaves_functions_as_they_are() -> None:
    program = "import shaped\ndef f(x: int): ...\nassert shaped.checked(f) is f\nassert shaped.checked(int) is int"
    run = subprocess.run(
        [sys.executable, "-c", program], env={"SHAPED_CHECKED": "0"}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
