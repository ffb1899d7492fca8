"""Numbers are called wrong only where that is certain: kinks, noise and what autograd does not see are not."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from shaped.verify.comparison import fault_of_values
from shaped.verify.faults import Fault
from shaped.verify.subject import Subject
from shaped.verify.verdict import Level


def fault(forward: Any, backward: Any, *values: list[float], upstream: list[float] | float = 1.0) -> Fault | None:
    """The fault of a pair at float64 inputs."""
    inputs = tuple(torch.tensor(value, dtype=torch.float64) for value in values)
    weights = (torch.tensor(upstream, dtype=torch.float64),)
    subject = Subject.of(forward, backward)
    return fault_of_values(subject, inputs, weights, subject.run(inputs, weights))


def test_another_number_than_the_derivative_is_refuted_with_both() -> None:
    found = fault(lambda x: (x**3).sum(), lambda grad, x: 2 * grad * x * x, [1.0, 2.0])
    assert found == Fault(Level.REFUTED, "the gradient of x is wrong", "x", (1,), pytest.approx(12.0), 8.0)


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
def test_at_a_kink_any_number_between_the_slopes_is_right(slope: float) -> None:
    assert fault(lambda x: x.clamp(min=0).sum(), lambda grad, x: grad * torch.full_like(x, slope), [0.0]) is None


@pytest.mark.parametrize("slope", [-0.1, 1.1])
def test_at_a_kink_a_number_outside_of_the_slopes_is_refuted(slope: float) -> None:
    found = fault(lambda x: x.clamp(min=0).sum(), lambda grad, x: grad * torch.full_like(x, slope), [0.0])
    assert found is not None
    assert found.level is Level.REFUTED


def test_ties_may_go_to_one_entry_or_be_shared() -> None:
    def first(grad: Tensor, x: Tensor) -> Tensor:
        return grad * torch.nn.functional.one_hot(x.argmin(), len(x))

    def shared(grad: Tensor, x: Tensor) -> Tensor:
        return grad / len(x) * torch.ones_like(x)

    for backward in (first, shared):
        assert fault(lambda x: x.amin(), backward, [2.0, 2.0, 2.0]) is None


def test_a_median_of_ties_may_have_its_gradient_at_any_of_them() -> None:
    def first(grad: Tensor, x: Tensor) -> Tensor:
        return grad * torch.nn.functional.one_hot(torch.tensor(0), len(x))

    assert fault(lambda x: x.median(), first, [0.0, 0.0, 0.0]) is None
    assert fault(lambda x: x.median(), lambda grad, x: 2 * first(grad, x), [0.0, 0.0, 0.0]) is not None


def test_nan_is_a_fault_at_a_kink_too() -> None:
    found = fault(lambda x: x.abs().sum(), lambda grad, x: grad * x / x.abs(), [0.0, 1.0])
    assert found is not None
    assert found.level is Level.HAZARD
    assert found.reason == "the gradient of x is NaN"
    assert found.expected == 0


def test_infinity_is_a_fault_where_the_slopes_are_finite_only() -> None:
    assert fault(lambda x: x.sqrt().sum(), lambda grad, x: grad * 0.5 / x.sqrt(), [0.0]) is None
    found = fault(lambda x: (x * x).sum(), lambda grad, x: grad / x, [0.0])
    assert found is not None
    assert found.reason == "the gradient of x is infinite, the true one is not"
    assert found.expected == 0


def test_where_autograd_sees_nothing_difference_quotients_decide() -> None:
    def forward(x: Tensor) -> Tensor:
        return torch.from_numpy(x.detach().numpy() ** 2).sum()

    assert fault(forward, lambda grad, x: 2 * grad * x, [1.5, -1.0]) is None
    assert fault(forward, lambda grad, x: 3 * grad * x, [1.5, -1.0]) is not None


def test_a_detached_part_has_no_gradient() -> None:
    def forward(x: Tensor) -> Tensor:
        return (x * x.detach()).sum()

    assert fault(forward, lambda grad, x: grad * x, [1.5]) is None
    assert fault(forward, lambda grad, x: 5 * grad * x, [1.5]) is not None


def test_none_is_right_where_nothing_depends_on_the_input() -> None:
    assert fault(lambda x, y: x.sum() + 0 * y.sum(), lambda grad, x, y: (grad + 0 * x, None), [1.0], [2.0]) is None
    found = fault(lambda x, y: x.sum() + y.sum(), lambda grad, x, y: (grad + 0 * x, None), [1.0], [2.0])
    assert found is not None
    assert found.reason == "None is returned for y, whose gradient is not 0"


def test_a_constant_of_float32_is_no_other_function() -> None:
    tenth = float(torch.tensor(0.1))
    assert fault(lambda x: (0.1 * x).sum(), lambda grad, x: grad * tenth + 0 * x, [1.0]) is None


def test_cancellation_in_the_backward_is_noise() -> None:
    def forward(x: Tensor) -> Tensor:
        return (x - x.mean()).pow(2).sum()

    def backward(grad: Tensor, x: Tensor) -> Tensor:
        return 2 * grad * ((x - x.mean() + 1e12 * x) - 1e12 * x)  # 4 digits are left

    assert fault(forward, backward, [1.1, 2.3, 0.7]) is None


def test_a_complex_gradient_follows_torch_and_its_conjugate_is_refuted() -> None:
    z = torch.tensor([1 + 2j], dtype=torch.complex128)
    weight = (torch.tensor([0.5 - 1j], dtype=torch.complex128),)
    for backward, is_right in ((lambda g, z: g * z.exp().conj(), True), (lambda g, z: g * z.exp(), False)):
        subject = Subject.of(torch_exp, backward)
        assert (fault_of_values(subject, (z,), weight, subject.run((z,), weight)) is None) is is_right


def torch_exp(z: Tensor) -> Tensor:
    return z.exp()
