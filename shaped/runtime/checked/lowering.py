"""Type hints reduced to the checks that they mean, by the rules of jaxtyping and beartype.

What is no tensor is beartype's to judge; without beartype only what is understood here is checked.
"""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import sys
import types
import typing
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from jaxtyping import AbstractArray, AbstractDtype
from jaxtyping import _array_types as jaxtyping_axes  # no public name gives the axes of an annotation

from shaped.runtime.checked.hints import Anything, Array, Either, Every, EveryPair, Hint, Instance, Judged, Row
from shaped.spec.annotation import AnnotatedAxis, Anonymous, AnonymousPack, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Malformed, read_arithmetic


class NotUnderstood(Exception):
    """A hint that jaxtyping and beartype have to check themselves."""


_UNIONS = (typing.Union, types.UnionType)
# Of these beartype looks at the value alone, never at what it holds or gives.
_SHALLOW = frozenset(
    [
        type,
        collections.abc.Callable,
        collections.abc.Iterator,
        collections.abc.Generator,
        collections.abc.AsyncIterator,
        collections.abc.AsyncIterable,
        collections.abc.AsyncGenerator,
        collections.abc.Coroutine,
        collections.abc.Awaitable,
    ]
)
_CONTAINERS = frozenset(
    [
        list,
        set,
        frozenset,
        collections.deque,
        collections.abc.Collection,
        collections.abc.Container,
        collections.abc.Iterable,
        collections.abc.Reversible,
        collections.abc.Sequence,
        collections.abc.MutableSequence,
        collections.abc.Set,
        collections.abc.MutableSet,
        collections.abc.KeysView,
        collections.abc.ValuesView,
    ]
)
_MAPPINGS = frozenset(
    [
        dict,
        collections.defaultdict,
        collections.OrderedDict,
        collections.abc.Mapping,
        collections.abc.MutableMapping,
    ]
)


def lower(hint: Any) -> Hint:
    """The checks that a resolved type hint means.

    Raises:
        NotUnderstood: jaxtyping and beartype have to check it themselves.

    >>> from typing import Optional
    >>> print(lower(Optional[int]), lower(tuple[int, str]), lower(Any))
    int | None tuple[int, str] Any
    """
    if hint is Any or hint is object:
        return Anything()
    if hint is None:
        return Instance(type(None))
    items = _items_of_tlist(hint)
    if items is not None:
        return Row(_tlist(), tuple(map(lower, items)))
    if typing.get_origin(hint) in _UNIONS:
        return _either([lower(option) for option in typing.get_args(hint)])
    if not _mentions_jaxtyping(hint):
        return Instance(hint) if _is_plain_class(hint) else _judged(hint)
    if isinstance(hint, type) and not typing.get_args(hint):
        return _lower_class(hint)
    if isinstance(hint, dataclasses.InitVar):
        return lower(hint.type)
    if isinstance(hint, typing.NewType):
        return lower(hint.__supertype__)
    if isinstance(hint, typing.TypeVar):
        return _lower_variable(hint)
    if _is_alias(hint):
        return lower(hint.__value__)
    return _lower_subscripted(hint, typing.get_origin(hint), typing.get_args(hint))


def _lower_class(hint: type) -> Hint:
    if issubclass(hint, AbstractArray) and hint is not AbstractArray:
        return _lower_array(hint)
    if _is_pytree(hint) and not hasattr(hint, "leaftype"):
        return Anything()
    raise NotUnderstood(f"{hint} is for jaxtyping")


def _lower_variable(variable: typing.TypeVar) -> Hint:
    if variable.__bound__ is not None:
        return lower(variable.__bound__)
    return _either([lower(option) for option in variable.__constraints__])


def _lower_subscripted(hint: Any, origin: Any, args: tuple[Any, ...]) -> Hint:
    if origin is typing.Annotated:
        if any(type(note).__module__.startswith("beartype") for note in hint.__metadata__):
            raise NotUnderstood(f"{hint} has a validator of beartype's")
        return lower(args[0])
    if origin is tuple:
        if len(args) == 2 and args[1] is Ellipsis:
            return Every(tuple, lower(args[0]))
        if any(_is_unpacked(item) for item in args):
            raise NotUnderstood(f"{hint} unpacks types")
        return Row(tuple, tuple(map(lower, args)))
    if origin in _CONTAINERS:
        return Every(origin, lower(args[0]))
    if origin in _MAPPINGS:
        return EveryPair(origin, lower(args[0]), lower(args[1]))
    if origin in _SHALLOW:
        return _judged(hint)
    raise NotUnderstood(f"{hint} holds annotations of jaxtyping's in its own way")


def _either(options: list[Hint]) -> Hint:
    flat: list[Hint] = []
    for option in options:
        flat += option.options if isinstance(option, Either) else [option]
    if any(isinstance(option, Anything) for option in flat):
        return Anything()
    # beartype asks for classes first, those of jaxtyping among them, then for what it has to look into.
    flat.sort(key=lambda option: not isinstance(option, (Instance, Array)))
    distinct = tuple(dict.fromkeys(flat))
    return distinct[0] if len(distinct) == 1 else Either(distinct)


def _lower_array(hint: Any) -> Hint:
    if getattr(hint, "_skip_instancecheck", False):
        return Anything()  # jaxtyping made it transparent
    return Array(hint, hint.array_type, tuple(map(_axis, hint.dims)))


def _axis(dim: Any) -> AnnotatedAxis:
    """An axis as jaxtyping has read it."""
    match dim:
        case jaxtyping_axes._FixedDim(size=size, broadcastable=broadcastable):
            return Fixed(size, broadcastable)
        case jaxtyping_axes._NamedDim(name=name, broadcastable=broadcastable, treepath=False):
            return Named(name, broadcastable)
        case jaxtyping_axes._NamedVariadicDim(name=name, broadcastable=broadcastable, treepath=False):
            return NamedPack(name, broadcastable)
        case jaxtyping_axes._SymbolicDim(elem=text, broadcastable=broadcastable):
            try:
                return read_arithmetic(text, broadcastable)
            except Malformed as problem:
                raise NotUnderstood(problem.reason) from None
    if dim is jaxtyping_axes._anonymous_dim:
        return Anonymous()
    if dim is jaxtyping_axes._anonymous_variadic_dim:
        return AnonymousPack()
    raise NotUnderstood(f"the axis {dim} has its own size at each leaf of a tree")


def _mentions_jaxtyping(hint: Any, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a check of the hint may be one of jaxtyping's."""
    if id(hint) in seen:
        return False
    seen |= {id(hint)}
    if isinstance(hint, type) and (
        issubclass(hint, (AbstractArray, AbstractDtype)) or _is_pytree(hint) or _items_of_tlist(hint) is not None
    ):
        return True
    return any(_mentions_jaxtyping(part, seen) for part in _parts(hint))


def _parts(hint: Any) -> Iterator[Any]:
    """The hints in a hint."""
    if isinstance(hint, (list, tuple)):  # the parameters of a Callable
        yield from hint
    yield from typing.get_args(hint)
    if isinstance(hint, dataclasses.InitVar):
        yield hint.type
    if isinstance(hint, typing.NewType):
        yield hint.__supertype__
    if isinstance(hint, typing.TypeVar):
        yield hint.__bound__
        yield from hint.__constraints__
    if _is_alias(hint):
        yield hint.__value__
    origin = typing.get_origin(hint) or hint
    if isinstance(origin, type):
        for base in origin.__mro__:
            yield from base.__dict__.get("__orig_bases__", ())


def _is_plain_class(hint: Any) -> bool:
    """Whether a hint means isinstance to beartype: a class that is neither generic nor one of typing's inventions."""
    if not isinstance(hint, type) or typing.get_args(hint) or typing.is_typeddict(hint):
        return False
    if hint.__module__ in ("typing", "typing_extensions") or getattr(hint, "_is_protocol", False):
        return False
    return not any("__orig_bases__" in base.__dict__ for base in hint.__mro__)


def _is_alias(hint: Any) -> bool:
    return type(hint).__name__ == "TypeAliasType"  # `type X = ...` of Python 3.12


def _is_unpacked(hint: Any) -> bool:
    return bool(getattr(hint, "__unpacked__", False)) or typing.get_origin(hint) is typing.Unpack


def _is_pytree(hint: type) -> bool:
    return type(hint).__name__ == "_MetaPyTree"  # importing it needs jax


def _tlist() -> Any:
    # Loaded already where it is used in an annotation; importing it needs torch.
    module = sys.modules.get("shaped.runtime.tlist")
    return getattr(module, "TList", None)


def _items_of_tlist(hint: Any) -> tuple[Any, ...] | None:
    """The annotations of the items of `TList[...]`."""
    tlist = _tlist()
    if tlist is None or not isinstance(hint, type) or hint is tlist or not issubclass(hint, tlist):
        return None
    return getattr(hint, "types", None)


def _judged(hint: Any) -> Hint:
    judge = _compile_judge(hint)
    return Anything() if judge is None else Judged(hint, judge)


def _compile_judge(hint: Any) -> Callable[[object], Exception | None] | None:
    """beartype's check of a hint; None where it has none or refuses the hint itself."""
    try:
        import beartype
        from beartype.roar import BeartypeCallHintViolation, BeartypeException
    except ImportError:
        return None

    def value_of(value: object) -> None:
        del value

    value_of.__annotations__ = {"value": hint}
    try:
        with warnings.catch_warnings():  # what beartype thinks of typing.List is no news of this call
            warnings.simplefilter("ignore")
            check = beartype.beartype(conf=beartype.BeartypeConf(is_color=False))(value_of)
    except BeartypeException:
        return None
    if check is value_of:
        return None

    def judge(value: object) -> Exception | None:
        try:
            check(value)
        except BeartypeCallHintViolation as violation:
            return violation
        return None

    return judge
