"""Scripted and traced models run again with what TorchScript knows of them checked, and the shapes that are given."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from shaped.errors import DeviceError, DtypeError, Fault, ShapeError
from shaped.runtime.exported import load_exported
from tests.equality import same
from tests.runtime.exported.models import Plain, Script, seeded

if TYPE_CHECKING:
    from pathlib import Path

X, Y = torch.randn(2, 4), torch.randn(2, 3)


@pytest.fixture
def scripted(tmp_path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(seeded(Script)), tmp_path / "scripted.pt")
    return tmp_path / "scripted.pt"


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(seeded(Plain), (X, Y)), tmp_path / "traced.pt")
    return tmp_path / "traced.pt"


def test_the_numbers_are_those_of_the_model_bit_for_bit(scripted: Path, traced: Path) -> None:
    assert torch.equal(load_exported(traced)(X, Y), seeded(Plain)(X, Y))
    for arguments in ((X, [X, X]), (X, [], 3, 2.0, X), (X, [X], 1)):
        assert same(load_exported(scripted)(*arguments), seeded(Script)(*arguments))
    assert same(load_exported(scripted)(X, others=[X], mask=X), seeded(Script)(X, [X], mask=X))


def test_names_types_and_defaults_are_those_of_the_file(scripted: Path, traced: Path) -> None:
    assert repr(load_exported(traced)) == "<scripted Plain(x: Tensor, y: Tensor)>"
    assert repr(load_exported(scripted)) == (
        "<scripted Script(x: Tensor, others: list[Tensor], n: int, scale: float | int, mask: None | Tensor)>"
    )


def test_loading_an_old_file_is_no_reason_to_warn(traced: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_exported(traced)


@pytest.mark.parametrize(
    "args, message",
    [
        ((3, [X]), "argument x of Script: int 3 is no Tensor"),
        ((X, X), r"argument others of Script: Tensor \(2, 4\) is no list"),
        ((X, [X, 3]), r"argument others\[1\] of Script: int 3 is no Tensor"),
        ((X, [X], 2.5), "argument n of Script: float 2.5 is no int"),
        ((X, [X], 2, "1"), "argument scale of Script: str '1' is none of float"),
        ((X, [X], 2, 1.0, 5), "argument mask of Script: int 5 is none of None"),
        ((X,), r"Script: missing a required argument: 'others'; it takes \(x, others, n, scale, mask\)"),
        ((X, [X], 2, 1.0, X, X), "Script: too many positional arguments"),
    ],
)
def test_an_argument_of_another_type_is_refused_by_name(scripted: Path, args: Any, message: str) -> None:
    with pytest.raises(Fault, match=message) as raised:
        load_exported(scripted)(*args)
    assert isinstance(raised.value, TypeError)


def test_shapes_are_checked_where_they_are_given(traced: Path) -> None:
    annotations = {"x": Float[Tensor, "b 4"], "y": Float[Tensor, "b 3"], "return": Float[Tensor, "b 3"]}
    loaded = load_exported(traced, signature=annotations)
    assert repr(loaded) == (
        '<scripted Plain(x: Float[Tensor, "b 4"], y: Float[Tensor, "b 3"]) -> Float[Tensor, "b 3"]>'
    )
    assert torch.equal(loaded(X, Y), seeded(Plain)(X, Y))
    with pytest.raises(ShapeError, match=r'argument y of Plain: \(1, 3\) does not match "b 3": axis 0 is 1, not b=2'):
        loaded(X, Y[:1])
    with pytest.raises(DtypeError, match="argument x of Plain: dtype int64"):
        loaded(X.long(), Y)


def test_a_result_that_is_not_what_is_given_is_refused(traced: Path) -> None:
    loaded = load_exported(traced, signature={"x": Float[Tensor, "b 4"], "return": Float[Tensor, "b 4"]})
    with pytest.raises(ShapeError, match=r'return of Plain: \(2, 3\) does not match "b 4"'):
        loaded(X, Y)


def test_a_tensor_on_another_device_is_refused_by_name(traced: Path) -> None:
    with pytest.raises(DeviceError, match="argument y of Plain: it is on meta, the program on cpu"):
        load_exported(traced)(X, Y.to("meta"))


def test_a_signature_of_what_is_no_parameter_is_refused(traced: Path) -> None:
    with pytest.raises(ValueError, match=r"the signature names z, which Plain does not take: it takes \(x, y\)"):
        load_exported(traced, signature={"z": Tensor})
