"""Rules held against torch itself: the same arguments for both, concrete and with sizes forgotten in several ways.

`outcome` says how a rule's answer stands to torch's: EXACT (same shape and dtype), UNKNOWN (nothing that torch gives
is excluded), WRONG (it excludes what torch gives), FALSE_ALARM (torch accepts what the rule refuses), REFUSED (both
refuse), MISSED (torch refuses, the rule does not).
"""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

import shaped.spec.ops  # noqa: F401 - declares the operations
from shaped.errors import Fault
from shaped.spec.context import Context
from shaped.spec.dims import Dim, Kind, Symbol
from shaped.spec.dtypes import ANY, ANY_DTYPE, DType
from shaped.spec.facts import Facts
from shaped.spec.op import OPS, Op, find_op
from shaped.spec.shape import Axis, Pack, Shape
from shaped.spec.values import UNKNOWN, Many, Ratio, TensorType, Value


class Outcome(enum.Enum):
    """How a rule's answer stands to torch's; the module says what each means."""

    EXACT = "exact"
    UNKNOWN = "unknown"
    WRONG = "wrong"
    FALSE_ALARM = "false alarm"
    REFUSED = "refused"
    MISSED = "missed"

    @property
    def is_defect(self) -> bool:
        """Whether a rule with this outcome is wrong."""
        return self in (Outcome.WRONG, Outcome.FALSE_ALARM)


@dataclass(frozen=True)
class Comparison:
    """The outcome for one call, and both answers as text."""

    outcome: Outcome
    call: str
    rule: str
    torch: str
    view: str = "concrete"

    def __str__(self) -> str:
        return f"{self.call} [{self.view}]: {self.outcome.value}: rule {self.rule}, torch {self.torch}"


Sizes = dict[Symbol, int]


class View:
    """How a tensor of torch is shown to a rule: here with all its sizes."""

    name = "concrete"
    certain = True

    def __init__(self) -> None:
        self.sizes: Sizes = {}

    def axes(self, shape: Sequence[int], number: int) -> tuple[Axis, ...]:
        """The axes of the `number`-th tensor of a call."""
        return tuple(map(Dim.of, shape))

    def symbol(self, name: str, size: int, kind: Kind = Kind.NAME) -> Dim:
        """A named size that stands for `size`."""
        symbol = Symbol(name, kind, "test", low=0 if kind is Kind.UNKNOWN else 1)
        self.sizes[symbol] = size
        return Dim.atom(symbol)


class NamedBySize(View):
    """Equal sizes have one name; 0 and 1 stay, since a name is neither in general."""

    name = "a name for each size"
    certain = False

    def axes(self, shape: Sequence[int], number: int) -> tuple[Axis, ...]:
        return tuple(self.symbol(f"n{size}", size) if size > 1 else Dim.of(size) for size in shape)


class NamedByAxis(View):
    """Each axis has a name of its own: what has to agree is assumed to."""

    name = "a name for each axis"
    certain = False

    def axes(self, shape: Sequence[int], number: int) -> tuple[Axis, ...]:
        return tuple(
            self.symbol(f"n{number}_{axis}", size) if size > 1 else Dim.of(size) for axis, size in enumerate(shape)
        )


class UnknownSizes(View):
    """Only the number of axes is known, and which sizes are 0: torch takes almost anything without elements."""

    name = "unknown sizes"

    def axes(self, shape: Sequence[int], number: int) -> tuple[Axis, ...]:
        return tuple(
            self.symbol(f"u{number}_{axis}", size, Kind.UNKNOWN) if size else Dim.of(0)
            for axis, size in enumerate(shape)
        )


class UnknownLeadingAxes(View):
    """Only the last axis is known."""

    name = "unknown leading axes"

    def axes(self, shape: Sequence[int], number: int) -> tuple[Axis, ...]:
        return (Pack(f"p{number}", Kind.UNKNOWN, "test"), *map(Dim.of, shape[-1:]))


class UnknownRank(View):
    """Nothing is known."""

    name = "unknown rank"

    def axes(self, shape: Sequence[int], number: int) -> tuple[Axis, ...]:
        return (Pack(f"p{number}", Kind.UNKNOWN, "test"),)


VIEWS: tuple[type[View], ...] = (View, NamedBySize, NamedByAxis, UnknownSizes, UnknownLeadingAxes, UnknownRank)


def compare(
    operation: Op,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    views: Sequence[type[View]] = VIEWS,
    name: str = "",
) -> Iterator[Comparison]:
    """The comparisons of a rule with `function` for the same arguments, one for each view; `name` is for messages."""
    call = describe(name or operation.name, args, kwargs)
    # Before the call, which may write into its arguments.
    shown = []
    for view_type in views:
        view = view_type()
        shown.append((view, *to_values(args, kwargs, view)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected: Any = function(*args, **kwargs)
        raised: Exception | None = None
    except Exception as error:
        expected, raised = None, error
    for view, values, keywords in shown:
        result: Value | Exception
        context = Context(certain=view.certain)
        try:
            result = operation.apply(context, values, keywords)
        except Exception as error:
            result = error
        if raised is not None and not isinstance(view, (NamedBySize, UnknownSizes)) and type(view) is not View:
            continue
        if not _holds(context.facts, view.sizes):
            continue
        answer = f"{type(raised).__name__}: {str(raised).splitlines()[0][:120]}" if raised else show(expected)
        yield Comparison(_outcome(result, expected, raised, view), call, show(result), answer, view.name)


def compare_by_name(
    torch_name: str, *args: Any, views: Sequence[type[View]] = VIEWS, **kwargs: Any
) -> list[Comparison]:
    """The comparisons for a call of `torch.add` or `Tensor.add` with these arguments.

    On the meta device where the arguments are tensors there and torch has a kernel for it.
    """
    operation = find_op(torch_name)
    assert operation is not None, f"{torch_name} has no rule"
    return list(compare(operation, resolve(torch_name), args, kwargs, views, torch_name))


def resolve(torch_name: str) -> Callable[..., Any]:
    """The function that a torch name means."""
    head, *path = torch_name.split(".")
    found: Any = torch.Tensor if head == "Tensor" else torch
    for part in path:
        found = getattr(found, part)
    if not callable(found):
        return lambda tensor: getattr(tensor, path[-1])
    function: Callable[..., Any] = found
    return function


def check(torch_name: str, *args: Any, **kwargs: Any) -> Outcome:
    """Assert that no view of the call shows the rule to be wrong; the outcome with concrete sizes."""
    comparisons = compare_by_name(torch_name, *args, **kwargs)
    defects = [comparison for comparison in comparisons if comparison.outcome.is_defect]
    assert not defects, "\n".join(map(str, defects))
    return comparisons[0].outcome


def check_exact(torch_name: str, *args: Any, **kwargs: Any) -> None:
    """Assert that the rule gives torch's shape and dtype where torch accepts the call."""
    outcome = check(torch_name, *args, **kwargs)
    assert outcome is not Outcome.UNKNOWN, _concrete(torch_name, *args, **kwargs)


def check_refused(torch_name: str, *args: Any, **kwargs: Any) -> None:
    """Assert that torch and the rule refuse the call."""
    assert check(torch_name, *args, **kwargs) is Outcome.REFUSED, _concrete(torch_name, *args, **kwargs)


def _concrete(torch_name: str, *args: Any, **kwargs: Any) -> Comparison:
    return compare_by_name(torch_name, *args, views=[View], **kwargs)[0]


def declared_in(family: str) -> list[Op]:
    """The operations that a file of the table declares."""
    return [operation for operation in OPS.values() if operation.rule.__module__ == f"shaped.spec.ops.{family}"]


def to_values(args: Sequence[Any], kwargs: Mapping[str, Any], view: View) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call as a rule takes them, tensors as `view` shows them."""
    count = 0

    def convert(argument: Any) -> Value:
        nonlocal count
        match argument:
            case torch.Tensor():
                count += 1
                return tensor_type(argument, view, count)
            case None | bool() | float() | str():
                return argument
            case int():
                return Dim.of(argument)
            case torch.dtype():
                name = str(argument).removeprefix("torch.")
                return DType.named(name) if name in ANY else UNKNOWN
            case torch.device():
                return str(argument)
            case list() | tuple():
                return tuple(map(convert, argument))
            case _:
                return UNKNOWN

    values = [convert(argument) for argument in args]
    return values, {name: convert(argument) for name, argument in kwargs.items()}


def tensor_type(tensor: torch.Tensor, view: View, number: int) -> TensorType:
    """A tensor as `view` shows it."""
    if tensor.layout is not torch.strided:
        return TensorType(Shape.of(Pack("sparse", Kind.UNKNOWN)), ANY_DTYPE)
    return TensorType(Shape(view.axes(tuple(tensor.shape), number)), dtype_of(tensor))


def dtype_of(tensor: torch.Tensor) -> DType:
    """A tensor's dtype, any for one that rules do not know."""
    name = str(tensor.dtype).removeprefix("torch.")
    return DType.named(name) if name in ANY else ANY_DTYPE


def _outcome(result: Value | Exception, expected: Any, raised: Exception | None, view: View) -> Outcome:
    if isinstance(result, Exception) and not isinstance(result, Fault):
        return Outcome.WRONG
    if raised is not None:
        return Outcome.REFUSED if isinstance(result, Fault) else Outcome.MISSED
    if isinstance(result, Exception):
        return Outcome.FALSE_ALARM
    allowed, exact = _allows(result, expected, view.sizes)
    return Outcome.WRONG if not allowed else Outcome.EXACT if exact else Outcome.UNKNOWN


def _holds(facts: Facts, sizes: Sizes) -> bool:
    """Whether the sizes satisfy what the rule relies on: divisions without rest, sizes taken as equal."""
    for numerator, denominator in facts.exact | facts.intended:
        rest = (numerator % denominator).substitute(sizes).constant
        if rest is not None and rest != 0:
            return False
    return all(
        dim.substitute(sizes).constant in (None, sizes[symbol])
        for symbol, dim in facts.values.items()
        if symbol in sizes
    )


def _allows(result: Value, expected: Any, sizes: Sizes) -> tuple[bool, bool]:
    """Whether a rule's result allows what torch gives, and whether it allows nothing else."""
    match result:
        case TensorType(shape=shape, dtype=dtype):
            if not isinstance(expected, torch.Tensor):
                return (expected is NotImplemented), False
            if expected.layout is not torch.strided:
                return True, False
            name = str(expected.dtype).removeprefix("torch.")
            fits, exact = _shape_allows(shape, tuple(expected.shape), sizes)
            return fits and (name in dtype.names or name not in ANY), exact and dtype.single == name
        case tuple():
            if not isinstance(expected, (tuple, list)) or len(expected) != len(result):
                return False, False
            parts = [_allows(a, b, sizes) for a, b in zip(result, expected, strict=True)]
            return all(fits for fits, _ in parts), all(exact for _, exact in parts)
        case Many(element, length):
            if not isinstance(expected, (tuple, list)):
                return False, False
            fits, exact = _size_allows(length, len(expected), sizes)
            parts = [_allows(element, item, sizes) for item in expected]
            return fits and all(part for part, _ in parts), exact and all(part for _, part in parts)
        case bool() | float() | str() | None:
            return (result == expected and type(result) is type(expected)), True
        case Dim():
            return _size_allows(result, expected, sizes) if isinstance(expected, int) else (False, False)
        case Ratio():
            return isinstance(expected, float), False
        case DType(names):
            return str(expected).removeprefix("torch.") in names, result.single is not None
        case _:
            return True, False


def _shape_allows(shape: Shape, expected: tuple[int, ...], sizes: Sizes) -> tuple[bool, bool]:
    if shape.rank is None:
        if len(expected) < shape.least_rank:
            return False, False
        head, tail = shape.head, shape.tail
        known = [*zip(head, expected, strict=False), *zip(reversed(tail), reversed(expected), strict=False)]
        return all(_size_allows(size, int(real), sizes)[0] for size, real in known), False
    if shape.rank != len(expected):
        return False, False
    parts = [_size_allows(size, int(real), sizes) for size, real in zip(shape.dims, expected, strict=True)]
    return all(fits for fits, _ in parts), all(exact for _, exact in parts)


def _size_allows(size: Dim, expected: int, sizes: Sizes) -> tuple[bool, bool]:
    value = size.substitute(sizes).constant
    return (True, False) if value is None else (value == expected, True)


def describe(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """A call as text, tensors by dtype and shape."""
    shown = [*map(show, args), *(f"{key}={show(value)}" for key, value in kwargs.items())]
    return f"{name}({', '.join(shown)})"


def show(value: Any) -> str:
    """An argument or a result as text."""
    match value:
        case torch.Tensor():
            return f"{str(value.dtype).removeprefix('torch.')}{tuple(value.shape)}"
        case TensorType():
            return f"{value.dtype}{value.shape}"
        case tuple() | list():
            return f"({', '.join(map(show, value))})"
        case Exception():
            return f"{type(value).__name__}: {value}"
        case _:
            return repr(value)[:80]
