"""The parameters and outputs of an op, read from its annotations, and its schema for `torch.library`."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from shaped.errors import AnnotationError
from shaped.runtime.checked.scope import closure_of
from shaped.runtime.tensor_types import is_array_annotation

_EMPTY: Any = inspect.Parameter.empty
_UNIONS = (typing.Union, types.UnionType)
_LISTS = (list, collections.abc.Sequence)
_ALLOWED = "a tensor, int, float, bool, str, torch.dtype or torch.device, one of these or None, or a list of them"


class Kind(Enum):
    """What a parameter may be."""

    TENSOR = "a tensor"
    OPTIONAL = "a tensor or None"
    TENSORS = "a list of tensors"
    OTHER = "no tensor"


@dataclass(frozen=True)
class Parameter:
    """A parameter of an op.

    Args:
        name: as the forward calls it.
        kind: what it may be.
        type: its annotation as torch's schemas know it: every annotated tensor is a `Tensor`.
        default: the value if none is given, `inspect.Parameter.empty` if there is none.
    """

    name: str
    kind: Kind
    type: Any
    default: Any = _EMPTY


@dataclass(frozen=True)
class Signature:
    """What an op takes and returns.

    Args:
        name: the op, for messages.
        parameters: the inputs in order.
        outputs: how many tensors it returns.
        returns_tuple: whether they come as a tuple.

    >>> from jaxtyping import Float
    >>> def scale(x: Float[Tensor, "b n"], by: float = 2.0) -> Float[Tensor, "b n"]: ...
    >>> signature = Signature.of(scale)
    >>> signature.schema
    '(Tensor x, float by, ScalarType? autocast_dtype=None) -> Tensor'
    """

    name: str
    parameters: tuple[Parameter, ...]
    outputs: int
    returns_tuple: bool

    @staticmethod
    def of(forward: Callable[..., object]) -> Signature:
        """Read the annotations of a forward.

        Raises:
            AnnotationError: a parameter or the result is nothing that an op can take or return: which, and why.
        """
        name = getattr(forward, "__name__", repr(forward))
        try:
            declared = inspect.signature(forward).parameters.values()
        except (TypeError, ValueError):
            raise AnnotationError(name, "has no signature: decorate a Python function") from None
        hints = _Hints(name, forward)
        parameters = tuple(_parameter(name, one, hints) for one in declared)
        if not any(one.kind in (Kind.TENSOR, Kind.TENSORS) for one in parameters):
            raise AnnotationError(name, 'takes no tensor: annotate one, x: Float[Tensor, "n"]')
        outputs, returns_tuple = _outputs(name, hints.of("return", "what it returns"))
        return Signature(name, parameters, outputs, returns_tuple)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return tuple(one.name for one in self.parameters)

    @cached_property
    def differentiable(self) -> tuple[int, ...]:
        """The places of the inputs that are tensors or lists of them."""
        return tuple(i for i, one in enumerate(self.parameters) if one.kind is not Kind.OTHER)

    @property
    def is_single_tuple(self) -> bool:
        """Whether it returns a tuple of one tensor, which torch's ops return alone."""
        return self.returns_tuple and self.outputs == 1

    @cached_property
    def schema(self) -> str:
        """The schema for `torch.library`; its last argument is the dtype of the autocast that the call is in."""
        return _inferred([*self.parameters, _autocast_parameter(self.names)], [Tensor] * self.outputs)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The value of each parameter for a call.

        Raises:
            TypeError: an argument is missing, given twice, or unknown.
        """
        if len(args) > len(self.parameters):
            raise TypeError(f"{self.name}() takes {len(self.parameters)} arguments, {len(args)} were given")
        values = list(args)
        used = 0
        for place, parameter in enumerate(self.parameters):
            if parameter.name in kwargs:
                if place < len(args):
                    raise TypeError(f"{self.name}() got two values for {parameter.name}")
                used += 1
                values.append(kwargs[parameter.name])
            elif place >= len(args):
                if parameter.default is _EMPTY:
                    raise TypeError(f"{self.name}() misses the argument {parameter.name}")
                values.append(parameter.default)
        if used < len(kwargs):
            unknown = ", ".join(sorted(set(kwargs) - set(self.names)))
            raise TypeError(f"{self.name}() has no parameter {unknown}: it takes {', '.join(self.names)}")
        return tuple(values)


class _Hints:
    """The annotations of a function, as objects."""

    def __init__(self, name: str, function: Callable[..., object]) -> None:
        self.name = name
        plain = inspect.unwrap(function)
        self.written: dict[str, Any] = getattr(plain, "__annotations__", {})
        self.globals: dict[str, Any] = getattr(plain, "__globals__", {})
        self.locals = closure_of(plain)

    def of(self, key: str, called: str) -> Any:
        """The annotation of a parameter or of `return`.

        Raises:
            AnnotationError: it is missing, or evaluating its text fails.
        """
        if key not in self.written:
            example = "-> " if key == "return" else f"{key}: "
            raise AnnotationError(self.name, f'{called} has no annotation: write {example}Float[Tensor, "b n"]')
        alone = types.SimpleNamespace(__annotations__={key: self.written[key]})
        try:
            return typing.get_type_hints(alone, self.globals, self.locals)[key]
        except Exception as problem:  # whatever evaluating the user's text raises
            raise AnnotationError(
                self.name,
                f"{called}: the annotation {self.written[key]!r} cannot be read: {problem}: "
                "import every name at the top level of the module",
            ) from None


def _parameter(owner: str, declared: inspect.Parameter, hints: _Hints) -> Parameter:
    called = f"parameter {declared.name}"
    if declared.kind not in (declared.POSITIONAL_ONLY, declared.POSITIONAL_OR_KEYWORD):
        what = "keyword-only" if declared.kind is declared.KEYWORD_ONLY else "of no fixed number"
        raise AnnotationError(owner, f"{called} is {what}: the backward gets every input by its position")
    hint = hints.of(declared.name, called)
    known = _as_torch_knows(hint)
    try:
        _inferred([Parameter(declared.name, Kind.OTHER, known)], [Tensor])
    except ValueError:
        written = hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else hint
        raise AnnotationError(owner, f"{called}: an op cannot take {written}: annotate {_ALLOWED}") from None
    return Parameter(declared.name, _kind(owner, called, known), known, declared.default)


def _kind(owner: str, called: str, known: Any) -> Kind:
    if known is Tensor:
        return Kind.TENSOR
    arguments = typing.get_args(known)
    if Tensor not in arguments:
        if any(Tensor in typing.get_args(argument) for argument in arguments):
            raise AnnotationError(owner, f"{called}: a list of tensors that may be None: leave those out of it")
        return Kind.OTHER
    return Kind.TENSORS if typing.get_origin(known) in _LISTS else Kind.OPTIONAL


def _outputs(owner: str, hint: Any) -> tuple[int, bool]:
    """How many tensors are returned, and whether as a tuple."""
    is_tuple = typing.get_origin(hint) is tuple
    parts = typing.get_args(hint) if is_tuple else (hint,)
    if not parts or any(_as_torch_knows(part) is not Tensor for part in parts):
        raise AnnotationError(
            owner, 'what it returns has to be a tensor, or a tuple of a fixed number of them: -> Float[Tensor, "n"]'
        )
    return len(parts), is_tuple


def _as_torch_knows(hint: Any) -> Any:
    """An annotation as torch's schemas know it: jaxtyping's tensors as `Tensor`."""
    if is_array_annotation(hint) or (isinstance(hint, type) and issubclass(hint, Tensor)):
        return Tensor
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS:
        parts = {_as_torch_knows(one) for one in arguments if one is not types.NoneType}
        known = torch.types.Number if parts > {int, float} - {bool} or parts == {int, float} else None
        if known is None:
            if len(parts) > 1:
                return hint
            (known,) = parts
        return typing.Optional[known] if types.NoneType in arguments else known  # noqa: UP045  # torch looks this up
    if origin in _LISTS and len(arguments) == 1:
        return list[_as_torch_knows(arguments[0])]  # type: ignore[misc]  # a type made at run time
    return hint


def _inferred(parameters: list[Parameter], outputs: list[Any]) -> str:
    """The schema that torch infers for annotations that it knows; defaults are filled in before the op is called."""

    def prototype() -> None: ...

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    declared = [inspect.Parameter(one.name, kind, annotation=one.type) for one in parameters[:-1]]
    # Python wants parameters with a default last; in a schema, only autocast's has one.
    last = parameters[-1]
    declared.append(inspect.Parameter(last.name, kind, annotation=last.type, default=last.default))
    result = outputs[0] if len(outputs) == 1 else tuple[tuple(outputs)]  # type: ignore[misc]  # made at run time
    prototype.__signature__ = inspect.Signature(declared, return_annotation=result)  # type: ignore[attr-defined]  # as functools sets it
    return torch.library.infer_schema(prototype, mutates_args=())


def _autocast_parameter(names: tuple[str, ...]) -> Parameter:
    name = "autocast_dtype"
    while name in names:
        name += "_"
    return Parameter(name, Kind.OTHER, typing.Optional[torch.dtype], None)  # noqa: UP045  # torch looks this up
