"""What torch.export found out about a program: its inputs, its outputs, and so its signature."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch.utils import _pytree as pytree  # torch.export's own, which has no other name

from shaped.runtime.exported.annotations import leaves_of
from shaped.runtime.exported.axes import AxisNames, axes_text, ranges_of, symbols_of
from shaped.runtime.exported.signature import ConstantValue, Signature, TensorValue, Value
from shaped.runtime.tensor_types import dtype_name


def inputs_of(program: ExportedProgram) -> Iterator[object]:
    """The tensors without data and the constants that a program was traced with, in order."""
    values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            yield spec.arg.value if isinstance(spec.arg, ConstantArgument) else values.get(spec.arg.name)


def outputs_of(program: ExportedProgram) -> Iterator[object]:
    """The tensors without data and the constants that a program gave when it was traced, in order."""
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    for spec in program.graph_signature.output_specs:
        if spec.kind is OutputKind.USER_OUTPUT:
            yield spec.arg.value if isinstance(spec.arg, ConstantArgument) else values.get(spec.arg.name)


def signature_of(
    program: ExportedProgram,
    operation: str,
    positional: tuple[str, ...],
    keywords: tuple[str, ...],
    names: AxisNames,
) -> Signature:
    """What a program takes and gives.

    Args:
        positional: the names of the parameters that it was exported with by position.
        keywords: the names of those by name.
        names: what its symbols are called.

    Raises:
        ValueError: it takes or gives something that is neither a tensor nor a constant.
    """
    inputs, outputs = list(inputs_of(program)), list(outputs_of(program))
    known = {one for value in inputs if isinstance(value, Tensor) for one in symbols_of(value.shape)}

    def described(name: str, value: object) -> Value:
        if isinstance(value, Tensor):
            return TensorValue(name, dtype_name(value.dtype), axes_text(value.shape, names, known))
        if value is None or isinstance(value, (bool, int, float, str)):
            return ConstantValue(name, value)
        raise ValueError(f"{name} of {operation} is neither a tensor nor a constant ({type(value).__name__})")

    in_spec, out_spec = program.call_spec.in_spec, program.call_spec.out_spec
    assert in_spec is not None, "every exported program has it"
    assert out_spec is not None, "every exported program has it"
    args, kwargs = pytree.tree_unflatten(inputs, in_spec)
    taken = [one for name, value in zip(positional, args) for one in leaves_of(value, name)]
    taken += [one for name, value in kwargs.items() for one in leaves_of(value, name)]
    given = leaves_of(pytree.tree_unflatten(outputs, out_spec), "return")
    return Signature(
        operation,
        positional,
        keywords,
        tuple(described(*one) for one in taken),
        tuple(described(*one) for one in given),
        ranges_of(program.range_constraints, names),
    )


def names_of_parameters(program: ExportedProgram) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of what a program takes by position and by name."""
    spec = program.call_spec.in_spec
    assert spec is not None, "every exported program has it"
    args, kwargs = pytree.tree_unflatten(list(range(spec.num_leaves)), spec)
    top = program.module_call_graph[0].signature
    known = list(getattr(top, "forward_arg_names", None) or ())
    names = known[: len(args)] if len(known) == len(args) + len(kwargs) else [f"input_{i}" for i in range(len(args))]
    return tuple(names), tuple(map(str, kwargs))
