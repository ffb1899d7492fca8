"""The straight line in Python: a function of calls to torch's kernels, and nothing between them."""

from __future__ import annotations

import ctypes
import linecache
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.planning import Line, Plan, plan
from shaped.runtime.compiled.program import Program, Run

name = "python"
exact = True
_count = 0
_C_FLOATS = {torch.float32: ctypes.c_float, torch.float64: ctypes.c_double}


def unavailable(program: Program) -> str | None:
    """Why this backend cannot run a program: it always can."""
    return None


def build(program: Program) -> Run:
    """A function of the inputs and scalars that calls torch's kernels one after the other."""
    planned = plan(program)
    names = Names()
    lines = [
        f"{line.result.name} = {_call(line, names)}" if line.result else _call(line, names) for line in planned.lines
    ]
    outputs = "".join(f"{node.name}, " for node in planned.outputs)
    return function(planned, [*lines, f"return ({outputs})"], names)


def _call(line: Line, names: Names) -> str:
    called = names.of(_callable(line.operation), getattr(line.operation, "__name__", "part").replace(".", "_"))
    given = [written(one, names) for one in line.arguments]
    given += [f"{key}={written(value, names)}" for key, value in line.named.items()]
    return f"{called}({', '.join(given)})"


class Names:
    """What a text calls the objects that it uses."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._found: dict[int, str] = {}

    def of(self, value: object, prefix: str) -> str:
        """The name of an object."""
        if id(value) not in self._found:
            # Nodes are named in small letters.
            self._found[id(value)] = name = f"{prefix.upper()}_{len(self._found)}"
            self.values[name] = value  # which is kept, so that its id stays its own
        return self._found[id(value)]


def written(value: Any, names: Names) -> str:
    """An argument as Python reads it."""
    if isinstance(value, fx.Node):
        return value.name
    if isinstance(value, Tensor):
        return names.of(value, "t")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(written(one, names) for one in value)}]"
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    return names.of(value, "v")  # floats too: `inf` has no literal


def function(planned: Plan, body: Sequence[str], names: Names) -> Run:
    """A function of inputs and scalars whose operations autograd does not record.

    It reaches the kernels without a look at autograd, by a guard that torch does not document; where it is missing,
    gradients are switched off, which is slower. Scalars that stand for tensors are written to their memory, without a
    call to torch.
    """
    parameters = ", ".join(node.name for node in (*planned.inputs, *planned.scalars))
    cells = []
    for node, cell in planned.cells:
        memory = _C_FLOATS[cell.dtype].from_address(cell.data_ptr())
        cells.append(f"{names.of(memory, 'cell')}.value = {node.name}")
        names.of(cell, "t")
    if hasattr(torch._C, "_AutoDispatchBelowAutograd"):
        guard = names.of(torch._C._AutoDispatchBelowAutograd, "guard")
        # Not left to the end of the frame: a traceback keeps frames alive.
        mode = names.of(torch._C._set_grad_enabled, "mode")
        lines = [
            f"held, was_recording = {guard}(), {names.of(torch.is_grad_enabled, 'is_recording')}()",
            f"{mode}({planned.is_training})",
            "try:",
            *_indented(body),
            "finally:",
            f"    {mode}(was_recording)",
            "    del held",
        ]
    else:
        lines = [f"with {names.of(torch.no_grad, 'no_grad')}():", *_indented(body)]
    text = "\n".join([f"def run({parameters}):", *_indented(cells), *_indented(lines)]) + "\n"
    return _defined(text, names.values)


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _callable(operation: Callable[..., Any]) -> Callable[..., Any]:
    """The quickest way to call an operation from Python.

    Functions of the module `torch` parse their arguments in less time than operators. They choose the overload by the
    arguments, as the operator's name does.
    """
    if not isinstance(operation, torch._ops.OpOverload):
        return operation
    quick: Callable[..., Any] | None = getattr(torch._C._VariableFunctions, operation.overloadpacket.__name__, None)
    is_simple = all(not one.is_out or one.name == "out" for one in operation._schema.arguments)
    if quick is not None and is_simple and _takes_out(operation):
        return quick
    return operation._op


def _takes_out(operation: torch._ops.OpOverload) -> bool:
    return operation.overloadpacket.__name__ in _WITH_OUT and operation._overloadname in ("out", "IntList_out")


# The functions of `torch` that take `out`, and whose other arguments are those of the operator.
_WITH_OUT = frozenset(("add", "addmm", "bmm", "clamp_min", "div", "mm", "mul", "sqrt", "sub", "sum", "tanh", "sigmoid"))


def _defined(text: str, values: dict[str, Any]) -> Callable[..., Any]:
    """The function that a text defines; its lines are shown in tracebacks."""
    global _count
    _count += 1
    file = f"<compiled step {_count}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), values)
    function: Callable[..., Any] = values.pop("run")  # no cycle: what it holds is freed with it, at once
    weakref.finalize(function, linecache.cache.pop, file, None)
    return function
