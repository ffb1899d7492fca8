"""A function with a backward of its own: outputs, second order, and the mistakes that torch lets pass."""

from __future__ import annotations

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from shaped import custom_grad
from shaped.errors import Fault


@custom_grad
def cube(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x**3


@cube.backward
def cube_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return grad * 3 * x**2


@custom_grad
def sum_and_product(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    return x + y, x * y


@sum_and_product.backward
def sum_and_product_backward(
    grads: tuple[Float[Tensor, "n"], Float[Tensor, "n"]], x: Float[Tensor, "n"], y: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    of_sum, of_product = grads
    return of_sum + of_product * y, of_sum + of_product * x


def leaf(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_the_backward_is_the_gradient() -> None:
    x = leaf(2.0, -1.0)
    [gradient] = torch.autograd.grad(cube(x).sum(), x)
    assert gradient.tolist() == [12, 3]


def test_several_outputs_have_one_backward() -> None:
    x, y = leaf(2.0), leaf(5.0)
    total, product = sum_and_product(x, y)
    assert [g.item() for g in torch.autograd.grad(total * 10 + product, (x, y))] == [15, 12]
    total, product = sum_and_product(x, y)
    assert [g.item() for g in torch.autograd.grad(product, (x, y))] == [5, 2]  # the other one is not used


def test_the_second_derivative_is_that_of_the_backward() -> None:
    x = leaf(2.0)
    [first] = torch.autograd.grad(cube(x), x, create_graph=True)
    [second] = torch.autograd.grad(first, x, create_graph=True)
    [third] = torch.autograd.grad(second, x)
    assert (first.item(), second.item(), third.item()) == (12, 12, 6)
    assert torch.autograd.gradgradcheck(cube, (x,))


def test_none_is_the_gradient_of_an_input_that_has_none() -> None:
    @custom_grad(name="behaviours::picked")
    def picked(x: Float[Tensor, "n"], other: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * 2 + other * 0

    @picked.backward
    def picked_backward(
        grad: Float[Tensor, "n"], x: Float[Tensor, "n"], other: Float[Tensor, "n"]
    ) -> tuple[Float[Tensor, "n"], None]:
        return grad * 2, None

    x, other = leaf(1.0), leaf(1.0)
    picked(x, other).sum().backward()
    assert x.grad is not None
    assert x.grad.item() == 2


def test_none_where_the_gradient_is_not_zero_is_an_error_that_names_the_input() -> None:
    @custom_grad(name="behaviours::forgotten")
    def forgotten(x: Float[Tensor, "n"], scale: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * scale

    @forgotten.backward
    def forgotten_backward(
        grad: Float[Tensor, "n"], x: Float[Tensor, "n"], scale: Float[Tensor, "n"]
    ) -> tuple[Float[Tensor, "n"], None]:
        return grad * scale, None

    with pytest.raises(Fault, match="scale"):
        forgotten(leaf(2.0), leaf(3.0)).sum().backward()


def test_an_input_that_was_written_to_is_an_error_that_names_it() -> None:
    @custom_grad(name="behaviours::written")
    def written(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        x.detach().mul_(2)
        return x * 1

    @written.backward
    def written_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return grad

    with pytest.raises(Fault, match=r"\bx\b"):
        written(leaf(2.0))


def test_a_gradient_of_another_shape_is_an_error_that_names_the_input() -> None:
    @custom_grad(name="behaviours::summed")
    def summed(x: Float[Tensor, "n d"], bias: Float[Tensor, "d"]) -> Float[Tensor, "n d"]:
        return x + bias

    @summed.backward
    def summed_backward(
        grad: Float[Tensor, "n d"], x: Float[Tensor, "n d"], bias: Float[Tensor, "d"]
    ) -> tuple[Float[Tensor, "n d"], Float[Tensor, "n d"]]:
        return grad, grad  # not summed over the rows

    bias = torch.zeros(3, requires_grad=True)
    with pytest.raises(Fault, match="bias"):
        summed(torch.ones(2, 3), bias).sum().backward()


class Own(Exception):
    """Raised by the user's functions."""


def test_exceptions_of_the_users_functions_arrive_intact() -> None:
    raised = Own("as it is")

    @custom_grad(name="behaviours::raising")
    def raising(x: Float[Tensor, "n"], forward_fails: bool) -> Float[Tensor, "n"]:
        if forward_fails:
            raise raised
        return x * 1

    @raising.backward
    def raising_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"], forward_fails: bool) -> tuple[Tensor, None]:
        raise raised

    with pytest.raises(Own) as forward:
        raising(leaf(1.0), True)
    assert forward.value is raised
    with pytest.raises(Own) as backward:
        raising(leaf(1.0), False).sum().backward()
    assert backward.value is raised
