"""The parameters of a module that is proved: symbols while it is traced, float64 while it is run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from shaped.spec.dims import Dim
from shaped.verify.prove.variables import given_tensor


@contextmanager
def symbolic_parameters(module: torch.nn.Module) -> Iterator[None]:
    """The parameters of a module as symbols of their sizes, named as torch names them."""
    before: list[tuple[dict[str, Any], str, Any]] = []
    for path, each in module.named_modules():
        for name, value in each._parameters.items():
            if value is not None:
                before.append((each._parameters, name, value))
                full = f"{path}.{name}" if path else name
                each._parameters[name] = given_tensor(full, [(Dim.of(size),) for size in value.shape], "float")
    try:
        yield
    finally:
        for parameters, name, value in before:
            parameters[name] = value


@contextmanager
def in_float64(module: torch.nn.Module | None) -> Iterator[dict[str, torch.Tensor]]:
    """The parameters of a module by name; they and its buffers are float64 inside."""
    if module is None:
        yield {}
        return
    values = [each for each in (*module.parameters(), *module.buffers()) if each.is_floating_point()]
    before = [each.data for each in values]
    for each in values:
        each.data = each.data.double()
    try:
        yield {name: each.detach() for name, each in module.named_parameters()}
    finally:
        for each, data in zip(values, before):
            each.data = data
