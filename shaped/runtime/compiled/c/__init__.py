"""A program as one function in C: sizes are constants, chains of elementwise operations are loops.

It is for small dense models, whose time in eager goes into calls and not into arithmetic. The system's compiler makes
the function when it is first needed, and it is kept for later processes (see `shaped.runtime.c_kernel`).
"""

from __future__ import annotations

from dataclasses import replace

from shaped.runtime import c_kernel
from shaped.runtime.compiled.c.calling import bind
from shaped.runtime.compiled.c.emission import emit
from shaped.runtime.compiled.c.lowering import lower
from shaped.runtime.compiled.program import CannotCompile, Program, Run

__all__ = ["build", "exact", "name", "run_from_source", "source_of", "unavailable"]

name = "c"
# Sums are made in another order than torch's, and products and sums are rounded together where that is faster.
exact = False


def unavailable(program: Program) -> str | None:
    """Why there is no C for a program here; None if there is.

    >>> from torch import fx
    >>> graph = fx.Graph()
    >>> _ = graph.output(())
    >>> unavailable(Program(graph, (), {})) in (None, "there is no C compiler, or kernels are switched off")
    True
    """
    if c_kernel.load("int one(void) { return 1; }\n") is None:
        return "there is no C compiler, or kernels are switched off"
    try:
        lower(program)
    except CannotCompile as error:
        return str(error)
    return None


def build(program: Program) -> Run:
    """Compile a program.

    Args:
        program: operations on float32 or float64 tensors of the CPU, and on numbers that choose among their rows.

    Returns:
        A function of the inputs and the scalars. An input that does not lie in memory as it was traced is copied first.
        Its outputs are new tensors.

    Raises:
        CannotCompile: it has an operation that there is no C for, or the compiler fails.
        IndexError: by the function: a number that chooses a row is out of range. Nothing was written then, if the
            number was an input.
    """
    lowered = lower(program)
    return bind(lowered, emit(lowered))


def source_of(program: Program) -> str:
    """The C of a program.

    Raises:
        CannotCompile: see `build`.
    """
    return emit(lower(program)).source


def run_from_source(program: Program, source: str) -> Run:
    """What `build` gives, with other C: for tests of what refuses a program that was compiled wrongly.

    Raises:
        CannotCompile: the compiler does not take it.
    """
    lowered = lower(program)
    return bind(lowered, replace(emit(lowered), source=source))
