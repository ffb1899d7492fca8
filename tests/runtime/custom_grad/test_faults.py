"""A forward or backward that does not keep to its contract is an error that names the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from shaped import custom_grad
from shaped.errors import DtypeError, Fault, ShapeError
from shaped.runtime.custom_grad import CustomGrad, CustomGradError, GradientDtypeError, GradientShapeError
from tests.runtime.custom_grad.ops import double

if TYPE_CHECKING:
    from collections.abc import Callable


def scale_with(backward: Callable[..., Any], **options: Any) -> CustomGrad[..., Tensor]:
    """An op `scale(x, w)` of x (b, n) and w (n), with a backward."""

    @custom_grad(**options)
    def scale(x: Float[Tensor, "b n"], w: Float[Tensor, "n"]) -> Float[Tensor, "b n"]:
        return x * w

    scale.backward(backward)
    return scale


def refusal(backward: Callable[..., Any], way: str = "eager", dtype: torch.dtype = torch.float64) -> CustomGradError:
    """What is raised for a backward of `scale`, in a way to run it."""
    torch.compiler.reset()  # sizes that differ from those of an earlier graph would be symbols
    op: Any = scale_with(backward)
    x, w = (torch.randn(shape, dtype=dtype, requires_grad=True) for shape in ((2, 3), (3,)))
    call = {"eager": op, "dispatcher": op.operator, "compiled": torch.compile(op, backend="aot_eager", fullgraph=True)}[
        way
    ]
    with pytest.raises(Exception) as caught:  # noqa: PT011  # the compiler wraps it
        call(x, w).square().sum().backward()
    found = caught.value
    while not isinstance(found, CustomGradError):
        inner = found.__cause__ or getattr(found, "inner_exception", None)
        assert inner is not None, found
        found = inner
    return found


WAYS = pytest.mark.parametrize("way", ["eager", "dispatcher", "compiled"])


@WAYS
def test_a_gradient_of_another_shape(way: str) -> None:
    error = refusal(lambda grad, x, w: (grad * w, grad * x), way)
    assert str(error) == "scale: the gradient of w has shape (2, 3), w has (3,)"
    assert error.hint == "sum it over the axes that the forward broadcasts: grad.sum_to_size(input.shape)"
    assert error.input == "w"
    assert isinstance(error, (GradientShapeError, ShapeError))


@WAYS
def test_too_few_gradients(way: str) -> None:
    error = refusal(lambda grad, x, w: grad * w, way)
    assert str(error) == (
        "scale: the backward returns 1 gradient for 2 inputs, none for w: "
        "return one for each of x, w, None for those without a gradient"
    )


def test_too_many_gradients() -> None:
    error = refusal(lambda grad, x, w: (grad * w, (grad * x).sum(0), grad))
    assert "3 gradients for 2 inputs: return one for each of x, w" in str(error)


@WAYS
def test_a_gradient_that_is_no_tensor(way: str) -> None:
    assert str(refusal(lambda grad, x, w: (grad * w, 0.0), way)) == "scale: the gradient of w is a float, not a tensor"


@WAYS
def test_a_gradient_with_fewer_digits(way: str) -> None:
    error = refusal(lambda grad, x, w: (grad * w, (grad * x).sum(0).half()), way)
    assert str(error) == "scale: the gradient of w is float16, w is float64"
    assert isinstance(error, (GradientDtypeError, DtypeError))


def test_a_gradient_of_integers_or_complex_numbers() -> None:
    assert "gradient of w is int64, w is float64" in str(
        refusal(lambda grad, x, w: (grad * w, (grad * x).sum(0).long()))
    )
    assert "is complex128" in str(refusal(lambda grad, x, w: (grad * w, (grad * x).sum(0).to(torch.complex128))))


def test_a_gradient_with_more_digits_is_converted() -> None:
    op = scale_with(lambda grad, x, w: ((grad * w).double(), (grad * x).sum(0).double()))
    x, w = torch.ones(2, 3, requires_grad=True), torch.ones(3, requires_grad=True)
    op(x, w).sum().backward()
    assert w.grad is not None
    assert w.grad.dtype is torch.float32


def test_a_gradient_on_another_device() -> None:
    error = refusal(lambda grad, x, w: (grad * w, torch.empty(3, device="meta", dtype=torch.float64)))
    assert str(error) == "scale: the gradient of w is on meta, w is on cpu"


@WAYS
def test_an_input_or_the_upstream_written_to_in_the_backward(way: str) -> None:
    if way != "compiled":  # there the graph works on copies: see the docs
        error = refusal(lambda grad, x, w: (grad * w, x.mul_(grad).sum(0)), way)
        assert str(error) == "scale: the backward writes to x in place, which others still use"
        assert refusal(lambda grad, x, w: (grad.mul_(w), w), way).input == "grad"


@pytest.mark.parametrize("way", ["eager", "no_grad", "dispatcher", "compiled"])
@pytest.mark.parametrize(
    ("forward", "message"),
    [
        (lambda x: x.mul_(2) + 1, "the forward writes to x in place"),
        (lambda x: x.detach().view(-1).mul_(2) + 1, "the forward writes to x in place"),
        (lambda x: x, "the forward returns x itself or a view of it"),
        (lambda x: x.view(-1), "the forward returns x itself or a view of it"),
        (lambda x: (x + 1, x), "the forward returns a tuple of a tensor and a tensor, its annotation says a tensor"),
        (lambda x: 3.0, "the forward returns a float, its annotation says a tensor"),
    ],
)
def test_a_forward_that_breaks_its_contract(way: str, forward: Callable[[Tensor], Any], message: str) -> None:
    @custom_grad
    def broken(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        result: Tensor = forward(x)
        return result

    broken.backward(lambda grad, x: grad)
    call: Any = {
        "eager": broken,
        "no_grad": torch.no_grad()(lambda x: broken(x)),
        "dispatcher": broken.operator,
        "compiled": torch.compile(broken, backend="aot_eager", fullgraph=True),
    }[way]
    with pytest.raises(Exception, match=message.replace("(", r"\(")):
        call(torch.ones(3))


def test_no_backward() -> None:
    @custom_grad
    def bare(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * 2

    with pytest.raises(CustomGradError) as caught:
        bare(double(3)).sum().backward()
    assert str(caught.value) == "bare: has no backward"
    assert caught.value.hint == "decorate one, of the upstream gradient and the inputs: @bare.backward"


def test_they_are_faults_with_fields() -> None:
    error = refusal(lambda grad, x, w: (grad * w, grad * x))
    assert isinstance(error, Fault)
    assert (error.operation, error.input, error.code) == ("scale", "w", "shape")


class Own(Exception):
    """An exception of the user's."""


@pytest.mark.parametrize("way", ["eager", "dispatcher"])
def test_exceptions_of_the_users_functions_arrive_intact(way: str) -> None:
    raised = Own("from the backward")

    def backward(grad: Tensor, x: Tensor, w: Tensor) -> Tensor:
        raise raised

    op: Any = scale_with(backward)
    with pytest.raises(Own) as caught:
        (op if way == "eager" else op.operator)(double(2, 3), double(3)).sum().backward()
    assert caught.value is raised

    in_forward = Own("from the forward")

    @custom_grad
    def failing(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        raise in_forward

    with pytest.raises(Own) as caught:
        (failing if way == "eager" else failing.operator)(double(3))
    assert caught.value is in_forward


def test_the_op_works_after_an_exception() -> None:
    fails = [True]

    def backward(grad: Tensor, x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        if fails.pop():
            raise Own
        return grad * w, (grad * x).sum(0)

    op = scale_with(backward)
    x, w = double(2, 3), double(3)
    with pytest.raises(Own):
        op(x, w).sum().backward()
    assert torch.is_grad_enabled()
    fails.append(False)
    op(x, w).sum().backward()
    assert w.grad is not None
