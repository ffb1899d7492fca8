"""Labels of an einsum that cannot be meant, and equations that only look like them."""

from __future__ import annotations

import pytest
import torch

import shaped.spec.ops  # noqa: F401  (importing declares the operations)
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.values import TensorType, Value


def tensor(axes: str) -> TensorType:
    return TensorType.of(*(int(axis) if axis.isdigit() else Dim.name(axis) for axis in axes.split()))


def said(equation: str, *operands: str, context: Context | None = None) -> str:
    """What is said of `torch.einsum`, empty if nothing is."""
    return applied("torch.einsum", equation, *map(tensor, operands), context=context)


def applied(name: str, *args: Value, context: Context | None = None) -> str:
    context = context or Context()
    operation = find_op(name)
    assert operation is not None
    operation.apply(context, args, {})
    assert {fault.code for fault in context.found} <= {"shape-reduce"}
    return "; ".join(f"{fault.reason}; {fault.hint}" for fault in context.found)


@pytest.mark.parametrize(
    ("equation", "operands"),
    [
        ("bi,bj->b", ("b d", "b d")),
        ("i,j->", ("n", "n")),
        ("oi,j->o", ("out d", "d")),
        ("bhqi,bhjd->bhqd", ("b h t t", "b h t d")),
        ("...i,...j->...", ("b d", "b d")),
        ("bi,b,bj->b", ("b 3", "b", "b 3")),
        ("bk,bki,bj->b", ("b d", "b d t", "b t")),  # scores, and what they weigh
    ],
)
def test_two_labels_of_one_size_that_are_summed_apart_are_reported(equation: str, operands: tuple[str, ...]) -> None:
    size = operands[-1].split()[-1] if len(operands) > 2 else operands[0].split()[-1]
    assert (
        said(equation, *operands) == f"i and j, both of size {size}, are summed apart, not contracted; i in place of j?"
    )


def test_labels_of_three_operands_and_of_several_axes_are_reported() -> None:
    wanted = "j and k, both of size d, are summed apart, not contracted; j in place of k?"
    assert said("bi,oij,bk->bo", "b d", "o d d", "b d") == wanted
    wanted = "h, w and x, y, each pair of size h, w, are summed apart, not contracted; h, w in place of x, y?"
    assert said("bchw,bcxy->bc", "b c h w", "b c h w") == wanted


def test_what_is_reported_is_the_product_of_two_sums() -> None:
    x, y = torch.randn(2, 4), torch.randn(2, 4)
    assert torch.allclose(torch.einsum("bi,bj->b", x, y), x.sum(1) * y.sum(1), atol=1e-5)


def test_sublists_and_names_of_einops_are_read_likewise() -> None:
    w, x = tensor("o i"), tensor("i")
    wanted = "{0} and {1}, both of size i, are summed apart, not contracted; {0} in place of {1}?"
    assert applied("einops.einsum", w, x, "o width, widht -> o") == wanted.format("width", "widht")
    zero, one, two = map(Dim.of, range(3))
    assert applied("torch.einsum", w, (zero, one), x, (two,), (zero,)) == wanted.format("B", "C")


@pytest.mark.parametrize(
    ("equation", "operands"),
    [
        ("bi,bi->b", ("b d", "b d")),
        ("bi,bj->b", ("b d_in", "b d_out")),  # the squared norms of gradients
        ("bi,bj->bij", ("b d", "b d")),
        ("bi,bj->bi", ("b d", "b d")),  # scaled by a sum
        ("bi,bj->b", ("b 1", "b 1")),
        ("id,jd->", ("n d", "n d")),  # all pairs
        ("ij,kl->", ("n n", "n n")),  # the product of two totals
        ("i,ij,j->", ("n", "n n", "n")),  # a quadratic form
        ("ij,jk->", ("n n", "n n")),
        ("ij->", ("n n",)),
        ("bij->b", ("b n n",)),
        ("...ij,...jk->...ik", ("b n n", "b n n")),
        ("ii,jj->", ("n n", "n n")),  # two traces
        ("bqk,bkd->bqd", ("b t t", "b t d")),
        ("b n d, b m d -> b", ("b n d", "b n d")),
        ("bid,de,bje->b", ("b n d", "d d", "b n d")),  # all pairs under a bilinear form
        ("bi,oij,bk->bo", ("b d", "o d d", "b k")),
        ("bchw,bcxy->bc", ("b c h w", "b c x y")),
        ("bchw,bcx->bc", ("b c h w", "b c h")),
        ("bij,bkl->bijkl", ("b n n", "b n n")),
        ("ij,jk,l->", ("n n", "n n", "n")),
    ],
)
def test_sums_that_may_be_meant_say_nothing(equation: str, operands: tuple[str, ...]) -> None:
    assert not said(equation, *operands)


@pytest.mark.parametrize(
    ("equation", "operands", "label"),
    [
        ("bqq,bqd->bqd", ("b n n", "b n d"), "q"),
        ("btt,btd->btd", ("b n n", "b n d"), "t"),
        ("bii,bij->bij", ("b t t", "b t d"), "i"),
        ("bhii,bhij->bhij", ("b h s s", "b h s d"), "i"),
        ("btt,bnct->bnct", ("b t t", "b n c t"), "t"),
        ("btd,btt->btd", ("b t d", "b t t"), "t"),
        ("...ii,...id->...id", ("b t t", "b t d"), "i"),
    ],
)
def test_the_diagonal_of_an_attention_is_reported(equation: str, operands: tuple[str, ...], label: str) -> None:
    wanted = f"{label} stands twice in one operand, of which only the diagonal is taken; another label for the keys?"
    assert said(equation, *operands) == wanted


def test_a_diagonal_beside_a_sum_of_the_same_size_is_reported() -> None:
    wanted = "only the diagonal along i is taken, and j, of the same size, is summed by itself; j in place of one i?"
    assert said("bhii,bhjk->bhik", "b h n n", "b h n d") == wanted
    assert not said("bhii,bhjk->bhik", "b h n n", "b h m d")


@pytest.mark.parametrize(
    ("equation", "operands"),
    [
        ("ii->i", ("t t",)),
        ("bii->b", ("b t t",)),
        ("bii->bi", ("b t t",)),
        ("ii,ij->ij", ("t t", "t d")),  # a diagonal matrix times another
        ("bii,bij->bij", ("b n n", "b n d")),
        ("ii,i->", ("n n", "n")),
        ("bii,i->b", ("b n n", "n")),
        ("bii,bi->bi", ("b t t", "b t")),  # the diagonal of a Jacobian
        ("bii,oi->boi", ("b n n", "o n")),
        ("ii,iq,il->ql", ("n n", "n q", "n l")),
        ("bii,bii->b", ("b n n", "b n n")),
        ("ii,jj->ij", ("n n", "n n")),
    ],
)
def test_a_diagonal_that_may_be_meant_says_nothing(equation: str, operands: tuple[str, ...]) -> None:
    assert not said(equation, *operands)


def test_nothing_is_said_where_a_shape_is_not_certain() -> None:
    assert not said("bi,bj->b", "b d", "b d", context=Context(certain=False))
    context = Context()
    unknown = TensorType.of(Dim.name("b"), context.fresh())
    other = TensorType.of(Dim.name("b"), context.fresh())
    assert not applied("torch.einsum", "bi,bj->b", unknown, other, context=context)
    assert not applied("torch.einsum", "bi,bj->b", context.unknown_tensor(), tensor("b d"), context=context)
