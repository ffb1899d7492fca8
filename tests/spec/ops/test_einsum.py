"""Sums of products by labels."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import DtypeError, ShapeError
from shaped.spec.context import Context
from shaped.spec.dtypes import FLOAT32, INT64
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import check_exact
from tests.spec.ops.shapes import D, H, apply, b, d, n, of, shape_of, t

LABELS = "ijkA"
sides = st.sampled_from([1, 2, 3])


@st.composite
def equations(draw: st.DrawFn, *, dots: bool = True) -> tuple[list[list[str]], list[str] | None, list[torch.Tensor]]:
    """The labels of operands, those of the output if it is given, and operands that mostly fit."""
    sizes = {label: draw(sides) for label in LABELS}
    hidden = draw(st.lists(sides, max_size=2))
    inputs: list[list[str]] = []
    operands: list[torch.Tensor] = []
    for _ in range(draw(st.integers(1, 3))):
        labels = draw(st.lists(st.sampled_from(LABELS), max_size=3))
        if dots and not draw(st.integers(0, 3)):
            labels.insert(draw(st.integers(0, len(labels))), "...")
        shape: list[int] = []
        for label in labels:
            cut = draw(st.integers(0, len(hidden)))
            shape += hidden[cut:] if label == "..." else [draw(st.sampled_from([sizes[label]] * 8 + [1, 4]))]
        inputs.append(labels)
        operands.append(torch.ones(shape[1:] if not draw(st.integers(0, 19)) else shape))
    output = None
    if draw(st.integers(0, 3)):
        output = draw(st.lists(st.sampled_from([*LABELS, *(["..."] if dots else [])]), max_size=3))
    return inputs, output, operands


@given(equations())
@settings(max_examples=300)
def test_an_equation_gives_the_shape_of_torch(
    equation: tuple[list[list[str]], list[str] | None, list[torch.Tensor]],
) -> None:
    inputs, output, operands = equation
    text = ",".join(map("".join, inputs)) + ("" if output is None else " -> " + "".join(output))
    if output is not None and output.count("...") > 1:
        text = text.replace("...", "")
    check_exact("torch.einsum", text, *operands)


@given(equations(dots=False))
def test_lists_of_ints_are_labels_too(
    equation: tuple[list[list[str]], list[str] | None, list[torch.Tensor]],
) -> None:
    inputs, output, operands = equation
    arguments: list[object] = []
    for operand, labels in zip(operands, inputs, strict=True):
        arguments += [operand, [LABELS.index(label) for label in labels]]
    check_exact("torch.einsum", *arguments, *([] if output is None else [[LABELS.index(label) for label in output]]))


@pytest.mark.parametrize("equation", ["i.j->i", "i2,j", "ij->ik", "ij->ii", "i...j...->i", "i,j->ij->"])
def test_a_malformed_equation_is_refused_as_by_torch(equation: str) -> None:
    check_exact("torch.einsum", equation, *[torch.ones(2, 2)] * (equation.count(",") + 1))


def test_attention_scores() -> None:
    assert shape_of("torch.einsum", "bhid,bhjd->bhij", of(b, H, t, D), of(b, H, n, D)) == "(b, n_head, t, n)"
    assert shape_of("torch.einsum", "... d, d e -> ... e", TensorType(Shape.of(Pack("x"), d)), of(d, n)) == "(*x, n)"
    assert shape_of("torch.einsum", "bij,jk", of(b, t, d), of(d, n)) == "(b, t, n)"


def test_what_was_not_followed_takes_the_sizes_of_the_others() -> None:
    u = Context().fresh()
    assert shape_of("torch.einsum", "bi,bj->bij", UNKNOWN, of(b, n)) == "(b, _, n)"
    assert shape_of("torch.einsum", "bi,ij->bj", of(b, u), of(64, n)) == "(b, n)"
    assert shape_of("torch.einsum", UNKNOWN, of(b, u)) == "(...)"


def test_sizes_of_one_label_that_differ_are_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.einsum", "bij,bjk->bik", of(b, 3, 4), of(b, 5, 6))
    assert str(fault.value) == 'einsum: "bij,bjk->bik", (b, 3, 4), (b, 5, 6): label j: sizes 4 and 5 differ'
    with pytest.raises(ShapeError, match="2 labels for"):
        apply("torch.einsum", "bi->b", of(b, t, d))
    with pytest.raises(ShapeError, match="the output's k is in no operand"):
        apply("torch.einsum", "bi->bk", of(b, t))


def test_dtypes_of_a_contraction_agree() -> None:
    with pytest.raises(DtypeError, match="dtypes float32 and int64 differ"):
        apply("torch.einsum", "bi,ij->bj", of(b, 3).with_dtype(FLOAT32), of(3, n).with_dtype(INT64))
