"""Calls of torch's operations with spec tensors: the meaning is found by the torch name and called as torch would be.

Arguments arrive as programs pass them (sizes, small tensors of torch, numbers) and become what meanings take. torch is
never imported: where its functions are called, it is there.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from shaped.spec.op import OPS, find_op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.spec.tensor import Number, Tensor

Meaning = Callable[..., Any]

# Operations whose result may share memory with their first argument.
_SHARING = frozenset(
    """
    view reshape view_as reshape_as flatten ravel unflatten as_strided view_as_complex view_as_real
    transpose t Tensor.T Tensor.H Tensor.mT permute movedim unsqueeze squeeze
    expand expand_as broadcast_to broadcast_tensors atleast_1d atleast_2d atleast_3d meshgrid
    chunk split split_with_sizes tensor_split hsplit vsplit dsplit unbind select narrow unfold
    diagonal linalg.diagonal detach contiguous to float double bool long int cpu cuda type type_as
    real imag conj resolve_conj resolve_neg positive as_tensor asarray
    """.split()  # noqa: SIM905  (a column of quoted names reads worse)
)
_RETURNS_ITSELF = frozenset(["requires_grad_", "retain_grad", "share_memory_", "pin_memory", "detach_"])
# How torch lays out and computes, which does not change what is computed.
_IGNORED = frozenset(["device", "layout", "requires_grad", "pin_memory", "memory_format", "generator", "non_blocking"])
_ALSO_CALLED = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
_REFLECTED = frozenset(["__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rfloordiv__", "__rmod__", "__rpow__"])


@dataclass(frozen=True)
class Reading:
    """How a program is read.

    Args:
        replaced: meanings to use in place of those of the table, by the name of the operation.
        number: what a float of the program stands for, as a tensor without axes or as the float itself.
        run: what to do with a function of torch that has no meaning.
        called: is told the name of each operation that the program calls, and of what else it asks of tensors
            (`shape`, `getitem`).
        finished: is given the name and the result of each operation, and gives the result to use.
    """

    replaced: Mapping[str, Meaning] = field(default_factory=dict)
    number: Callable[[float], Number | Tensor] = lambda value: value
    run: Callable[[Callable[..., object], tuple[Any, ...], Mapping[str, Any]], Any] | None = None
    called: Callable[[str], object] = lambda name: None
    finished: Callable[[str, Any], Any] = lambda name, found: found


_depth: ContextVar[int] = ContextVar("depth", default=0)  # of meanings that call meanings
_PLAIN = Reading()
_reading: ContextVar[Reading] = ContextVar("reading", default=_PLAIN)


@contextmanager
def reading(how: Reading) -> Iterator[None]:
    """Read the programs that run inside in this way."""
    token = _reading.set(how)
    try:
        yield
    finally:
        _reading.reset(token)


def notice(name: str) -> None:
    """Tell who reads the program that it uses this, beside operations of the table."""
    if not _depth.get():
        _reading.get().called(name)


def torch_class() -> type | None:
    """The class of torch's tensors while a program is read, None otherwise."""
    return None if _reading.get() is _PLAIN else getattr(sys.modules.get("torch"), "Tensor", None)


def has_method(name: str) -> bool:
    """Whether a spec tensor has this method."""
    return name in _RETURNS_ITSELF or name in ("zero_", "copy_", "data", "mH") or _method(name.rstrip("_")) is not None


def call_method(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What the method, or property, of the first argument gives; a name that ends with `_` writes it there.

    Raises:
        NotExpressible: the operation has no meaning, or a write is not followed.
    """
    from shaped.spec.memory import write

    if name in _RETURNS_ITSELF:
        return args[0]
    if name == "data":
        return call_method("detach", args, kwargs)
    if name == "mH":
        return call_method("conj", (call_method("transpose", (*args, -2, -1), {}),), {})
    if name in ("zero_", "copy_"):
        value = 0 if name == "zero_" else args[1]
        return write(args[0], call_method("add", (call_method("mul", (args[0], 0), {}), value), {}))
    plain = name.rstrip("_")
    found = _method(plain)
    if found is None:
        raise _no_meaning(f"Tensor.{name}")
    result = call(*found, args, kwargs)
    return write(args[0], result) if plain != name else result


def call_named(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What the operation with this torch name gives (`torch.softmax`, `Tensor.__rsub__`, `Tensor.add_`).

    Raises:
        NotExpressible: the operation has no meaning.
    """
    short = name.rpartition(".")[2]
    if name.startswith("Tensor.__i") and short != "__invert__":
        return getattr(args[0], short)(*args[1:])
    if not short.startswith("_") and (name.startswith("Tensor.") or short.endswith("_")):
        return call_method(short, args, kwargs)
    found = _named(name)
    if found is None:
        raise _no_meaning(name)
    if name.startswith("Tensor.") and short in _REFLECTED:
        args = args[::-1]
    return call(*found, args, kwargs)


def call_torch(function: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What a function of torch gives for spec tensors.

    Raises:
        NotExpressible: the operation has no meaning.
    """
    name = torch_names().get(function)
    if name is not None and _is_meant(name):
        return call_named(name, args, kwargs)
    own = getattr(function, "__name__", str(function))
    if own == "__get__":  # a property of torch.Tensor
        return getattr(args[0], function.__self__.__name__)  # type: ignore[attr-defined]  # it is a bound method
    from shaped.spec.tensor import Tensor

    if args and isinstance(args[0], Tensor) and hasattr(Tensor, own):
        return getattr(args[0], own)(*args[1:], **kwargs)
    run = _reading.get().run
    if run is None:
        raise _no_meaning(name or own)
    return run(function, args, kwargs)


def call(name: str, entry: Meaning, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What a meaning gives for arguments as programs pass them.

    Raises:
        NotExpressible: the meaning says so, or an argument shares memory with a tensor that was written to since.
    """
    from shaped.spec.memory import write
    from shaped.spec.tensor import NotExpressible, Tensor

    how = _reading.get()
    depth = _depth.get()
    if not depth:
        how.called(name)
    entry = how.replaced.get(name, entry)
    if kwargs.get("out") is not None:
        raise NotExpressible(f"{name} with out=")
    given = [as_argument(value) for value in args]
    named = {
        _parameter(entry, key): as_argument(value)
        for key, value in kwargs.items()
        if key != "out" and (key not in _IGNORED or key in _parameters(entry))
    }
    starred = _starred(entry)
    if starred in named:  # `flip(x, dims=(0, 1))` is `flip(x, (0, 1))`
        given.append(named.pop(starred))
    in_place = _in_place(entry, given, named)
    inner = _depth.set(depth + 1)
    try:
        found = how.finished(name, as_result(entry(*given, **named)))
    finally:
        _depth.reset(inner)
    tensors = [value for value in args if isinstance(value, Tensor)]
    return write(tensors[0], found) if in_place else _with_sharing(name, found, tensors)


def _in_place(entry: Meaning, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether the call says `inplace=True`."""
    if kwargs.get("inplace"):
        return True
    place = _parameters(entry).get("inplace")
    return place is not None and len(args) > place and args[place] is True


@cache
def _parameters(entry: Meaning) -> Mapping[str, int]:
    """The names of the parameters, with their places."""
    return {name: place for place, name in enumerate(inspect.signature(entry).parameters)}


@cache
def _starred(entry: Meaning) -> str | None:
    """The name of the parameter that takes all further positional arguments, None if there is none."""
    parameters = inspect.signature(entry).parameters.values()
    return next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), None)


def _parameter(entry: Meaning, name: str) -> str:
    """What the meaning calls a parameter that a program may call as numpy does."""
    own = _parameters(entry)
    also = _ALSO_CALLED.get(name, name)
    return also if name not in own and also in own else name


def _with_sharing(name: str, found: Any, tensors: Sequence[Tensor]) -> Any:
    """The results, each a tensor of its own, noted where it may share memory with an argument."""
    from shaped.spec.memory import own
    from shaped.spec.tensor import Tensor

    if isinstance(found, (tuple, list)):
        made = [_with_sharing(name, each, tensors) for each in found]
        return type(found)(*made) if hasattr(found, "_fields") else type(found)(made)
    if not isinstance(found, Tensor):
        return found
    if any(found is each for each in tensors):
        found = own(found)
    if name in _SHARING and tensors and found.kind == tensors[0].kind:
        found.shares = tensors[0], tensors[0].version
    return found


def as_argument(value: Any) -> Any:
    """An argument as meanings take it: a size as a dim, a float as what it stands for, a tensor as a spec tensor."""
    from shaped.spec.memory import up_to_date
    from shaped.spec.size import Size
    from shaped.spec.tensor import Tensor

    if isinstance(value, Tensor):
        return up_to_date(value)
    if isinstance(value, Size):
        return value.dim
    if isinstance(value, float):
        return _reading.get().number(value)
    if isinstance(value, list):
        return [as_argument(each) for each in value]
    if isinstance(value, tuple):
        return tuple(as_argument(each) for each in value)
    if isinstance(value, slice):
        return slice(*(as_argument(each) for each in (value.start, value.stop, value.step)))
    if is_torch_tensor(value):
        notice("given numbers")
        from shaped.spec.given import given

        return given(value.detach().tolist(), tuple(value.shape), _reading.get().number)
    return value


def as_result(found: Any) -> Any:
    """What a meaning gave, with sizes as programs see them."""
    from shaped.spec.dims import Dim
    from shaped.spec.size import Size

    if isinstance(found, Dim):
        return Size.of(found)
    if isinstance(found, (list, tuple)):
        made = [as_result(each) for each in found]
        return type(found)(*made) if hasattr(found, "_fields") else type(found)(made)
    return found


def is_torch_tensor(value: object) -> bool:
    """Whether a value is a tensor of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


@cache
def torch_names() -> Mapping[Callable[..., object], str]:
    """The torch name of each function of torch in the table; to be asked for when torch is imported."""
    import shaped.spec.ops  # noqa: F401  (importing declares them)

    found: dict[Callable[..., object], str] = {}
    for declared in OPS.values():
        for name in declared.torch:
            function = _resolve(name)
            if function is not None and (function not in found or not _is_meant(found[function])):
                found[function] = name
    return found


def _resolve(name: str) -> Callable[..., object] | None:
    """The object with this name in torch, where torch is imported."""
    path = f"torch.{name}" if name.startswith("Tensor.") else name
    if not path.startswith("torch."):
        return None
    found: Any = sys.modules.get("torch")
    for each in path.split(".")[1:]:
        found = getattr(found, each, None)
    return found if callable(found) and found.__hash__ is not None else None


def _is_meant(name: str) -> bool:
    return _named(name) is not None or (name.startswith("Tensor.") and has_method(name[len("Tensor.") :]))


@cache
def _named(torch_name: str) -> tuple[str, Meaning] | None:
    """The name and the meaning of the operation with this torch name, None if it has none."""
    from shaped.spec.meaning import find_meaning

    found = find_meaning(torch_name)
    if found is None and torch_name.rstrip("_") != torch_name and find_op(torch_name) is not None:
        found = find_meaning(torch_name.rstrip("_"))
    return None if found is None else (found.name, found.entry)


@cache
def _method(name: str) -> tuple[str, Meaning] | None:
    """The name and the meaning of the operation that a method is, None if it has none."""
    return _named(f"Tensor.{name}") or _named(f"torch.{name}")


def _no_meaning(name: str) -> Exception:
    from shaped.spec.tensor import NotExpressible

    return NotExpressible(f"{name}, which has no meaning in the table")
