"""From the graph to steps: views become strides, elementwise operations go into loops, others are kernels."""

from __future__ import annotations

import math
import operator
import string
from dataclasses import dataclass, field

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.c import elementwise
from shaped.runtime.compiled.c.arguments import Call, Value
from shaped.runtime.compiled.c.kernels import KERNELS
from shaped.runtime.compiled.c.layout import C_TYPES, Buffer, Role, View
from shaped.runtime.compiled.c.steps import Elementwise, Kernel, Step, add_elementwise
from shaped.runtime.compiled.program import CannotCompile, Program

# Results that torch calls new, though they are their argument, which nothing else holds.
_SAME_ELEMENTS = frozenset({"_unsafe_view", "lift_fresh"})
# A compiler's time grows with the program, and straight C gains nothing over a library's calls once they are large.
MOST_OPERATIONS = 3000


@dataclass
class Lowered:
    """A program as steps.

    Args:
        steps: in their order.
        inputs: the buffers of the inputs.
        held: the buffers of the held tensors, with these tensors.
        outputs: for each output of the program, where its elements are: a view of a buffer with the role "output".
        scalars: the names of the scalars in C.
    """

    steps: list[Step] = field(default_factory=list)
    inputs: list[View] = field(default_factory=list)
    held: list[tuple[Buffer, Tensor]] = field(default_factory=list)
    outputs: list[View] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)


def lower(program: Program) -> Lowered:
    """The steps of a program.

    Raises:
        CannotCompile: it has an operation, a type or a device that C is not generated for.
    """
    operations = program.operations
    if len(operations) > MOST_OPERATIONS:
        raise CannotCompile(f"{len(operations)} operations are more than {MOST_OPERATIONS}")
    lowered = Lowered()
    values: dict[fx.Node, Value] = {}
    for node in program.graph.nodes:
        if node.op == "placeholder" or node in program.held:
            values[node] = _placeholder(program, node, lowered)
        elif node.op == "call_function":
            values[node] = _operation(node, values, lowered)
        elif node.op != "output":
            raise CannotCompile(f"{node.op} {node.target}: only tensors that are given or held can be read")
    for number, node in enumerate(program.outputs):
        value = values[node]
        if not isinstance(value, View):
            raise CannotCompile(f"output {number} is no tensor")
        lowered.outputs.append(_output(value, number, lowered))
    return lowered


def _placeholder(program: Program, node: fx.Node, lowered: Lowered) -> Value:
    if node in program.scalars:
        lowered.scalars.append(f"s_{node.name}")
        return lowered.scalars[-1]
    if node in program.held:
        view = _new(node, "held", f"p_{node.name}")
        held = program.held[node]
        if held.dtype != view.dtype or held.shape != view.shape or held.stride() != _tensor(node).stride():
            raise CannotCompile(f"{node.name}: the held tensor is not as it was when the program was traced")
        lowered.held.append((view.buffer, held))
        return view
    lowered.inputs.append(_new(node, "input", f"p_{node.name}"))
    return lowered.inputs[-1]


def _operation(node: fx.Node, values: dict[fx.Node, Value], lowered: Lowered) -> Value:
    if node.target is operator.getitem:
        source, index = node.args
        several = values[source] if isinstance(source, fx.Node) else None
        if isinstance(several, tuple) and isinstance(index, int):
            one = several[index]
            return one if one is not None else ()
        raise CannotCompile(f"{node.name}: {node.args[0]} has no parts")
    if not isinstance(node.target, torch._ops.OpOverload):
        raise CannotCompile(f"{node.target} is no operation of torch")
    name = node.target.overloadpacket.__name__
    schema = node.target._schema
    arguments = dict(zip((argument.name for argument in schema.arguments), node.args))
    for argument in schema.arguments[len(node.args) :]:
        arguments[argument.name] = node.kwargs.get(argument.name, argument.default_value)
    aliases = [one.alias_info for one in schema.returns]
    if name == "as_strided":
        raise CannotCompile(f"{node.target}: no C for strides that a program sets itself")
    if name in _SAME_ELEMENTS or any(alias is not None and not alias.is_write for alias in aliases):
        return _view(node, values)
    results: View | tuple[View | None, ...]
    if aliases and aliases[0] is not None:
        target = values[node.args[0]] if isinstance(node.args[0], fx.Node) else None
        if not isinstance(target, View) or len(aliases) > 1:
            raise CannotCompile(f"{node.target}: no C for what it writes to")
        if target.buffer.role == "input":
            raise CannotCompile(f"{node.target} writes to the input {target.buffer.name.removeprefix('p_')}")
        results = target
    else:
        results = _results(node)
    call = Call(node, arguments, values, results if isinstance(results, tuple) else (results,))
    base = name.removesuffix("_") if not name.startswith("_") else name
    reduces = base in elementwise.LOSSES and arguments["reduction"] != 0
    if base in elementwise.FORMULAS and not reduces:
        add_elementwise(lowered.steps, _elementwise(call, base))
    elif name in KERNELS:
        for step in KERNELS[name](call):
            if isinstance(step, Kernel):
                lowered.steps.append(step)
            else:
                add_elementwise(lowered.steps, step)
    else:
        raise CannotCompile(f"{node.target}: there is no C for this operation")
    return results


def _elementwise(call: Call, name: str) -> Elementwise:
    (target,) = call.results
    formula = elementwise.FORMULAS[name]
    try:
        template = formula if isinstance(formula, str) else formula(call.arguments)
    except elementwise.NoFormula as error:
        raise call.refusal(str(error)) from None
    used = list(dict.fromkeys(name for _, name, _, _ in string.Formatter().parse(template) if name))
    given = {one: value for one in used if isinstance(value := call.arguments.get(one), fx.Node)}
    tensors = {one: value for one, node in given.items() if isinstance(value := call.values[node], View)}
    dtype = _computed_in(call, name, tensors)
    filled: dict[str, str] = {"T": C_TYPES[dtype], "numel": f"{max((v.numel for v in tensors.values()), default=0)}"}
    operands: list[View] = []
    for one in used:
        if one in filled:
            continue
        if one in tensors:
            filled[one] = f"${len(operands)}"
            if tensors[one].dtype != dtype and one not in elementwise.CONDITIONS:
                value = f"${len(operands)}"
                filled[one] = f"({value} != 0)" if dtype == torch.bool else f"({C_TYPES[dtype]}){value}"
            operands.append(tensors[one].expand(target.shape).squeeze())
        else:
            filled[one] = call.number(one, dtype)
    if "_{T}" in template and dtype not in (torch.float32, torch.float64, torch.int64):
        raise call.refusal(f"{dtype}")
    expression = template.format(**filled)
    if target.dtype == torch.bool:
        expression = f"({expression}) != 0"
    return Elementwise(call.comment, f"v_{call.node.name}", target.squeeze(), tuple(operands), expression)


def _computed_in(call: Call, name: str, tensors: dict[str, View]) -> torch.dtype:
    """The type in which torch computes: that of the result, but for comparisons that which the operands agree on."""
    (target,) = call.results
    if name not in elementwise.COMPARISONS:
        return target.dtype
    first, *others = (_tensor_like(call, one) for one in ("self", "other") if one in call.arguments)
    dtype = torch.result_type(first, others[0]) if others else first.dtype  # type: ignore[union-attr]  # self is one
    return torch.uint8 if dtype == torch.bool else dtype


def _tensor_like(call: Call, name: str) -> Tensor | float:
    given = call.arguments[name]
    if isinstance(given, fx.Node):
        found = given.meta["val"]
        return found if isinstance(found, Tensor | float) else 0.0
    return given if isinstance(given, int | float) else 0.0


def _results(node: fx.Node) -> View | tuple[View | None, ...]:
    found = node.meta["val"]
    if isinstance(found, Tensor):
        return _new(node, "temporary", f"p_{node.name}")
    if isinstance(found, tuple | list):
        return tuple(
            _buffer_of(one, "temporary", f"p_{node.name}_{number}") if isinstance(one, Tensor) else None
            for number, one in enumerate(found)
        )
    raise CannotCompile(f"{node.target}: its result is no tensor")


def _new(node: fx.Node, role: Role, name: str) -> View:
    return _buffer_of(_tensor(node), role, name)


def _tensor(node: fx.Node) -> Tensor:
    found = node.meta.get("val")
    if not isinstance(found, Tensor):
        raise CannotCompile(f"{node.name}: it is not known what tensor it is")
    return found


def _view(node: fx.Node, values: dict[fx.Node, Value]) -> Value:
    """The view that an operation gives: torch is asked, with a tensor that has the strides and no elements."""
    source = node.args[0]
    base = values[source] if isinstance(source, fx.Node) else None
    if not isinstance(base, View):
        raise CannotCompile(f"{node.target}: no C for a view of that")
    memory = torch.empty(base.span[1], dtype=base.dtype, device="meta")
    like = memory.as_strided(base.shape, base.strides, base.offset)
    found = node.target(like, *node.args[1:], **node.kwargs)  # type: ignore[operator]  # an operation of torch
    several = found if isinstance(found, tuple | list) else (found,)
    if any(one.dtype != base.dtype for one in several):
        raise CannotCompile(f"{node.target}: no C for elements seen as another type")
    views = tuple(View(base.buffer, tuple(one.shape), one.stride(), one.storage_offset()) for one in several)
    return views if several is found else views[0]


def _buffer_of(tensor: Tensor, role: Role, name: str) -> View:
    """A buffer for a tensor, as it lies in memory."""
    if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.dtype not in C_TYPES:
        raise CannotCompile(
            f"{name.removeprefix('p_')}: no C for a tensor that is {tensor.layout}, {tensor.dtype}, on {tensor.device}"
        )
    if not all(isinstance(size, int) for size in tensor.shape):
        raise CannotCompile(f"{name.removeprefix('p_')}: its shape {tuple(tensor.shape)} depends on values")
    view = View(Buffer(name, tensor.dtype, 0, role), tuple(tensor.shape), tuple(tensor.stride()))
    view.buffer.size = view.span[1]
    return view


def _output(value: View, number: int, lowered: Lowered) -> View:
    """An output: a buffer that the program fills becomes one where it can, else it is copied."""
    if value.buffer.role == "temporary" and value.is_whole:
        value.buffer.role = "output"
        return value
    strides = [math.prod(value.shape[dim + 1 :]) for dim in range(len(value.shape))]
    buffer = Buffer(f"p_output_{number}", value.dtype, value.numel, "output")
    copied = View(buffer, value.shape, tuple(strides))
    copy = Elementwise(f"output {number}", f"v_output_{number}", copied.squeeze(), (value.squeeze(),), "$0")
    add_elementwise(lowered.steps, copy)
    return copied
