"""Theorems about the table: a declared backward is the adjoint of the derivative, for every size and value.

`proofs/` states them as data, one file a family; `shaped prove` checks them and writes the ledger.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import wraps
from typing import Any

from shaped.spec.dims import Dim
from shaped.spec.meaning import MEANINGS, Meaning, load
from shaped.spec.tensor import Tensor, variable

_TENSOR = re.compile(r"(?:(?P<kind>float|int|bool|complex|size):)?(?P<axes>[^<]*)(?:<(?P<bound>.*))?")


@dataclass(frozen=True)
class Theorem:
    """The backward that is declared for an operation is the adjoint of the derivative of its meaning.

    Args:
        op: the operation's name in the table.
        arguments: the arguments of its meaning by name. For a parameter that is a tensor, a text is the tensor's axes
            (`"b 3 d"`), with its kind before it unless it is float (`"bool: q k"`); integers have their bound behind it
            (`"int: b < c"`). A list of texts is a list of tensors; `"=ij->ji"` among them is the text behind the sign.
            `"size: s"` is a named int for any parameter. Anything else is passed as it is.
        note: what the arguments are about, where they do not say it.

    >>> print(Theorem("softmax", {"input": "b c", "dim": -1}))
    softmax(input=(b c), dim=-1): backward = adjoint of the derivative
    """

    op: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    note: str = ""

    @property
    def statement(self) -> str:
        """The call that it is about."""
        return f"{self.op}({', '.join(f'{name}={_shown(value)}' for name, value in self.arguments.items())})"

    def __str__(self) -> str:
        return f"{self.statement}: backward = adjoint of the derivative"

    def symbolic_arguments(self, sizes: Mapping[str, int] | None = None) -> dict[str, object]:
        """The arguments with a spec tensor for each text; `sizes` are dims that have a fixed size."""
        parameters = inspect.signature(self.forward()).parameters
        return {
            name: symbolic(name, value, sizes or {}) if _names_tensors(parameters.get(name), value) else value
            for name, value in self.arguments.items()
        }

    def dims(self) -> list[str]:
        """The names of the dims, in order."""
        found: dict[str, None] = {}
        for value in self.symbolic_arguments().values():
            for each in value if isinstance(value, (list, tuple)) else [value]:
                sizes = each.sizes if isinstance(each, Tensor) else [each] if isinstance(each, Dim) else []
                found.update(dict.fromkeys(s.name for size in sizes for s in sorted(size.symbols(), key=str)))
        return list(found)

    def tensor_parameters(self) -> list[str]:
        """The parameters of the meaning that may be a tensor, in order."""
        parameters = inspect.signature(self.forward()).parameters.values()
        return [each.name for each in parameters if "Tensor" in str(each.annotation)]

    def forward(self) -> Callable[..., Any]:
        """The meaning."""
        return _by_name(self._meaning().entry)

    def backward(self) -> Callable[..., Any]:
        """The declared backward.

        Raises:
            LookupError: none is declared.
        """
        found = self._meaning().backward
        if found is None:
            raise LookupError(f"{self.op} has no declared backward: add one with @backward in spec/meanings")
        return _by_name(found)

    def _meaning(self) -> Meaning:
        """The row of the table.

        Raises:
            LookupError: there is none.
        """
        load()
        found = MEANINGS.get(self.op)
        if found is None:
            close = get_close_matches(str(self.op), MEANINGS)
            hint = f": {' or '.join(close)}?" if close else ": docs/meanings.md lists the names"
            raise LookupError(f"no operation is called {self.op!r}{hint}")
        return found


def _by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose parameter for all further arguments (`*dims`) can be given by name, as a list, too."""
    parameters = inspect.signature(function).parameters.values()
    starred = next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), None)
    if starred is None:
        return function
    before = [each.name for each in parameters][: [each.name for each in parameters].index(starred)]

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        further = kwargs.pop(starred, ())
        return function(*args, *(kwargs.pop(name) for name in before[len(args) :]), *further, **kwargs)

    return call


@dataclass(frozen=True)
class ProgramTheorem:
    """The backward of a program is the adjoint of the derivative of its forward.

    Args:
        name: how the ledger calls it.
        forward: a function of plain torch with jaxtyping annotations.
        backward: its backward: the upstream gradient, then the inputs.
        note: what it is about.
    """

    name: str
    forward: Callable[..., Any]
    backward: Callable[..., Any]
    note: str = ""

    @property
    def statement(self) -> str:
        """The program that it is about."""
        return self.name

    def __str__(self) -> str:
        return f"{self.name}: backward = adjoint of the derivative"


@dataclass(frozen=True)
class ScanTheorem:
    """The reversed scan of a step's backward is the adjoint of the scan, for every number of steps.

    By induction over the steps: the scan of none is the identity, and the adjoint of one step more is the step's
    adjoint, followed by that of the steps before it (the chain rule).

    Args:
        name: how the ledger calls it.
        step: the next state for a state, an input and weights. A state is a tensor or a tuple of tensors.
        backward: the gradients of these for the upstream gradient of the next state, then the step's arguments.
        arguments: the axes of the state, of the input of one step and of the weights, in the order of the step's
            parameters; a tuple of axes for a tuple.
        note: what it is about.
    """

    name: str
    step: Callable[..., Any]
    backward: Callable[..., Any]
    arguments: Mapping[str, str | tuple[str, ...]]
    note: str = ""

    @property
    def statement(self) -> str:
        """The scan that it is about."""
        return f"scan of {self.name}({', '.join(f'{name}={_shown(value)}' for name, value in self.arguments.items())})"


@dataclass(frozen=True)
class ComputedTheorem:
    """A statement that a finite computation settles.

    Args:
        statement: what holds.
        holds: the computation; what it returns besides True says what does not hold.
        note: how the computation settles it.
    """

    statement: str
    holds: Callable[[], bool | str]
    note: str = ""


AnyTheorem = Theorem | ProgramTheorem | ScanTheorem | ComputedTheorem


def symbolic(name: str, value: object, sizes: Mapping[str, int]) -> object:
    """The argument that a theorem writes as `value`.

    Raises:
        ValueError: a text is no tensor.

    >>> symbolic("mask", "bool: q 3", {})
    (q, 3): mask[i, j]
    """
    if isinstance(value, (list, tuple)) and any(isinstance(each, str) for each in value):
        return type(value)(symbolic(f"{name}{number}", each, sizes) for number, each in enumerate(value))
    if not isinstance(value, str):
        return value
    if value.startswith("="):
        return value[1:]
    found = _TENSOR.fullmatch(value)
    if found is None:
        raise ValueError(f"{name}: {value!r} is no tensor: write its axes, as in 'b 3 d' or 'int: b < c'")
    kind = found["kind"] or "float"
    axes = [_size(text, sizes) for text in found["axes"].split()]
    if kind == "size":
        return axes[0]
    bound = None if found["bound"] is None else _size(found["bound"].strip(), sizes)
    return variable(name, axes, kind, bound)


def _names_tensors(parameter: inspect.Parameter | None, value: object) -> bool:
    """Whether texts in an argument are axes: where the parameter is a tensor, and for a named size."""
    return parameter is None or "Tensor" in str(parameter.annotation) or str(value).startswith("size:")


def _size(text: str, sizes: Mapping[str, int]) -> Dim:
    """A size: a number, a name, or a product of these.

    Raises:
        ValueError: it is none of them.
    """
    total = Dim.of(1)
    for factor in text.split("*"):
        if not (factor.isdigit() or factor.isidentifier()):
            raise ValueError(f"{text!r} is no size: write a number, a name or a product of these, as in 'b 3 g*d'")
        total = total * (int(factor) if factor.isdigit() else sizes.get(factor, Dim.name(factor)))
    return total


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f"({value})" if ":" not in value else f"({value.split(':')[1].strip()}) {value.split(':')[0]}"
    if isinstance(value, (list, tuple)) and any(isinstance(each, str) for each in value):
        return f"[{', '.join(map(_shown, value))}]"
    return str(value)


def is_tensor(value: object) -> bool:
    """Whether an argument is a spec tensor or a list of them."""
    return isinstance(value, Tensor) or (isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value))
