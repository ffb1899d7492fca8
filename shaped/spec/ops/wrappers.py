"""Modules that hold another one and call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.op import Module, module
from shaped.spec.values import UNKNOWN, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


@module("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel")
class Parallel(Module):
    """A module on several devices: as the module itself."""

    def __init__(self, context: Context, module: Value, *args: Value, **kwargs: Value) -> None:
        self.module = module

    def forward(self, context: Context, *args: Value, **kwargs: Value) -> Value:
        """As the module's."""
        return self.module.call(context, args, kwargs) if isinstance(self.module, Module) else UNKNOWN
