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
from shaped.verify.pairs import as_pair
from shaped.verify.recording import has_setup_context
from shaped.verify.signature import Parameter, Signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
    names = _Names()
    op = forward
    forward, backward, gradient_of = as_pair(forward, backward, gradient_of)
    call = _Call(
        names.of(forward, "forward") + (".forward" if names.is_imported(forward) and op is not forward else ""),
        names.of(backward, "backward") if backward else "",
        names.of(gradient_of, "gradient_of") if gradient_of else "",
        witness,
        _parameters(forward),
    )
    if isinstance(forward, type):
        names.imports["shaped.verify.subject"] = ["Subject"]
        outcome = call.of_class()
    else:
        outcome = call.of_pair(backward)
    lines = [*names.lines(), "", *call.inputs(), "", *outcome, *_comment(witness)]
    return "\n".join(lines) + "\n"


def _comment(witness: Witness) -> list[str]:
    if not witness.gradient or witness.expected is None or witness.actual is None:
        return []
    entry = witness.gradient + "".join(f"[{i}]" for i in witness.index)
    return [f"# The gradient of {entry} is {witness.actual:.6g} there, not {witness.expected:.6g}."]


@dataclass(frozen=True)
class _Call:
    """The lines that run forward and backward.

    Args:
        forward: what the program calls the forward.
        backward: the backward, empty if there is none.
        meant: the function whose gradient is meant, empty if that is the forward.
        witness: the inputs.
        parameters: the forward's, as its annotations say.
    """

    forward: str
    backward: str
    meant: str
    witness: Witness
    parameters: Mapping[str, Parameter]

    @property
    def arguments(self) -> list[str]:
        """The inputs of the forward. Where its parameters are not known, all but the first: the upstream gradient."""
        known = [name for name in self.parameters if name in self.witness.inputs]
        return known or list(self.witness.inputs)[1:]

    @property
    def upstream(self) -> list[str]:
        """The variables with upstream gradients; one for a tuple of them."""
        return [_variable(name) for name in self.witness.inputs if name not in self.arguments]

    @property
    def outputs(self) -> int:
        """The number of upstream gradients."""
        values = [value for name, value in self.witness.inputs.items() if name not in self.arguments]
        return sum(len(value) if isinstance(value, tuple) else 1 for value in values)

    @property
    def differentiable(self) -> list[str]:
        """The inputs that have a gradient."""
        inputs = self.witness.inputs
        return [name for name in self.arguments if _value(inputs[name], self.parameters.get(name))[1]]

    def inputs(self) -> Iterator[str]:
        """The lines that make the inputs."""
        for name, value in self.witness.inputs.items():
            text, _ = _value(value, self.parameters.get(name))
            if name in self.differentiable:
                text = f"{text[:-1]}, requires_grad=True)"
            yield f"{_variable(name)} = {text}"

    def of_pair(self, backward: Callable[..., Any] | None) -> Iterator[str]:
        """The gradient by autograd, and what the backward returns."""
        outputs = f"{self.meant or self.forward}({self._passed()})"
        upstream = f", {_one_or_tuple(self.upstream)}" if self.upstream else ""
        yield f"true = torch.autograd.grad({outputs}, [{', '.join(self.differentiable)}]{upstream}, allow_unused=True)"
        yield 'print("true gradients:", true)'
        if backward is not None:
            yield "with torch.no_grad():"
            yield f'    print("the backward:  ", {self.backward}({", ".join(self._passed_back(backward))}))'

    def of_class(self) -> Iterator[str]:
        """The gradient of the plain code of a `torch.autograd.Function`, and its own."""
        upstream = _one_or_tuple(self.upstream)
        subject = f"Subject.of({self.forward}{f', gradient_of={self.meant}' if self.meant else ''})"
        gradients = upstream if self.outputs > 1 else f"({upstream},)"
        yield f"true = {subject}.reference({_tuple(self.arguments)}, {gradients})"
        yield 'print("true gradients:", true)'
        outputs = f"{self.forward}.apply({', '.join(self.arguments)})"
        wanted = ", ".join(self.differentiable)
        yield f"own = torch.autograd.grad({outputs}, [{wanted}], {upstream}, allow_unused=True)"
        yield 'print("its backward:  ", own)'

    def _passed(self) -> str:
        """The arguments of the forward, by name where one is left out."""
        arguments = self.arguments
        if not self.parameters or list(self.parameters)[: len(arguments)] == arguments:
            return ", ".join(arguments)
        return ", ".join(f"{name}={name}" for name in arguments)

    def _passed_back(self, backward: Callable[..., Any]) -> list[str]:
        """The upstream gradients, as one tuple or one by one, then the inputs that the backward asks for."""
        arguments, upstream = self.arguments, self.upstream
        first = [_one_or_tuple(upstream)] if upstream else []
        try:
            declared = list(inspect.signature(backward).parameters.values())
        except (TypeError, ValueError):
            return [*first, *arguments]
        wanted = [one.name for one in declared if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        if len(wanted) < len(declared) or len(wanted) == 1 + len(arguments):
            return [*first, *arguments]
        if len(wanted) == self.outputs + len(arguments):
            return [*upstream, *arguments] if len(upstream) > 1 else [f"*{upstream[0]}", *arguments]
        return [*first, *(name for name in wanted[1:] if name in arguments)]


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
            source = _without_decorators(textwrap.dedent(inspect.getsource(function)))
        except (OSError, TypeError):
            source = ""
        name = getattr(function, "__name__", "")
        if source.lstrip().startswith(("def ", "class ", "@")) and name.isidentifier():
            if source not in self.sources:
                self.sources.append(source)
            return name
        self.sources.append(f"{role} = ...  # {_described(function)}\n")
        return role

    def is_imported(self, function: Callable[..., Any]) -> bool:
        """Whether the program imports the function, so that it has its decorators."""
        return getattr(function, "__qualname__", "").partition(".")[0] in self.imports.get(function.__module__, [])

    def lines(self) -> list[str]:
        """The program's first lines. Annotations of copied functions stay text, as their names are not imported."""
        first = ["from __future__ import annotations", ""] if self.sources else []
        modules = [f"from {module} import {', '.join(names)}" for module, names in self.imports.items()]
        copied = [line for source in self.sources for line in ("", *source.rstrip().splitlines())]
        return [*first, "import torch", *modules, *copied]


def _without_decorators(source: str) -> str:
    """A function's source without those of an op and its backward: the program has the functions alone."""
    lines = source.splitlines(keepends=True)
    first = next((i for i, line in enumerate(lines) if line.startswith(("def ", "class ", "async "))), 0)
    is_of_an_op = any("custom_grad" in line or ".backward" in line for line in lines[:first])
    return "".join(lines[first:]) if is_of_an_op else source


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


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _one_or_tuple(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else _tuple(names)
