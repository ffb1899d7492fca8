"""The symbolic inputs of a program: what its annotations say, in the cases that they leave open.

Dims become symbols of any size from 1; a pack `*s` becomes axes of several numbers; `#n` is n or 1; what may be None is
given or not; a bool is True or False.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shaped.spec.annotation import Anonymous, AnonymousPack, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Computed
from shaped.spec.dims import ONE, Dim
from shaped.spec.size import Size
from shaped.spec.tensor import NotExpressible, Tensor
from shaped.verify.prove.variables import given_tensor

if TYPE_CHECKING:
    from shaped.verify.signature import Parameter, Signature

RANKS = (0, 1, 2, 3)  # numbers of axes that a pack stands for
_MOST_CASES = 32
_PRODUCT = re.compile(r"\w+(\*\w+)+")


@dataclass(frozen=True)
class Bound:
    """The range of an int tensor's entries: `low <= entry < size`, None where it has no end."""

    size: Dim | None = None
    low: int | None = 0


@dataclass(frozen=True)
class Case:
    """One choice of what the annotations leave open.

    Args:
        sizes: fixed sizes of named dims; the others are symbols.
        ranks: how many axes each pack stands for.
        ones: the parameters whose `#` axes have size 1.
        absent: the parameters that are None.
        flags: the bool parameters, with their values.
        bounds: the ranges of int tensors.
        needed: the only input whose gradient is asked for; empty for all.
        factors: how an axis like `g*c` is made of its factors: "written" (g times c places), "reversed", or "none".
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    ones: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    flags: Mapping[str, bool] = field(default_factory=dict)
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    needed: str = ""
    factors: str = "written"

    def __str__(self) -> str:
        parts = [f"{name} = {size}" for name, size in self.sizes.items()]
        parts += [f"*{name} of {rank} axes" for name, rank in self.ranks.items()]
        parts += [f"{name} stretched" for name in sorted(self.ones)]
        parts += [f"{name} = None" for name in sorted(self.absent)]
        parts += [f"{name} = {value}" for name, value in self.flags.items()]
        parts += [f"only {self.needed} needs a gradient"] * bool(self.needed)
        return ", ".join(parts)


@dataclass(frozen=True)
class Inputs:
    """Symbolic inputs.

    Args:
        values: one for each parameter: a tensor, a tuple of them, a size, or its default.
        tensors: the tensors among them by name, those of a tuple as `grad[0]`.
        differentiable: the names of those that have a gradient.
        domain: what is taken for granted of ints.
    """

    values: tuple[object, ...]
    tensors: Mapping[str, Tensor]
    differentiable: tuple[str, ...]
    domain: tuple[str, ...]


def cases(signature: Signature, ranks: tuple[int, ...] = RANKS) -> Iterator[Case]:
    """All cases, the most general first.

    Raises:
        NotExpressible: there are too many.
    """
    optional = [leaf.name for leaf in signature.tensors if leaf.is_optional]
    flags = [p.name for p in signature.parameters if p.type is bool and not p.has_default]
    packs = itertools.product(ranks, repeat=len(signature.packs))
    ones, absent = list(_subsets(signature.stretched)), list(_subsets(optional))
    values = list(itertools.product((False, True), repeat=len(flags)))
    found = [
        Case({}, dict(zip(signature.packs, chosen)), stretched, missing, dict(zip(flags, value)))
        for chosen in packs
        for stretched in ones
        for missing in absent
        for value in values
    ]
    if len(found) > _MOST_CASES:
        raise NotExpressible(f"{len(found)} cases of packs, stretched axes, None and bools: at most {_MOST_CASES}")
    yield from found


def cases_of_needs(signature: Signature, case: Case) -> Iterator[Case]:
    """The case with the gradient of one input asked for at a time, as autograd does where others need none."""
    names = [leaf.name for leaf in signature.tensors if leaf.is_differentiable and leaf.name not in case.absent]
    if len(names) > 1:
        yield from (replace(case, needed=name) for name in names)


def factor_orders(signature: Signature) -> tuple[str, ...]:
    """The ways to make axes like `g*c` of their factors that are worth trying: what is proved with one holds."""
    axes = [axis for leaf in signature.tensors if leaf.annotation for axis in leaf.annotation.axes]
    has_products = any(isinstance(axis, Computed) and _PRODUCT.fullmatch(axis.text) for axis in axes)
    return ("written", "reversed", "none") if has_products else ("written",)


def _subsets(names: tuple[str, ...] | list[str]) -> Iterator[frozenset[str]]:
    for count in range(len(names) + 1):
        yield from (frozenset(chosen) for chosen in itertools.combinations(names, count))


def symbolic_inputs(signature: Signature, case: Case) -> Inputs:
    """Symbols for the parameters of a program.

    Raises:
        NotExpressible: a parameter has neither an annotation of its shape nor a default.
    """
    return _Symbols(signature, case).inputs()


class _Symbols:
    """Symbols for one case."""

    def __init__(self, signature: Signature, case: Case) -> None:
        self.signature = signature
        self.case = case
        self.tensors: dict[str, Tensor] = {}
        self.differentiable: list[str] = []
        self.domain: list[str] = []

    def inputs(self) -> Inputs:
        values = tuple(self.value(parameter) for parameter in self.signature.parameters)
        return Inputs(values, self.tensors, tuple(self.differentiable), tuple(self.domain))

    def value(self, parameter: Parameter) -> object:
        if parameter.members:
            return tuple(self.value(member) for member in parameter.members)
        if parameter.is_none or parameter.name in self.case.absent:
            return None
        if parameter.annotation is not None:
            return self.tensor(parameter)
        if parameter.has_default:
            return parameter.default
        if parameter.type is bool:
            return self.case.flags[parameter.name]
        if parameter.type is int:
            return self.whole(parameter.name)
        if parameter.type is float:
            self.tensors[parameter.name] = given_tensor(parameter.name, (), "float")
            return self.tensors[parameter.name]
        raise NotExpressible(
            f'the parameter {parameter.name}, whose shape is not known: write {parameter.name}: Float[Tensor, "b n"]'
        )

    def whole(self, name: str) -> object:
        if name in self.case.sizes:
            return self.case.sizes[name]
        if name not in self.signature.dims:
            self.domain.append(f"{name} >= 1")
        return Size.of(Dim.name(name))

    def tensor(self, parameter: Parameter) -> Tensor:
        kind = parameter.kind or "float"
        bound = self.case.bounds.get(parameter.name, Bound())
        made = given_tensor(parameter.name, self.axes(parameter), kind, bound.size, bound.low)
        if kind == "int" and bound.size is not None:
            self.domain.append(f"0 <= {parameter.name} < {bound.size}")
        self.tensors[parameter.name] = made
        if parameter.is_differentiable:
            self.differentiable.append(parameter.name)
        return made

    def axes(self, leaf: Parameter) -> list[tuple[Dim, ...]]:
        """The factors of each axis."""
        annotation = leaf.annotation
        stretched = leaf.name in self.case.ones
        found: list[tuple[Dim, ...]] = []
        for number, axis in enumerate(annotation.axes if annotation else ()):
            one = stretched and getattr(axis, "broadcastable", False)
            match axis:
                case NamedPack(name=name):
                    rank = self.case.ranks[name]
                    names = [name] if rank == 1 else [f"{name}{i}" for i in range(rank)]
                    found += [(ONE if one else self.size(each),) for each in names]
                case AnonymousPack():
                    rank = self.case.ranks[f"{leaf.name}[...]"]
                    found += [(self.size(f"{leaf.name}_{i}"),) for i in range(rank)]
                case _ if one:
                    found.append((ONE,))
                case Fixed(size=size):
                    found.append((Dim.of(size),))
                case Named(name=name):
                    found.append((self.size(name),))
                case Anonymous():
                    found.append((self.size(f"{leaf.name}[{number}]"),))
                case _:
                    found.append(self.computed(leaf, axis))
        return found

    def computed(self, leaf: Parameter, axis: Computed) -> tuple[Dim, ...]:
        """The factors of an axis like `4*h`; any other arithmetic is one."""
        if _PRODUCT.fullmatch(axis.text) and self.case.factors != "none":
            written = axis.text.split("*")[:: -1 if self.case.factors == "reversed" else 1]
            return tuple(Dim.of(int(each)) if each.isdigit() else self.size(each) for each in written)
        size = axis.size({name: self.size(name) for name in axis.names}, self.field)
        if size is None:
            raise NotExpressible(f'the size "{axis}" of {leaf.name}')
        return (size,)

    def size(self, name: str) -> Dim:
        fixed = self.case.sizes.get(name)
        return Dim.name(name) if fixed is None else Dim.of(fixed)

    def field(self, text: str) -> Dim | None:
        """The size of a field `{n}`: the parameter n."""
        for parameter in self.signature.parameters:
            if parameter.name == text:
                default = parameter.default
                return Dim.of(default) if isinstance(default, int) else self.size(text)
        return None
