"""Values, gradients and steps of a trainer, and what it takes for inputs."""

from __future__ import annotations

import functools
import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from beartype import beartype
from jaxtyping import Float, Int, jaxtyped
from torch import Tensor

from shaped.errors import DtypeError, ShapeError
from shaped.init import KaimingUniform, Ones, Zeros
from shaped.runtime.tlist import TList
from shaped.trainers import ScalarTrainer
from tests.trainers.quickstart import NAMES, SAMPLES, Inputs, Params, loss


def trainer(**options: Any) -> ScalarTrainer[Params, Inputs]:
    return ScalarTrainer(loss, names=NAMES, input_names=("x", "y"), **options)


X, Y = torch.tensor([0.5, -0.25]), torch.tensor([0.75])


def by_hand(params: Any) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The loss and the gradients by a tape of our own."""
    own = [param.detach().clone().requires_grad_() for param in params]
    value = loss(TList(*own), TList(X, Y))
    return value.detach(), torch.autograd.grad(value, own)


def test_loss_and_gradients_are_those_of_autograd_and_nothing_changes() -> None:
    of = trainer()
    before = of.params.clone()
    value, gradients = by_hand(of.params)
    assert of.loss_and_backward(X, Y) == (value, TList(*gradients))
    assert of.backward(X, Y) == TList(*gradients)
    assert of.forward(X, Y) == value
    assert of.params == before
    assert all(param.grad is None for param in of.params)


def test_a_loss_that_is_given_back_has_no_history() -> None:
    of = trainer()
    losses = [of.forward(X, Y), of.loss_and_backward(X, Y)[0], of.step_with_loss(X, Y, lr=0.1)]
    assert not any(each.requires_grad for each in losses)
    assert all(each.shape == () for each in losses)


def test_a_step_subtracts_the_gradient_times_the_rate() -> None:
    of = trainer()
    before = of.params.clone()
    value, gradients = by_hand(before)
    assert of.step_with_loss(X, Y, lr=0.25) == value  # a power of 2: `lr*g` is not rounded
    expected = [param - 0.25 * gradient for param, gradient in zip(before, gradients)]
    assert of.params == TList(*expected)


def test_lists_in_place_of_inputs_give_the_same() -> None:
    one, other = trainer(), trainer()
    inputs = TList(X, Y)
    assert one.forward_t(inputs) == other.forward(X, Y)
    assert one.loss_and_backward_t(inputs) == other.loss_and_backward(X, Y)
    assert one.backward_t(inputs) == other.backward(X, Y)
    assert one.step_with_loss_t(inputs, lr=0.1) == other.step_with_loss(X, Y, lr=0.1)
    one.step_t(inputs, lr=0.1)
    other.step(X, Y, lr=0.1)
    assert one.params == other.params


def test_the_parameters_are_the_live_leaves() -> None:
    of = trainer()
    held = of.params
    of.step(X, Y, lr=0.1)
    assert all(a is b for a, b in zip(held, of.params))
    assert all(param.is_leaf and param.requires_grad for param in held)


def test_given_parameters_are_copied() -> None:
    given = TList(torch.ones(8, 2), torch.ones(8), torch.ones(1, 8), torch.ones(1))
    of = trainer(params=given)
    of.step(X, Y, lr=0.1)
    assert given == TList(torch.ones(8, 2), torch.ones(8), torch.ones(1, 8), torch.ones(1))


def test_a_step_works_without_grad_and_in_inference_mode() -> None:
    usual, of, inferring = trainer(), trainer(), trainer()
    usual.step([0.5, -0.25], [0.75], lr=0.1)
    with torch.no_grad():
        of.step([0.5, -0.25], [0.75], lr=0.1)
    assert of.params == usual.params
    x, y = X.clone(), Y.clone()
    with torch.inference_mode():
        inferring.step(x, y, lr=0.1)
    assert inferring.params == usual.params


def test_gradients_by_inputs_are_not_kept() -> None:
    x = X.clone().requires_grad_()
    of = trainer()
    of.step(x, Y, lr=0.1)
    assert x.grad is None


def test_the_loss_before_a_step_is_no_parameter_that_the_step_changes() -> None:
    of = ScalarTrainer(lambda params, inputs: params[0], [()], [], params=[3.0])
    entry = ScalarTrainer(lambda params, inputs: params[0][1], [(2,)], [], params=[[1.0, 3.0]])
    for each in (of, entry):
        before = [each.forward(), each.loss_and_backward()[0], each.step_with_loss(lr=1)]
        assert [value.item() for value in before] == [3, 3, 3]
        assert each.forward().item() == 2


def test_gradients_have_memory_of_their_own() -> None:
    of = ScalarTrainer(lambda params, inputs: (params[0] + params[1]).sum(), [(3,), (3,)], [])
    first, second = of.backward()
    first.mul_(2)
    assert (first.tolist(), second.tolist()) == ([2, 2, 2], [1, 1, 1])


def test_a_hook_of_the_optimiser_may_write_to_gradients() -> None:
    of = ScalarTrainer(
        lambda params, inputs: (params[0] + params[1]).sum(),
        [(4,), (4,)],
        [],
        optimizer=lambda params: torch.optim.SGD(params, lr=1),
        params=[torch.zeros(4), torch.zeros(4)],
    )
    assert of.optimizer is not None

    def clip(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        torch.nn.utils.clip_grad_norm_(list(of.params), 1.0)

    of.optimizer.register_step_pre_hook(clip)
    of.step()
    assert torch.cat(list(of.params)).norm().item() == pytest.approx(1, rel=1e-5)  # clipping adds 1e-6 to the norm


def test_a_loss_may_take_gradients_by_its_inputs() -> None:
    def slope(params: Any, inputs: Any) -> Tensor:
        x = inputs[0].detach().requires_grad_()
        (by_x,) = torch.autograd.grad((params[0] * x**2).sum(), x, create_graph=True)
        return (by_x - 1).square().sum()

    of = ScalarTrainer(slope, [()], [(2,)], params=[1.0])
    assert of.forward([1.0, 2.0]).item() == 10  # (2ax - 1)^2
    assert of.backward([1.0, 2.0])[0].item() == 28  # 4x(2ax - 1)
    assert of.step_with_loss([1.0, 2.0], lr=0.0).item() == 10


def test_a_setting_of_the_loss_is_no_integer_input() -> None:
    def scaled(params: Any, inputs: Any, factor: float = 2.0) -> Tensor:
        return (params[0] * inputs[0]).sum() * factor

    assert ScalarTrainer(scaled, [(1,)], [(1,)], params=[[3.0]]).forward([1.0]).item() == 6
    partial = functools.partial(scaled, factor=4.0)
    assert ScalarTrainer(partial, [(1,)], [(1,)], params=[[3.0]]).forward([1.0]).item() == 12


def test_a_loss_that_is_checked_at_run_time_is_taken() -> None:
    checked = jaxtyped(typechecker=beartype)(loss)
    of = ScalarTrainer(checked, names=NAMES)
    assert of.step_with_loss(X, Y, lr=0.1) == trainer().forward(X, Y)


# Frozen and unused parameters.


@pytest.mark.parametrize("trainable", [(True, False, True, False), ("w1", "w2")])
def test_a_frozen_parameter_stays_and_has_zeros_in_its_slot(trainable: Any) -> None:
    of = trainer(trainable=trainable, init=Ones())
    before = of.params.clone()
    gradients = of.backward(X, Y)
    assert gradients[1::2] == TList(torch.zeros(8), torch.zeros(1))
    assert [bool(each.any()) for each in gradients] == [True, False, True, False]
    of.step(X, Y, lr=0.1)
    assert [torch.equal(a, b) for a, b in zip(of.params, before)] == [False, True, False, True]
    assert of.trainable == (True, False, True, False)
    assert [param.requires_grad for param in of.params] == [True, False, True, False]


def test_with_everything_frozen_a_step_changes_nothing() -> None:
    of = trainer(trainable=(False,) * 4)
    before = of.params.clone()
    of.step(X, Y, lr=0.1)
    assert of.params == before
    assert not any(bool(each.any()) for each in of.backward(X, Y))


@pytest.mark.parametrize(
    "trainable, message",
    [
        ((True,), "trainable has 1 bools for 4 parameters"),
        (("w3",), "trainable has w3: the parameters are w1, b1, w2, b2"),
        ("w1", "trainable is 'w1'"),
    ],
)
def test_what_is_trainable_fits_the_parameters(trainable: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        trainer(trainable=trainable)


def test_a_parameter_that_the_loss_does_not_use_is_told_and_has_zeros() -> None:
    def half(params: Any, inputs: Any) -> Tensor:
        return (params[0] * inputs[0]).sum()

    with pytest.warns(UserWarning, match="does not depend on the parameters b: their gradients are zeros"):
        of = ScalarTrainer(half, [(2,), (3,)], [(2,)], names=("a", "b"), init=Ones())
    assert of.unused == ("b",)
    assert of.backward([1, 2]) == TList(torch.tensor([1.0, 2.0]), torch.zeros(3))
    of.step([1, 2], lr=1)
    assert of.params == TList(torch.tensor([0.0, -1.0]), torch.ones(3))


def test_a_loss_of_no_parameter_has_zeros_everywhere() -> None:
    with pytest.warns(UserWarning, match="does not depend on the parameters a"):
        of = ScalarTrainer(lambda params, inputs: inputs[0].sum(), [(2,)], [(2,)], names=("a",))
    assert of.loss_and_backward([1, 2]) == (torch.tensor(3.0), TList(torch.zeros(2)))


# Learning rates and numbers that are not finite.


@pytest.mark.parametrize("lr", [-0.1, math.nan, math.inf, True])
def test_a_rate_is_finite_and_not_negative(lr: float) -> None:
    of = trainer()
    before = of.params.clone()
    with pytest.raises(ValueError, match=f"lr is {lr}: a finite number of 0 or more is needed"):
        of.step(X, Y, lr=lr)
    assert of.params == before


def test_a_step_without_a_rate_is_refused() -> None:
    with pytest.raises(ValueError, match="step needs lr, since the trainer has no optimiser"):
        trainer().step(X, Y)


def test_numbers_that_are_not_finite_pass_through() -> None:
    square = ScalarTrainer(lambda params, inputs: (params[0] - inputs[0]) ** 2, [()], [()])
    assert square.forward(math.inf).item() == math.inf
    of = trainer()
    assert math.isnan(of.step_with_loss([math.nan, 0.0], [1.0], lr=0.1).item())
    assert bool(of.params[3].isnan().all())


def test_a_loss_that_raises_leaves_all_as_it_was() -> None:
    class OfTheLossError(Exception):
        pass

    def raising(params: Any, inputs: Any) -> Tensor:
        value = (params[0] * inputs[0]).sum()
        if inputs[0].ndim and not isinstance(inputs[0], torch._subclasses.FakeTensor) and inputs[0][0] > 5:
            raise OfTheLossError
        return value

    of = ScalarTrainer(raising, [(2,)], [(2,)], optimizer=lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.5))
    of.step([1, 2])
    before, state = of.params.clone(), of.state_dict()
    with pytest.raises(OfTheLossError):
        of.step([9, 2])
    assert of.params == before
    assert of.params[0].grad is None
    after = of.state_dict()["optimizer"]["state"][0]["momentum_buffer"]
    assert torch.equal(after, state["optimizer"]["state"][0]["momentum_buffer"])


# Inputs.


def nearest(params: Any, inputs: Any, nats: Any) -> Tensor:
    (table,), (x,), (tokens,) = params, inputs, nats
    assert tokens.dtype in (torch.int64, torch.uint8)
    return (table[tokens.long()] * x).sum()


def test_integer_inputs_keep_their_dtype_and_every_bit() -> None:
    seen: list[Tensor] = []

    def keeping(params: Any, inputs: Any, nats: Any) -> Tensor:
        seen.append(nats[0])
        return (params[0] * inputs[0]).sum()

    of = ScalarTrainer(keeping, [(1,)], [(1,)], [(2,)])
    large = 2**62 + 1
    of.forward([1.0], [large, -1])
    assert seen[-1].tolist() == [large, -1]
    assert seen[-1].dtype == torch.int64
    of.forward([1.0], torch.tensor([1, 2], dtype=torch.uint8))
    assert seen[-1].dtype == torch.uint8


def test_integer_inputs_come_after_float_inputs() -> None:
    of = ScalarTrainer(nearest, [(5, 2)], [(2,)], [("n",)], init=Ones(), names=("table",))
    assert of.forward([1.0, 2.0], [0, 3, 3]).item() == 9
    assert of.backward_t(TList(torch.ones(2)), TList(torch.tensor([1])))[0][1].tolist() == [1, 1]
    with pytest.raises(ValueError, match="0 float inputs are given: the trainer takes input 0"):
        of.forward_t(TList(), TList(torch.tensor([1.0, 2.0]), torch.tensor([1])))


@pytest.mark.parametrize(
    "value",
    [(0.5, -0.25), np.array([0.5, -0.25]), X.double(), X.to(torch.bfloat16), [np.float32(0.5), torch.tensor(-0.25)]],
    ids=["tuple", "float64 array", "float64 tensor", "bfloat16 tensor", "numbers of arrays and tensors"],
)
def test_float_inputs_are_brought_to_the_dtype_of_the_trainer(value: Any) -> None:
    of = trainer()
    assert of.forward(value, [0.75]) == of.forward(X, Y)


@pytest.mark.parametrize(
    "inputs, error, message",
    [
        (([1.0, 2.0, 3.0], [1.0]), ShapeError, 'input x: (3,) does not match "2": axis 0 is 3, not 2'),
        ((X[None], Y), ShapeError, 'input x: (1, 2) does not match "2": it has 2 axes, not 1'),
        (([[1.0], [2.0, 3.0]], Y), ShapeError, "input x[1]: has 2 numbers, where input x[0] has 1"),
        (([1.0, [2.0]], Y), ShapeError, "input x[1]: is a list of 1, where input x[0] is a number"),
        (([[1.0], 2.0], Y), ShapeError, "input x[1]: is a number, where input x[0] is a list of 1"),
        (([1.0, "2"], Y), DtypeError, "input x[1]: '2' is no number"),
        (([1.0, 10**400], Y), DtypeError, "is too large for a float"),
        ((torch.tensor([1, 2]), Y), DtypeError, "input x: dtype int64 does not match float32"),
        ((X + 1j, Y), DtypeError, "input x: dtype complex64 does not match float32"),
        ((np.array(["a", "b"]), Y), DtypeError, "input x: an array of dtype <U1 is no tensor"),
        (({}, Y), DtypeError, "input x: a dict is no tensor"),
        (
            (X,),
            ValueError,
            '1 input is given: the trainer takes input x Float[Tensor, "2"], input y Float[Tensor, "1"]',
        ),
    ],
)
def test_a_wrong_input_is_named(inputs: Any, error: type[Exception], message: str) -> None:
    of = trainer()
    with pytest.raises(error, match=re.escape(message)):
        of.forward(*inputs)


@pytest.mark.parametrize(
    "value, message",
    [
        ([1.0, 2], "integer input 0[0]: 1.0 is no integer"),
        ([True, 2], "integer input 0[0]: True is no integer"),
        ([2**63], "integer input 0[0]: 9223372036854775808 needs more than 64 bits"),
        (torch.ones(2), "integer input 0: dtype float32 is no integer dtype"),
        (np.ones(2), "integer input 0: dtype float64 is no integer dtype"),
        (torch.tensor([True]), "integer input 0: dtype bool does not match"),
    ],
)
def test_a_wrong_integer_input_is_named(value: Any, message: str) -> None:
    of = ScalarTrainer(nearest, [(5, 2)], [(2,)], [("n",)])
    with pytest.raises(DtypeError, match=re.escape(message)):
        of.forward(X, value)


def test_a_name_of_an_axis_has_one_size_in_a_call() -> None:
    def batched(params: Any, inputs: Any) -> Tensor:
        return F.mse_loss(inputs[0] @ params[0], inputs[1])

    of = ScalarTrainer(batched, [("d", 1)], [("b", "d"), ("b", 1)], params=[torch.ones(3, 1)], input_names=("x", "y"))
    for b in (1, 4, 2):
        of.forward(torch.ones(b, 3), torch.ones(b, 1))
    with pytest.raises(ShapeError, match=re.escape('input y: (5, 1) does not match "b 1": axis 0 is 5, not b=4')):
        of.forward(torch.ones(4, 3), torch.ones(5, 1))
    with pytest.raises(ShapeError, match=re.escape('input x: (4, 2) does not match "b d": axis 1 is 2, not d=3')):
        of.forward(torch.ones(4, 2), torch.ones(4, 1))


def test_annotations_say_dtypes_too() -> None:
    def loss(params: TList[Float[Tensor, "5 2"]], inputs: TList[()], nats: TList[Int[Tensor, "n"]]) -> Tensor:
        return params[0][nats[0].long()].sum()

    of = ScalarTrainer(loss, init=Ones())
    assert of.forward_t(TList(), TList(torch.tensor([1, 2]))).item() == 4
    with pytest.raises(DtypeError, match="integer input 0: dtype uint8 does not match Int"):
        of.forward(torch.tensor([1], dtype=torch.uint8))


# How parameters are drawn.


def test_schemes_by_default_for_all_for_each_or_by_name() -> None:
    assert not bool(trainer().params[1].any())
    assert bool(trainer().params[0].any())
    assert all(bool((param == 1).all()) for param in trainer(init=Ones()).params)
    each = trainer(init=[Zeros(), Ones(), Zeros(), Ones()]).params
    assert [param.mean().item() for param in each] == [0, 1, 0, 1]
    by_name = trainer(init={"b1": Ones(), "w1": KaimingUniform()}).params
    assert bool((by_name[1] == 1).all())
    assert not torch.equal(by_name[0], trainer().params[0])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"init": [Ones()]}, "init has 1 schemes for 4 parameters"),
        ({"init": {"w3": Ones()}}, "init has w3: the parameters are w1, b1, w2, b2"),
        ({"seeds": "other"}, "seeds is 'other': names or reference is needed"),
        ({"params": [[1.0]]}, "1 parameters are given, 4 are declared"),
    ],
)
def test_what_draws_the_parameters_fits_them(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        trainer(**options)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_dtypes(dtype: torch.dtype) -> None:
    of = trainer(dtype=dtype)
    assert of.step_with_loss([0.5, -0.25], [0.75], lr=0.1).dtype == dtype
    assert {param.dtype for param in of.params} == {dtype}


# State.


def test_a_state_is_a_copy_and_is_put_back() -> None:
    def make(params: list[Tensor]) -> torch.optim.Optimizer:
        return torch.optim.Adam(params, lr=0.1)

    of, again = trainer(optimizer=make), trainer(optimizer=make, seed=1)
    of.step(X, Y)
    state = of.state_dict()
    of.step(X, Y)
    again.load_state_dict(state)
    again.step(X, Y)
    assert again.params == of.params


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    of = trainer()
    before = of.params.clone()
    state = of.state_dict()
    del state["params"]["b2"]
    with pytest.raises(ValueError, match="the state has the parameters w1, b1, w2; those of the trainer are"):
        of.load_state_dict(state)
    state = trainer(init=Ones()).state_dict()
    state["params"]["b2"] = torch.zeros(2)
    with pytest.raises(ShapeError, match=re.escape("parameter b2: (2,) does not match (1,)")):
        of.load_state_dict(state)
    with pytest.raises(ValueError, match="the state has an optimiser"):
        of.load_state_dict({**of.state_dict(), "optimizer": {}})
    assert of.params == before


def test_a_call_warns_of_nothing() -> None:
    of = trainer()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, y in SAMPLES:
            of.step(x, y, lr=0.1)


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: ScalarTrainer("loss"), TypeError, "loss is 'loss': a function"),  # type: ignore[arg-type]  # wrong
        (lambda: ScalarTrainer(None), TypeError, "loss is None: a function"),  # type: ignore[arg-type]  # wrong
        (lambda: trained(optimizer="adam"), TypeError, "optimizer is 'adam': a function that makes one"),
        (lambda: trained(dtype="float32"), DtypeError, "'float32' is no dtype"),
        (lambda: trained(seed="0"), ValueError, "seed is '0': an int"),
        (lambda: trained(param_shapes=TList(torch.zeros(1, 3))), Exception, r"a tensor of shape \(1, 3\) is no shape"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_named(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()


def trained(**options: Any) -> ScalarTrainer[Any, Any, Any]:
    """A trainer of one weight."""
    shapes = {"param_shapes": [(2,)], "input_shapes": [(2,)]}
    return ScalarTrainer(lambda params, inputs: (params[0] * inputs[0]).sum(), **{**shapes, **options})
