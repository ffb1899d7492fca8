"""Models that several processes train together, as their owners wrap them: DistributedDataParallel and FSDP2."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from shaped.runtime.distributed import is_spread
from shaped.trainers.fitting.ranks import Ranks

Kind: TypeAlias = Literal["alone", "DDP", "FSDP"]


@dataclass(frozen=True)
class Parallel:
    """How a model is trained.

    Args:
        model: as it was given, which is what is called.
        inner: what has the names that a state is known by: the model without its wrapper.
        kind: by which wrapper.
        ranks: the processes.
    """

    model: nn.Module
    inner: nn.Module
    kind: Kind
    ranks: Ranks

    def gradients_kept(self) -> AbstractContextManager[object]:
        """Around forward and backward of a batch that others of the same update follow: its gradients stay here."""
        if self.kind == "DDP":
            # Of a compiled one, it is an attribute of what was compiled.
            no_sync: AbstractContextManager[object] = self.model.no_sync()  # type: ignore[operator]  # a method of it
            return no_sync
        if self.kind == "FSDP":
            return self._unsynchronised()
        return nullcontext()

    @contextmanager
    def _unsynchronised(self) -> Iterator[None]:
        model: Any = self.model
        model.set_requires_gradient_sync(False)
        try:
            yield
        finally:
            model.set_requires_gradient_sync(True)

    def share_buffers(self) -> None:
        """Give every process the buffers of rank 0, as DDP itself does before each forward."""
        buffers = list(self.inner.buffers())
        if self.ranks.size == 1 or not buffers:
            return
        self.ranks.agree()
        shared = self.ranks.broadcast([buffer.detach().cpu() for buffer in buffers] if self.ranks.is_first else [])
        with torch.no_grad():
            for buffer, value in zip(buffers, shared):
                buffer.copy_(value)


def parallel_of(model: nn.Module) -> Parallel:
    """How a model is trained, told by its wrapper and the process group.

    Raises:
        ValueError: there are several processes, and the model is not wrapped for all of them; says how to.
    """
    size = dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1
    inner, kind = _unwrapped(model)
    if kind == "alone":
        _require_one_process(model, size)
        return Parallel(model, inner, kind, Ranks())
    model_size = _size_of(inner) if kind == "FSDP" else dist.get_world_size(_ddp(model).process_group)
    if model_size != size:
        raise ValueError(f"the model is spread over {model_size} of {size} processes: fit needs it over all of them")
    return Parallel(model, inner, kind, Ranks(dist.get_rank(), size) if size > 1 else Ranks())


def _unwrapped(model: nn.Module) -> tuple[nn.Module, Kind]:
    """The model without DDP, and by what it is wrapped."""
    fsdp = sys.modules.get("torch.distributed.fsdp")  # where nobody imported it nothing is wrapped by it
    for name, module in model.named_modules():
        if name and isinstance(module, DistributedDataParallel) and name != "_orig_mod":
            raise ValueError(f"{name} is a DistributedDataParallel in the model: wrap the model as a whole")
        if fsdp is not None and isinstance(module, fsdp.FullyShardedDataParallel):
            raise ValueError(
                "the model is a FullyShardedDataParallel (FSDP1): call torch.distributed.fsdp.fully_shard on it instead"
            )
    compiled = getattr(model, "_orig_mod", model)
    if isinstance(compiled, DistributedDataParallel):
        return compiled.module, "DDP"
    if any(is_spread(parameter) for parameter in model.parameters()):
        if fsdp is None or not isinstance(model, fsdp.FSDPModule):
            raise ValueError(
                "parts of the model are sharded, the model itself is not: call fully_shard(model) after its parts"
            )
        return model, "FSDP"
    return model, "alone"


def _ddp(model: nn.Module) -> DistributedDataParallel:
    found = getattr(model, "_orig_mod", model)
    assert isinstance(found, DistributedDataParallel)
    return found


def _size_of(model: nn.Module) -> int:
    """Over how many processes FSDP2 spreads the model."""
    sizes = set()
    for name, parameter in model.named_parameters():
        if not is_spread(parameter):
            if parameter.requires_grad:
                raise ValueError(f"{name} is left out by fully_shard: its gradients would differ between the processes")
            continue
        if not all(one.is_replicate() for one in parameter.placements[:-1]) or not parameter.placements[-1].is_shard():
            raise ValueError(
                f"{name} is spread as {parameter.placements}: fit knows models whose data alone are split "
                "(fully_shard over one dim of devices, or replicated over a first one), not tensor parallel ones"
            )
        sizes.add(parameter.device_mesh.size())
    if len(sizes) > 1:
        raise ValueError(f"the parameters are spread over {' and '.join(map(str, sorted(sizes)))} processes")
    return int(sizes.pop())


def _require_one_process(model: nn.Module, size: int) -> None:
    """Refuse that each of several processes trains a model of its own on the same data."""
    # torchrun says how many it started before the process group is made.
    launched = int(os.environ.get("WORLD_SIZE", "1")) if dist.is_available() and dist.is_torchelastic_launched() else 1
    if max(size, launched) > 1:
        raise ValueError(
            f"there are {max(size, launched)} processes, and each would train its own {type(model).__name__}: give fit "
            "torch.nn.parallel.DistributedDataParallel(model) after torch.distributed.init_process_group(), or a model "
            "that torch.distributed.fsdp.fully_shard(model) was called on"
        )
