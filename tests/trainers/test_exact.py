"""The trainer's numbers and those of the same loss on spec tensors: within what rounding explains, or equal."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from shaped.runtime.tlist import TList
from shaped.spec.evaluation import Evaluated
from shaped.spec.scalars.floats import Floats
from shaped.spec.scalars.fractions import Fractions
from shaped.spec.scalars.running_error import FLOAT32, FLOAT64, RunningErrors
from shaped.spec.scalars.system import Undefined
from shaped.spec.tensor import NotExpressible
from shaped.trainers import ScalarTrainer, exact_loss_and_gradients, exact_sgd_step
from shaped.verify.budget import Budget, compare
from tests.trainers.families import FAMILIES, Family, Problem, classification, regression

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FORMATS = {torch.float32: FLOAT32, torch.float64: FLOAT64}
families = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
sizes = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
seeds = st.integers(0, 2**20)
dtypes = st.sampled_from(list(FORMATS))
# Each example takes a tenth of a second; `make slow` draws more.
few = settings(max_examples=25 if "SHAPED_RANDOM" in os.environ else 3)
# Bounds without limit, as of what is divided by a number that may be 0, are multiplied by 0 on the way.
unbounded = pytest.mark.filterwarnings("ignore:invalid value encountered in multiply:RuntimeWarning")


def trainer_of(problem: Problem, params: Sequence[Any], dtype: torch.dtype, **options: Any) -> ScalarTrainer:
    nats = [shape for shape, _ in problem.nats]
    return ScalarTrainer(problem.loss, problem.params, problem.inputs, nats, params=params, dtype=dtype, **options)


def of_gradients(trainer: ScalarTrainer, problem: Problem, values: Any, dtype: torch.dtype) -> list[Budget]:
    """How far the loss and the gradients of a trainer are from the exact ones; nothing where none can be told."""
    params, inputs, nats = values
    try:
        exact = exact_loss_and_gradients(problem.loss, params, inputs, nats, RunningErrors(FORMATS[dtype]))
    except Undefined:  # rounding may decide which side of a kink a number is on
        assume(False)
    loss, gradients = trainer.loss_and_backward(*inputs, *nats)
    value = Evaluated(np.full((), exact.loss), np.zeros((), dtype=np.int8))
    pairs = zip([loss, *gradients], [value, *exact.gradients])
    return [compare(number, each, name=f"number {place}") for place, (number, each) in enumerate(pairs)]


@unbounded
@pytest.mark.filterwarnings("ignore:the loss does not depend")
@families
@few
@given(sizes=sizes, seed=seeds, dtype=dtypes)
def test_gradients_are_as_near_to_the_exact_ones_as_rounding_explains(
    family: Family, sizes: tuple[int, int, int], seed: int, dtype: torch.dtype
) -> None:
    problem = family(*sizes)
    values = problem.values(seed, dtype)
    budgets = of_gradients(trainer_of(problem, values[0], dtype), problem, values, dtype)
    assert not [str(budget) for budget in budgets if budget.rho > 1]
    assert sum(budget.compared for budget in budgets)


def after_steps(problem: Problem, values: Any, lr: float, dtype: torch.dtype, count: int) -> list[Evaluated]:
    """The parameters after steps of gradient descent, each with a bound on what any sound kernel makes of them."""
    params, inputs, nats = values
    scalars = RunningErrors(FORMATS[dtype])
    try:
        for _ in range(count):
            params = exact_sgd_step(problem.loss, params, inputs, nats, lr=lr, scalars=scalars)
    except Undefined:
        assume(False)
    return [Evaluated(param, np.zeros(param.shape, dtype=np.int8)) for param in params]


@unbounded
@pytest.mark.filterwarnings("ignore:the loss does not depend")
@families
@few
@given(sizes=sizes, seed=seeds, dtype=dtypes)
def test_gradient_descent_stays_as_near_to_the_exact_one_as_rounding_explains(
    family: Family, sizes: tuple[int, int, int], seed: int, dtype: torch.dtype
) -> None:
    problem = family(*sizes)
    values = problem.values(seed, dtype)
    exact = after_steps(problem, values, 0.03, dtype, 3)
    trainer = trainer_of(problem, values[0], dtype)
    for _ in range(3):
        trainer.step(*values[1], *values[2], lr=0.03)
    budgets = [compare(param, each) for param, each in zip(trainer.params, exact)]
    assert not [str(budget) for budget in budgets if budget.rho > 1]
    assert sum(budget.compared for budget in budgets)


# Losses that are polynomials on each piece, and data of few bits: nothing is rounded in float64.


def squares(params: Any, inputs: Any) -> Tensor:
    (w, b), (x, y) = params, inputs
    return ((x @ w + b - y) ** 2).sum() / 4


def kinked(params: Any, inputs: Any) -> Tensor:
    (w, b), (x, y) = params, inputs
    return F.mse_loss(F.relu(x @ w + b), y, reduction="sum") + (w * b).sum().abs()


def product(params: Any, inputs: Any) -> Tensor:
    (w, b), (x, y) = params, inputs
    return (torch.einsum("nd,dh->h", x, w) * b - y.sum(0)).square().mean(-1)


small = st.integers(-3, 3)


@pytest.mark.parametrize("loss", [squares, kinked, product], ids=lambda loss: loss.__name__)
@settings(max_examples=6)
@given(data=st.data(), n=st.sampled_from([1, 2]), d=st.integers(1, 3), h=st.sampled_from([1, 2]))
def test_gradient_descent_over_fractions_is_that_on_torch_where_nothing_is_rounded(
    loss: Callable[..., Tensor], data: st.DataObject, n: int, d: int, h: int
) -> None:
    def drawn(*shape: int) -> Tensor:
        count = int(np.prod(shape))
        halves = data.draw(st.lists(small, min_size=count, max_size=count))
        return torch.tensor(halves, dtype=torch.float64).reshape(shape) / 2

    params, inputs = [drawn(d, h), drawn(h)], [drawn(n, d), drawn(n, h)]
    trainer = ScalarTrainer(loss, [(d, h), (h,)], [(n, d), (n, h)], params=params, dtype=torch.float64)
    exact: Sequence[Any] = params
    for _ in range(2):
        found = exact_loss_and_gradients(loss, exact, inputs, scalars=Fractions())
        assert Fraction(trainer.forward(*inputs).item()) == found.loss
        exact = exact_sgd_step(loss, exact, inputs, lr=0.0625, scalars=Fractions())
        trainer.step(*inputs, lr=0.0625)
        for param, each in zip(trainer.params, exact):
            assert [Fraction(number) for number in param.detach().flatten().tolist()] == list(each.flat)


@settings(max_examples=30)
@given(st.lists(st.floats(-4, 4), min_size=4, max_size=4))
def test_gradient_descent_over_floats_is_that_on_torch_bit_for_bit_where_the_order_of_operations_is(
    numbers: list[float],
) -> None:
    def loss(params: Any, inputs: Any) -> Tensor:
        (a, b), (x, y) = params, inputs
        return (a * x + b - y) ** 2

    *params, x, y = numbers
    trainer = ScalarTrainer(loss, [(), ()], [(), ()], params=params, dtype=torch.float64)
    exact: Sequence[Any] = params
    for _ in range(4):
        # A power of 2: torch may fuse `p - lr*g` into one rounding.
        trainer.step(x, y, lr=0.015625)
        exact = exact_sgd_step(loss, exact, [x, y], lr=0.015625, scalars=Floats())
    assert [param.item() for param in trainer.params] == [float(each) for each in exact]


# Wrong trainers.


def other_sign(gradients: Sequence[Tensor]) -> list[Tensor]:
    return [-gradient for gradient in gradients]


def without_bias(gradients: Sequence[Tensor]) -> list[Tensor]:
    return [torch.zeros_like(gradient) if gradient.ndim == 1 else gradient for gradient in gradients]


def a_millionth_off(gradients: Sequence[Tensor]) -> list[Tensor]:
    return [gradient * (1 + 1e-6) for gradient in gradients]


def of_twice_the_batch(gradients: Sequence[Tensor]) -> list[Tensor]:
    return [gradient / 2 for gradient in gradients]


MUTANTS = [other_sign, without_bias, a_millionth_off, of_twice_the_batch]


def wrong(trainer: ScalarTrainer, mutant: Callable[..., list[Tensor]], monkeypatch: pytest.MonkeyPatch) -> None:
    right = trainer._computing.differentiate

    def differentiate(inputs: Any, nats: Any) -> Any:
        loss, gradients = right(inputs, nats)
        return loss, mutant(gradients)

    monkeypatch.setattr(trainer._computing, "differentiate", differentiate)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
@pytest.mark.parametrize("family", [regression, classification], ids=lambda family: family.__name__)
def test_a_trainer_with_wrong_gradients_is_found(
    family: Family, mutant: Callable[..., list[Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, dtype = family(3, 2, 3), torch.float64
    values = problem.values(1, dtype)
    trainer = trainer_of(problem, values[0], dtype)
    wrong(trainer, mutant, monkeypatch)
    assert max(budget.rho for budget in of_gradients(trainer, problem, values, dtype)) > 1
    exact = after_steps(problem, values, 0.03, dtype, 2)
    for _ in range(2):
        trainer.step(*values[1], *values[2], lr=0.03)
    assert max(compare(param, each).rho for param, each in zip(trainer.params, exact)) > 1


def test_a_loss_that_detaches_a_part_is_found() -> None:
    problem, dtype = regression(3, 2, 3), torch.float64
    values = problem.values(1, dtype)

    def detached(params: Any, inputs: Any) -> Tensor:
        return problem.loss(TList(params[0].detach(), *params[1:]), inputs)

    with pytest.warns(UserWarning, match="does not depend on the parameters 0"):
        trainer = ScalarTrainer(detached, problem.params, problem.inputs, params=values[0], dtype=dtype)
    assert max(budget.rho for budget in of_gradients(trainer, problem, values, dtype)) > 1


# What the exact side refuses.


def test_a_loss_with_axes_is_refused() -> None:
    with pytest.raises(ValueError, match="the loss has 1 axes"):
        exact_loss_and_gradients(lambda params, inputs: params[0] * 2, [[1, 2]], [])


def test_a_loss_that_is_no_tensor_is_refused() -> None:
    with pytest.raises(NotExpressible, match="a loss of type float"):
        exact_loss_and_gradients(lambda params, inputs: 1.0, [[1, 2]], [])


def test_floats_as_integer_inputs_are_refused() -> None:
    with pytest.raises(ValueError, match=r"nat_inputs\[0\] has numbers of dtype float64"):
        exact_loss_and_gradients(lambda params, inputs, nats: params[0].sum(), [[1, 2]], [], [[0.5]])


def test_a_loss_without_a_value_has_no_gradients() -> None:
    with pytest.raises(Undefined, match="a divisor is 0"):
        exact_loss_and_gradients(lambda params, inputs: 1 / params[0], [0], [])


def test_a_frozen_parameter_stays() -> None:
    def loss(params: Any, inputs: Any) -> Any:
        return (params[0] * params[1] - inputs[0]) ** 2

    first, second = exact_sgd_step(loss, [1, 2], [5], lr=1, trainable=[False, True])
    assert (first[()], second[()]) == (1, 8)
