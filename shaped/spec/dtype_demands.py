"""What torch demands of the dtypes of an operation's tensors, beyond what its rule needs to know.

An operation or module says it where it is declared: `dtypes=takes(input=FLOATING) + alike("input", "weight")`. A demand
is a function of a `Call`, those that several operations make are here. A demand refuses only what no backend takes:
torch's CPU and CUDA kernels differ in what they add (integer products on the CPU, half precision with float32
statistics).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from shaped.errors import DtypeError
from shaped.spec.dims import Dim
from shaped.spec.dtypes import BOOL, COMPLEX, FLOATS, INTEGERS
from shaped.spec.promotion import result_type
from shaped.spec.values import TensorType, Value, tensors_among

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_WHOLE = INTEGERS | BOOL
_WIDE = frozenset(["float64"])


@dataclass(frozen=True)
class Call:
    """A call of an operation or module, whose rule has found nothing wrong.

    Args:
        name: the operation's, in messages.
        arguments: by parameter.
        result: what the rule gave.
        parameters: one of the parameters of a module that has some.
    """

    name: str
    arguments: Mapping[str, Value]
    result: Value
    parameters: TensorType | None = None

    def tensors(self, names: Sequence[str]) -> list[tuple[str, TensorType]]:
        """Those of the arguments with these names that are tensors."""
        given = ((name, self.arguments.get(name)) for name in names)
        return [(name, value) for name, value in given if isinstance(value, TensorType)]


# Each raises a DtypeError where torch refuses the call for certain. Those of an operation are added with `+`.
Demand: TypeAlias = "Callable[[Call], None]"
Demands: TypeAlias = tuple[Demand, ...]


@dataclass(frozen=True)
class Allowed:
    """Dtypes that a parameter may have, and how a message asks for one."""

    names: frozenset[str]
    expected: str
    hint: str


FLOATING = Allowed(FLOATS | COMPLEX, "a float dtype", ".float()?")
INTEGER = Allowed(INTEGERS, "an integer dtype", ".long()?")
ONLY_INT64 = Allowed(frozenset(["int64"]), "int64", ".long()?")
INT32_OR_INT64 = Allowed(frozenset(["int32", "int64"]), "int32 or int64", ".long()?")
CLASSES = Allowed(frozenset(["int64", "uint8"]), "int64", ".long()?")
CLASSES_OR_PROBABILITIES = Allowed(FLOATS | CLASSES.names, "int64", ".long()?")
CONDITION = Allowed(BOOL | frozenset(["uint8"]), "bool", ".bool()?")
MASK = Allowed(BOOL | FLOATS, "bool or a float dtype", ".bool()?")


def takes(**allowed: Allowed) -> Demands:
    """These parameters, where they are tensors, have these dtypes."""

    def demand(call: Call) -> None:
        for parameter, each in allowed.items():
            require_allowed(call.name, parameter, call.arguments.get(parameter), each)

    return (demand,)


def alike(*parameters: str) -> Demands:
    """These parameters have one dtype."""

    def demand(call: Call) -> None:
        _require_alike(call.name, call.tensors(parameters))

    return (demand,)


def alike_but_half(*parameters: str) -> Demands:
    """These parameters have one dtype, but half precision goes with float32 statistics and weights on some devices."""

    def demand(call: Call) -> None:
        _require_alike_but_half(call.name, call.tensors(parameters))

    return (demand,)


def float_result(*operands: str) -> Demands:
    """What two operands promote to is of a float dtype."""

    def demand(call: Call) -> None:
        require_float_result(call, *operands)

    return (demand,)


def multiplies(one: str, other: str) -> Demands:
    """Two operands of a product of matrices are not both of bools."""

    def demand(call: Call) -> None:
        tensors = [tensor for _, tensor in call.tensors((one, other))]
        if len(tensors) == 2 and all(each.dtype.is_all(BOOL) and not _is_empty(each) for each in tensors):
            shown = " @ ".join(f"{each.dtype}{each}" for each in tensors)
            raise DtypeError(call.name, "bool tensors have no product of matrices", shown, ".float()?")

    return (demand,)


@dataclass(frozen=True)
class _LikeParameters:
    """The demand of `like_parameters`."""

    inputs: tuple[str, ...]

    def __call__(self, call: Call) -> None:
        if call.parameters is not None:
            for name in self.inputs:
                for tensor in tensors_among((call.arguments.get(name),)):
                    _require_alike(call.name, [(name, tensor), ("parameters", call.parameters)])


def like_parameters(*inputs: str) -> Demands:
    """These inputs of a module have the dtype of its parameters, which its result has then."""
    return (_LikeParameters(inputs),)


def gives_dtype_of_parameters(dtypes: Demands) -> bool:
    """Whether the result of a module has the dtype of its parameters."""
    return any(isinstance(demand, _LikeParameters) for demand in dtypes)


def like_parameters_but_half(name: str) -> Demands:
    """This input of a module that has parameters is of a float dtype, and theirs but for half precision."""

    def demand(call: Call) -> None:
        if call.parameters is not None:
            for tensor in tensors_among((call.arguments.get(name),)):
                require_allowed(call.name, name, tensor, FLOATING)
                _require_alike_but_half(call.name, [(name, tensor), ("parameters", call.parameters)])

    return (demand,)


def _is_empty(tensor: TensorType) -> bool:
    """Whether a tensor has no elements for certain: of them nothing is computed, and nothing refused."""
    return any(isinstance(axis, Dim) and axis.constant == 0 for axis in tensor.shape.axes)


def has_elements(value: Value) -> bool:
    """Whether a tensor has elements for certain: of none, none are drawn."""
    if not isinstance(value, TensorType) or value.shape.rank is None:
        return False
    return all(
        dim.symbol.low == 1 if dim.symbol is not None else dim.constant is not None and dim.constant > 0
        for dim in value.shape.dims
    )


def require_allowed(operation: str, parameter: str, value: Value, allowed: Allowed) -> None:
    """Demand of a parameter, where it is a tensor with elements, one of the allowed dtypes.

    Raises:
        DtypeError: it has another.
    """
    if isinstance(value, TensorType) and not value.dtype.names & allowed.names and not _is_empty(value):
        reason = f"{parameter} is {value.dtype}, {allowed.expected} expected"
        raise DtypeError(operation, reason, f"{value.dtype}{value}", allowed.hint)


def require_float_result(call: Call, *operands: str) -> None:
    """Demand that what two operands promote to is of a float dtype.

    Raises:
        DtypeError: it is of integers or bool.
    """
    tensors = [tensor for _, tensor in call.tensors(operands)]
    if len(tensors) == 2 and result_type(*tensors).is_all(_WHOLE):
        shown = ", ".join(f"{each.dtype}{each}" for each in tensors)
        raise DtypeError(call.name, "one of them has to be of a float dtype", shown, ".float()?")


def _require_alike(operation: str, tensors: list[tuple[str, TensorType]]) -> None:
    for name, tensor in tensors[1:]:
        first_name, first = tensors[0]
        if not first.dtype.names & tensor.dtype.names:
            raise _unlike(operation, (first_name, first), (name, tensor))


def _require_alike_but_half(operation: str, tensors: list[tuple[str, TensorType]]) -> None:
    for name, tensor in tensors[1:]:
        first_name, first = tensors[0]
        for one, other in ((first, tensor), (tensor, first)):
            if one.dtype.is_all(_WIDE) and other.dtype.is_all(FLOATS - _WIDE):
                raise _unlike(operation, (first_name, first), (name, tensor))


def _unlike(operation: str, first: tuple[str, TensorType], second: tuple[str, TensorType]) -> DtypeError:
    (name, tensor), (other_name, other) = first, second
    operands = f"{name} {tensor.dtype}{tensor}, {other_name} {other.dtype}{'' if other_name == 'parameters' else other}"
    wanted = other.dtype.single
    hint = ".float()?" if wanted in (None, "float32") and other.dtype.is_all(FLOATS) else f".to(torch.{wanted})?"
    reason = f"dtypes {tensor.dtype} and {other.dtype} differ"
    return DtypeError(operation, reason, operands, f"{hint.rstrip('?')} on {name}?")


def require_differentiable(operation: str, tensor: Value) -> None:
    """Demand a dtype that has gradients.

    Raises:
        DtypeError: it is of integers or bool.
    """
    if isinstance(tensor, TensorType) and tensor.dtype.is_all(_WHOLE):
        reason = f"tensors of {tensor.dtype} have no gradients"
        raise DtypeError(operation, reason, f"{tensor.dtype}{tensor}", "a float dtype, or requires_grad=False?")


def require_written(operation: str, target: TensorType, items: Sequence[object], value: TensorType) -> None:
    """Demand of `target[items] = value` that a value which is written at the places of index tensors has the dtype.

    Raises:
        DtypeError: it has another. Of slices and of one element, which are cast, nothing is demanded.
    """
    if target.dtype.names & value.dtype.names:
        return
    is_several = any(dim.constant is not None and dim.constant > 1 for dim in (*value.shape.head, *value.shape.tail))
    for item in items:
        if not isinstance(item, TensorType) or not item.shape.least_rank:
            continue
        if item.dtype.is_all(INTEGERS - {"uint8"}) or (item.dtype.is_all(BOOL) and is_several):
            raise _unlike(operation, ("the value", value), ("the tensor", target))
