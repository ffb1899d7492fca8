"""A subject runs forward and backward as a program would, and knows the gradient that is meant."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from jaxtyping import Float, Int
from torch import Tensor

from shaped.verify.subject import Subject, SubjectError

X = torch.tensor([1.0, -2.0], dtype=torch.float64)
Y = torch.tensor([3.0, 0.5], dtype=torch.float64)
ONE = torch.ones(2, dtype=torch.float64)


def product(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x * y


def product_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> tuple[Tensor, Tensor]:
    return grad * y, grad * x


class Square(torch.autograd.Function):
    """Its backward is wrong, so that it is told from autograd."""

    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"], power: int = 2) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        ctx.power = power
        return x**power

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], None]:
        (x,) = ctx.saved_tensors
        return 10 * grad * x, None


class WithSetup(torch.autograd.Function):
    @staticmethod
    def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x.exp()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (y,) = ctx.saved_tensors
        return 10 * grad * y


def test_a_pair_returns_what_its_backward_returns() -> None:
    dx, dy = Subject.of(product, product_backward).run((X, Y), (ONE,)).gradients
    assert torch.equal(dx, Y)
    assert torch.equal(dy, X)


def test_a_class_runs_its_own_backward_and_its_reference_does_not() -> None:
    subject = Subject.of(Square)
    assert torch.equal(subject.run((X, 2), (ONE,)).gradients[0], 10 * X)
    assert torch.equal(subject.reference((X, 2), (ONE,))[0], 2 * X)


def test_a_class_may_have_a_setup_context() -> None:
    subject = Subject.of(WithSetup)
    assert subject.signature.dims == ("n",)
    torch.testing.assert_close(subject.run((X,), (ONE,)).gradients[0], 10 * X.exp())
    torch.testing.assert_close(subject.reference((X,), (ONE,))[0], X.exp())


def test_a_surrogate_is_the_reference() -> None:
    subject = Subject.of(lambda x: x.round(), lambda grad, x: grad, gradient_of=lambda x: 3 * x)
    assert torch.equal(subject.reference((X,), (ONE,))[0], 3 * ONE)


def test_a_backward_takes_a_tuple_of_upstreams_or_one_by_one() -> None:
    def forward(x: Tensor) -> tuple[Tensor, Tensor]:
        return 2 * x, 3 * x

    def together(grad: tuple[Tensor, Tensor], x: Tensor) -> tuple[Tensor]:
        return (2 * grad[0] + 3 * grad[1],)

    def one_by_one(a: Tensor, b: Tensor, x: Tensor) -> tuple[Tensor]:
        return (2 * a + 3 * b,)

    for backward in (together, one_by_one):
        subject = Subject.of(forward, backward)
        assert torch.equal(subject.run((X,), (ONE, 2 * ONE)).gradients[0], 8 * ONE)


def test_a_backward_may_leave_out_what_is_no_tensor() -> None:
    def forward(x: Float[Tensor, "n"], index: Int[Tensor, "k"], factor: float = 2.0) -> Float[Tensor, "k"]:
        return factor * x[index]

    def backward(grad: Tensor, x: Tensor, index: Tensor) -> tuple[Tensor, None]:
        return 2 * torch.zeros_like(x).index_add(0, index, grad), None

    index = torch.tensor([1, 1])
    gradients = Subject.of(forward, backward).run((X, index, 2.0), (ONE,)).gradients
    assert torch.equal(gradients[0], torch.tensor([0.0, 4.0], dtype=torch.float64))
    assert gradients[1:] == (None, None)


def test_what_is_written_to_is_told_and_the_callers_tensors_are_safe() -> None:
    def backward(grad: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return grad.mul_(y), x.add_(1)

    x, grad = X.clone(), ONE.clone()
    assert Subject.of(product, backward).run((x, Y), (grad,)).changed == ("x", "grad")
    assert torch.equal(x, X)
    assert torch.equal(grad, ONE)


def test_an_input_that_a_class_declares_dirty_is_no_effect() -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.mark_dirty(x.mul_(2))
            return x

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> Tensor:
            return 2 * grad

    assert Subject.of(Doubled).run((X,), (ONE,)).changed == ()


def test_random_numbers_are_the_same_in_forward_and_reference() -> None:
    class Dropout(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            kept = torch.rand_like(x) > 0.5
            ctx.save_for_backward(kept)
            return x * kept

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> Tensor:
            return grad * ctx.saved_tensors[0]

    x = torch.ones(64, dtype=torch.float64)
    subject = Subject.of(Dropout)
    torch.testing.assert_close(subject.run((x,), (x,)).gradients, subject.reference((x,), (x,)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((product,), "product has no backward: pass backward"),
        ((Square, product_backward), "Square has its own backward: pass the class alone"),
        ((product, 3), "the backward of product, 3, is no function"),
        ((3,), "3 is no function: pass a forward"),
    ],
)
def test_what_is_no_subject_is_refused_with_what_to_pass(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(SubjectError, match=message):
        Subject.of(*arguments)


def test_a_backward_with_other_parameters_is_refused_with_the_call_that_is_wanted() -> None:
    def backward(grad: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        return z, z

    with pytest.raises(SubjectError, match=r"takes grad, z: write backward\(grad, x, y\)"):
        Subject.of(product, backward).run((X, Y), (ONE,))


def test_what_the_gradient_is_of_must_be_a_function() -> None:
    with pytest.raises(SubjectError, match="gradient_of is 3, no function"):
        Subject.of(product, product, gradient_of=3)  # type: ignore[arg-type]  # what is tested
