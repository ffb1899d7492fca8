"""A program compiled ahead of time by torch's own compiler (AOTInductor): C++ for the CPU, Triton for a GPU.

What runs is a library, called without Python's guards. Building it takes tens of seconds; it is kept in torch's cache
of compiled code, by what it was made of.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.program import CannotCompile, Program, Run, draws_random_numbers, empty_like, first_line
from shaped.runtime.compiled.tensor_scalars import TensorScalars, with_tensor_scalars

name = "aot_inductor"
exact = False


def unavailable(program: Program) -> str | None:
    """Why this backend cannot run a program."""
    if not hasattr(torch._inductor, "aoti_compile_and_package"):
        return f"torch {torch.__version__} has no AOTInductor"
    for node in program.operations:
        if draws_random_numbers(node):
            return f"{node.target} draws random numbers, which it would draw in its own way"
    return None


def build(program: Program) -> Run:
    """A function that calls the compiled library.

    Raises:
        CannotCompile: torch's compiler refuses the program, or there is no C++ compiler.
    """
    written = with_tensor_scalars(program, torch.device("cpu"))
    held = list(written.program.held.values())
    inputs = [empty_like(node.meta["val"]) for node in program.inputs]
    module = fx.GraphModule(torch.nn.Module(), written.program.graph)
    try:
        with (
            warnings.catch_warnings(),
            torch.no_grad(),
            tempfile.TemporaryDirectory(prefix="shaped-") as folder,
        ):
            warnings.simplefilter("ignore")  # torch's about itself
            exported = torch.export.export(module, (*inputs, *held))
            path = str(Path(folder) / "program.pt2")
            package = torch._inductor.aoti_compile_and_package(exported, package_path=path)
            library = torch._C._aoti.AOTIModelPackageLoader(package, "model", False, 1, -1)
    except Exception as error:  # whatever the compiler says
        raise CannotCompile(f"AOTInductor: {type(error).__name__}: {first_line(error)}") from error
    return _calling(library.boxed_run, inputs, held, written)


def _calling(boxed_run: Any, examples: list[Tensor], held: list[Tensor], written: TensorScalars) -> Run:
    """The library as a function of inputs and scalars."""
    count = len(examples)
    fill = written.filling()
    strides = [one.stride() for one in examples]

    def run(*given: Any) -> tuple[Tensor, ...]:
        fill(given[count:])
        # It was compiled for these strides, and does not look at them.
        inputs = [one if one.stride() == stride else _with_strides(one, stride) for one, stride in zip(given, strides)]
        return tuple(boxed_run([*inputs, *held]))

    return run


def _with_strides(tensor: Tensor, stride: tuple[int, ...]) -> Tensor:
    with torch.no_grad():
        return torch.empty_strided(tensor.shape, stride, dtype=tensor.dtype, device=tensor.device).copy_(tensor)
