"""The shapes to try: small sizes that differ where they can, equal ones, 1, and 0."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.errors import AnnotationError
from shaped.spec.dtypes import INTEGERS
from shaped.verify.subject import SubjectError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shaped.verify.signature import NumberKind, Parameter, Signature

# Different primes first: an exchange of two axes, or n for m, cannot hide.
_PRIMES = (2, 3, 5, 7)
_LONG = (17,)  # beyond blocks of 4, 8 and 16, and no multiple of them
_BLOCKS = range(3, 300)
_MOST_BLOCKS = 3
_MOST_ELEMENTS = 4096  # of one tensor: samples stay fast
# Where none of the usual sizes fit (an even number of channels, groups that divide it), products of these are searched.
_SEARCHED = (1, 2, 3, 4, 6, 8)
_MOST_SEARCHED = 300


@dataclass(frozen=True)
class Slot:
    """One input: a tensor of a shape and kind to be drawn, or a fixed value.

    Args:
        name: the parameter.
        kind: what numbers to draw, None for a fixed value.
        shape: of the tensor.
        value: the fixed value; for a tensor, the one that the user gave, if any.
        dtype: of integers.
    """

    name: str
    kind: NumberKind | None = None
    shape: tuple[int, ...] = ()
    value: object = None
    dtype: torch.dtype = torch.int64


@dataclass(frozen=True)
class Layout:
    """The shapes of all inputs.

    Args:
        slots: one for each parameter of the forward.
        sizes: the dims that they come from, for messages.
    """

    slots: tuple[Slot, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def elements(self) -> int:
        """How many numbers the inputs have together."""
        return sum(math.prod(slot.shape) for slot in self.slots if slot.kind)


@dataclass(frozen=True)
class _Choice:
    sizes: Mapping[str, int]
    packs: Mapping[str, tuple[int, ...]]
    ones: bool = False
    absent: bool = False


def layouts(signature: Signature, numbers: tuple[float, ...] = ()) -> Iterator[Layout]:
    """Layouts to try in this order; the forward may refuse some of them.

    Args:
        signature: whose dims get sizes.
        numbers: those that the code mentions: block sizes and limits, beyond which a dim has to be tried.

    Raises:
        SubjectError: a parameter has neither an annotation of its shape nor a default.
    """
    yield from _laid_out(signature, itertools.chain(_usual(signature), _beyond(signature, numbers)))


def more_layouts(signature: Signature) -> Iterator[Layout]:
    """Layouts to search where the forward refuses all usual ones."""
    dims, packs = signature.dims, dict.fromkeys(signature.packs, (2,))
    products = itertools.islice(itertools.product(_SEARCHED, repeat=len(dims)), _MOST_SEARCHED)
    ordered = sorted(products, key=lambda sizes: (-len(set(sizes)), sum(sizes)))
    yield from _laid_out(signature, (_Choice(dict(zip(dims, sizes)), packs) for sizes in ordered))


def small_layouts(signature: Signature) -> Iterator[Layout]:
    """Layouts from the smallest, in which a counterexample is easy to read."""
    dims = signature.dims
    products = itertools.islice(itertools.product((1, 2, 3), repeat=len(dims)), _MOST_SEARCHED)
    choices = [
        _Choice(dict(zip(dims, sizes)), dict.fromkeys(signature.packs, pack))
        for sizes in products
        for pack in (((), (1,), (2,), (2, 2)) if signature.packs else ((),))
    ]
    found = list(_laid_out(signature, iter(choices)))
    yield from sorted(found, key=lambda layout: (layout.elements, tuple(layout.sizes.values())))


def shortened_layouts(signature: Signature, sizes: Mapping[str, int]) -> Iterator[Layout]:
    """The layouts that keep one dim of `sizes`, the longest first, and have 1 for the others."""
    packs = dict.fromkeys(signature.packs, (1,))
    longest = sorted(sizes, key=lambda name: -sizes[name])
    kept = ({name: sizes[name] if name == long else 1 for name in signature.dims} for long in longest)
    yield from _laid_out(signature, (_Choice(choice, packs) for choice in kept))


def wide_layouts(signature: Signature) -> Iterator[Layout]:
    """Layouts without axes of 1 or 2, over which centred values cancel for every input."""
    dims, packs = signature.dims, dict.fromkeys(signature.packs, (6,))
    for sizes in ((6, 5, 7, 8), (8, 8, 8, 8), (4, 4, 4, 4)):
        choice = _Choice({name: sizes[i % len(sizes)] for i, name in enumerate(dims)}, packs)
        yield from _laid_out(signature, iter([choice]))


def empty_layouts(signature: Signature) -> Iterator[Layout]:
    """Layouts in which one dim is 0."""
    dims, packs = signature.dims, dict.fromkeys(signature.packs, (2,))
    choices = [_Choice({**dict.fromkeys(dims, 2), name: 0}, packs) for name in dims]
    choices += [_Choice(dict.fromkeys(dims, 2), {**packs, name: (0,)}) for name in signature.packs]
    yield from _laid_out(signature, iter(choices))


def given_layout(signature: Signature, inputs: tuple[object, ...]) -> Layout:
    """The layout of inputs that the user gave.

    Raises:
        SubjectError: there are more or fewer of them than parameters.
    """
    parameters = signature.parameters
    values = [*inputs, *(parameter.default for parameter in parameters[len(inputs) :] if parameter.has_default)]
    if len(values) != len(parameters):
        names = ", ".join(parameter.name for parameter in parameters)
        raise SubjectError(f"{signature.name} takes {names}: {len(inputs)} inputs are given for {len(parameters)}")
    slots = []
    sizes: dict[str, int] = {}
    for parameter, value in zip(parameters, values):
        if not isinstance(value, Tensor):
            slots.append(Slot(parameter.name, value=value))
            continue
        slots.append(Slot(parameter.name, _kind(value), tuple(value.shape), value.detach(), value.dtype))
        axes = parameter.annotation.axes if parameter.annotation else ()
        if len(axes) == value.ndim:
            sizes |= {str(axis): size for axis, size in zip(axes, value.shape) if str(axis) in signature.dims}
    return Layout(tuple(slots), sizes)


def _kind(tensor: Tensor) -> NumberKind:
    if tensor.is_complex():
        return "complex"
    if tensor.is_floating_point():
        return "float"
    return "bool" if tensor.dtype is torch.bool else "int"


def _require_annotations(signature: Signature) -> None:
    for parameter in signature.parameters:
        if parameter.members:
            raise SubjectError(
                f"parameter {parameter.name} of {signature.name} is a tuple: pass its tensors one by one"
            )
        if parameter.annotation is None and not parameter.has_default and parameter.type not in _STAND_INS:
            raise SubjectError(
                f"parameter {parameter.name} of {signature.name} has no shape: "
                f'write {parameter.name}: Float[Tensor, "n"], or pass inputs'
            )


# For a parameter that is no tensor and has no default.
_STAND_INS: Mapping[object, object] = {int: 2, float: 0.5, bool: True}


def _usual(signature: Signature) -> Iterator[_Choice]:
    dims, packs = signature.dims, signature.packs

    def choice(sizes: tuple[int, ...], pack: tuple[int, ...], *, ones: bool = False, absent: bool = False) -> _Choice:
        return _Choice(dict(zip(dims, sizes)), dict.fromkeys(packs, pack), ones, absent)

    count = len(dims)
    primes = tuple(_PRIMES[i % len(_PRIMES)] for i in range(count))
    yield choice(primes, (2, 3))
    yield choice(primes[::-1], (5,), ones=bool(signature.stretched), absent=True)
    yield choice((4,) * count, (3,))
    if signature.stretched:
        yield choice(primes, (2, 3), ones=True)
    if dims or packs:
        yield choice((2,) * count, ())
        yield choice((1,) * count, (1,))
    if count > 1:
        for i in range(min(count, 5)):
            yield choice((*primes[:i], 1, *primes[i + 1 :]), (3, 1))
    if dims:
        yield choice(tuple(_PRIMES[(i + 2) % len(_PRIMES)] for i in range(count)), (2, 1, 3))


def _beyond(signature: Signature, numbers: tuple[float, ...]) -> Iterator[_Choice]:
    """Longer dims, one at a time: beyond usual block sizes, then beyond each number that may be a size."""
    packs = dict.fromkeys(signature.packs, (2,))
    blocks = [int(number) for number in numbers if number in _BLOCKS]
    for size in (*_LONG, *(block + 1 for block in blocks[:_MOST_BLOCKS])):
        for name in signature.dims:
            yield _Choice({**dict.fromkeys(signature.dims, 2), name: size}, packs)
        for name in signature.packs:
            yield _Choice(dict.fromkeys(signature.dims, 2), {**packs, name: (size,)})


def _laid_out(signature: Signature, choices: Iterator[_Choice]) -> Iterator[Layout]:
    """The layouts of the choices that give sizes, each once."""
    _require_annotations(signature)
    seen = set()
    for choice in choices:
        try:
            shapes = signature.shapes(choice.sizes, choice.packs, ones=signature.stretched if choice.ones else ())
        except AnnotationError:  # arithmetic that gives no size
            continue
        slots = tuple(_slot(parameter, shapes, choice.absent) for parameter in signature.parameters)
        key = tuple((slot.kind, slot.shape) for slot in slots)
        if key in seen or any(math.prod(slot.shape) > _MOST_ELEMENTS for slot in slots):
            continue
        seen.add(key)
        yield Layout(slots, dict(choice.sizes))


def _slot(parameter: Parameter, shapes: Mapping[str, tuple[int, ...]], absent: bool) -> Slot:
    if parameter.annotation is None:
        value = parameter.default if parameter.has_default else _STAND_INS[parameter.type]
        return Slot(parameter.name, value=value)
    if absent and parameter.is_optional:
        return Slot(parameter.name, value=None)
    dtypes = parameter.dtypes.names
    dtype = torch.int64 if "int64" in dtypes or parameter.kind != "int" else getattr(torch, min(dtypes & INTEGERS))
    return Slot(parameter.name, parameter.kind, shapes[parameter.name], dtype=dtype)
