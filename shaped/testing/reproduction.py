"""A short program that shows the fault of a gradient, made from a verdict's witness."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass, field
from numbers import Number
from typing import TYPE_CHECKING, Any

import torch

from shaped.errors import AnnotationError
from shaped.testing.literal import number_text
from shaped.verify.recording import has_setup_context
from shaped.verify.signature import Parameter, Signature

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shaped.verify.verdict import Witness


def reproduction(
    witness: Witness,
    forward: Callable[..., Any],
    backward: Callable[..., Any] | None = None,
    gradient_of: Callable[..., Any] | None = None,
) -> str:
    """A program that makes the witness's inputs and prints the true gradients and the backward's.

    >>> from jaxtyping import Float
    >>> from shaped.verify.verdict import Witness
    >>> def square(x: Float[torch.Tensor, ""]) -> Float[torch.Tensor, ""]: ...
    >>> def square_backward(grad: Float[torch.Tensor, ""], x: Float[torch.Tensor, ""]) -> Float[torch.Tensor, ""]: ...
    >>> witness = Witness({}, {"x": 1.5, "grad": 2.0}, gradient="x", expected=6.0, actual=2.0)
    >>> print(reproduction(witness, square, square_backward))
    import torch
    from shaped.testing.reproduction import square, square_backward
    <BLANKLINE>
    x = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    grad = torch.tensor(2.0, dtype=torch.float64)
    <BLANKLINE>
    true = torch.autograd.grad(square(x), [x], grad, allow_unused=True)
    print("true gradients:", true)
    with torch.no_grad():
        print("the backward:  ", square_backward(grad, x))
    # The gradient of x is 2 there, not 6.
    <BLANKLINE>
    """
    is_class = isinstance(forward, type)
    names = _Names()
    called = names.of(forward, "forward")
    meant = names.of(gradient_of, "gradient_of") if gradient_of else called
    own = names.of(backward, "backward") if backward else ""
    parameters = _parameters(forward)
    arguments = [name for name in parameters if name in witness.inputs] or _unknown_arguments(witness)
    upstream = [name for name in witness.inputs if name not in arguments]
    if is_class:
        names.imports.setdefault("shaped.verify.subject", []).append("Subject")
    lines = [*names.lines(), ""]
    differentiable = []
    for name, value in witness.inputs.items():
        text, has_gradient = _value(value, parameters.get(name))
        if has_gradient and name in arguments:
            differentiable.append(name)
            text = f"{text[:-1]}, requires_grad=True)"
        lines.append(f"{_variable(name)} = {text}")
    lines.append("")
    gradients = [_variable(name) for name in upstream]
    several = [value for name in upstream if isinstance(value := witness.inputs[name], tuple)]
    if is_class:
        subject = f"Subject.of({called}{f', gradient_of={meant}' if gradient_of else ''})"
        lines.append(
            f"true = {subject}.reference({_tuple(arguments)}, {gradients[0] if several else _tuple(gradients)})"
        )
        found = f"torch.autograd.grad({called}.apply({_passed(arguments, parameters)}), "
        found += f"{_list(differentiable)}, {_one_or_tuple(gradients)}, allow_unused=True)"
        lines += ['print("true gradients:", true)', f'print("its backward:  ", {found})']
    else:
        forward_call = f"{meant}({_passed(arguments, parameters)})"
        seeds = f", {_one_or_tuple(gradients)}" if gradients else ""
        lines.append(f"true = torch.autograd.grad({forward_call}, {_list(differentiable)}{seeds}, allow_unused=True)")
        lines.append('print("true gradients:", true)')
        if backward is not None:
            given = _backward_arguments(backward, gradients, arguments, len(several[0]) if several else 1)
            lines += ["with torch.no_grad():", f'    print("the backward:  ", {own}({", ".join(given)}))']
    if witness.gradient and witness.expected is not None and witness.actual is not None:
        entry = witness.gradient + "".join(f"[{i}]" for i in witness.index)
        lines.append(f"# The gradient of {entry} is {witness.actual:.6g} there, not {witness.expected:.6g}.")
    return "\n".join(lines) + "\n"


@dataclass
class _Names:
    """How the program gets the user's functions: imported, or copied where they are local."""

    imports: dict[str, list[str]] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)

    def of(self, function: Callable[..., Any], role: str) -> str:
        """What the program calls the function."""
        name = getattr(function, "__qualname__", "")
        module = getattr(function, "__module__", None) or ""
        if name and module and "<" not in name and module != "__main__":
            imported = self.imports.setdefault(module, [])
            if name.partition(".")[0] not in imported:
                imported.append(name.partition(".")[0])
            return name
        try:
            source = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError):
            source = ""
        name = getattr(function, "__name__", "")
        if source.lstrip().startswith(("def ", "class ", "@")) and name.isidentifier():
            if source not in self.sources:
                self.sources.append(source)
            return name
        self.sources.append(f"{role} = ...  # {_described(function)}\n")
        return role

    def lines(self) -> list[str]:
        """The program's first lines. Annotations of copied functions stay text, as their names are not imported."""
        first = ["from __future__ import annotations", ""] if self.sources else []
        modules = [f"from {module} import {', '.join(names)}" for module, names in self.imports.items()]
        copied = [line for source in self.sources for line in ("", *source.rstrip().splitlines())]
        return [*first, "import torch", *modules, *copied]


def _described(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    return f"line {code.co_firstlineno} of {code.co_filename.rpartition('/')[2]}" if code else "the function checked"


def _parameters(forward: Callable[..., Any]) -> Mapping[str, Parameter]:
    function, skip_context = forward, False
    if isinstance(forward, torch.nn.Module):
        function = forward.forward
    elif isinstance(forward, type) and issubclass(forward, torch.autograd.Function):
        function, skip_context = forward.forward, not has_setup_context(forward)
    try:
        read = Signature.of(function, skip_context=skip_context).parameters
    except AnnotationError:  # the inputs were given; their kinds are guessed from their numbers
        try:
            names = list(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            return {}
        read = tuple(Parameter(name) for name in names[skip_context:])
    return {parameter.name: parameter for parameter in read}


def _unknown_arguments(witness: Witness) -> list[str]:
    """The inputs where the parameters are not known: all but the last, which is the upstream gradient."""
    return list(witness.inputs)[: max(1, len(witness.inputs) - 1)]


def _variable(name: str) -> str:
    """`grad_0` for `grad[0]`."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name).strip("_") or "value"


def _value(value: object, parameter: Parameter | None) -> tuple[str, bool]:
    """An expression for a value, and whether it is a tensor that has a gradient."""
    is_tensor = parameter is None or parameter.annotation is not None
    if isinstance(value, tuple) and parameter is None:
        return _tuple([_value(one, None)[0] for one in value]), False
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if not (isinstance(value, list) or (is_tensor and isinstance(value, Number))):
        return repr(value), False
    flat = list(_flat(value))
    kind = parameter.kind if parameter and parameter.kind else None
    if kind is None:
        kind = "complex" if any(isinstance(one, complex) for one in flat) else "float"
    if kind in ("int", "bool"):
        return f"torch.tensor({_nested(value, kind)}, dtype=torch.{'int64' if kind == 'int' else 'bool'})", False
    dtype = "complex128" if kind == "complex" else "float64"
    return f"torch.tensor({_nested(value, kind)}, dtype=torch.{dtype})", True


def _flat(value: object) -> Sequence[object]:
    return [leaf for one in value for leaf in _flat(one)] if isinstance(value, list) else [value]


def _nested(value: Any, kind: str) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_nested(one, kind) for one in value)}]"
    if kind == "float":
        return number_text(float(value))
    return number_text(complex(value)) if kind == "complex" else repr(bool(value) if kind == "bool" else int(value))


def _passed(arguments: Sequence[str], parameters: Mapping[str, Parameter]) -> str:
    """The arguments of the forward, by name where one is left out."""
    if list(parameters)[: len(arguments)] == list(arguments) or not parameters:
        return ", ".join(arguments)
    return ", ".join(f"{name}={name}" for name in arguments)


def _backward_arguments(
    backward: Callable[..., Any], gradients: Sequence[str], arguments: Sequence[str], outputs: int
) -> Sequence[str]:
    """The upstream gradients, as one tuple or one by one, then the inputs that the backward asks for.

    Args:
        outputs: the length of the tuple that the upstream gradients are, 1 if they are none.
    """
    first = [_one_or_tuple(gradients)] if gradients else []
    try:
        declared = list(inspect.signature(backward).parameters.values())
    except (TypeError, ValueError):
        return [*first, *arguments]
    wanted = [one.name for one in declared if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    if len(wanted) < len(declared) or len(wanted) == 1 + len(arguments):
        return [*first, *arguments]
    if len(wanted) == outputs + len(arguments):
        return [f"*{gradients[0]}", *arguments]
    if len(wanted) == len(gradients) + len(arguments):
        return [*gradients, *arguments]
    asked = [name for name in wanted[1:] if name in arguments]
    return [*first, *asked]


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _list(names: Sequence[str]) -> str:
    return f"[{', '.join(names)}]"


def _one_or_tuple(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else _tuple(names)
