"""Activations that are computed again: the same numbers, and less kept."""

from __future__ import annotations

import copy
import io
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.optim import SGD
from torch.utils.data import DataLoader, TensorDataset

from shaped.trainers import fit, supervised
from shaped.trainers.fitting.activations import activations_recomputed
from tests.equality import same


def block() -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 8))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.blocks = nn.ModuleList(block() for _ in range(3))
        self.head = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        for one in self.blocks:
            x = x + one(x)
        return self.head(x)  # type: ignore[no-any-return]


def fitted(which: Any, **settings: Any) -> tuple[dict[str, Tensor], list[float]]:
    model = Net()
    x = torch.randn(24, 8, generator=torch.Generator().manual_seed(1))
    train = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), 6, shuffle=True)
    history = fit(
        model,
        supervised(nn.CrossEntropyLoss()),
        train,
        validation=train,
        epochs=2,
        optimizer=partial(SGD, lr=0.1, momentum=0.9),
        seed=0,
        checkpoint_activations=which,
        progress=False,
        **settings,
    )
    return dict(model.state_dict()), history["validation loss"]


@pytest.mark.parametrize(
    "which",
    [
        ["blocks.0", "blocks.2"],
        "blocks.1",
        nn.Sequential,
        [nn.Sequential, nn.Linear],
        lambda module: isinstance(module, nn.Sequential),
        [nn.BatchNorm1d, "head"],
    ],
)
@pytest.mark.parametrize("precision", [None, "bfloat16"])
def test_weights_and_running_statistics_are_the_same_to_the_bit(which: Any, precision: Any) -> None:
    assert same(fitted(which, precision=precision), fitted(None, precision=precision))


def kept(which: Any) -> int:
    """The bytes that the graph of one forward pass holds, parameters left out."""
    model, sizes = Net(), {}
    own = {one.untyped_storage().data_ptr() for one in model.parameters()}

    def pack(value: Tensor) -> Tensor:
        storage = value.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return value

    with activations_recomputed(model, which), saved_tensors_hooks(pack, lambda value: value):
        loss = model(torch.randn(64, 8)).sum()
    loss.backward()
    return sum(sizes.values())


def test_less_is_kept_for_the_backward_pass() -> None:
    everything = kept(None)
    # Of each block its input alone.
    assert kept(nn.Sequential) < everything / 4
    assert kept(nn.Sequential) < kept("blocks.0") < everything


def test_names_classes_copies_and_pickles_are_those_of_the_model() -> None:
    model = Net()
    names = list(model.state_dict())
    with activations_recomputed(model, nn.Sequential):
        assert list(model.state_dict()) == names
        assert [name for name, _ in model.named_parameters()] == [
            n for n in names if "running" not in n and "num" not in n
        ]
        assert isinstance(model.blocks[0], nn.Sequential)
        assert repr(model) == repr(Net())
        twin = copy.deepcopy(model)
        file = io.BytesIO()
        torch.save(model, file)
    file.seek(0)
    for other in (twin, torch.load(file, weights_only=False), model):
        assert type(other.blocks[0]) is nn.Sequential
        assert same(dict(other.state_dict()), dict(model.state_dict()))
    assert twin.blocks[0] is not model.blocks[0]


def test_classes_are_put_back_after_an_exception() -> None:
    model = Net()

    class MineError(Exception):
        pass

    with pytest.raises(MineError), activations_recomputed(model, nn.Sequential):
        raise MineError
    assert type(model.blocks[0]) is nn.Sequential


def test_a_part_of_a_chosen_part_is_computed_again_once() -> None:
    calls = 0

    class Counting(nn.Linear):
        def forward(self, input: Tensor) -> Tensor:  # noqa: A002  # torch's name
            nonlocal calls
            calls += 1
            return super().forward(input)

    model = nn.Sequential(nn.Sequential(Counting(2, 2), nn.Tanh()), nn.Tanh())
    with activations_recomputed(model, [nn.Sequential, Counting]):
        model(torch.ones(1, 2)).sum().backward()
        assert calls == 2
        with torch.no_grad():
            model(torch.ones(1, 2))
        assert calls == 3


@pytest.mark.parametrize(
    "which, error, message",
    [
        ("block", ValueError, r"block is no submodule of Net, which has blocks, blocks\.0"),
        (nn.Conv2d, ValueError, "Conv2d is no submodule of Net"),
        (lambda module: False, ValueError, "<lambda> is no submodule of Net"),
        (3, TypeError, "checkpoint_activations: 3 is no name of a submodule"),
        ([nn.Linear(1, 1)], TypeError, "is no name of a submodule, no class of one and no function of one"),
        (int, TypeError, "<class 'int'> is no name"),
    ],
)
def test_what_names_no_submodule_is_an_error(which: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fitted(which)


def test_a_forward_that_is_not_the_classes_is_refused_by_name() -> None:
    model = Net()
    model.head.forward = lambda x: x  # type: ignore[method-assign]
    with (
        pytest.raises(TypeError, match="the forward of head is not that of its class"),
        activations_recomputed(model, "head"),
    ):
        pass
    scripted = nn.Sequential(torch.jit.script(nn.Linear(1, 1)))
    with pytest.raises(TypeError, match="the forward of 0 is not"), activations_recomputed(scripted, "0"):
        pass
