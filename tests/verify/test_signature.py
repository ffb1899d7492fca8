"""A signature says what the annotations of a function say, and names what it cannot read."""

from __future__ import annotations

from typing import Any, Optional

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Bool, Complex, Float, Int, Num, Shaped
from torch import Tensor

from shaped.errors import AnnotationError
from shaped.verify.signature import MISSING, Signature

SIZES = st.integers(0, 9)


def attention(
    q: Float[Tensor, "b t d"], k: Float[Tensor, "b s d"], keep: Bool[Tensor, "t s"] | None = None, scale: float = 0.5
) -> Float[Tensor, "b t s"]:
    raise NotImplementedError


def test_dims_come_in_the_order_of_the_annotations() -> None:
    assert Signature.of(attention).dims == ("b", "t", "d", "s")


@given(SIZES, SIZES, SIZES, SIZES)
def test_a_shape_has_the_size_of_each_name(b: int, t: int, d: int, s: int) -> None:
    shapes = Signature.of(attention).shapes({"b": b, "t": t, "d": d, "s": s})
    assert shapes == {"q": (b, t, d), "k": (b, s, d), "keep": (t, s)}


def test_an_optional_tensor_and_a_default_are_known() -> None:
    q, _, keep, scale = Signature.of(attention).parameters
    assert (q.default, keep.default, scale.default) == (MISSING, None, 0.5)
    assert (q.is_optional, keep.is_optional) == (False, True)
    assert (keep.kind, keep.dtype_word) == ("bool", "Bool")


def test_what_has_no_annotation_of_a_tensor_is_listed() -> None:
    def f(x: Float[Tensor, "n"], y, z: Tensor, eps: float = 1e-5): ...

    assert Signature.of(f).unannotated == ("y", "z", "eps")


@pytest.mark.parametrize(
    ("hint", "kind"),
    [
        (Float[Tensor, ""], "float"),
        (Int[Tensor, ""], "int"),
        (Bool[Tensor, ""], "bool"),
        (Complex[Tensor, ""], "complex"),
        (Num[Tensor, ""], "float"),
        (Shaped[Tensor, ""], "float"),
        (Float[torch.nn.Parameter, ""], "float"),
    ],
)
def test_the_kind_is_the_one_that_has_a_gradient_where_there_are_several(hint: Any, kind: str) -> None:
    def f(x: Any) -> None: ...

    f.__annotations__["x"] = hint
    (x,) = Signature.of(f).parameters
    assert x.kind == kind
    assert x.is_differentiable == (kind in ("float", "complex"))


@given(SIZES)
def test_arithmetic_fixed_and_documented_sizes(n: int) -> None:
    def f(x: Float[Tensor, "n+1 2*n 3 heads=4"]) -> None: ...

    assert Signature.of(f).dims == ("n",)
    assert Signature.of(f).shapes({"n": n}) == {"x": (n + 1, 2 * n, 3, 4)}


def test_arithmetic_that_gives_no_size_is_an_error() -> None:
    def f(x: Float[Tensor, "n-1"]) -> None: ...

    with pytest.raises(AnnotationError, match=r'f: parameter x: "n-1" is -1 for n = 0'):
        Signature.of(f).shapes({"n": 0})


def test_packs_and_axes_without_names_are_chosen_by_the_caller() -> None:
    def f(x: Float[Tensor, "*s d"], y: Float[Tensor, "... _"]) -> None: ...

    signature = Signature.of(f)
    assert signature.packs == ("s", "y[...]")
    assert signature.dims == ("d", "y[1]")
    sizes = {"d": 4, "y[1]": 6}
    assert signature.shapes(sizes, {"s": (2, 3), "y[...]": (5,)}) == {"x": (2, 3, 4), "y": (5, 6)}
    assert signature.shapes(sizes) == {"x": (4,), "y": (6,)}


def test_a_stretched_axis_may_be_one() -> None:
    def f(x: Float[Tensor, "b d"], y: Float[Tensor, "#b d"], z: Float[Tensor, "*#s"]) -> None: ...

    signature = Signature.of(f)
    assert signature.stretched == ("y", "z")
    shapes = signature.shapes({"b": 2, "d": 3}, {"s": (4, 5)}, ones={"y", "z"})
    assert shapes == {"x": (2, 3), "y": (1, 3), "z": (1, 1)}


def test_a_tuple_has_one_leaf_for_each_element() -> None:
    def backward(
        grad: tuple[Float[Tensor, "b"], Float[Tensor, "c"]], x: Float[Tensor, "b"], i: Int[Tensor, "c"]
    ) -> tuple[Float[Tensor, "b"], None]:
        raise NotImplementedError

    signature = Signature.of(backward)
    assert signature.shapes({"b": 2, "c": 3}) == {"grad[0]": (2,), "grad[1]": (3,), "x": (2,), "i": (3,)}
    assert [output.is_none for output in signature.outputs] == [False, True]
    assert signature.outputs[0].name == "return[0]"


def test_the_context_of_an_autograd_function_is_no_parameter() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
            return x * x

    assert Signature.of(Square.forward, skip_context=True).shapes({"n": 2}) == {"x": (2,)}


def test_a_field_is_the_default_of_a_parameter() -> None:
    def f(x: Float[Tensor, "{heads}*d"], heads: int = 3) -> None: ...

    assert Signature.of(f).shapes({"d": 2}) == {"x": (6,)}


def test_optional_written_in_the_old_way_and_nested_annotations_are_read() -> None:
    def f(x: Optional[Float[Float[Tensor, "b"], "3"]]) -> None: ...  # noqa: UP045

    assert Signature.of(f).shapes({"b": 2}) == {"x": (3, 2)}


def test_a_missing_size_is_named() -> None:
    with pytest.raises(AnnotationError, match="attention: no size is given for t: give one for each of b, t, d, s"):
        Signature.of(attention).shapes({"b": 1})


def test_an_annotation_that_cannot_be_read_is_named_with_its_parameter() -> None:
    def f(x: Flaot[Tensor, "n"]) -> None: ...

    with pytest.raises(AnnotationError, match=r"f: parameter x: .*'Flaot' is not defined.*write x: Float\[Tensor"):
        Signature.of(f)
