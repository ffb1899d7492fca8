"""Gradients are clipped by their norm as measured, and left alone where nothing is to be clipped."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from shaped.trainers import NotFiniteError, NotFiniteGradientsError, clip_grad_norm


def with_gradient(*numbers: float, dtype: torch.dtype = torch.float32) -> nn.Parameter:
    parameter = nn.Parameter(torch.zeros(len(numbers), dtype=dtype))
    parameter.grad = torch.tensor(numbers, dtype=dtype)
    return parameter


def gradients(parameters: list[nn.Parameter]) -> list[list[float] | None]:
    return [None if one.grad is None else one.grad.tolist() for one in parameters]


NUMBERS = st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=5)


@given(st.lists(NUMBERS, min_size=1, max_size=3), st.floats(1e-3, 1e3), st.sampled_from([1.0, 2.0, 3.0, math.inf]))
def test_the_norm_is_that_of_before_and_clipping_is_torchs_where_there_is_any(
    numbers: list[list[float]], max_norm: float, norm_type: float
) -> None:
    parameters = [with_gradient(*one) for one in numbers]
    theirs = copy.deepcopy(parameters)
    for one, original in zip(theirs, parameters):
        one.grad = None if original.grad is None else original.grad.clone()
    before = gradients(parameters)
    wanted = torch.nn.utils.clip_grad_norm_(theirs, max_norm, norm_type)
    norm = clip_grad_norm(parameters, max_norm, norm_type)
    assert norm.item() == wanted.item()
    assert norm.shape == ()
    assert gradients(parameters) == (gradients(theirs) if norm > max_norm else before)


def test_a_gradient_of_the_largest_norm_stays_where_torch_makes_2_9999993_of_3() -> None:
    ours, theirs = with_gradient(3.0, 4.0), with_gradient(3.0, 4.0)
    assert clip_grad_norm(ours, 5.0).item() == torch.nn.utils.clip_grad_norm_(theirs, 5.0).item() == 5.0
    assert gradients([ours]) == [[3.0, 4.0]]
    assert theirs.grad is not None
    assert theirs.grad[0].item() == 2.9999992847442627  # torch's factor is 5 / (5 + 1e-6)


def test_a_gradient_is_of_the_largest_norm_if_it_is_so_in_its_own_dtype() -> None:
    parameter = with_gradient(0.1)
    assert clip_grad_norm(parameter, 0.1).item() > 0.1  # as the float64 that Python makes of it
    assert gradients([parameter]) == [[torch.tensor(0.1).item()]]


def test_known_norms() -> None:
    parameter = with_gradient(3.0, 4.0)
    assert clip_grad_norm(parameter, math.inf).item() == 5
    assert clip_grad_norm(parameter, math.inf, norm_type=1).item() == 7
    assert clip_grad_norm(parameter, math.inf, norm_type=math.inf).item() == 4
    assert gradients([parameter]) == [[3, 4]]


def test_a_model_is_its_parameters_and_those_without_a_gradient_are_left_out() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    model[0].requires_grad_(False)
    model(torch.ones(4, 2)).sum().backward()
    norm = clip_grad_norm(model, 0.5)
    own = [one for one in model[1].parameters() if one.grad is not None]
    assert norm.item() > 0.5
    # torch divides by the norm and 1e-6 more, and rounds to 2^-24 twice.
    assert torch.nn.utils.get_total_norm([one.grad for one in own if one.grad is not None]).item() == pytest.approx(
        0.5, rel=1e-5
    )
    assert model[0].weight.grad is None


def test_a_weight_that_is_there_twice_counts_once() -> None:
    shared = with_gradient(3.0, 4.0)
    assert clip_grad_norm([shared, shared], 1.0).item() == 5
    assert gradients([shared])[0] == pytest.approx([0.6, 0.8], rel=1e-5)
    tied = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    tied[1].weight = tied[0].weight
    tied[0].weight.grad = torch.full((2, 2), 2.0)
    assert clip_grad_norm(tied, 100.0).item() == 4


def test_parameters_may_come_from_a_generator() -> None:
    parameters = [with_gradient(3.0), with_gradient(4.0)]
    assert clip_grad_norm((one for one in parameters), 1.0).item() == 5
    assert gradients(parameters) != [[3.0], [4.0]]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_norm_that_is_not_finite_is_an_error_that_names_the_parameters(bad: float) -> None:
    model = nn.Linear(2, 1)
    model.weight.grad, model.bias.grad = torch.tensor([[1.0, bad]]), torch.tensor([9.0])
    with pytest.raises(
        NotFiniteGradientsError, match=r"\(in the gradients of weight\), and nothing was clipped"
    ) as error:
        clip_grad_norm(model, 1.0)
    assert error.value.names == ("weight",)
    assert str(error.value.norm) == str(abs(bad))
    assert model.bias.grad.item() == 9
    assert isinstance(error.value, ArithmeticError)


def test_a_norm_that_overflows_is_told_from_gradients_that_are_not_finite() -> None:
    with pytest.raises(NotFiniteGradientsError, match="each gradient is finite, but not their norm") as error:
        clip_grad_norm([with_gradient(3e38), with_gradient(3e38)], 1.0)
    assert error.value.names == ()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_without_the_error_the_norm_is_given_and_nothing_is_scaled(bad: float) -> None:
    parameters = [with_gradient(bad), with_gradient(9.0)]
    norm = clip_grad_norm(parameters, 1.0, error_if_nonfinite=False)
    assert str(norm.item()) == str(bad)
    assert gradients(parameters)[1] == [9.0]  # torch's becomes NaN or 0


def test_no_gradient_at_all_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"none of 2 parameters has a gradient: is it called before loss.backward\(\)"):
        clip_grad_norm(nn.Linear(1, 1), 1.0)
    with pytest.raises(ValueError, match="none of 0 parameters has a gradient"):
        clip_grad_norm([], 1.0)


def test_gradients_of_zero_stay() -> None:
    parameter = with_gradient(0.0)
    assert clip_grad_norm(parameter, 1e-30).item() == 0
    assert gradients([parameter]) == [[0.0]]


@pytest.mark.parametrize("max_norm", [0, -1.0, math.nan])
def test_a_largest_norm_is_above_zero(max_norm: float) -> None:
    with pytest.raises(ValueError, match=r"max_norm is .*: a number above 0 is needed"):
        clip_grad_norm(with_gradient(1.0), max_norm)


@pytest.mark.parametrize("norm_type", [0, -1.0, math.nan])
def test_a_norm_has_a_kind(norm_type: float) -> None:
    with pytest.raises(ValueError, match=r"norm_type is .*: a number above 0, or math.inf, is needed"):
        clip_grad_norm(with_gradient(1.0), 1.0, norm_type)


@pytest.mark.parametrize("form", [nn.Module.named_parameters, lambda model: dict(model.named_parameters())])
def test_parameters_may_have_names(form: Callable[[nn.Module], Any]) -> None:
    model = nn.Linear(2, 1)
    model.weight.grad, model.bias.grad = torch.tensor([[3.0, math.nan]]), torch.tensor([4.0])
    with pytest.raises(NotFiniteGradientsError, match="in the gradients of weight"):
        clip_grad_norm(form(model), 1.0)


@pytest.mark.parametrize(
    "parameters, max_norm, message",
    [
        (torch.optim.SGD([torch.zeros(1)]), 1.0, "parameters is a SGD: a module is needed, or its parameters"),
        ([1.0], 1.0, "parameters: parameter 0 is a float: a tensor is needed"),
        (1.0, nn.Linear(1, 1), "max_norm is Linear"),
        (nn.Linear(1, 1), None, "max_norm is None: a number above 0 is needed"),
    ],
)
def test_arguments_of_another_kind_are_named(parameters: Any, max_norm: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"clip_grad_norm: {message}"):
        clip_grad_norm(parameters, max_norm)


def test_the_error_is_that_of_a_loss_that_is_not_finite() -> None:
    with pytest.raises(NotFiniteError):
        clip_grad_norm(with_gradient(math.nan), 1.0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_gradients_of_any_float_are_clipped(dtype: torch.dtype) -> None:
    parameter = with_gradient(3.0, 4.0, dtype=dtype)
    assert clip_grad_norm(parameter, 1.0).item() == 5
    # bfloat16 has 8 bits: half a unit in the last place of each of two roundings.
    assert gradients([parameter])[0] == pytest.approx([0.6, 0.8], rel=2**-7)


def test_the_norm_needs_no_gradient_of_its_own() -> None:
    assert not clip_grad_norm(with_gradient(3.0), 1.0).requires_grad


SHARDED = """
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from shaped.trainers import clip_grad_norm
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = init_device_mesh("cpu", (1,))
weight = nn.Parameter(distribute_tensor(torch.zeros(2), mesh, [Shard(0)]))
weight.grad = distribute_tensor(torch.tensor([3.0, 4.0]), mesh, [Shard(0)])
norm = clip_grad_norm([weight], 1.0)
print(type(norm).__name__, norm.item(), [round(x, 5) for x in weight.grad.full_tensor().tolist()])
dist.destroy_process_group()
"""


def test_gradients_that_are_sharded_over_processes_have_one_norm() -> None:
    done = subprocess.run([sys.executable, "-c", SHARDED], capture_output=True, text=True, check=False)
    assert done.stdout == "Tensor 5.0 [0.6, 0.8]\n", done.stderr
