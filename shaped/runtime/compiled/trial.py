"""Trying a program out: its tensors are put back, whatever it did to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, fx

from shaped.runtime import random_state
from shaped.runtime.compiled.tracing import each_once


@contextmanager
def tensors_kept(tensors: Sequence[Tensor]) -> Iterator[None]:
    """Put the contents of tensors and the random generators back in the end."""
    with torch.no_grad():
        kept = [tensor.detach().clone() for tensor in tensors]
    generators = random_state.capture()
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, value in zip(tensors, kept):
                tensor.detach().copy_(value)
        random_state.restore(generators)


def contents(held: Mapping[fx.Node, Tensor]) -> dict[fx.Node, Tensor]:
    """Copies of what held tensors contain."""
    return {node: tensor.detach().clone() for node, tensor in held.items()}


def varied(inputs: Sequence[Tensor]) -> list[Tensor]:
    """Other inputs that are as good: the rows in another order, so that no label or index is out of range."""
    return each_once(lambda one: one.flip(0) if one.dim() > 0 and one.shape[0] > 1 else one, inputs)


def copies(inputs: Sequence[Tensor]) -> list[Tensor]:
    """Inputs that a call may write to."""
    with torch.no_grad():
        return each_once(lambda one: one.detach().clone(memory_format=torch.preserve_format), inputs)
