"""What is said of a call that is refused: the static checker's sentence, and where each size comes from."""

from __future__ import annotations

import reprlib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jaxtyping

from shaped.errors import AnnotationError, DtypeError, Fault, ShapeError
from shaped.runtime.checked import reference
from shaped.runtime.checked.fixes import fix_of_dtype, fix_of_shape
from shaped.runtime.checked.hints import Array, Either, Hint, Judged, children, computed_axes
from shaped.runtime.checked.reference import Bound, Mismatch, PackSizes, Unbound
from shaped.runtime.checked.switch import is_checking, is_exempt
from shaped.spec.annotation import ArrayAnnotation
from shaped.spec.axis_arithmetic import Computed
from shaped.spec.binding import Bindings
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.dtypes import DType
from shaped.spec.matching import match
from shaped.spec.values import TensorType


class _Refusal(Fault):
    """What the errors of checked calls have in common: they can be pickled, with their notes."""

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.operation, self.reason, self.operands, self.hint, self.dims, dict(self.sizes), self.code)
        return type(self), fields, self.__dict__


class ShapeRefusal(_Refusal, ShapeError, jaxtyping.TypeCheckError):
    """A tensor whose shape is not what its annotation says; a `TypeError` too."""


class DtypeRefusal(_Refusal, DtypeError, jaxtyping.TypeCheckError):
    """A tensor whose dtype is not what its annotation says; a `TypeError` too."""


@dataclass
class TypeRefusal(_Refusal, jaxtyping.TypeCheckError):
    """A value that is not of the type that its annotation says; a `TypeError` too."""

    code: str = "type"


class UnboundAxis(_Refusal, AnnotationError, jaxtyping.AnnotationError):
    """An axis of arithmetic with a name that no axis before it has bound."""


OMITTED = type("Omitted", (), {"__repr__": lambda self: "<omitted>"})()
"""What a parameter of generated code has by default where its default is not checked."""

NOTHING: Mapping[str, Any] = types.MappingProxyType({})

_RETRIES = 64


@dataclass
class Explainer:
    """Finds out what is wrong with a call, by the plain meaning of its annotations.

    Args:
        function: the function that the user wrote.
        operation: its name for messages.
        parameters: what the annotations of its parameters demand, in order.
        result: what its return annotation demands.
        defaults: the defaults of parameters.
        wrapper: gives the function that replaces it.
    """

    function: Callable[..., Any]
    operation: str
    parameters: Mapping[str, Hint]
    result: Hint
    defaults: Mapping[str, Any]
    wrapper: Callable[[], Any] = lambda: None

    def refuse(
        self,
        arguments: dict[str, Any],
        sizes: Mapping[str, int] = NOTHING,
        packs: Mapping[str, PackSizes] = NOTHING,
    ) -> None:
        """Raise what is wrong with the arguments of a call; return if nothing is, or if calls are not checked.

        `sizes` and `packs` are what names stand for already: where the call is over and the arguments were changed.
        """
        __tracebackhide__ = True
        if not self._is_checked():
            return
        # beartype looks at one item of a container, by chance: what it has seen once it has to see again.
        for _ in range(_RETRIES if any(map(_asks_beartype, self.parameters.values())) else 1):
            error, cause = self._argument_error(arguments, Bound(dict(sizes), dict(packs)))
            if error is not None:
                raise error from cause

    def refuse_result(
        self, result: Any, arguments: dict[str, Any], sizes: dict[str, int], packs: dict[str, PackSizes]
    ) -> None:
        """Raise what is wrong with a result; return if nothing is, or if calls are not checked."""
        __tracebackhide__ = True
        if not self._is_checked():
            return
        origins = self._bound(arguments, Bound())[0].origins
        for _ in range(_RETRIES if _asks_beartype(self.result) else 1):
            bound = Bound(dict(sizes), dict(packs), self._filled(arguments), dict(origins))
            try:
                reference.check(self.result, result, "return", bound)
            except (Mismatch, Unbound) as problem:
                raise self._error(problem, "return", self.result, bound) from problem.cause

    def untraced(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function that replaces it outside a graph of torch.compile."""
        import torch  # there, as it is compiling

        return torch.compiler.disable(self.wrapper())(*args, **kwargs)  # type: ignore[no-untyped-call]  # torch's own

    def _is_checked(self) -> bool:
        return is_checking() and not is_exempt(self.function, self.wrapper())

    def _filled(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with defaults for those that were not given."""
        return {name: self.defaults[name] if value is OMITTED else value for name, value in arguments.items()}

    def _argument_error(self, arguments: Mapping[str, Any], bound: Bound) -> tuple[Fault | None, Exception | None]:
        bound, name, problem = self._bound(arguments, bound)
        if problem is None:
            return None, None
        return self._error(problem, f"argument {name}", self.parameters[name], bound), problem.cause

    def _bound(self, arguments: Mapping[str, Any], bound: Bound) -> tuple[Bound, str, Mismatch | Unbound | None]:
        """The names that the arguments bind, and the first argument that is refused."""
        bound.arguments = self._filled(arguments)
        for name, hint in self.parameters.items():
            if arguments[name] is OMITTED:
                continue
            try:
                reference.check(hint, arguments[name], f"argument {name}", bound)
            except (Mismatch, Unbound) as problem:
                return bound, name, problem
        return bound, "", None

    def _error(self, problem: Mismatch | Unbound, what: str, hint: Hint, bound: Bound) -> Fault:
        fault: Fault
        if isinstance(problem, Unbound):
            subject = f"{what} of {self.operation}"
            fault = UnboundAxis(subject, f'the axis "{problem.axis}" uses a name that is not bound: {problem.cause}')
        else:
            bound = problem.bound
            fault = described(problem, self.operation)
        for note in notes(problem, hint, bound):
            fault.add_note(note)
        return fault


# torch.compile cannot trace the search for a reason: it leaves the graph, or says this where it must not.
_set_apart = {
    "_torchdynamo_disable": True,  # what torch.compiler.disable sets, without the import of the compiler
    "_torchdynamo_disable_msg": "a checked call is refused; without fullgraph=True the error says why",
}
vars(Explainer.refuse).update(_set_apart)
vars(Explainer.refuse_result).update(_set_apart)


def _asks_beartype(hint: Hint) -> bool:
    return isinstance(hint, Judged) or any(map(_asks_beartype, children(hint)))


def described(problem: Mismatch, operation: str) -> Fault:
    """The fault that a mismatch is."""
    subject = f"{problem.path} of {operation}"
    hint, value = problem.hint, problem.value
    if isinstance(hint, Array) and reference.is_array(hint, value):
        return _array_fault(problem, hint, operation)
    if problem.reason:
        return TypeRefusal(subject, problem.reason)
    if isinstance(hint, Either):
        return TypeRefusal(subject, f"{shown(value)} is none of {hint}")
    if isinstance(hint, Judged):
        return TypeRefusal(subject, f"{shown(value)} is no {hint}{_beartype_reason(problem.cause)}")
    return TypeRefusal(subject, f"{shown(value)} is no {hint}")


def _beartype_reason(complaint: Exception | None) -> str:
    _, found, reason = str(complaint or "").partition(", as ")
    return f": {reason.strip().rstrip('.')}" if found else ""


def _array_fault(problem: Mismatch, hint: Array, operation: str) -> Fault:
    """The sentence of the static checker, by the same rule."""
    value, subject = problem.value, f"{problem.path} of {operation}"
    dtype = reference.dtype_name(value.dtype)
    if not reference.is_dtype_allowed(hint.hint, value):
        return DtypeRefusal(subject, f"dtype {dtype} does not match {hint}", hint=fix_of_dtype(hint, problem.path))
    sizes = tuple(map(_plain, value.shape))
    shape = TensorType.of(*map(_dim, sizes), dtype=DType(frozenset([dtype])))
    operands = f'{shape} does not match "{hint.hint.dim_str}"'
    if problem.reason:
        return ShapeRefusal(subject, problem.reason, operands, dims=tuple(map(_dim, sizes)))
    annotation = ArrayAnnotation(hint.hint.dtype.__name__, shape.dtype, hint.axes, hint.hint.dim_str)
    bound = problem.bound
    bindings = Bindings(
        dims={name: _dim(_plain(size)) for name, size in bound.sizes.items()},
        packs={name: tuple(_dim(_plain(size)) for size in axes) for name, (_, axes) in bound.packs.items()},
        broadcastable={name for name, (may_grow, _) in bound.packs.items() if may_grow},
    )

    def evaluate(text: str) -> Dim | None:
        field = _field(text, bound.arguments)
        return Dim.of(field) if type(field) is int else None

    fix = fix_of_shape(hint, sizes, problem.path, bound)
    try:
        match(annotation, shape, bindings, Context(), evaluate=evaluate, operation=operation, what=problem.path)
    except ShapeError as fault:
        return ShapeRefusal(fault.operation, fault.reason, fault.operands, fault.hint or fix, fault.dims, fault.sizes)
    return ShapeRefusal(subject, _first_difference(hint, sizes, bound), operands, fix, dims=tuple(map(_dim, sizes)))


def _plain(size: Any) -> Any:
    """A size as an int; as it is where it has no value: the ragged axis of a nested tensor."""
    try:
        return int(size)
    except Exception:  # what torch raises for it is no part of its interface
        return size


def _dim(size: Any) -> Dim:
    return Dim.of(size) if type(size) is int else Dim.name(str(size))


def _first_difference(hint: Array, sizes: tuple[int, ...], bound: Bound) -> str:
    """Why a shape is refused, where the rule of the static checker leaves it open."""
    attempt = bound.copy()
    for number, axis, size in reference.facing(hint, sizes)[0]:
        if not reference.check_axis(axis, size, "", attempt):
            wanted = (
                f"={reference.evaluate(axis, attempt.sizes, attempt.arguments)}" if isinstance(axis, Computed) else ""
            )
            return f"axis {number} is {size}, not {axis}{wanted}"
    return "the axes do not fit"


def _field(text: str, arguments: Mapping[str, Any]) -> Any:
    try:
        return eval(text, dict(arguments))
    except Exception:  # whatever the expression of a field raises leaves it without a value
        return None


def shown(value: Any) -> str:
    """A value in a message: arrays by their shapes, others as Python shows them, cut short.

    >>> shown("a"), shown([1, 2]), shown(None)
    ("str 'a'", 'list [1, 2]', 'None')
    """
    kind = type(value).__name__
    try:
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            return f"{kind} {_written(value.shape)}"
        if isinstance(value, (tuple, list)) and any(hasattr(item, "shape") for item in value):
            return f"{kind} of {len(value)} items" if len(value) != 1 else f"{kind} of 1 item"
        text = reprlib.repr(value)
    except Exception:  # what cannot be shown is refused all the same
        return kind
    return text if value is None or text.startswith(("<", kind)) else f"{kind} {text}"


def _written(sizes: Iterable[object]) -> str:
    parts = [str(size) for size in sizes]
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def notes(problem: Mismatch | Unbound, hint: Hint, bound: Bound) -> Iterator[str]:
    """Where each size comes from, and the fields of axes."""
    for name, size in bound.sizes.items():
        yield f"{name} = {size}: {bound.origins.get(name, 'bound in the body')}"
    for name, (_, sizes) in bound.packs.items():
        yield f"*{name} = {_written(sizes)}: {bound.origins.get(f'*{name}', 'bound in the body')}"
    inner = problem.hint if isinstance(problem, Mismatch) else hint
    for text in dict.fromkeys(text for axis in computed_axes(inner) for text in axis.fields if text):
        yield f"{text} = {_field(text, bound.arguments)!r}"
