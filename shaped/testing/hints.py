"""Which node draws a parameter: read from its annotation, its default, and what the caller gives for it."""

from __future__ import annotations

import collections.abc
import dataclasses
import typing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import torch
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

from shaped.errors import AnnotationError
from shaped.spec.annotation import parse
from shaped.testing.nodes import LEFT_OUT, Default, Drawn, Maybe, Node, Repeated, Several, TensorNode, Unknown
from shaped.verify.signature import MISSING, Parameter, Signature

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from shaped.testing.wanted import Given

_LISTS = (list, tuple, collections.abc.Sequence, collections.abc.Iterable)
_DICTS = (dict, collections.abc.Mapping)
_TORCH_TYPES: dict[object, SearchStrategy[Any]] = {
    torch.device: st.just(torch.device("cpu")),
    torch.dtype: st.sampled_from([torch.float32, torch.float64]),
}


def parameter_of(name: str, hint: object, owner: str) -> Parameter:
    """What an annotation that stands alone says: that of a field, or of an element."""

    def holder(value: object) -> None: ...

    holder.__annotations__["value"] = hint
    (read,) = Signature.of(holder, name=owner).parameters
    return _renamed(read, "value", name)


def _renamed(parameter: Parameter, old: str, new: str) -> Parameter:
    name = new + parameter.name.removeprefix(old)
    return replace(parameter, name=name, members=tuple(_renamed(one, old, new) for one in parameter.members))


def node_of(parameter: Parameter, given: MutableMapping[str, Given], owner: str) -> Node:
    """How a parameter is drawn.

    Args:
        parameter: what its annotation says.
        given: what the caller draws for names; what is used is taken out.
        owner: the function, for messages.
    """
    if parameter.name in given:
        return _given(parameter, given.pop(parameter.name), owner)
    node = _node(parameter, given, owner)
    if parameter.has_default and not node.is_about_tensors and not node.is_given:
        return Default()
    if parameter.is_none:
        return Drawn(st.none())
    if node.is_known and (parameter.is_optional or (node.is_about_tensors and parameter.default is None)):
        return Maybe(node)
    return node


def _given(parameter: Parameter, given: Given, owner: str) -> Node:
    if given is Ellipsis:
        node = _node(replace(parameter, default=MISSING), {}, owner)
        return replace(node, is_given=True) if isinstance(node, Drawn) else node
    if isinstance(given, SearchStrategy):
        return Drawn(given, is_given=True)
    if not callable(given):
        raise AnnotationError(
            owner, f"{parameter.name}={given!r} is no strategy", hint=f"{parameter.name}=st.just({given!r})"
        )
    leaf = _leaf(parameter)
    if leaf is None:
        raise AnnotationError(
            owner,
            f"{parameter.name} has no annotation of a tensor, from which a function could make a strategy",
            hint=f"pass {parameter.name}=strategy",
        )
    return TensorNode(leaf, given)


def _leaf(parameter: Parameter) -> Parameter | None:
    """The parameter as a tensor, None if it is none. A tensor without a shape has any."""
    if parameter.annotation is not None:
        return parameter
    if isinstance(parameter.type, type) and issubclass(parameter.type, torch.Tensor):
        return replace(parameter, annotation=parse("Float", "..."), kind="float")
    return None


def _node(parameter: Parameter, given: MutableMapping[str, Given], owner: str) -> Node:
    leaf = _leaf(parameter)
    if leaf is not None:
        return TensorNode(leaf)
    if parameter.members:
        members = [node_of(member, given, owner) for member in parameter.members]
        if any(member.is_about_tensors or member.is_given for member in members):
            return Several({f"_{i}": member for i, member in enumerate(members)}, lambda **parts: tuple(parts.values()))
        return _from_type(parameter, owner)
    hint = parameter.type
    if hint is None:
        return Default() if parameter.has_default else Unknown()
    made = _of_parts(parameter.name, hint, given, owner) or _of_elements(parameter.name, hint, given, owner)
    return made if made is not None and (made.is_about_tensors or made.is_given) else _from_type(parameter, owner)


def _of_parts(name: str, hint: Any, given: MutableMapping[str, Given], owner: str) -> Node | None:
    """A dataclass or a named tuple."""
    if not isinstance(hint, type):
        return None
    if dataclasses.is_dataclass(hint):
        names = {one.name: _default_of(one) for one in dataclasses.fields(hint) if one.init}
    elif issubclass(hint, tuple) and hasattr(hint, "_fields"):
        names = {one: getattr(hint, "_field_defaults", {}).get(one, LEFT_OUT) for one in hint._fields}
    else:
        return None
    hints = typing.get_type_hints(hint)
    parts = {}
    for part, default in names.items():
        read = replace(parameter_of(f"{name}.{part}", hints.get(part, object), owner), default=default)
        parts[part] = node_of(read, given, owner)
    return Several(parts, hint)


def _default_of(declared: dataclasses.Field[Any]) -> object:
    if declared.default is not dataclasses.MISSING:
        return declared.default
    return LEFT_OUT if declared.default_factory is dataclasses.MISSING else declared.default_factory


def _of_elements(name: str, hint: object, given: MutableMapping[str, Given], owner: str) -> Node | None:
    """A list, a tuple of any length, or a dict by strings."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _LISTS and arguments:
        element = node_of(parameter_of(f"{name}[i]", arguments[0], owner), given, owner)
        return Repeated(element, tuple if origin is tuple else list)
    if origin in _DICTS and arguments[:1] == (str,):
        element = node_of(parameter_of(f"{name}[key]", arguments[1], owner), given, owner)
        return Repeated(element, lambda values: {f"key{i}": value for i, value in enumerate(values)})
    return None


def _from_type(parameter: Parameter, owner: str) -> Node:
    """What Hypothesis draws for a type."""
    if parameter.type in _TORCH_TYPES:
        return Drawn(_TORCH_TYPES[parameter.type])
    try:
        strategy: SearchStrategy[Any] = st.from_type(cast("type[Any]", parameter.type))
        strategy.validate()
    except (HypothesisException, TypeError) as problem:
        if parameter.has_default:
            return Default()
        written = getattr(parameter.type, "__name__", parameter.type)
        raise AnnotationError(
            owner,
            f"parameter {parameter.name}: {written} is nothing that can be drawn: {problem}",
            hint=f"pass {parameter.name}=strategy",
        ) from None
    return Drawn(strategy)
