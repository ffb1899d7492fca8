"""The straight line as a CUDA graph: torch's own kernels in their order, recorded once and launched as one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from shaped.runtime.compiled import straight_line
from shaped.runtime.compiled.program import CannotCompile, Program, Run, empty_like, first_line
from shaped.runtime.compiled.tensor_scalars import with_tensor_scalars
from shaped.runtime.compiled.trial import tensors_kept

name = "cuda_graph"
exact = False  # a number that changes is a tensor here, which rounds once more
_WARM_UP = 3  # calls before a capture, as torch asks for: libraries allocate their workspaces in them


def unavailable(program: Program) -> str | None:
    """Why this backend cannot run a program."""
    devices = {node.meta["val"].device.type for node in program.graph.nodes if isinstance(node.meta.get("val"), Tensor)}
    if devices != {"cuda"}:
        return f"it is for tensors on a GPU of NVIDIA's, these are on {', '.join(sorted(devices))}"
    if not torch.cuda.is_available():
        return "there is no GPU of NVIDIA's"
    return None


def build(program: Program) -> Run:
    """A function that copies its inputs to where the kernels read them, and launches the recorded kernels.

    Raises:
        CannotCompile: an operation cannot be recorded: it waits for the GPU, or takes a number only.
    """
    device = next(iter(program.inputs or program.held)).meta["val"].device
    written = with_tensor_scalars(program, device)
    inputs = [empty_like(node.meta["val"]) for node in program.inputs]
    line = straight_line.build(written.program)
    graph = torch.cuda.CUDAGraph()
    try:
        with tensors_kept(list(written.program.held.values())):
            _warm_up(line, inputs)
            with torch.cuda.graph(graph):
                results = line(*inputs)
    except RuntimeError as error:
        raise CannotCompile(f"it cannot be recorded: {first_line(error)}") from error
    count = len(inputs)

    def run(*given: Any) -> tuple[Tensor, ...]:
        with torch.no_grad():
            for place, value in zip(inputs, given):
                place.copy_(value)
            if len(given) > count:
                written.numbers.copy_(torch.tensor(given[count:], dtype=torch.float64))
            graph.replay()
            return tuple(one.clone() for one in results)  # the next launch writes to the same places

    return run


def _warm_up(line: Run, inputs: list[Tensor]) -> None:
    """Run it a few times on another stream, before it is recorded."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch's own
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for one in inputs:
            one.zero_()
        for _ in range(_WARM_UP):
            line(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
