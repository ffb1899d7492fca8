"""Calling generated C with as little Python as there can be."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from shaped.runtime import c_kernel
from shaped.runtime.compiled.c.emission import Emitted
from shaped.runtime.compiled.c.lowering import Lowered
from shaped.runtime.compiled.program import CannotCompile, Run

# The source asks for vector loops, and for nothing else of OpenMP; memory of the arena serves one type after another.
_FLAGS = ("-fopenmp-simd", "-fno-strict-aliasing")
# From so many multiplications on, a call is long enough for other threads of Python to run beside it.
_LONG = 1_000_000
# More than these ctypes does not take.
_MOST_ARGUMENTS = 1024


def bind(lowered: Lowered, emitted: Emitted) -> Run:
    """What calls the compiled source.

    Short calls keep Python's lock, which saves the time to give it back and take it again, and keeps other threads out
    of the arena. Long ones release it, and have a lock of their own.

    Raises:
        CannotCompile: there is no compiler, or it does not take the source.
    """
    arguments = 1 + len(lowered.inputs) + len(lowered.outputs) + len(lowered.scalars)
    if arguments > _MOST_ARGUMENTS:
        raise CannotCompile(f"{arguments} inputs, outputs and scalars are more than {_MOST_ARGUMENTS}")
    library = c_kernel.load(emitted.source, _FLAGS)
    if library is None:
        raise CannotCompile("the C compiler failed, or there is none (SHAPED_TRACEBACK=1 shows its messages)")
    is_short = emitted.work < _LONG and getattr(sys, "_is_gil_enabled", lambda: True)()
    opened = ctypes.PyDLL(library._name, handle=library._handle) if is_short else library
    function = opened["run"]  # a function of its own: others may have set the types of `opened.run`
    pointers = [ctypes.c_void_p] * (1 + len(lowered.inputs) + len(lowered.outputs))
    function.argtypes = [*pointers, *[ctypes.c_double] * len(lowered.scalars)]
    function.restype = ctypes.c_int
    arena = torch.empty(emitted.arena_bytes, dtype=torch.uint8)
    held = (ctypes.c_void_p * (1 + len(lowered.held)))(arena.data_ptr(), *(one.data_ptr() for _, one in lowered.held))
    names: dict[str, object] = {
        "function": function,
        "held": ctypes.addressof(held),
        "kept": (arena, held, [one for _, one in lowered.held], library),
        "lock": threading.Lock(),
        "like": torch.empty_like,
        "as_traced": _as_traced,
        "fault": _fault(emitted.faults),
    }
    source = _source(lowered, is_short=is_short, has_faults=bool(emitted.faults), names=names)
    exec(compile(source, "<call of generated C>", "exec"), names)
    return names["run"]  # type: ignore[return-value]  # defined by the source


def _source(lowered: Lowered, *, is_short: bool, has_faults: bool, names: dict[str, object]) -> str:
    """Python that makes the outputs, calls the function and returns them."""
    inputs = [f"x{number}" for number in range(len(lowered.inputs))]
    scalars = [f"s{number}" for number in range(len(lowered.scalars))]
    outputs = [f"y{number}" for number in range(len(lowered.outputs))]
    # Names that a function's defaults hold are found faster than those of its module.
    defaults = ["function=function", "held=held", "like=like", "lock=lock", *(f"t{one}=t{one}" for one in outputs)]
    lines = [f"def run({', '.join([*inputs, *scalars, '*', *defaults])}):"]
    for name, view in zip(inputs, lowered.inputs):
        if view.numel < 2:
            continue
        if torch.empty_strided(view.shape, view.strides, device="meta").is_contiguous():
            lines.append(f"    if not {name}.is_contiguous(): {name} = {name}.contiguous()")
        else:
            lines.append(f"    if {name}.stride() != {view.strides}: {name} = as_traced({name}, {view.strides})")
    for name, view in zip(outputs, lowered.outputs):
        names[f"t{name}"] = torch.empty_strided(view.shape, view.strides, dtype=view.dtype)
        lines.append(f"    {name} = like(t{name})")
    given = ["held", *(f"{one}.data_ptr()" for one in (*inputs, *outputs)), *scalars]
    call = f"function({', '.join(given)})"
    if has_faults:
        call = f"code = {call}"
    lines.append(f"    {call}" if is_short else f"    with lock: {call}")
    if has_faults:
        lines.append("    if code: fault(code)")
    lines.append(f"    return ({''.join(f'{one}, ' for one in outputs)})")
    return "\n".join(lines)


def _as_traced(tensor: Tensor, strides: Sequence[int]) -> Tensor:
    """The elements with the strides that the program was made for."""
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)


def _fault(messages: Sequence[str]) -> Callable[[int], None]:
    """What raises the error of a code that the function returned."""

    def fault(code: int) -> None:
        raise IndexError(messages[code - 1])

    return fault
