"""What an op takes and returns is read from its annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import pytest
import torch
from jaxtyping import Float, Int
from torch import Tensor

from shaped import custom_grad
from shaped.errors import AnnotationError
from shaped.runtime.custom_grad.signature import Kind, Signature


def test_everything_that_torch_takes() -> None:
    def op(
        x: Float[Tensor, "n"],
        index: Int[Tensor, "n"] | None,
        xs: list[Float[Tensor, "n"]],
        ys: Sequence[Tensor],
        old: Optional[Float[Tensor, "n"]],  # noqa: UP045  # people write it
        dims: list[int],
        size: int,
        eps: float,
        mean: bool,
        mode: str,
        number: int | float,
        dtype: torch.dtype | None,
        device: torch.device,
    ) -> tuple[Float[Tensor, "n"], Tensor]: ...

    signature = Signature.of(op)
    assert signature.schema == (
        "(Tensor x, Tensor? index, Tensor[] xs, Tensor[] ys, Tensor? old, SymInt[] dims, SymInt size, float eps, "
        "bool mean, str mode, Scalar number, ScalarType? dtype, Device device, ScalarType? autocast_dtype=None) "
        "-> (Tensor, Tensor)"
    )
    kinds = [Kind.TENSOR, Kind.OPTIONAL, Kind.TENSORS, Kind.TENSORS, Kind.OPTIONAL]
    assert [one.kind for one in signature.parameters] == kinds + [Kind.OTHER] * 8


def unannotated(x) -> Float[Tensor, "n"]: ...  # type: ignore[no-untyped-def]  # what is tested
def without_result(x: Float[Tensor, "n"]): ...  # type: ignore[no-untyped-def]  # what is tested
def of_a_dict(x: Float[Tensor, "n"], options: dict[str, int]) -> Float[Tensor, "n"]: ...
def by_keyword(x: Float[Tensor, "n"], *, eps: float) -> Float[Tensor, "n"]: ...
def of_many(*xs: Float[Tensor, "n"]) -> Float[Tensor, "n"]: ...
def of_no_tensor(n: int) -> Float[Tensor, "n"]: ...
def a_number(x: Float[Tensor, "n"]) -> float: ...
def a_list(x: Float[Tensor, "n"]) -> list[Float[Tensor, "n"]]: ...
def any_number(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], ...]: ...
def unknown_name(x: Floating[Tensor, "n"]) -> Float[Tensor, "n"]: ...  # type: ignore[name-defined]
def holes(xs: list[Float[Tensor, "n"] | None]) -> Float[Tensor, "n"]: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (unannotated, 'unannotated: parameter x has no annotation: write x: Float[Tensor, "b n"]'),
        (without_result, 'what it returns has no annotation: write -> Float[Tensor, "b n"]'),
        (of_a_dict, "parameter options: an op cannot take dict[str, int]: annotate a tensor, int, float"),
        (by_keyword, "parameter eps is keyword-only: the backward gets every input by its position"),
        (of_many, "parameter xs is of no fixed number"),
        (of_no_tensor, 'takes no tensor: annotate one, x: Float[Tensor, "n"]'),
        (a_number, "what it returns has to be a tensor, or a tuple of a fixed number of them"),
        (a_list, "what it returns has to be a tensor"),
        (any_number, "what it returns has to be a tensor"),
        (unknown_name, "parameter x: the annotation"),
        (unknown_name, "cannot be read: name 'Floating' is not defined: import every name at the top level"),
        (holes, "parameter xs: a list of tensors that may be None"),
    ],
)
def test_what_an_op_cannot_take_or_return_is_named(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(AnnotationError) as caught:
        custom_grad(function)
    found = str(caught.value)
    assert message in found


def test_a_parameter_of_the_hidden_arguments_name() -> None:
    def op(x: Float[Tensor, "n"], autocast_dtype: int) -> Float[Tensor, "n"]: ...

    assert Signature.of(op).schema == "(Tensor x, SymInt autocast_dtype, ScalarType? autocast_dtype_=None) -> Tensor"
