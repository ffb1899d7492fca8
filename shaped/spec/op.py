"""The declaration of an operation, and the table of all of them.

A function that gives the result's type for the arguments' types, its rule, is declared with `op`; its parameters are
those of the torch function, in torch's order and with torch's names. A `torch.nn` module is declared with `module`:
its constructor makes its parameters, its `forward` is made of rules.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar

from shaped.errors import DtypeError, Fault
from shaped.spec import demands
from shaped.spec.broadcast import uncertain_if_joined
from shaped.spec.extent import with_extent
from shaped.spec.merged_axes import kept
from shaped.spec.provenance import remembering
from shaped.spec.values import UNKNOWN, TensorType, Value, tensors_among

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Demands

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
        dtypes: what torch demands of the dtypes of its arguments, beyond what the rule does.
    """

    name: str
    formula: str
    torch: tuple[str, ...]
    rule: Callable[..., Value]
    in_place: tuple[str, ...] = ()
    dtypes: Demands = ()

    @property
    def signature(self) -> inspect.Signature:
        """The parameters, without the context."""
        return self.parameters.signature

    @cached_property
    def parameters(self) -> Parameters:
        """The parameters, without the context."""
        return parameters_of(self.rule, 1)

    def apply(self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """The results' types for a call with these arguments; UNKNOWN if they do not fit the parameters.

        A tensor that was not followed arrives in the rule as a tensor of unknown axes.

        Raises:
            Fault: the call is wrong.
        """
        args, kwargs = demands.widened(context, args, kwargs)
        bound = _bind(context, self.parameters, args, kwargs)
        if bound is None:
            return UNKNOWN
        tensors = tuple(tensors_among((*args, *kwargs.values())))
        with uncertain_if_joined(context, *tensors):
            try:
                result = self.parameters.call(self.rule, context, bound)
                result = demands.met(context, self, bound, result)
                result = with_extent(context, self.name, bound, result)
            except Fault as fault:
                _show_operands(fault, (*args, *kwargs.values()))
                raise
            result = remembering(self.name, tensors, result)
            return _with_merged_axes(context, self.name, self.rule.__module__, tensors, result)


class Parameters:
    """The parameters of a function without its first ones: `self` and the context.

    Arguments are bound to them as `inspect` does, at a fraction of its cost where no `*` and `**` take any.
    """

    def __init__(self, function: Callable[..., object], count: int) -> None:
        signature = inspect.signature(function, eval_str=False)
        self.signature = signature.replace(parameters=list(signature.parameters.values())[count:])
        parameters = self.signature.parameters.values()
        self.names = tuple(self.signature.parameters)
        self._positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        self._needed = [each.name for each in parameters if each.default is each.empty]
        self._tensors = [each.name for each in parameters if each.annotation == "TensorType"]
        self._is_plain = all(each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) for each in parameters)
        self.rest = next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), None)

    def bind(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value] | None:
        """The arguments by parameter, in the order of the parameters; None if they do not fit."""
        if not self._is_plain:
            try:
                return self.signature.bind(*args, **kwargs).arguments
            except TypeError:
                return None
        if len(args) > len(self._positional):
            return None
        bound = dict(zip(self._positional, args))
        for name in self.names if kwargs else ():
            if name in kwargs:
                if name in bound:
                    return None
                bound[name] = kwargs[name]
        if not kwargs.keys() <= bound.keys() or not all(name in bound for name in self._needed):
            return None
        return bound

    def with_tensors(self, context: Context, bound: dict[str, Value]) -> dict[str, Value] | None:
        """The arguments with unknown axes for tensors that were not followed; None if others stand there."""
        for name in self._tensors:
            value = bound.get(name)
            if value is UNKNOWN:
                bound[name] = context.unknown_tensor()
            elif not isinstance(value, TensorType) and name in bound:
                return None
        return bound

    def call(self, function: Callable[..., Value], context: Context, bound: dict[str, Value]) -> Value:
        """The result of the function for bound arguments, given by position as far as none is left out."""
        if not self._is_plain:
            arguments = inspect.BoundArguments(self.signature, OrderedDict(bound))
            return function(context, *arguments.args, **arguments.kwargs)
        given = list(takewhile(bound.__contains__, self._positional))
        if len(given) == len(bound):
            return function(context, *bound.values())
        named = {name: value for name, value in bound.items() if name not in given}
        return function(context, *(bound[name] for name in given), **named)


@cache
def parameters_of(function: Callable[..., object], count: int) -> Parameters:
    """The parameters of a function but the first ones."""
    return Parameters(function, count)


def _with_merged_axes(context: Context, name: str, file: str, tensors: Sequence[TensorType], result: Value) -> Value:
    return kept(context, name, file, tensors, result) if any(each.merged for each in tensors) else result


def _show_operands(fault: Fault, values: Sequence[Value]) -> None:
    """Give a fault that shows no operands the tensors of the call, with their dtypes where these matter."""
    if not fault.operands:
        has_dtypes = isinstance(fault, DtypeError)
        fault.operands = ", ".join(f"{each.dtype}{each}" if has_dtypes else str(each) for each in tensors_among(values))


# torch takes numpy's names for its own.
_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def _as_declared(
    parameters: Parameters, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[Sequence[Value], Mapping[str, Value]]:
    """The arguments under the parameters' names: `axis=` is `dim=`, `permute(dims=(0, 1))` is `permute((0, 1))`."""
    named: dict[str, Value] = {}
    for name, value in kwargs.items():
        if name not in parameters.names:
            renamed = _NUMPY_NAMES.get(name, name)
            named[renamed if renamed in parameters.names else name] = value
        elif name == parameters.rest:
            args = (*args, value)
        else:
            named[name] = value
    return args, named


def _bind(
    context: Context, parameters: Parameters, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> dict[str, Value] | None:
    """The arguments by name, tensors that were not followed with unknown axes; None if they do not fit."""
    if kwargs:
        args, kwargs = _as_declared(parameters, args, kwargs)
    bound = parameters.bind(args, kwargs)
    return None if bound is None else parameters.with_tensors(context, bound)


class Module:
    """An instance of a `torch.nn` module. Its public attributes are what users can read from it.

    A subclass has torch's constructor parameters after the context, and `forward(context, *inputs)`. `dtypes` is what
    torch demands of the dtypes of its inputs.
    """

    torch_name: str = ""
    dtypes: ClassVar[Demands] = ()

    def forward(self, context: Context, *args: Any, **kwargs: Any) -> Value:
        """The results' types for a call of the module."""
        return UNKNOWN

    def apply(self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """`forward` for any arguments, as `Op.apply`; UNKNOWN if they do not fit the parameters.

        Raises:
            Fault: the call is wrong.
        """
        args, kwargs = demands.widened(context, args, kwargs)
        parameters = parameters_of(type(self).forward, 2)
        bound = _bind(context, parameters, args, kwargs)
        if bound is None:
            return UNKNOWN
        tensors = tuple(tensors_among((*args, *kwargs.values())))
        with uncertain_if_joined(context, *tensors):
            try:
                result = parameters.call(self.forward, context, bound)
                result = demands.met_by_module(self, bound, result)
            except Fault as fault:
                _show_operands(fault, (*args, *kwargs.values()))
                raise
            return _with_merged_axes(context, self.torch_name, type(self).__module__, tensors, result)

    def call(self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """`forward` for a call with these arguments; UNKNOWN if they do not fit its parameters.

        Raises:
            Fault: the call is wrong.
        """
        parameters = parameters_of(type(self).forward, 2)
        bound = _bind(context, parameters, args, kwargs)
        return UNKNOWN if bound is None else parameters.call(self.forward, context, bound)


OPS: dict[str, Op] = {}
MODULES: dict[str, type[Module]] = {}
_BY_TORCH_NAME: dict[str, Op] = {}


def op(
    name: str, *torch: str, formula: str = "", in_place: Sequence[str] = (), dtypes: Demands = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operation by its rule: a decorator of a function of a context and torch's parameters.

    Args:
        name: its name in messages and in the reference.
        torch: torch's names that mean it.
        formula: what it computes, in one line.
        in_place: names of methods that also write the result into their first argument.
        dtypes: what torch demands of the dtypes of its arguments, beyond what the rule does.
    """

    def declare(rule: Callable[P, R]) -> Callable[P, R]:
        declared = Op(name, formula, (*torch, *in_place), rule, tuple(in_place), dtypes)
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
