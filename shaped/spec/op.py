"""The declaration of an operation, and the table of all of them.

A function that gives the result's type for the arguments' types, its rule, is declared with `op`; its parameters are
those of the torch function, in torch's order and with torch's names. A `torch.nn` module is declared with `module`:
its constructor makes its parameters, its `forward` is made of rules.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from shaped.errors import DtypeError, Fault
from shaped.spec import demands
from shaped.spec.broadcast import uncertain_if_joined
from shaped.spec.extent import with_extent
from shaped.spec.merged_axes import kept
from shaped.spec.provenance import remembering
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from shaped.spec.context import Context

P = ParamSpec("P")
R = TypeVar("R", bound=Value)
M = TypeVar("M", bound="type[Module]")


@dataclass(frozen=True)
class Op:
    """One operation.

    Args:
        name: its name in messages and in the reference.
        formula: what it computes, in one line.
        torch: the names that mean it: `torch.softmax`, `torch.nn.functional.softmax`, `Tensor.softmax` for a method,
            `Tensor.__add__` for an operator.
        rule: the types of its results for a `Context` and the types of its arguments.
        in_place: names of methods that also write the result into their first argument.
        module: the file of the table that declares it.
    """

    name: str
    formula: str
    torch: tuple[str, ...]
    rule: Callable[..., Value]
    in_place: tuple[str, ...] = ()

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters, without the context."""
        return _without_first(self.rule, 1)

    def apply(self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """The results' types for a call with these arguments; UNKNOWN if they do not fit the parameters.

        A tensor that was not followed arrives in the rule as a tensor of unknown axes.

        Raises:
            Fault: the call is wrong.
        """
        args, kwargs = demands.widened(context, args, kwargs)
        bound = _bind(context, self.signature, args, kwargs)
        if bound is None:
            return UNKNOWN
        tensors = tuple(_tensors((*args, *kwargs.values())))
        with uncertain_if_joined(context, *tensors):
            try:
                result = self.rule(context, *bound.args, **bound.kwargs)
                result = demands.met(context, self.name, self.rule.__module__, bound.arguments, result)
                result = with_extent(context, self.name, bound.arguments, result)
            except Fault as fault:
                _show_operands(fault, (*args, *kwargs.values()))
                raise
            result = remembering(self.name, tensors, result)
            return _with_merged_axes(context, self.name, self.rule.__module__, tensors, result)


@cache
def _without_first(function: Callable[..., Value], count: int) -> inspect.Signature:
    """The signature of a function without its first parameters: `self` and the context."""
    signature = inspect.signature(function, eval_str=False)
    return signature.replace(parameters=list(signature.parameters.values())[count:])


def _tensors(values: Sequence[Value]) -> Iterator[TensorType]:
    """The tensors among arguments, in lists too."""
    for value in values:
        if isinstance(value, TensorType):
            yield value
        elif isinstance(value, tuple):
            yield from _tensors(value)


def _seen(context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """The arguments with the axes that the rule has found the tensors to have: with them it says more."""

    def seen(value: Value) -> Value:
        if isinstance(value, TensorType):
            shape = context.facts.seen(value.shape)
            return value if shape is value.shape else value.with_shape(shape)
        return tuple(map(seen, value)) if isinstance(value, tuple) else value

    return [seen(value) for value in args], {name: seen(value) for name, value in kwargs.items()}


def _with_merged_axes(context: Context, name: str, file: str, tensors: Sequence[TensorType], result: Value) -> Value:
    return kept(context, name, file, tensors, result) if any(each.merged for each in tensors) else result


def _show_operands(fault: Fault, values: Sequence[Value]) -> None:
    """Give a fault that shows no operands the tensors of the call, with their dtypes where these matter."""
    if not fault.operands:
        has_dtypes = isinstance(fault, DtypeError)
        fault.operands = ", ".join(f"{each.dtype}{each}" if has_dtypes else str(each) for each in _tensors(values))


# torch takes numpy's names for its own.
_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def _as_declared(
    signature: inspect.Signature, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[Sequence[Value], Mapping[str, Value]]:
    """The arguments under the parameters' names: `axis=` is `dim=`, `permute(dims=(0, 1))` is `permute((0, 1))`."""
    named: dict[str, Value] = {}
    for name, value in kwargs.items():
        parameter = signature.parameters.get(name)
        if parameter is None:
            renamed = _NUMPY_NAMES.get(name, name)
            named[renamed if renamed in signature.parameters else name] = value
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            args = (*args, value)
        else:
            named[name] = value
    return args, named


def _bind(
    context: Context, signature: inspect.Signature, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> inspect.BoundArguments | None:
    """The arguments by name, tensors that were not followed with unknown axes; None if they do not fit."""
    args, kwargs = _as_declared(signature, args, kwargs)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    for name, parameter in signature.parameters.items():
        if parameter.annotation == "TensorType" and name in bound.arguments:
            value = bound.arguments[name]
            if value is UNKNOWN:
                bound.arguments[name] = context.unknown_tensor()
            elif not isinstance(value, TensorType):
                return None
    return bound


class Module:
    """An instance of a `torch.nn` module. Its public attributes are what users can read from it.

    A subclass has torch's constructor parameters after the context, and `forward(context, *inputs)`.
    """

    torch_name: str = ""

    def forward(self, context: Context, *args: Any, **kwargs: Any) -> Value:
        """The results' types for a call of the module."""
        return UNKNOWN

    def apply(self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """`forward` for any arguments, as `Op.apply`; UNKNOWN if they do not fit the parameters.

        Raises:
            Fault: the call is wrong.
        """
        args, kwargs = demands.widened(context, args, kwargs)
        bound = _bind(context, _without_first(type(self).forward, 2), args, kwargs)
        if bound is None:
            return UNKNOWN
        tensors = tuple(_tensors((*args, *kwargs.values())))
        with uncertain_if_joined(context, *tensors):
            try:
                result = self.forward(context, *bound.args, **bound.kwargs)
                result = demands.met_by_module(self.torch_name, self, bound.arguments, result)
            except Fault as fault:
                _show_operands(fault, (*args, *kwargs.values()))
                raise
            return _with_merged_axes(context, self.torch_name, type(self).__module__, tensors, result)

    def call(self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """`forward` for a call with these arguments; UNKNOWN if they do not fit its parameters.

        Raises:
            Fault: the call is wrong.
        """
        bound = _bind(context, _method_signature(type(self).forward), args, kwargs)
        return UNKNOWN if bound is None else self.forward(context, *bound.args, **bound.kwargs)


@cache
def _method_signature(method: Callable[..., Value]) -> inspect.Signature:
    """The parameters of a module's `forward`, without self and the context."""
    signature = inspect.signature(method, eval_str=False)
    return signature.replace(parameters=list(signature.parameters.values())[2:])


OPS: dict[str, Op] = {}
MODULES: dict[str, type[Module]] = {}
_BY_TORCH_NAME: dict[str, Op] = {}


def op(
    name: str, *torch: str, formula: str = "", in_place: Sequence[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operation by its rule: a decorator of a function of a context and torch's parameters.

    Args:
        name: its name in messages and in the reference.
        torch: torch's names that mean it.
        formula: what it computes, in one line.
        in_place: names of methods that also write the result into their first argument.
    """

    def declare(rule: Callable[P, R]) -> Callable[P, R]:
        declared = Op(name, formula, (*torch, *in_place), rule, tuple(in_place))
        assert name not in OPS, f"{name} is declared twice"
        OPS[name] = declared
        for torch_name in declared.torch:
            assert torch_name not in _BY_TORCH_NAME, f"{torch_name} is declared twice"
            _BY_TORCH_NAME[torch_name] = declared
        return rule

    return declare


def module(*torch: str) -> Callable[[M], M]:
    """Declare a `torch.nn` module by its class."""

    def declare(cls: M) -> M:
        cls.torch_name = torch[0]
        for name in torch:
            assert name not in MODULES, f"{name} is declared twice"
            MODULES[name] = cls
        return cls

    return declare


def find_op(torch_name: str) -> Op | None:
    """The operation that a torch name means, None if there is no rule for it."""
    return _BY_TORCH_NAME.get(torch_name)


def find_module(torch_name: str) -> type[Module] | None:
    """The module that a torch name means, None if there is no rule for it."""
    if torch_name.startswith("torch.nn.modules."):
        torch_name = f"torch.nn.{torch_name.rpartition('.')[2]}"
    return MODULES.get(torch_name)
