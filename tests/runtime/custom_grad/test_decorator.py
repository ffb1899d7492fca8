"""An op is called as its forward is, and has the backward's gradients: in eager code."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from typing import TYPE_CHECKING, Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd import gradcheck, gradgradcheck
from torch.utils.checkpoint import checkpoint

import shaped
from shaped import custom_grad
from shaped.runtime.custom_grad import CustomGrad
from tests.runtime.custom_grad.ops import double, linear, polar, swish, weighted

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_gradient_is_the_backwards_and_so_is_its_own_gradient() -> None:
    for op, inputs in (
        (swish, (double(3),)),
        (linear, (double(4, 3), double(2, 3), double(2), 1.5)),
        (polar, (double(3), double(3))),
    ):
        assert gradcheck(op, inputs)
        assert gradgradcheck(op, inputs)


def test_the_backward_runs_not_autograd() -> None:
    @custom_grad
    def straight_through(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x.round()

    @straight_through.backward
    def straight_through_backward(grad: Tensor, x: Tensor) -> Tensor:
        return grad * 7

    x = double(3)
    straight_through(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [7, 7, 7]


def test_a_second_derivative_is_that_of_the_backward_as_written() -> None:
    @custom_grad
    def cube(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x**3

    @cube.backward
    def cube_backward(grad: Tensor, x: Tensor) -> Tensor:
        return grad * 5 * x  # wrong, so that it is told from autograd's

    x = torch.tensor([2.0], requires_grad=True)
    (first,) = torch.autograd.grad(cube(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert (first.item(), second.item()) == (10.0, 5.0)


def test_defaults_keywords_and_none_are_bound_as_by_the_function() -> None:
    x, w = double(4, 3), double(2, 3)
    assert torch.equal(linear(w=w, x=x), x @ w.T)
    assert torch.equal(linear(x, w, scale=2.0), 2 * (x @ w.T))
    linear(x, w).sum().backward()
    assert w.grad is not None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: linear(x), "linear() misses the argument w"),
        (lambda x: linear(x, x, x=x), "linear() got two values for x"),
        (lambda x: linear(x, x, size=1), "linear() has no parameter size: it takes x, w, bias, scale"),
        (lambda x: linear(x, x, None, 1.0, 2), "linear() takes 4 arguments, 5 were given"),
        (lambda x: linear(x, 3.0), "linear() takes a tensor as w, not 3.0"),
        (lambda x: weighted(x, [1]), "weighted() takes a list of tensors as xs, not tensor"),
    ],
)
def test_wrong_arguments_are_a_type_error(call: Callable[[Tensor], object], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        call(torch.ones(2, 2))
    assert message in str(caught.value)


def test_a_list_of_tensors_has_a_gradient_for_each() -> None:
    a, b = double(3), double(3)
    assert gradcheck(lambda *xs: weighted(list(xs), [2, 5])[0], (a, b))
    assert gradgradcheck(lambda *xs: weighted(list(xs), [2, 5])[0], (a, b))


def test_an_output_of_integers_needs_no_gradient() -> None:
    total, order = weighted([double(3)], [1])
    assert total.requires_grad
    assert not order.requires_grad


def test_the_upstream_of_an_unused_output_is_zeros() -> None:
    seen: list[Any] = []

    @custom_grad
    def both(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
        return x * 2, x * 3

    @both.backward
    def both_backward(first: Tensor, second: Tensor, x: Tensor) -> Tensor:  # one by one is allowed too
        seen.append(second)
        return first * 2 + second * 3

    x = double(2)
    both(x)[0].sum().backward()
    assert seen[0].tolist() == [0, 0]
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]


def test_a_tuple_of_one_stays_a_tuple() -> None:
    @custom_grad
    def one(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
        return (x * 2,)

    @one.backward
    def one_backward(grads: tuple[Tensor], x: Tensor) -> Tensor:
        return grads[0] * 2

    x = double(2)
    (y,) = one(x)
    assert gradcheck(lambda x: one(x)[0], (x,))
    (compiled,) = torch.compile(one, backend="aot_eager", fullgraph=True)(x)
    assert torch.equal(compiled, y)


def test_only_inputs_that_need_a_gradient_get_one() -> None:
    x, w = double(4, 3), double(2, 3).detach()
    linear(x, w).sum().backward()
    assert x.grad is not None
    assert w.grad is None
    assert not linear(x.detach(), w).requires_grad


def test_the_backward_takes_by_name_what_it_needs_and_the_rest_is_freed() -> None:
    @custom_grad
    def shifted(x: Float[Tensor, "n"], by: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * x + by

    @shifted.backward
    def shifted_backward(grad: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return 2 * grad * x, grad

    assert gradcheck(shifted, (double(3), double(3)))
    by = double(3).detach()
    freed = weakref.ref(by)
    y = shifted(double(3), by)
    del by
    gc.collect()
    assert freed() is None
    y.sum().backward()


def test_what_is_saved_is_freed_by_the_backward_and_seen_by_hooks() -> None:
    packed: list[Tensor] = []
    x = double(3)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        y = swish(x)
    assert len(packed) == 1
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_an_input_changed_between_forward_and_backward_is_torchs_own_error() -> None:
    x = double(3)
    moved = x * 1
    y = swish(moved)
    moved.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_it_works_in_a_checkpoint(use_reentrant: bool) -> None:
    x, w = double(4, 3), double(2, 3)
    expected = torch.autograd.grad(swish(linear(x, w)).sum(), w)[0]
    checkpoint(lambda x, w: swish(linear(x, w)), x, w, use_reentrant=use_reentrant).sum().backward()
    assert w.grad is not None
    assert torch.equal(w.grad, expected)


def test_inputs_of_any_layout() -> None:
    assert gradcheck(linear, (torch.randn(0, 3, dtype=torch.float64, requires_grad=True), double(2, 3)))
    assert gradcheck(swish, (double(3, 4).T,))
    assert gradcheck(swish, (double(3).sum().detach().requires_grad_(),))


def test_no_grad_and_inference_mode() -> None:
    x = double(3)
    with torch.no_grad():
        assert not swish(x).requires_grad
    with torch.inference_mode():
        assert swish(torch.ones(3)).is_inference()
        assert linear(torch.ones(2, 3), torch.ones(2, 3)).shape == (2, 2)


def test_torch_func_works() -> None:
    x, w = torch.randn(5, 4, 3, dtype=torch.float64), torch.randn(2, 3, dtype=torch.float64)
    assert torch.allclose(torch.vmap(linear, in_dims=(0, None))(x, w), x @ w.T)
    by_sample = torch.vmap(torch.func.grad(lambda x, w: linear(x, w).sum(), argnums=1), in_dims=(0, None))(x, w)
    assert torch.allclose(by_sample, x.sum(1, keepdim=True).expand(5, 2, 3))
    square = torch.func.jacrev(torch.func.jacrev(lambda x: swish(x).sum()))(x[0, 0])
    plain = torch.func.jacrev(torch.func.jacrev(lambda x: (x * x.sigmoid()).sum()))(x[0, 0])
    assert torch.allclose(square, plain)


def test_forward_mode_is_refused_as_there_is_no_derivative_for_it() -> None:
    x = double(3)
    with pytest.raises(NotImplementedError, match="jvp"):
        torch.func.jvp(swish, (x,), (x,))
    with torch.autograd.forward_ad.dual_level(), torch.no_grad(), pytest.raises(NotImplementedError, match="jvp"):
        swish(torch.autograd.forward_ad.make_dual(x.detach(), x.detach()))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(3, 3))
        self.act = swish

    def forward(self, x: Tensor) -> Tensor:
        act: CustomGrad[..., Tensor] = self.act
        return act(linear(x, self.w))


def test_a_module_with_it_is_copied_and_pickled() -> None:
    block = Block()
    for again in (copy.deepcopy(block), pickle.loads(pickle.dumps(block))):  # our own
        assert again.act is swish
        again(torch.randn(2, 3)).sum().backward()
        assert again.w.grad is not None
    assert list(block.state_dict()) == ["w"]


def test_it_keeps_the_functions_name_docs_and_module() -> None:
    assert (swish.__name__, swish.__module__) == ("swish", "tests.runtime.custom_grad.ops")  # type: ignore[attr-defined]
    assert weighted.__doc__ == "A sum, and its order: an output of integers."
    assert repr(swish) == "<custom_grad swish, custom_grad::tests_runtime_custom_grad_ops_swish>"


def test_threads_use_one_op_at_once() -> None:
    found: list[Tensor] = []

    def work() -> None:
        x = torch.ones(64, dtype=torch.float64, requires_grad=True)
        for _ in range(30):
            (grad,) = torch.autograd.grad(swish(x).sum(), x)
        found.append(grad)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(torch.equal(one, found[0]) for one in found)


def test_a_parameter_that_the_forward_only_closes_over_gets_no_gradient() -> None:
    hidden = double(3)

    @custom_grad
    def times(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * hidden

    assert not times(torch.ones(3, dtype=torch.float64)).requires_grad


def test_it_is_a_public_name() -> None:
    assert shaped.custom_grad is custom_grad
