"""Checked functions inside torch.func's transforms, autograd Functions and tensors of other kinds."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch import zeros as z
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, stack_module_state, vjp, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from shaped.errors import ShapeError
from shaped.runtime.checked import checked


@checked
def energy(x: Float[Tensor, "n"], weight: Float[Tensor, "n n"]) -> Float[Tensor, ""]:
    return x @ weight @ x


@checked
def scale(x: Float[Tensor, "n"], by: Float[Tensor, ""]) -> Float[Tensor, "n"]:
    return x * by


class Block(nn.Module):
    """A module with a checked forward."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n
        self.linear = nn.Linear(n, n)

    @checked
    def forward(self, x: Float[Tensor, "*b {self.n}"]) -> Float[Tensor, "*b {self.n}"]:
        return torch.tanh(self.linear(x))


def test_the_gradient_of_a_checked_function() -> None:
    x, weight = torch.rand(3), torch.rand(3, 3)
    assert torch.allclose(grad(energy)(x, weight), (weight + weight.T) @ x)
    with pytest.raises(ShapeError):
        grad(energy)(x, torch.rand(4, 4))


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # torch's own decompositions use it
def test_jacobians_and_hessians() -> None:
    x, weight = torch.rand(3), torch.rand(3, 3)
    for jacobian in (jacrev, jacfwd):
        assert torch.allclose(jacobian(energy)(x, weight), (weight + weight.T) @ x)
    assert torch.allclose(hessian(energy)(x, weight), weight + weight.T, atol=1e-6)
    value, pull = vjp(energy, x, weight)
    assert torch.allclose(pull(torch.ones_like(value))[1], x[:, None] * x)
    assert jvp(energy, (x, weight), (x, weight))[0] == value


def test_shapes_inside_vmap_are_those_of_one_example() -> None:
    x, weight = torch.rand(5, 3), torch.rand(3, 3)
    wanted = torch.stack([energy(row, weight) for row in x])
    assert torch.allclose(vmap(energy, (0, None))(x, weight), wanted)
    assert vmap(vmap(scale))(z(2, 5, 3), z(2, 5)).shape == (2, 5, 3)
    with pytest.raises(ShapeError, match=r"argument weight of energy: \(5, 3\) does not match"):
        vmap(energy, (0, None))(x, torch.rand(5, 3))


def test_gradients_of_examples() -> None:
    x, weight = torch.rand(5, 3), torch.rand(3, 3)
    assert vmap(grad(energy, argnums=1), (0, None))(x, weight).shape == (5, 3, 3)


def test_a_module_as_a_function_of_its_parameters() -> None:
    model = Block(3)
    parameters = dict(model.named_parameters())
    x = torch.rand(2, 3)

    def loss(parameters: dict[str, Tensor]) -> Tensor:
        return functional_call(model, parameters, (x,)).sum()

    assert grad(loss)(parameters)["linear.weight"].shape == (3, 3)
    with pytest.raises(ShapeError):
        functional_call(model, parameters, (torch.rand(2, 4),))


def test_an_ensemble_of_modules() -> None:
    models = [Block(3) for _ in range(4)]
    parameters, buffers = stack_module_state(models)

    def call(parameters: Any, buffers: Any, x: Tensor) -> Tensor:
        return functional_call(models[0], (parameters, buffers), (x,))

    x = torch.rand(2, 3)
    wanted = torch.stack([model(x) for model in models])
    assert torch.allclose(vmap(call, (0, 0, None))(parameters, buffers, x), wanted)


class Square(torch.autograd.Function):
    """An autograd function whose forward and backward are checked."""

    @staticmethod
    @checked
    def forward(ctx: Any, x: Float[Tensor, "b n"], by: float) -> Float[Tensor, "b n"]:
        ctx.save_for_backward(x)
        ctx.by = by
        return by * x * x

    @staticmethod
    @checked
    def backward(ctx: Any, upstream: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"], None]:
        (x,) = ctx.saved_tensors
        return 2 * ctx.by * x * upstream, None


class WrongBackward(torch.autograd.Function):
    """An autograd function whose backward gives a gradient of another shape."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    @checked
    def backward(ctx: Any, upstream: Float[Tensor, "b n"]) -> Float[Tensor, "n b"]:
        return upstream


class Setup(torch.autograd.Function):
    """An autograd function in the form that torch.func transforms."""

    generate_vmap_rule = True

    @staticmethod
    @checked
    def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x**3

    @staticmethod
    @checked
    def setup_context(ctx: Any, inputs: tuple[Float[Tensor, "n"]], output: Float[Tensor, "n"]) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    @checked
    def backward(ctx: Any, upstream: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (x,) = ctx.saved_tensors
        return 3 * x * x * upstream


def test_an_autograd_function_is_checked_in_both_directions() -> None:
    x = torch.rand(2, 3, requires_grad=True)
    (gradient,) = torch.autograd.grad(Square.apply(x, 3.0).sum(), x)
    assert torch.allclose(gradient, 6 * x)
    with pytest.raises(ShapeError, match=r"argument x of Square\.forward"):
        Square.apply(x[0], 3.0)
    with pytest.raises(TypeError, match=r"argument by of Square\.forward"):
        Square.apply(x, 3)
    with pytest.raises(ShapeError, match=r"return of WrongBackward\.backward"):
        WrongBackward.apply(x).sum().backward()
    assert torch.autograd.gradcheck(lambda x: Square.apply(x, 3.0), (x.double(),))


def test_an_autograd_function_is_checked_inside_transforms() -> None:
    x = torch.rand(5, 3)
    assert torch.allclose(vmap(Setup.apply)(x), x**3)
    assert torch.allclose(vmap(grad(lambda x: Setup.apply(x).sum()))(x), 3 * x * x)
    with pytest.raises(ShapeError, match=r"argument x of Setup\.forward"):
        Setup.apply(x)


def test_parameters_and_subclasses_of_tensors_are_tensors() -> None:
    class Noted(Tensor):
        """A tensor of a class of its own."""

    noted = torch.rand(3).as_subclass(Noted)
    assert isinstance(scale(noted, torch.tensor(2.0)), Noted)
    assert scale(nn.Parameter(z(3)), nn.Parameter(torch.tensor(2.0))).shape == (3,)
    with pytest.raises(ShapeError):
        scale(noted[:, None], torch.tensor(2.0))


@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_tensors_of_every_layout_are_checked_by_their_shapes() -> None:
    @checked
    def rows(x: Float[Tensor, "b n"]) -> int:
        return x.shape[0]

    for x in (
        z(3, 4).to_sparse(),
        z(3, 4).to_sparse_csr(),
        z(4, 3).T,
        z(3, 4, 2)[..., 0],
        torch.zeros(1).expand(3, 4),
        z(3, 4, device="meta"),
    ):
        assert rows(x) == 3
    with pytest.raises(ShapeError):
        rows(z(3, 4, 5).to_sparse())


def test_ragged_axes_are_equal_where_torch_says_so() -> None:
    @checked
    def add(x: Float[Tensor, "b n d"], y: Float[Tensor, "b n d"]) -> Float[Tensor, "b n d"]:
        return x + y

    first = torch.nested.nested_tensor([z(2, 4), z(3, 4)], layout=torch.jagged)
    other = torch.nested.nested_tensor([z(2, 4), z(1, 4)], layout=torch.jagged)
    assert add(first, first * 2).is_nested
    with pytest.raises(ShapeError, match=r"axis 1 is j\d+, not n=j\d+"):
        add(first, other)


def test_symbolic_sizes_are_refused_by_their_values() -> None:
    with pytest.raises(ShapeError, match="axis 0 is 4, not n=3"):
        make_fx(energy, tracing_mode="symbolic")(z(3), z(4, 4))


def test_sizes_that_are_zero_or_have_no_axes() -> None:
    assert energy(z(0), z(0, 0)) == 0
    assert scale(z(0), z(())).shape == (0,)
    with pytest.raises(ShapeError):
        energy(z(0), z(0, 1))


def test_a_function_of_torch_function_mode() -> None:
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return function(*args, **(kwargs or {}))

    with Mode():
        assert energy(torch.rand(3), torch.rand(3, 3)).shape == ()
        with pytest.raises(ShapeError):
            energy(torch.rand(3), torch.rand(4, 4))


def test_no_grad_and_inference_mode_as_decorators() -> None:
    below = torch.no_grad()(energy)
    above = checked(torch.inference_mode()(energy.__wrapped__))
    x = torch.rand(3, requires_grad=True)
    for function in (below, above):
        assert not function(x, torch.rand(3, 3)).requires_grad
        with pytest.raises(ShapeError):
            function(x, torch.rand(4, 4))


def test_autocast_changes_the_dtype_that_a_result_has() -> None:
    @checked
    def half(x: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
        return x @ x

    with torch.autocast("cpu", torch.bfloat16):
        assert half(torch.rand(3, 3)).dtype is torch.bfloat16


def test_checkpointing_calls_the_checked_function_again() -> None:
    from torch.utils.checkpoint import checkpoint

    x = torch.rand(3, requires_grad=True)
    checkpoint(energy, x, torch.rand(3, 3), use_reentrant=False).backward()
    assert x.grad is not None


def test_a_module_is_copied_pickled_and_hooked_as_before() -> None:
    model = Block(3)
    seen: list[Any] = []
    model.register_forward_hook(lambda module, inputs, output: seen.append(output.shape))
    copied = copy.deepcopy(model)
    copied.n = 4
    with pytest.raises(ShapeError):
        copied(z(2, 3))
    loaded = pickle.loads(pickle.dumps(Block(3)))
    assert loaded(z(2, 3)).shape == model(z(2, 3)).shape == (2, 3)
    assert seen == [(2, 3)]
    assert set(model.state_dict()) == {"linear.weight", "linear.bias"}


def test_a_loss_over_labels() -> None:
    @checked
    def loss(logits: Float[Tensor, "b c"], labels: Int[Tensor, "b"]) -> Float[Tensor, ""]:
        return nn.functional.cross_entropy(logits, labels)

    labels = torch.zeros(3, dtype=torch.int64)
    loss(torch.rand(3, 4), labels)
    for wrong in (labels[:2], labels.float()):
        with pytest.raises(TypeError):
            loss(torch.rand(3, 4), wrong)
