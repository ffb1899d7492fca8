"""An optimiser of parameters that are no longer the model's is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam, Optimizer

from shaped.runtime.optimized import require_optimized


@pytest.fixture
def overwriting() -> Iterator[None]:
    """Conversions of modules make new parameters, as they do for XLA."""
    before = torch.__future__.get_overwrite_module_params_on_conversion()
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    yield
    torch.__future__.set_overwrite_module_params_on_conversion(before)


def stepped(make: Callable[..., Optimizer], model: nn.Module) -> Optimizer:
    optimizer = make(model.parameters(), lr=0.1)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return optimizer


@pytest.mark.parametrize("make", [SGD, Adam])
def test_the_parameters_of_the_model_are_accepted_before_and_after_steps(make: Callable[..., Optimizer]) -> None:
    model = nn.Linear(2, 3)
    require_optimized(make(model.parameters(), lr=0.1), model)
    require_optimized(stepped(make, model), model)


def test_a_conversion_that_keeps_the_parameters_is_no_error() -> None:
    model = nn.Linear(2, 3)
    optimizer = Adam(model.parameters())
    require_optimized(optimizer, model.double())


@pytest.mark.usefixtures("overwriting")
def test_a_conversion_that_makes_new_parameters_is_an_error() -> None:
    model = nn.Linear(2, 3)
    optimizer = Adam(model.parameters())
    model.to(torch.float64)
    before = model.weight.detach().clone()
    model(torch.ones(1, 2, dtype=torch.float64)).sum().backward()
    optimizer.step()
    assert torch.equal(model.weight, before)  # what torch does: nothing
    with pytest.raises(
        ValueError, match=r"parameter 0 of the optimizer's group 0, \(3, 2\) \(the shape of weight\), is no parameter"
    ):
        require_optimized(optimizer, model)


def test_a_model_that_leaves_the_device_meta_is_an_error() -> None:
    model = nn.Linear(2, 3, device="meta")
    optimizer = SGD(model.parameters())
    require_optimized(optimizer, model)
    with pytest.raises(ValueError, match="before the model's parameters were replaced"):
        require_optimized(optimizer, model.to_empty(device="cpu"))


def test_parameters_that_were_assigned_are_an_error() -> None:
    model = nn.Linear(2, 3)
    optimizer = SGD(model.parameters())
    model.load_state_dict(nn.Linear(2, 3).state_dict(), assign=True)
    with pytest.raises(ValueError, match=r"load_state_dict\(assign=True\)"):
        require_optimized(optimizer, model)


def test_loose_tensors_that_were_converted_are_an_error() -> None:
    w, b = torch.zeros(2, requires_grad=True), torch.zeros(3, requires_grad=True)
    optimizer = SGD([w, b])
    require_optimized(optimizer, [w, b])
    require_optimized(optimizer, {"w": w, "b": b})
    b = b.to(torch.float64)
    with pytest.raises(ValueError, match=r"parameter 1 of the optimizer's group 0, \(3,\) \(the shape of b\), is no"):
        require_optimized(optimizer, {"w": w, "b": b})


def test_a_parameter_of_a_later_group_is_looked_at_too() -> None:
    model = nn.Linear(2, 3)
    optimizer = SGD([{"params": [model.weight]}, {"params": [nn.Parameter(torch.zeros(5))]}])
    with pytest.raises(ValueError, match=r"parameter 0 of the optimizer's group 1, \(5,\), is no parameter"):
        require_optimized(optimizer, model)


@pytest.mark.parametrize(
    "move, problem",
    [
        (lambda model: model.to(torch.float64), r"its exp_avg is torch\.float32, it torch\.float64"),
        (lambda model: setattr(model.weight, "data", model.weight.data.double()), r"weight was moved after"),
    ],
)
def test_moments_that_stayed_behind_are_an_error(move: Callable[[nn.Module], object], problem: str) -> None:
    model = nn.Linear(2, 3)
    optimizer = stepped(Adam, model)
    move(model)
    with pytest.raises(ValueError, match=problem):
        require_optimized(optimizer, model)


def test_a_moment_on_another_device_is_an_error() -> None:
    model = nn.Linear(2, 3)
    optimizer = stepped(Adam, model)
    optimizer.state[model.weight]["exp_avg"] = torch.zeros(3, 2, device="meta")
    with pytest.raises(ValueError, match="its exp_avg is on meta, it on cpu: make the optimizer after"):
        require_optimized(optimizer, model)


class LowPrecision(Adam):
    """Keeps its moments in its own way."""


def test_an_optimizer_of_others_keeps_its_moments_as_it_likes() -> None:
    model = nn.Linear(2, 3)
    optimizer = stepped(LowPrecision, model)
    optimizer.state[model.weight]["exp_avg"] = torch.zeros(3, 2, dtype=torch.bfloat16)
    require_optimized(optimizer, model)


def test_a_tensor_alone_and_parameters_with_names_are_taken() -> None:
    model = nn.Linear(2, 3)
    require_optimized(SGD([model.weight]), model.weight)
    require_optimized(SGD(model.parameters()), model.named_parameters())
    with pytest.raises(ValueError, match="the shape of bias"):
        require_optimized(SGD([torch.zeros(3)]), model.named_parameters())


def test_arguments_in_the_other_order_are_refused() -> None:
    model = nn.Linear(2, 3)
    with pytest.raises(TypeError, match=r"optimizer is a Linear: a torch\.optim\.Optimizer is needed, then the model"):
        require_optimized(model, SGD(model.parameters()))  # type: ignore[arg-type]  # on purpose
