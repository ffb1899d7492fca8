"""Tensors that processes share: whole in a state, and spread again. One process has all of them here."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.optim import Adam
from torch.utils.data import DataLoader, TensorDataset

from shaped.runtime.checkpoint import load
from shaped.runtime.distributed import (
    is_spread,
    spread_like,
    spread_model_state,
    spread_optimizer_state,
    whole,
)
from shaped.trainers import fit, supervised
from tests.equality import same

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def group() -> Iterator[None]:
    """A process group of one process, which needs no launcher."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))


def stepped(model: nn.Module) -> Adam:
    optimizer = Adam(model.parameters())
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    return optimizer


def test_a_state_without_spread_tensors_stays_what_it_is() -> None:
    state = OrderedDict(a=[torch.ones(2), 3], b=("x", None))
    state._metadata = {"version": 1}  # type: ignore[attr-defined]  # as a state_dict has it
    made = whole(state)
    assert same(dict(made), dict(state))
    assert made._metadata == {"version": 1}  # type: ignore[attr-defined]
    assert spread_like(state["a"][0], torch.zeros(2)) is state["a"][0]


@pytest.mark.usefixtures("group")
def test_a_state_of_a_sharded_model_is_whole_and_spread_again() -> None:
    from torch.distributed.fsdp import fully_shard

    plain, sharded = net(), net()
    fully_shard(sharded)
    of_plain, of_sharded = stepped(plain), stepped(sharded)
    weights, moments = whole(sharded.state_dict()), whole(of_sharded.state_dict())
    assert same(dict(weights), dict(plain.state_dict()))
    assert same(moments, of_plain.state_dict())
    spread, spread_moments = spread_model_state(weights, sharded), spread_optimizer_state(moments, of_sharded)
    assert {name for name, value in spread.items() if is_spread(value)} == dict(net().named_parameters()).keys()
    for one in spread_moments["state"].values():
        assert (is_spread(one["exp_avg"]), is_spread(one["exp_avg_sq"]), is_spread(one["step"])) == (True, True, False)
    again = net()
    fully_shard(again)
    again.load_state_dict(spread)
    optimizer = Adam(again.parameters())
    optimizer.load_state_dict(spread_moments)
    assert same(dict(whole(again.state_dict())), dict(weights))
    assert same(whole(optimizer.state_dict()), moments)


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("first", ["DDP", "FSDP", "alone"])
@pytest.mark.parametrize("then", ["DDP", "FSDP", "alone"])
def test_a_run_goes_on_in_another_layout_from_the_same_file(first: str, then: str, tmp_path: Path) -> None:
    from torch.distributed.fsdp import fully_shard

    def run(kind: str, epochs: int, **settings: Any) -> dict[str, Tensor]:
        inner = net()
        model: Any = nn.parallel.DistributedDataParallel(inner) if kind == "DDP" else inner
        if kind == "FSDP":
            fully_shard(model)
        x = torch.randn(12, 3, generator=torch.Generator().manual_seed(1))
        train = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), 4, shuffle=True)
        adam = partial(Adam, lr=0.1)
        loss = supervised(nn.MSELoss())
        fit(model, loss, train, epochs=epochs, optimizer=adam, progress=False, seed=0, **settings)
        return dict(whole(inner.state_dict()))

    file = tmp_path / "run.pt"
    run(first, 2, checkpoint=file)
    # One process adds no numbers of others: all layouts are the same to the bit.
    assert same(run(then, 4, checkpoint=file), run("alone", 4))
    plain = net()
    load(file, plain)
    assert same(dict(plain.state_dict()), run("alone", 4))
