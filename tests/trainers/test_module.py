"""A trainer of the parameters that a module has."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shaped.errors import ShapeError
from shaped.trainers import ScalarTrainer


class Tied(nn.Module):
    """A language model with tied weights and a running mean."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.head(self.norm(self.embedding(tokens).mean(1)))
        return logits


def loss(module: nn.Module, inputs: Any, nats: Any) -> Tensor:
    tokens, labels = nats
    return F.cross_entropy(module(tokens), labels)


TOKENS = torch.tensor([[1, 2, 3], [4, 5, 6], [0, 0, 1], [3, 3, 3]])
LABELS = torch.tensor([0, 1, 2, 6])


def trainer_of(module: nn.Module, **options: Any) -> ScalarTrainer[Any, Any, Any]:
    return ScalarTrainer.for_module(module, loss, [], [("b", "t"), ("b",)], input_names=("tokens", "labels"), **options)


def test_the_parameters_are_those_of_the_module_tied_ones_once() -> None:
    module = Tied()
    of = trainer_of(module)
    assert of.names == ("embedding.weight", "norm.weight", "norm.bias")
    assert all(a is b for a, b in zip(of.params, module.parameters()))


def test_making_a_trainer_changes_no_number() -> None:
    module = Tied()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    trainer_of(module)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())


@pytest.mark.parametrize("backend", [False, "aot_eager"])
def test_steps_are_those_of_the_plain_loop(backend: Any) -> None:
    torch.manual_seed(0)
    module, plain = Tied(), Tied()
    plain.load_state_dict(module.state_dict())
    of = trainer_of(module, optimizer=torch.optim.AdamW(module.parameters(), lr=0.1), compile=backend)
    optimizer = torch.optim.AdamW(plain.parameters(), lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        expected = loss(plain, (), (TOKENS, LABELS))
        expected.backward()
        optimizer.step()
        assert torch.equal(of.step_with_loss(TOKENS, LABELS), expected.detach())
    state = plain.state_dict()
    assert all(torch.equal(value, state[name]) for name, value in module.state_dict().items())
    assert module.norm.num_batches_tracked == 4  # trying out is none


def test_what_needs_no_gradient_is_frozen_and_a_list_of_names_decides_else() -> None:
    module = Tied()
    module.norm.requires_grad_(False)
    assert trainer_of(module).trainable == (True, False, False)
    assert trainer_of(module, trainable=("norm.bias",)).trainable == (False, False, True)
    assert [param.requires_grad for param in module.parameters()] == [False, False, True]


def test_a_wrong_shape_in_the_module_is_told_by_the_names_of_its_parameters() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 2))
    with pytest.raises(ShapeError, match=re.escape("linear in the loss: (4,), parameter 1.weight (2, 5), parameter 1")):
        ScalarTrainer.for_module(module, lambda module, inputs: module(inputs[0]).sum(), [(3,)])


def test_a_recurrent_module_is_trained() -> None:
    module = nn.LSTM(3, 2)
    of = ScalarTrainer.for_module(module, lambda module, inputs: module(inputs[0])[0].square().mean(), [("t", 3)])
    x = torch.randn(5, 3)
    assert of.step_with_loss(x, lr=0.5) > of.forward(x)


@pytest.mark.parametrize(
    "module, message",
    [
        (nn.ReLU(), "the parameters of ReLU are none: one dtype and device is needed"),
        (nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1).double()), "float32 on cpu, torch.float64 on cpu"),
        (nn.LazyLinear(3), "the parameters weight, bias have no shape yet: run the module once"),
    ],
)
def test_a_module_without_one_kind_of_parameters_is_refused(module: nn.Module, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ScalarTrainer.for_module(module, lambda module, inputs: module(inputs[0]).sum(), [(3,)])
