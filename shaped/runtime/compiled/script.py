"""The straight line in TorchScript's interpreter, which calls a kernel in less time than Python.

The calls are those of the plan. TorchScript compiles nothing here, and fuses nothing: every result is written to a
buffer.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.planning import Line, Plan, plan
from shaped.runtime.compiled.program import CannotCompile, Program, Run, first_line
from shaped.runtime.compiled.straight_line import Names, function

name = "script"
exact = True


def unavailable(program: Program) -> str | None:
    """Why this backend cannot run a program."""
    if not torch._C._jit_init():
        return "TorchScript is switched off (PYTORCH_JIT=0)"
    return None


def build(program: Program) -> Run:
    """A function of the inputs and scalars that runs a method of TorchScript's.

    Raises:
        CannotCompile: TorchScript does not take an operation as it is.
    """
    planned = plan(program)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that scripts are deprecated
            holder = _Holder()
            text = _text(planned, holder)
            method = holder.method(text)
    except Exception as error:  # whatever the compiler of scripts says
        raise CannotCompile(f"TorchScript: {first_line(error)}") from error
    names = Names()
    given = ", ".join(node.name for node in (*planned.inputs, *_passed(planned)))
    call = f"{names.of(method, 'method')}({given})"
    return function(planned, [f"return ({call},)" if len(planned.outputs) == 1 else f"return {call}"], names)


class _Holder:
    """The tensors that stay, as attributes of a script's object.

    The object has a compilation unit of its own, so that both are freed with the method: those that `torch.jit.script`
    makes stay to the end of the process.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        # Any: torch does not tell the types of these.
        self._module: Any = cast("Any", torch._C).ScriptModule("Step", torch._C.CompilationUnit(), True)

    def name_of(self, tensor: Tensor) -> str:
        """The name of a tensor's attribute."""
        if id(tensor) not in self._names:
            self._names[id(tensor)] = name = f"t{len(self._names)}"
            self._module._register_attribute(name, torch._C.TensorType.get(), tensor)
        return f"self.{self._names[id(tensor)]}"

    def method(self, text: str) -> Callable[..., Any]:
        """The method of a text, named `run`."""
        kind = torch._C.ConcreteModuleType.from_jit_type(self._module._type())
        self._module._define(kind, text, torch._jit_internal.createResolutionCallbackFromFrame(0))
        method: Callable[..., Any] = self._module._get_method("run")
        return method


def _passed(planned: Plan) -> list[fx.Node]:
    """The scalars that are arguments of calls; the others are in their cells."""
    used = {
        one
        for line in planned.lines
        for argument in (*line.arguments, *line.named.values())
        for one in (argument if isinstance(argument, (list, tuple)) else [argument])
        if isinstance(one, fx.Node)
    }
    return [node for node in planned.scalars if node in used]


def _text(planned: Plan, holder: _Holder) -> str:
    """The method."""
    parameters = [f"{node.name}: Tensor" for node in planned.inputs]
    parameters += [f"{node.name}: float" for node in _passed(planned)]
    lines = []
    for line in planned.lines:
        result = "" if line.result is None else f"{line.result.name} = "
        lines.append(f"    {result}{_call(line, holder)}")
    outputs = ", ".join(node.name for node in planned.outputs)
    return "\n".join([f"def run({', '.join(['self', *parameters])}):", *lines, f"    return {outputs}"]) + "\n"


def _call(line: Line, holder: _Holder) -> str:
    if not isinstance(line.operation, torch._ops.OpOverload):
        whole, place = line.arguments
        return f"{whole.name}[{place}]"
    given = [_written(one, holder) for one in line.arguments]
    given += [f"{key}={_written(value, holder)}" for key, value in line.named.items()]
    namespace, name = line.operation._schema.name.split("::")
    return f"torch.ops.{namespace}.{name}({', '.join(given)})"


def _written(value: Any, holder: _Holder) -> str:
    """An argument as TorchScript reads it."""
    if isinstance(value, fx.Node):
        return value.name
    if isinstance(value, Tensor):
        return holder.name_of(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_written(one, holder) for one in value)}]"
    if isinstance(value, float):
        return f'float("{value}")' if value != value or value in (float("inf"), float("-inf")) else repr(value)
    if isinstance(value, torch.device):
        return f'torch.device("{value}")'
    return repr(value) if value is None or isinstance(value, (bool, int, str)) else str(value)
