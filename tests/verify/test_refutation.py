"""A wrong gradient is refuted by the smallest counterexample; a right one never is."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Float, Int
from torch import Tensor

from shaped.verify.hazards import numeric_refutation
from shaped.verify.subject import Subject, SubjectError


def softmax(x: Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
    return x.softmax(-1)


def softmax_backward(grad: Tensor, x: Tensor) -> Tensor:
    y = x.softmax(-1)
    return y * (grad - (grad * y).sum(-1, keepdim=True))


def test_the_sizes_and_numbers_are_the_smallest_that_show_the_fault() -> None:
    def without_the_sum(grad: Tensor, x: Tensor) -> Tensor:
        return x.softmax(-1) * grad

    found = numeric_refutation(Subject.of(softmax, without_the_sum))
    assert str(found) == (
        "softmax: refuted: the gradient of x is wrong, at b = 1, n = 1, grad = [[1.0]], x = [[1.0]]: "
        "the gradient of x[0, 0] is 0, not 1"
    )


def test_a_fault_of_one_layout_alone_is_found() -> None:
    def only_square(grad: Tensor, x: Tensor) -> Tensor:
        return softmax_backward(grad, x) * (1 if x.shape[0] != x.shape[1] else 2)

    found = numeric_refutation(Subject.of(softmax, only_square))
    assert found is not None
    assert found.witness is not None
    assert found.witness.sizes["b"] == found.witness.sizes["n"]


@given(
    st.sampled_from(["scaled", "shifted", "negated", "one entry", "upstream of ones"]),
    st.sampled_from([1.01, 0.5, 2.0]),
)
def test_every_change_of_a_right_backward_is_refuted(change: str, factor: float) -> None:
    def changed(grad: Tensor, x: Tensor) -> Tensor:
        right = softmax_backward(torch.ones_like(grad) if change == "upstream of ones" else grad, x)
        match change:
            case "scaled":
                return factor * right
            case "shifted":
                return right + 1e-4 * factor
            case "negated":
                return -right
            case "one entry":
                right.view(-1)[-1] *= factor
        return right

    assert numeric_refutation(Subject.of(softmax, softmax_backward)) is None
    assert numeric_refutation(Subject.of(softmax, changed)) is not None


def test_both_sides_of_a_number_in_the_code_are_visited() -> None:
    def forward(x: Float[Tensor, "n"]) -> Tensor:
        return torch.where(x > 150.0, 2 * x, x)

    def backward(grad: Tensor, x: Tensor) -> Tensor:
        return grad

    found = numeric_refutation(Subject.of(forward, backward))
    assert found is not None


BLOCK = 32


def test_a_dim_is_tried_beyond_the_block_size_in_the_code() -> None:
    def forward(x: Float[Tensor, "b n"]) -> Tensor:
        return x.cumsum(-1)

    def block_by_block(grad: Tensor, x: Tensor) -> Tensor:
        blocks = [part.flip(-1).cumsum(-1).flip(-1) for part in grad.split(BLOCK, dim=-1)]
        return torch.cat(blocks, dim=-1)

    found = numeric_refutation(Subject.of(forward, block_by_block))
    assert found is not None
    assert found.witness is not None
    assert found.witness.sizes == {"b": 1, "n": 33}


def test_repeated_indices_are_tried() -> None:
    def forward(x: Float[Tensor, "v"], index: Int[Tensor, "k"]) -> Tensor:
        return x[index]

    def backward(grad: Tensor, x: Tensor, index: Tensor) -> tuple[Tensor, None]:
        return torch.zeros_like(x).index_put((index,), grad), None

    found = numeric_refutation(Subject.of(forward, backward))
    assert found is not None
    assert found.witness is not None
    assert found.witness.inputs["index"] == [0, 0]


def test_a_surrogate_replaces_the_forward() -> None:
    def forward(x: Float[Tensor, "n"]) -> Tensor:
        return x.round()

    def backward(grad: Tensor, x: Tensor) -> Tensor:
        return grad

    assert numeric_refutation(Subject.of(forward, backward)) is not None
    assert numeric_refutation(Subject.of(forward, backward, gradient_of=lambda x: x)) is None


def test_a_domain_leaves_points_out() -> None:
    def backward(grad: Tensor, x: Tensor) -> Tensor:
        return softmax_backward(grad, x) * (2 if bool((x < 0).any()) else 1)

    subject = Subject.of(softmax, backward)
    assert numeric_refutation(subject) is not None
    assert numeric_refutation(subject, domain=lambda x: bool((x >= 0).all())) is None
    with pytest.raises(
        SubjectError, match=r"the domain of softmax raises .* write a predicate over its inputs, lambda x"
    ):
        numeric_refutation(subject, domain=lambda: True)


def test_inputs_make_annotations_unnecessary() -> None:
    subject = Subject.of(lambda a, b: a @ b, lambda grad, a, b: (grad @ b, a.T @ grad), name="matmul")
    square = torch.arange(4.0).reshape(2, 2)
    found = numeric_refutation(subject, square, square.T)
    assert found is not None
    assert found.witness is not None
    assert found.witness.gradient == "a"
    with pytest.raises(SubjectError, match="parameter a of matmul has no shape"):
        numeric_refutation(subject)


def test_a_backward_that_raises_is_refuted_with_its_error_but_not_at_an_index_of_minus_100() -> None:
    def forward(z: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Tensor:
        return F.cross_entropy(z, y, reduction="sum")

    def right(grad: Tensor, z: Tensor, y: Tensor) -> tuple[Tensor, None]:
        return grad * (z.softmax(-1) - F.one_hot(y, z.shape[1])), None

    def raises(grad: Tensor, z: Tensor, y: Tensor) -> Any:
        return grad @ z, None

    assert numeric_refutation(Subject.of(forward, right)) is None
    found = numeric_refutation(Subject.of(forward, raises))
    assert found is not None
    assert found.reason.startswith("the backward raises RuntimeError: ")


def test_the_random_state_of_the_program_is_left_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    numeric_refutation(Subject.of(softmax, softmax_backward))
    assert torch.equal(torch.rand(2), expected)
