"""Annotations of what a program takes and gives: looked up, checked, and told for each tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree  # torch.export's own, which has no other name

from shaped.errors import DeviceError, Fault
from shaped.runtime.checked import reference
from shaped.runtime.checked.failure import TypeRefusal, described, notes
from shaped.runtime.checked.hints import Array, Either, Every, EveryPair, Hint, Row
from shaped.runtime.checked.lowering import NotUnderstood, lower
from shaped.runtime.checked.plan import plan_for
from shaped.runtime.checked.reference import Bound, Mismatch, Unbound

Annotations = Mapping[str, object] | Callable[..., object]
"""Annotations by the names of parameters, or a function that has them."""


class DeviceRefusal(DeviceError, TypeError):
    """A tensor that is not on the device of the program; a `TypeError` too, as all refusals of arguments."""


def check(hint: Hint, value: object, path: str, bound: Bound, operation: str) -> None:
    """Check a value against a hint, in the words of checked calls.

    Raises:
        ShapeError, DtypeError, Fault: it is not what the hint says; it is a `TypeError` too.
    """
    try:
        reference.check(hint, value, path, bound)
    except Mismatch as problem:
        fault: Fault = described(problem, operation)
        for note in notes(problem, hint, problem.bound):
            fault.add_note(note)
        raise fault from problem.cause
    except Unbound as problem:
        raise TypeRefusal(f"{path} of {operation}", f'"{problem.axis}" has no value: {problem.cause}') from None


def require_device_of(tree: object, name: str, device: torch.device | None, operation: str) -> None:
    """Refuse tensors that are not on the device of a program; None for a program on several.

    Raises:
        DeviceRefusal: names the argument.
    """
    for path, leaf in leaves_of(tree, name) if device is not None else ():
        if isinstance(leaf, Tensor) and leaf.device.type != getattr(device, "type", ""):
            subject = f"argument {path} of {operation}"
            raise DeviceRefusal(
                subject, f"it is on {leaf.device}, the program on {device}", hint=f'{path}.to("{device}")?'
            )


def leaves_of(tree: object, name: str = "") -> list[tuple[str, object]]:
    """What a value is made of, with the path to each: `batch['mask']`."""
    found, _ = pytree.tree_flatten_with_path(tree)
    return [(f"{name}{pytree.keystr(path)}", leaf) for path, leaf in found]


def structure(tree: object) -> str:
    """How a value holds what it is made of: `(Tensor, {'mask': Tensor})`."""
    return repr(pytree.tree_map(lambda leaf: _Name(type(leaf).__name__.lstrip("_")), tree))


class _Name:
    """What shows itself as a name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


def annotations_of(given: Annotations) -> dict[str, Hint]:
    """The checks of parameters, by name: those of a function's annotations, or those that a dict gives.

    Raises:
        TypeError: they cannot be checked.
    """
    if isinstance(given, Mapping):
        for name, annotation in given.items():
            if isinstance(annotation, str):
                raise TypeError(
                    f"the signature of {name} is the text {annotation!r}: an annotation is needed, such as "
                    f'Float[Tensor, "{annotation}"]'
                )
        try:
            return {name: lower(annotation) for name, annotation in given.items()}
        except NotUnderstood as problem:
            raise TypeError(f"the signature cannot be checked: {problem}") from problem
    try:
        plan = plan_for(given)
    except NotUnderstood as problem:
        raise TypeError(
            f"the annotations of {getattr(given, '__qualname__', given)} cannot be checked: {problem}"
        ) from problem
    hints = {name: hint for name, hint in plan.parameters.items() if name != "self"}
    return {**hints, "return": plan.result}


def arrays_of(hint: Hint, value: object) -> dict[int, Array]:
    """The annotation of each tensor in a value, by the identity of the tensor. The value has to fit."""
    match hint:
        case Array() if isinstance(value, Tensor):
            return {id(value): hint}
    found: dict[int, Array] = {}
    for part, inner in _parts(hint, value):
        found |= arrays_of(part, inner)
    return found


def _parts(hint: Hint, value: Any) -> list[tuple[Hint, object]]:
    """The parts of a value with the hint of each."""
    match hint:
        case Either(options=options):
            for option in options:
                try:
                    reference.check(option, value, "", Bound())
                except (Mismatch, Unbound):
                    continue
                return [(option, value)]
        case Row(items=items):
            return list(zip(items, value))
        case Every(item=item):
            return [(item, part) for part in reference.again(value)]
        case EveryPair(value=item):
            return [(item, part) for part in value.values()]
    return []
