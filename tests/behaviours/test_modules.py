"""Names, sharing, and the state that modules keep beside their parameters."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from shaped.init import Ones, XavierUniform, Zeros, init_module
from shaped.runtime import checkpoint
from shaped.static.check import Checker
from shaped.trainers import ScalarTrainer, fit, supervised

ROWS = torch.tensor([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])


def two_layers() -> nn.Sequential:
    return nn.Sequential(OrderedDict(l1=nn.Linear(2, 3), l2=nn.Linear(3, 1)))


class Tied(nn.Module):
    """Two layers with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(3, 3, bias=False)
        self.other = nn.Linear(3, 3, bias=False)
        self.other.weight = self.one.weight

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.other(self.one(x))
        return y


# Names


def test_names_of_parameters_are_those_of_the_state_dict() -> None:
    model = two_layers()
    of = ScalarTrainer.for_module(model, lambda model, inputs: model(inputs[0]).sum(), [("n", 2)])
    assert list(of.names) == list(model.state_dict()) == ["l1.weight", "l1.bias", "l2.weight", "l2.bias"]


def test_initialisers_know_parameters_by_the_same_names() -> None:
    model = two_layers()
    init_module(model, {"l1.weight": Ones(), "l?.bias": Zeros(), "*": XavierUniform()}, seed=0)
    assert model.l1.weight.tolist() == [[1, 1]] * 3
    assert (model.l2.weight != 1).all()


# Lists


def test_a_module_in_a_plain_list_is_invisible_to_torch_and_flagged_by_the_checker() -> None:
    program = (
        "from torch import Tensor, nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self) -> None:\n"
        "        super().__init__()\n"
        "        self.layers = [nn.Linear(2, 2) for _ in range(3)]\n"
        "    def forward(self, x: Tensor) -> Tensor:\n"
        "        for layer in self.layers:\n"
        "            x = layer(x)\n"
        "        return x\n"
    )
    names: dict[str, Any] = {}
    exec(program, names)
    assert list(names["Net"]().parameters()) == []
    [found] = Checker().check(Path("net.py"), program).diagnostics
    assert (found.span.line, found.code, found.hint) == (5, "unregistered", "nn.ModuleList(...)?")


# Shared weights


def test_a_weight_of_two_layers_is_drawn_once() -> None:
    model = Tied()
    init_module(model, XavierUniform(), seed=0)
    alone = nn.Module()
    alone.one = nn.Linear(3, 3, bias=False)
    init_module(alone, XavierUniform(), seed=0)
    assert model.one.weight is model.other.weight
    assert torch.equal(model.one.weight, alone.one.weight)


def test_a_trainer_has_it_once_with_the_sum_of_both_gradients() -> None:
    model = Tied()
    nn.init.eye_(model.one.weight)
    of = ScalarTrainer.for_module(model, lambda model, inputs: model(inputs[0]).sum(), [(1, 3)])
    assert of.names == ("one.weight",)
    [gradient] = of.backward(torch.tensor([[1.0, 2.0, 3.0]]))
    assert gradient.tolist() == [[2, 4, 6]] * 3  # x from the outer layer, and x again through it


def test_an_optimiser_has_it_once_in_one_group_and_refuses_it_in_two() -> None:
    model = Tied()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    assert [len(group["params"]) for group in optimizer.param_groups] == [1]
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        torch.optim.SGD([{"params": model.one.parameters()}, {"params": model.other.parameters()}], lr=1.0)


def test_a_checkpoint_keeps_it_one(tmp_path: Path) -> None:
    saved, loaded = Tied(), Tied()
    checkpoint.save(tmp_path / "a.pt", saved)
    checkpoint.load(tmp_path / "a.pt", loaded)
    assert loaded.one.weight is loaded.other.weight
    assert torch.equal(loaded.one.weight, saved.one.weight)


# Running statistics and dropout


def test_running_means_of_batch_norm_after_two_rows() -> None:
    norm = nn.BatchNorm1d(3)
    fit(norm, lambda model, batch: model(batch).square().mean(), [ROWS], epochs=1, optimizer=torch.optim.SGD)
    assert norm.running_mean is not None
    torch.testing.assert_close(norm.running_mean, torch.tensor([0.2, 0.3, 0.4]))  # 0.1 of (2, 3, 4), by float32
    assert norm.num_batches_tracked == 1


def test_evaluation_stops_updating_them() -> None:
    norm = nn.BatchNorm1d(3)
    before = {name: value.clone() for name, value in norm.state_dict().items()}
    norm.eval()(ROWS)
    assert all(torch.equal(value, before[name]) for name, value in norm.state_dict().items())


def test_neither_does_validation_in_fit_update_them() -> None:
    def loss(model: nn.Module, batch: Tensor) -> Tensor:
        return model(batch).square().mean()

    one, other = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    fit(one, loss, [ROWS], epochs=2, optimizer=torch.optim.SGD)
    fit(other, loss, [ROWS], validation=[ROWS * 100], epochs=2, optimizer=torch.optim.SGD)
    assert one.num_batches_tracked == other.num_batches_tracked == 2
    assert torch.equal(one.running_mean, other.running_mean)  # type: ignore[arg-type]  # both are there


def test_a_trainer_that_is_made_updates_none() -> None:
    norm = nn.BatchNorm1d(3)
    of = ScalarTrainer.for_module(norm, lambda model, inputs: model(inputs[0]).square().mean(), [("n", 3)])
    assert norm.num_batches_tracked == 0
    of.step(ROWS, lr=0.1)
    assert norm.num_batches_tracked == 1


def test_dropout_of_everything_gives_zeros_and_evaluation_the_identity() -> None:
    dropout = nn.Dropout(p=1.0)
    assert torch.equal(dropout(ROWS), torch.zeros(2, 3))
    assert dropout.eval()(ROWS) is not None
    assert torch.equal(dropout(ROWS), ROWS)


def test_fit_validates_with_dropout_off_and_puts_it_on_again() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(p=1.0))
    seen: list[bool] = []

    def output_is_zero(output: Tensor, target: Tensor) -> float:
        seen.append(bool((output == 0).all()))
        return 0.0

    batches = [(ROWS, ROWS)]
    loss = supervised(nn.MSELoss(), zero=output_is_zero)
    fit(model, loss, batches, validation=batches, epochs=2, optimizer=torch.optim.SGD)
    assert seen == [True, False, True, False]
    assert model.training
