"""What each of two processes is told where one of them fails; under torchrun. The last failure ends the process.

With names as arguments, the attempts with these names alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.optim import SGD
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from shaped.trainers import fit, supervised
from shaped.trainers.fitting import ranks
from tests.trainers.fitting.parallel_runs import LOSS, Net, data, loader, rank, spoiled, wrapped


def on_rank_1(call: Callable[[], object], at: int = 2) -> Callable[..., object]:
    """Calls something on rank 1 the `at`th time it is asked to."""
    count = 0

    def called(*_: object) -> None:
        nonlocal count
        count += 1
        if count == at and rank() == 1:
            call()

    return called


def failing() -> None:
    raise KeyError("mine")


def interrupting() -> None:
    raise KeyboardInterrupt


class Torn(Dataset[Any]):
    """Rows of which one cannot be read on rank 1."""

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> Any:
        if rank() == 1 and index == 7:
            raise OSError("row 7 is torn")
        return data(16)[index]


class Empty:
    """Batches on rank 0 alone."""

    def __iter__(self) -> Iterator[Any]:
        return iter(loader(16) if rank() == 0 else [])


def told(attempt: Callable[..., object]) -> dict[str, Any]:
    try:
        attempt()
    except (Exception, KeyboardInterrupt) as error:
        return {"error": type(error).__name__, "text": str(error), "notes": getattr(error, "__notes__", [])}
    return {"error": "", "text": "", "notes": []}


def fitting(model: nn.Module | None = None, loss: Any = LOSS, train: Any = None, **settings: Any) -> object:
    model = wrapped(Net(), "DDP") if model is None else model
    train = loader() if train is None else train
    return fit(model, loss, train, **{"epochs": 2, "optimizer": partial(SGD, lr=0.1), "progress": False, **settings})


def raising(call: Callable[..., object]) -> Any:
    """The loss, which calls something after it was computed."""

    def loss(model: nn.Module, batch: Any) -> Any:
        measured = LOSS(model, batch)
        call()
        return measured

    return loss


def partly_sharded() -> nn.Module:
    from torch.distributed.fsdp import fully_shard

    model = Net()
    fully_shard(model.middle)
    return model


def optimized_before() -> object:
    model = Net()
    optimizer = SGD(model.parameters(), lr=0.1)
    return fitting(wrapped(model, "FSDP"), optimizer=optimizer)


def attempts(folder: Path) -> dict[str, Callable[[], object]]:
    other = folder / "other.pt"
    (folder / "file").write_text("")
    wrong = DataLoader(data(), 8, sampler=DistributedSampler(data(), num_replicas=3, rank=rank()))
    return {
        "a loss": lambda: fitting(loss=raising(on_rank_1(failing))),
        "a row": lambda: fitting(train=DataLoader(Torn(), 4)),
        "an interrupt": lambda: fitting(loss=raising(on_rank_1(interrupting))),
        "a validation": lambda: fitting(loss=raising(on_rank_1(failing, at=5)), validation=loader()),
        "a callback": lambda: fitting(on_epoch=on_rank_1(failing, at=1), checkpoint=folder / "callback.pt"),
        "not finite": lambda: fitting(loss=spoiled([2], ranks=[1])),
        "no batch": lambda: fitting(train=Empty()),
        "a file": lambda: fitting(checkpoint=folder / "file" / "a.pt"),
        "another model": lambda: (
            fitting(checkpoint=other),
            fitting(wrapped(Net(has_statistics=True), "DDP"), checkpoint=other),
        ),
        "a file on rank 0": lambda: fitting(checkpoint=other if rank() == 0 else folder / "none.pt"),
        "a model of its own": lambda: fitting(Net()),
        "a part": lambda: fitting(nn.Sequential(wrapped(Net(), "DDP"))),
        "a part sharded": lambda: fitting(partly_sharded()),
        "an early optimizer": optimized_before,
        "a wrong sampler": lambda: fitting(train=wrong),
        "a loader of items": lambda: fitting(train=DataLoader(data(), None)),
        "float16": lambda: fitting(precision="float16"),
        "none": fitting,
    }


class Broken(nn.Sequential):
    """Fails on rank 1 in forward, where rank 0 waits for the weights of the next part."""

    def forward(self, x: Tensor) -> Tensor:
        if rank() == 1:
            raise KeyError("in forward")
        return super().forward(x)  # type: ignore[no-any-return]


def main() -> None:
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    dist.init_process_group("gloo")
    results = {name: told(attempt) for name, attempt in attempts(folder).items() if not names or name in names}
    torch.save(results, folder / f"{rank()}.told")
    if names:
        return
    ranks.PATIENCE = timedelta(seconds=1)
    from torch.distributed.fsdp import fully_shard

    parts = [Broken(nn.Linear(4, 4)), nn.Sequential(nn.Linear(4, 3))]
    for part in parts:
        fully_shard(part)
    fitting(fully_shard(nn.Sequential(*parts)), supervised(nn.CrossEntropyLoss()))


if __name__ == "__main__":
    main()
