"""The declared signature of a program: what it takes and gives, as it is written, kept and checked."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jaxtyping
import torch
from torch import Tensor

from shaped.runtime.checked.failure import ShapeRefusal, TypeRefusal, shown
from shaped.runtime.checked.hints import Hint
from shaped.runtime.checked.lowering import lower
from shaped.runtime.checked.reference import Bound
from shaped.runtime.exported.annotations import check, require_device_of
from shaped.spec.dtypes import JAXTYPING

FORMAT = "shaped signature 1"
_WORDS = {next(iter(names)): word for word, names in JAXTYPING.items() if len(names) == 1}
Constant = bool | int | float | str | None

# The axes that a file may name. They are evaluated as Python by the checks, so that nothing else may be in them.
_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_TOKENS = re.compile(rf"(?:{_NAME}|\d+|//|[-+*%(),])+|_")
_FUNCTIONS = frozenset(["max", "min"])
_CALLED = re.compile(rf"({_NAME})\(")


@dataclass(frozen=True)
class TensorValue:
    """A tensor that a program takes or gives.

    Args:
        name: what it is called: `x`, `batch['mask']`, `return[0]`.
        dtype: its dtype.
        axes: its axes in jaxtyping's grammar: `b 3 h w`; an axis that nothing names is `_`.
    """

    name: str
    dtype: str
    axes: str
    hint: Hint = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        annotation = getattr(jaxtyping, _WORDS.get(self.dtype, "Shaped"))
        object.__setattr__(self, "hint", lower(annotation[Tensor, self.axes]))

    def __str__(self) -> str:
        return f"{self.name}: {self.hint}"


@dataclass(frozen=True)
class ConstantValue:
    """A value that is no tensor, and a part of the program: it takes or gives no other."""

    name: str
    value: Constant

    def __str__(self) -> str:
        return f"{self.name}: Literal[{self.value!r}]"


Value = TensorValue | ConstantValue


@dataclass(frozen=True)
class Signature:
    """What a program takes and gives.

    Args:
        operation: its name for messages.
        positional: the names of the parameters that may be given by position, in order.
        keywords: the names of those that are given by name.
        inputs: the tensors and constants in the arguments, in the order of `torch.utils._pytree`.
        outputs: those in the result.
        ranges: the least and the largest size of each named axis; None for no largest.
    """

    operation: str
    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    ranges: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)

    @functools.cached_property
    def _parameters(self) -> inspect.Signature:
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in self.positional]
        parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in self.keywords]
        return inspect.Signature(parameters)

    @functools.cached_property
    def _plain(self) -> list[tuple[torch.dtype, list[int | str]] | ConstantValue]:
        """The inputs as `_fit` compares them, an axis as a size or a name."""
        return [
            value
            if isinstance(value, ConstantValue)
            else (
                getattr(torch, value.dtype),
                [int(axis) if axis.isdecimal() else axis for axis in value.axes.split()],
            )
            for value in self.inputs
        ]

    def __str__(self) -> str:
        result = ", ".join(str(value).partition(": ")[2] for value in self.outputs)
        arguments = ", ".join(map(str, self.inputs))
        return f"{self.operation}({arguments}) -> {result if len(self.outputs) == 1 else f'({result})'}"

    def bind(
        self, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        """The arguments of a call as the program takes them: by position, and by name.

        Raises:
            TypeRefusal: an argument is missing, or there is one too many.
        """
        try:
            bound = self._parameters.bind(*args, **kwargs).arguments
        except TypeError as error:
            taken = ", ".join((*self.positional, *(f"{name}=" for name in self.keywords)))
            raise TypeRefusal(self.operation, f"{error}; it takes ({taken})") from None
        return tuple(bound[name] for name in self.positional), {name: bound[name] for name in self.keywords}

    def check_inputs(self, leaves: Sequence[object], device: torch.device | None = None) -> None:
        """Check the tensors and constants of a call, before anything runs.

        Args:
            device: where the tensors have to be.

        Raises:
            ShapeError, DtypeError, DeviceError, Fault: names the argument; it is a `TypeError` too.
        """
        if self._fit(leaves, None if device is None else device.type):
            return
        bound = Bound()
        for value, leaf in zip(self.inputs, leaves, strict=True):
            self._check(value, leaf, f"argument {value.name}", bound)
            require_device_of(leaf, value.name, device, self.operation)

    def _fit(self, leaves: Sequence[object], device: str | None) -> bool:
        """Whether the inputs are what is declared, found out fast; where it says no, `check_inputs` looks closer."""
        sizes: dict[str, int] = {}
        for wanted, leaf in zip(self._plain, leaves, strict=True):
            if isinstance(wanted, ConstantValue):
                if type(leaf) is not type(wanted.value) or leaf != wanted.value:
                    return False
                continue
            dtype, axes = wanted
            if not isinstance(leaf, Tensor) or leaf.dtype != dtype or leaf.dim() != len(axes):
                return False
            if device is not None and leaf.device.type != device:
                return False
            for axis, size in zip(axes, leaf.shape):
                if axis != size and (isinstance(axis, int) or sizes.setdefault(axis, size) != size):
                    return False
        for name, size in sizes.items():
            least, most = self.ranges.get(name, (0, None))
            if not name.isidentifier() or size < least or (most is not None and size > most):
                return False  # arithmetic over names among them
        return True

    def _check(self, value: Value, leaf: object, path: str, bound: Bound) -> None:
        if isinstance(value, ConstantValue):
            if type(leaf) is not type(value.value) or leaf != value.value:
                reason = f"{shown(leaf)} is not {value.value!r}, which the program was exported with"
                raise TypeRefusal(f"{path} of {self.operation}", reason)
            return
        known = set(bound.sizes)
        check(value.hint, leaf, path, bound, self.operation)
        for name in bound.sizes.keys() - known:
            least, most = self.ranges.get(name, (0, None))
            size = bound.sizes[name]
            if size < least or (most is not None and size > most):
                limit = f"at least {least}" if size < least else f"at most {most}"
                raise ShapeRefusal(
                    f"{path} of {self.operation}", f"{name} is {size}, not {limit}", f'{shown(leaf)}, "{value.axes}"'
                )

    def to_json(self) -> str:
        """The signature as text, for a file."""
        return json.dumps(
            {
                "format": FORMAT,
                "operation": self.operation,
                "positional": self.positional,
                "keywords": self.keywords,
                "inputs": [_record(value) for value in self.inputs],
                "outputs": [_record(value) for value in self.outputs],
                "ranges": self.ranges,
            }
        )

    @staticmethod
    def from_json(text: str) -> Signature:
        """The signature that `to_json` wrote.

        Raises:
            ValueError: it did not write this.

        >>> x = TensorValue("x", "float32", "b 4")
        >>> signature = Signature("Net", ("x",), (), (x,), (TensorValue("return", "float32", "b"),), {"b": (1, None)})
        >>> print(Signature.from_json(signature.to_json()))
        Net(x: Float32[Tensor, "b 4"]) -> Float32[Tensor, "b"]
        """
        try:
            found = json.loads(text)
            if found["format"] != FORMAT:
                raise ValueError(f"its format is {found['format']!r}, not {FORMAT!r}")
            return Signature(
                str(found["operation"]),
                tuple(map(str, found["positional"])),
                tuple(map(str, found["keywords"])),
                tuple(map(_value, found["inputs"])),
                tuple(map(_value, found["outputs"])),
                {
                    str(name): (int(least), None if most is None else int(most))
                    for name, (least, most) in found["ranges"].items()
                },
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it is no signature: {error!r}") from error


def _record(value: Value) -> dict[str, object]:
    if isinstance(value, TensorValue):
        return {"name": value.name, "dtype": value.dtype, "axes": value.axes}
    return {"name": value.name, "value": value.value}


def _value(record: Mapping[str, Any]) -> Value:
    """A value that a file describes."""
    if "axes" not in record:
        return ConstantValue(str(record["name"]), record["value"])
    for axis in str(record["axes"]).split():
        if not is_safe_axis(axis):
            raise ValueError(f"{axis!r} is no axis of a signature")
    dtype = str(record["dtype"])
    if not isinstance(getattr(torch, dtype, None), torch.dtype):
        raise ValueError(f"torch has no dtype {dtype!r}")
    return TensorValue(str(record["name"]), dtype, str(record["axes"]))


def is_safe_axis(text: str) -> bool:
    """Whether an axis is a size, a name, or arithmetic over such.

    >>> is_safe_axis("(h-1)//2+1"), is_safe_axis("max(b,2)"), is_safe_axis("{exit()}"), is_safe_axis("exit()")
    (True, True, False, False)
    """
    if not _TOKENS.fullmatch(text) or text.startswith("*") or "**" in text:
        return False
    return _FUNCTIONS.issuperset(_CALLED.findall(text))
