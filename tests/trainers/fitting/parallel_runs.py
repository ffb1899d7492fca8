"""Runs of `fit` that one process and several make alike; as a script, the part of one process under torchrun."""

from __future__ import annotations

import copy
import math
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import SGD, Adam
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, DistributedSampler, IterableDataset, TensorDataset

from shaped.trainers import EarlyStop, accuracy, fit, supervised

Results: TypeAlias = dict[str, dict[str, Any]]
ADAM = partial(Adam, lr=0.05)
LOSS = supervised(nn.CrossEntropyLoss(), accuracy=accuracy)


def rank() -> int:
    return dist.get_rank() if dist.is_initialized() else 0


def data(rows: int = 41) -> TensorDataset:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(rows, 4, generator=generator)
    return TensorDataset(x, x[:, :3].argmax(1))


def loader(rows: int = 41, batch: int = 16, **settings: Any) -> DataLoader[Any]:
    """41 rows in batches of 16: the last one, of 9, is not the same for two."""
    return DataLoader(data(rows), batch, shuffle=True, generator=torch.Generator().manual_seed(2), **settings)


class Net(nn.Module):
    def __init__(self, dropout: float = 0.0, has_statistics: bool = False) -> None:
        super().__init__()
        self.first = nn.Linear(4, 7)
        self.middle = nn.Sequential(nn.BatchNorm1d(7) if has_statistics else nn.Tanh(), nn.Linear(7, 5), nn.Tanh())
        self.dropout = nn.Dropout(dropout)
        self.last = nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.dropout(self.middle(self.first(x).tanh())))  # type: ignore[no-any-return]


def wrapped(model: nn.Module, kind: str) -> nn.Module:
    if kind == "DDP":
        return DistributedDataParallel(model)
    if kind == "FSDP":
        from torch.distributed.fsdp import fully_shard

        for part in model.children():
            if isinstance(part, nn.Sequential):
                fully_shard(part)
        return fully_shard(model)
    return model


def run(
    kind: str,
    epochs: int = 3,
    *,
    loss: Any = LOSS,
    train: Any = None,
    start: int = 0,
    optimizer: Callable[[Iterable[nn.Parameter]], Any] = ADAM,
    net: Callable[[], nn.Module] = Net,
    **settings: Any,
) -> dict[str, Any]:
    """What a run comes to: whole weights by the model's own names, and the history."""
    torch.manual_seed(0)
    inner = net()
    model = wrapped(inner, kind)
    torch.manual_seed(start)
    made = optimizer(model.parameters())
    if train is None:
        train = loader()
    history = fit(model, loss, train, epochs=epochs, optimizer=made, **{"progress": False, **settings})
    weights = {
        name: (value.full_tensor() if hasattr(value, "full_tensor") else value).clone()
        for name, value in inner.state_dict().items()
    }
    return {
        "weights": weights,
        "history": [replace(epoch, seconds=0.0).__dict__ for epoch in history],
        "stopped early": history.stopped_early,
        "forward": type(inner.last).__name__,
    }


def spoiled(calls: Iterable[int], ranks: Iterable[int] = (0,)) -> Callable[[nn.Module, Any], Any]:
    """A loss that is NaN at some calls on some ranks."""
    count, chosen, where = 0, set(calls), set(ranks)

    def loss(model: nn.Module, batch: Any) -> Any:
        nonlocal count
        count += 1
        measured = dict(LOSS(model, batch))  # type: ignore[call-overload]
        if count in chosen and rank() in where:
            measured["loss"] = measured["loss"] * math.nan
        return measured

    return loss


class Rows(IterableDataset[Any]):
    """The rows from `begin` to `end` on rank 0, and the rest of 24 on rank 1."""

    def __init__(self, cut: int) -> None:
        self.rows = list(data(24))[: cut if rank() == 0 else None][0 if rank() == 0 else cut :]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)


# The runs that tell most: gradients gathered, a process without an example of its own, running statistics, a process
# whose batches end before the other's.
BRIEF = ("accumulated", "tiny last batch", "statistics", "uneven rows")


def common(kind: str, folder: Path, names: Collection[str] = ()) -> Results:
    """The runs whose results are those of one process; all of them, or those with the names."""
    plateau: Any = {"validation": loader(23, 8), "early_stop": EarlyStop(2, minimum_change=0.02)}
    runs: dict[str, Callable[[], dict[str, Any]]] = {
        "plain": partial(run, kind, validation=loader(23, 8), checkpoint=folder / f"{kind}.pt"),
        "clipped": partial(run, kind, clip_norm=0.1, scheduler=lambda o: StepLR(o, 2, 0.5), scheduler_every="batch"),
        "accumulated": partial(run, kind, accumulate=2, train=loader(57)),
        "tiny last batch": partial(run, kind, train=loader(33), validation=loader(17)),
        "skipped": partial(run, kind, loss=spoiled([2, 5], ranks=[1] if kind != "alone" else [0]), not_finite="skip"),
        "skipped while gathered": partial(
            run,
            kind,
            loss=spoiled([1, 4], ranks=[1] if kind != "alone" else [0]),
            train=loader(64),
            not_finite="skip",
            accumulate=4,
            epochs=1,
        ),
        "early stop": partial(run, kind, 30, optimizer=partial(SGD, lr=0.5), **plateau),
        "recomputed": partial(run, kind, checkpoint_activations=["middle", nn.Linear]),
        "resumed from one process": partial(run, kind, 4, start=9, checkpoint=folder / f"one for {kind}.pt"),
        "workers": partial(run, kind, train=loader(num_workers=1, persistent_workers=True)),
    }
    return {name: one() for name, one in runs.items() if not names or name in names}


def by_hand() -> dict[str, Tensor]:
    """The loop over DDP that one writes by hand, over a sampler of two even parts."""
    torch.manual_seed(0)
    inner = Net()
    model = DistributedDataParallel(inner)
    optimizer = Adam(model.parameters(), lr=0.05)
    sampler: DistributedSampler[Any] = DistributedSampler(data(32), seed=3)
    batches = DataLoader(data(32), 8, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    return {name: value.clone() for name, value in inner.state_dict().items()}


def of_several(kind: str, folder: Path) -> Results:
    """The runs that several processes alone can make."""
    sampled = DataLoader(data(32), 8, sampler=DistributedSampler(data(32), seed=3))
    noisy = partial(
        run,
        kind,
        net=partial(Net, 0.3, has_statistics=True),
        accumulate=2,
        early_stop=EarlyStop(9),
        precision="bfloat16",
    )
    file, shown = folder / f"noisy {kind}.pt", folder / f"{kind} {rank()}.png"
    noisy(2, checkpoint=file, validation=loader(23, 8))
    result: Results = {
        "sampled": run(kind, train=sampled),
        "noisy": noisy(4, validation=loader(23, 8)),
        "noisy, resumed": noisy(4, checkpoint=file, start=99, validation=loader(23, 8)),
        "bfloat16": run(kind, precision="bfloat16"),
        "uneven rows": run(kind, train=DataLoader(Rows(15), 5)),
        "shown": run(kind, curve=shown, tensorboard=folder / f"{kind} log {rank()}", progress=True),
    }
    # A training loss that falls is the largest in the first epoch, whose weights are those in the end.
    best, of_best = {"early_stop": EarlyStop(9, monitor="training loss", mode="max")}, folder / f"best {kind}.pt"
    run(kind, 2, checkpoint=of_best, **best)
    result["best"] = run(kind, 3, **best)
    result["best, resumed"] = run(kind, 3, checkpoint=of_best, start=99, **best)
    run(kind, 1, seed=5, on_epoch=lambda epoch: result.update(seeded={"drawn": float(torch.rand(1))}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(kind, train=[next(iter(DataLoader(data(8), 8)))])
    result["same batches"] = {"warnings": [(str(one.message), one.filename) for one in caught]}
    return result


def main() -> None:
    kind, folder, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    dist.init_process_group("gloo")
    results = common(kind, folder, names)
    if names:
        results["statistics"] = run(kind, 1, net=partial(Net, has_statistics=True))
        results["uneven rows"] = run(kind, 1, train=DataLoader(Rows(15), 5))
    else:
        results |= of_several(kind, folder)
    if kind == "DDP" and not names:
        results["by hand"] = {"weights": by_hand()}
    torch.save(copy.deepcopy(results), folder / f"{kind} {rank()}.results")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
