"""Numbers and modes: what goes in comes out, and what was switched is switched back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Float, Int64
from torch import Tensor, nn

from shaped import TList, checked
from shaped.errors import ShapeError
from shaped.runtime import checkpoint
from shaped.runtime.data import Batches, NothingToAttendError, pad_sequence, require_attendable
from shaped.runtime.weights import load_weights, save_weights
from shaped.spec.tensor import constant
from shaped.static.check import Checker
from shaped.trainers import ScalarTrainer, fit

ODD = 2**53 + 1  # the first whole number that no float64 is
TWICE = 18014398509481986
INT64 = st.integers(-(2**63), 2**63 - 1)

# 64-bit integers


def test_a_64_bit_integer_survives_construction_doubling_and_reading_back() -> None:
    assert ODD == 9007199254740993 != int(float(ODD))
    for x in (torch.tensor(ODD), torch.tensor([[ODD]])):
        assert x.item() == ODD
        assert (x * 2).item() == (x + x).item() == TWICE


def test_so_it_does_in_a_typed_list_and_in_a_checked_call() -> None:
    (x,) = TList[Int64[Tensor, "n"]](torch.tensor([ODD]))

    @checked
    def doubled(x: Int64[Tensor, "n"]) -> Int64[Tensor, "n"]:
        return x * 2

    assert doubled(x).tolist() == [TWICE]


def test_so_it_does_as_an_input_of_a_trainer_given_as_a_number_or_in_nested_lists() -> None:
    seen: list[Tensor] = []

    def loss(params: Any, inputs: Any, nats: Any) -> Tensor:
        seen[:] = nats
        return params[0] * 1.0

    of = ScalarTrainer(loss, [()], [], [("n", 2), ()])
    of.forward([[ODD, -ODD], [1, 2]], ODD)
    assert seen[0].tolist() == [[ODD, -ODD], [1, 2]]
    assert (seen[1] * 2).item() == TWICE


@given(INT64)
def test_a_meaning_has_every_integer_exactly(value: int) -> None:
    assert str((constant(value) * 2).body) == str(2 * value)


@settings(max_examples=20)
@given(values=st.lists(INT64, min_size=1, max_size=5))
def test_every_integer_survives_a_checkpoint_and_a_file_of_weights(
    tmp_path_factory: pytest.TempPathFactory, values: list[int]
) -> None:
    folder, one, other = tmp_path_factory.mktemp("integers"), nn.Module(), nn.Module()
    one.register_buffer("counts", torch.tensor(values))
    other.register_buffer("counts", torch.zeros(len(values), dtype=torch.int64))
    checkpoint.save(folder / "a.pt", one)
    checkpoint.load(folder / "a.pt", other)
    assert other.counts.tolist() == values
    for name in ("a.safetensors", "b.pt"):
        other.counts.zero_()
        save_weights(folder / name, one)
        load_weights(folder / name, other)
        assert other.counts.tolist() == values


def test_it_survives_being_padded_and_batched() -> None:
    padded, _ = pad_sequence([torch.tensor([1, 2]), torch.tensor([1])], padding=ODD)
    assert padded.tolist() == [[1, 2], [1, ODD]]
    [batch] = Batches(torch.tensor([ODD, ODD]), batch_size=2, seed=0)
    assert batch.tolist() == [ODD, ODD]


# Data written as lists


RAGGED = {
    "a short row": ([[1.0, 2.0], [3.0]], r"input x\[1\]: has 1 number, where input x\[0\] has 2"),
    "a number for a row": ([[1.0, 2.0], 3.0], r"input x\[1\]: is a number, where input x\[0\] is a list of 2"),
    "a row for a number": ([[1.0, 2.0], [3.0, [4.0]]], r"input x\[1\]\[1\]: is a list of 1, where .* is a number"),
    "an empty row": ([[1.0, 2.0], []], r"input x\[1\]: has 0 numbers, where input x\[0\] has 2"),
}


@pytest.mark.parametrize("data, message", RAGGED.values(), ids=RAGGED)
def test_ragged_data_is_an_error_that_names_the_indices(data: Any, message: str) -> None:
    of = ScalarTrainer(lambda params, inputs: params[0] * inputs[0].sum(), [()], [("n", "k")], input_names=["x"])
    with pytest.raises(ShapeError, match=message):
        of.forward(data)


def test_miscounted_data_is_an_error_that_names_the_axis() -> None:
    of = ScalarTrainer(lambda params, inputs: params[0] * inputs[0].sum(), [()], [(2, 2)], input_names=["x"])
    with pytest.raises(ShapeError, match=r'input x: \(3, 2\) does not match "2 2": axis 0 is 3, not 2'):
        of.forward([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_ragged_data_in_the_source_is_found_before_it_runs() -> None:
    [found] = errors("x = torch.tensor([[1.0, 2.0], [3.0]])\n")
    assert found == "tensor: data[1] is a list of 1, where data[0] is a list of 2"


def errors(program: str) -> list[str]:
    """What the checker says of a program."""
    head = "import torch, torch.nn.functional as F; from torch import Tensor, nn; from jaxtyping import Float, Int\n"
    return [one.message for one in Checker().check(Path("program.py"), head + program).diagnostics]


@pytest.mark.parametrize("asked", ["x.item()", "float(x)", "int(x)", "bool(x)", "1 if x > 0 else 2"])
def test_reading_one_number_of_several_is_an_error_in_both(asked: str) -> None:
    with pytest.raises((RuntimeError, ValueError)):
        eval(asked, {"x": torch.ones(3)})
    [found] = errors(f'def f(x: Float[Tensor, "3"]) -> object:\n    return {asked}\n')
    assert "1 element" in found


# Modes


class Stop(Exception):
    """Raised by the user's code."""


def failing(*_: Any) -> Any:
    raise Stop


MODEL, BATCHES = nn.Linear(1, 1), [torch.ones(1, 1)]  # made in no mode


def fails_in_fit() -> None:
    fit(MODEL, failing, BATCHES, epochs=1, optimizer=torch.optim.Adam)


def fails_in_validation() -> None:
    def loss(model: nn.Module, batch: Tensor) -> Tensor:
        return failing() if torch.is_inference_mode_enabled() else model(batch).sum()

    fit(MODEL, loss, BATCHES, validation=BATCHES, epochs=1, optimizer=torch.optim.Adam)


def fails_in_a_trainer() -> None:
    is_tried_out = True
    of = ScalarTrainer(lambda params, inputs: params[0] * 1.0 if is_tried_out else failing(), [()], [])
    is_tried_out = False
    of.step(lr=0.1)


def fails_in_a_checked_call() -> None:
    checked(failing)()


FAILING = [fails_in_fit, fails_in_validation, fails_in_a_trainer, fails_in_a_checked_call]


@pytest.mark.parametrize("run", FAILING)
@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_modes_are_restored_after_an_exception(run: Callable[[], None], mode: Callable[[], Any]) -> None:
    with mode():
        before = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        with pytest.raises(Stop):
            run()
        assert (torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == before


def test_torch_restores_its_own_modes() -> None:
    for mode in (torch.no_grad, torch.inference_mode):
        with pytest.raises(Stop), mode():
            failing()
        assert torch.is_grad_enabled()
        assert not torch.is_inference_mode_enabled()


# Gradients


def test_a_trainer_gives_a_gradient_for_each_parameter_never_none() -> None:
    with pytest.warns(UserWarning, match="does not depend on the parameters 1: their gradients are zeros"):
        of = ScalarTrainer(lambda params, inputs: params[0].sum() * 3, [(2,), (3,)], [])
    used, unused = of.backward()
    assert used.tolist() == [3, 3]
    assert unused.tolist() == [0, 0, 0]  # the loss does not depend on it: this is its gradient, computed


def test_gradients_accumulate_in_torch() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    w.square().sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [2, 4]
    (3 * w).sum().backward()
    assert w.grad.tolist() == [5, 7]


def test_a_trainer_does_not_accumulate_and_leaves_the_callers_gradients() -> None:
    module = nn.Linear(2, 1, bias=False)
    module.weight.grad = torch.tensor([[2.0, 4.0]])
    of = ScalarTrainer.for_module(module, lambda module, inputs: 3 * module.weight.sum(), [])
    assert [of.backward()[0].tolist() for _ in range(2)] == [[[3, 3]], [[3, 3]]]
    assert module.weight.grad.tolist() == [[2, 4]]


def test_a_value_used_twice_sums_both_paths() -> None:
    def loss(params: Any, inputs: Any) -> Tensor:
        y = params[0] * 2
        return (y * y + 5 * y).sum()  # 4 w^2 + 10 w

    assert ScalarTrainer(loss, [(2,)], []).backward()[0].tolist() == [10, 10]  # the weights begin as zeros
    w = torch.tensor([1.0, -3.0], requires_grad=True)
    loss([w], []).backward()
    assert w.grad is not None
    assert w.grad.tolist() == [8 * 1 + 10, 8 * -3 + 10]


@given(st.integers(1, 5), st.integers(1, 5))
def test_a_bias_added_to_rows_has_a_gradient_of_its_own_shape(n: int, d: int) -> None:
    def loss(params: Any, inputs: Any) -> Float[Tensor, ""]:
        return (inputs[0] + params[0]).sum()

    [gradient] = ScalarTrainer(loss, [(d,)], [(n, d)]).backward(torch.zeros(n, d))
    assert gradient.tolist() == [n] * d


# Masked attention


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_what_is_masked_has_a_weight_and_a_gradient_of_exactly_zero(dtype: torch.dtype) -> None:
    scores = torch.randn(3, 4, generator=torch.Generator().manual_seed(0)).to(dtype).requires_grad_()
    masked = torch.tensor([[False, False, False, True]] * 3)
    weights = scores.masked_fill(masked, -torch.inf).softmax(-1)
    (weights * torch.arange(4)).sum().backward()
    assert scores.grad is not None
    assert (weights[masked] == 0).all()
    assert (scores.grad[masked] == 0).all()
    assert (scores.grad[~masked] != 0).all()


def test_a_row_that_is_masked_everywhere_is_nan_in_torch_and_said_before_it_happens() -> None:
    keep = torch.tensor([[[True, True], [False, False]]])
    assert torch.zeros(1, 2, 2).masked_fill(~keep, -torch.inf).softmax(-1)[0, 1].isnan().all()
    weighted = nn.MultiheadAttention(4, 1, batch_first=True)
    x = torch.ones(1, 2, 4)
    assert weighted(x, x, x, attn_mask=~keep[0])[0][0, 1].isnan().all()
    with pytest.raises(NothingToAttendError, match="batch row 0, query 1: everything is masked"):
        require_attendable(keep, true_means="keep")
    with pytest.raises(NothingToAttendError):
        require_attendable(~keep, true_means="mask")


def test_scaled_dot_product_attention_gives_zeros_for_such_a_row() -> None:
    x = torch.ones(1, 2, 4)
    attended = F.scaled_dot_product_attention(x, x, x, torch.tensor([[True, True], [False, False]]))
    assert attended[0, 1].tolist() == [0] * 4  # of torch 2.5 and later; not NaN, and no less wrong
