"""A program compiled by `torch.compile`, with its guards at each call."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.aot_inductor import unavailable
from shaped.runtime.compiled.program import CannotCompile, Program, Run, empty_like, first_line
from shaped.runtime.compiled.tensor_scalars import with_tensor_scalars
from shaped.runtime.compiled.trial import tensors_kept

name = "torch.compile"
exact = False

__all__ = ["build", "exact", "name", "unavailable"]


def build(program: Program) -> Run:
    """A function that calls the compiled program.

    Raises:
        CannotCompile: torch's compiler refuses the program.
    """
    written = with_tensor_scalars(program, torch.device("cpu"))
    held, fill = list(written.program.held.values()), written.filling()
    count = len(program.inputs)
    module = fx.GraphModule(torch.nn.Module(), written.program.graph)
    compiled = torch.compile(module, fullgraph=True, dynamic=False)

    def run(*given: Any) -> tuple[Tensor, ...]:
        fill(given[count:])
        with torch.no_grad():
            results: tuple[Tensor, ...] = compiled(*given[:count], *held)
        return results

    try:
        with tensors_kept(held):  # it is compiled by its first call
            run(*(empty_like(node.meta["val"]).zero_() for node in program.inputs), *(1.0 for _ in program.scalars))
    except Exception as error:  # whatever the compiler says
        raise CannotCompile(f"torch.compile: {type(error).__name__}: {first_line(error)}") from error
    return run
