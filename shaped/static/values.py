"""What a Python expression may be, beyond the values that operations take: objects, functions, classes, containers.

Objects that a program can change (`ListValue`, `DictValue`, `Instance`, `Environment`) hold their content in a
dictionary, so that `journal.Journal` can undo and join changes of several paths.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Union

from shaped.spec.dims import Dim, Kind, Symbol
from shaped.spec.dtypes import DType
from shaped.spec.op import Module
from shaped.spec.settings import Settings
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Device, Ratio, TensorType, Unknown

if TYPE_CHECKING:
    from pathlib import Path

    from shaped.static.annotations import TypeForm


@dataclass(frozen=True)
class Opaque:
    """A caller's value of a type that is not known, and what is read from it: equal to itself, an int if need be."""

    path: str
    scope: str

    def attribute(self, name: str) -> Opaque:
        """The attribute `name` of the value."""
        return Opaque(f"{self.path}.{name}", self.scope)

    @property
    def dim(self) -> Dim:
        """The value where an int is needed."""
        return Dim.atom(Symbol(self.path, Kind.UNKNOWN, self.scope, None))


@dataclass(frozen=True)
class ManyValue:
    """A tuple or list of `length` values of one kind, when they were not counted."""

    element: StaticValue
    length: Dim


@dataclass(frozen=True)
class ArrayValue:
    """An array of NumPy, which has the shape and dtype of `tensor` but other methods."""

    tensor: TensorType


@dataclass(frozen=True)
class Maybe:
    """None, or `value`."""

    value: StaticValue


@dataclass(frozen=True)
class ShapeValue:
    """`x.shape` where the number of axes is not known. A shape of known rank is a tuple."""

    shape: Shape


@dataclass(frozen=True)
class SliceValue:
    """`start:stop:step` in an index."""

    start: StaticValue
    stop: StaticValue
    step: StaticValue


@dataclass(frozen=True)
class EllipsisValue:
    """`...` in an index."""


@dataclass(eq=False)
class ListValue:
    """A list: its items, or what is known of them when they were not counted. `content` is replaced, never changed."""

    content: tuple[StaticValue, ...] | ManyValue


class DictValue:
    """A dictionary with constant keys. `complete` says that no other keys exist on any path."""

    def __init__(self, items: dict[object, StaticValue], complete: bool = True) -> None:
        self.items = items
        self.__dict__["complete"] = complete

    @property
    def complete(self) -> bool:
        """Whether no other keys exist: what holds on some of the paths that met is not known to."""
        return self.__dict__["complete"] is True


@dataclass(eq=False)
class Environment:
    """The names of a scope, and the scope around it."""

    names: dict[str, StaticValue] = field(default_factory=dict)
    outer: Environment | None = None

    def find(self, name: str) -> Environment | None:
        """The nearest scope that holds `name`."""
        scope: Environment | None = self
        while scope is not None:
            if name in scope.names:
                return scope
            scope = scope.outer
        return None


@dataclass(eq=False)
class SourceModule:
    """A module of the project whose source was read."""

    name: str
    path: Path
    tree: ast.Module
    is_package: bool
    settings: Settings = field(default_factory=Settings)
    environment: Environment = field(default_factory=Environment)
    executed: bool = False


@dataclass(frozen=True)
class External:
    """A name of a library that is known by its qualified name only: `torch.nn.Linear`."""

    name: str


@dataclass(frozen=True)
class Imported:
    """`from module import name`, looked up when it is first used."""

    module: str
    name: str


@dataclass(eq=False)
class FunctionValue:
    """A function or lambda of the program. `owner` is the class whose body defines it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: SourceModule
    environment: Environment
    owner: ClassValue | None = None
    decorators: tuple[str, ...] = ()
    defaults: dict[str, StaticValue] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name as users see it: `Mlp.forward`."""
        own = "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name
        return f"{self.owner.name}.{own}" if self.owner else own

    def is_decorated(self, *names: str) -> bool:
        """Whether one of its decorators ends with one of `names`."""
        return any(decorator.rsplit(".", 1)[-1] in names for decorator in self.decorators)


@dataclass(eq=False)
class ClassValue:
    """A class of the program."""

    name: str
    node: ast.ClassDef
    module: SourceModule
    bases: tuple[StaticValue, ...]
    names: dict[str, StaticValue] = field(default_factory=dict)
    is_dataclass: bool = False

    def ancestors(self) -> Iterator[ClassValue]:
        """The class and the program's classes that it inherits from, in the order of look-up."""
        return iter(self._order)

    @cached_property
    def _order(self) -> list[ClassValue]:
        return _in_order_of_look_up(self, 0)

    def find(self, name: str) -> StaticValue | None:
        """The class attribute `name`, None if no class of the program defines it."""
        for cls in self.ancestors():
            if name in cls.names:
                return cls.names[name]
        return None

    def inherits(self, *external: str) -> bool:
        """Whether it inherits from a library class of one of these qualified names."""
        bases = [base for cls in self.ancestors() for base in cls.bases]
        return any(isinstance(base, External) and base.name in external for base in bases)

    @property
    def is_module(self) -> bool:
        """Whether it is a `torch.nn.Module`."""
        return any(
            isinstance(base, External) and (base.name.startswith("torch.nn.") or base.name.endswith("Module"))
            for cls in self.ancestors()
            for base in cls.bases
        )


_MOST_ANCESTORS = 64  # in a line: a class that inherits from itself has endless ones


def _in_order_of_look_up(cls: ClassValue, depth: int) -> list[ClassValue]:
    """A class and its ancestors as Python looks them up: each before its own bases, the bases in their order."""
    bases = [base for base in cls.bases if isinstance(base, ClassValue) and base is not cls]
    if depth > _MOST_ANCESTORS:
        return [cls]
    lines = [*(_in_order_of_look_up(base, depth + 1) for base in bases), list(bases)]
    order = [cls]
    while lines := [line for line in lines if line]:
        heads = [line[0] for line in lines if not any(line[0] in other[1:] for other in lines)]
        found = heads[0] if heads else lines[0][0]
        order.append(found)
        lines = [[one for one in line if one is not found] for line in lines]
    return order


class Instance:
    """An object of a class of the program.

    Args:
        cls: its class.
        attributes: what its attributes hold.
        make: fills the attributes when they are first asked for.
    """

    __slots__ = ("__weakref__", "_attributes", "_make", "cls")

    def __init__(
        self,
        cls: ClassValue,
        attributes: dict[str, StaticValue] | None = None,
        make: Callable[[Instance], None] | None = None,
    ) -> None:
        self.cls = cls
        self._attributes: dict[str, StaticValue] = {} if attributes is None else attributes
        self._make = make

    @property
    def is_made(self) -> bool:
        """Whether its attributes were asked for, or need no making."""
        return self._make is None

    @property
    def attributes(self) -> dict[str, StaticValue]:
        """What its attributes hold."""
        if self._make is not None:
            make, self._make = self._make, None
            make(self)
        return self._attributes


@dataclass(eq=False)
class Container:
    """`nn.Sequential`, `ModuleList`, `ModuleDict` or `ParameterList` (`kind`) of modules that were counted or not."""

    kind: str
    content: tuple[StaticValue, ...] | ManyValue
    keys: tuple[str, ...] | None = None
    counted: bool = True  # False when an item stands for any number of modules: `Sequential(stem, *blocks, head)`


@dataclass(frozen=True)
class BoundMethod:
    """A function of the program with its `self` (or `cls`)."""

    function: FunctionValue
    receiver: StaticValue


@dataclass(frozen=True)
class ValueMethod:
    """A method `name` of a value that is not an object of the program: `x.view`, `items.append`."""

    receiver: StaticValue
    name: str


@dataclass(frozen=True)
class Choice:
    """One of several things that can be called, where paths met: `nn.Conv2d(...)` or `nn.Identity()`."""

    options: tuple[StaticValue, ...]


@dataclass(frozen=True)
class Partial:
    """`functools.partial(function, *args, **kwargs)`."""

    function: StaticValue
    args: tuple[StaticValue, ...]
    kwargs: tuple[tuple[str, StaticValue], ...]


@dataclass(frozen=True)
class Super:
    """`super()` in a method of `cls`."""

    cls: ClassValue
    receiver: StaticValue


@dataclass(frozen=True)
class Claim:
    """A bool that says whether comparisons of ints all hold: `stride == 1 and c_in == c_out`, kept for a later `if`."""

    parts: tuple[tuple[type[ast.cmpop], Dim, Dim], ...]


@dataclass(frozen=True)
class TypeValue:
    """A type alias: `Image = Float[Tensor, "3 h w"]`."""

    form: TypeForm


@dataclass(frozen=True)
class RangeValue:
    """`range(start, stop, step)`."""

    start: Dim
    stop: Dim
    step: Dim


StaticValue = Union[
    TensorType,
    ArrayValue,
    Dim,
    Ratio,
    bool,
    float,
    str,
    None,
    DType,
    Device,
    "tuple[StaticValue, ...]",
    ManyValue,
    Module,
    Unknown,
    Opaque,
    Maybe,
    ShapeValue,
    SliceValue,
    EllipsisValue,
    ListValue,
    DictValue,
    SourceModule,
    External,
    Imported,
    FunctionValue,
    ClassValue,
    Instance,
    Container,
    BoundMethod,
    ValueMethod,
    Partial,
    Choice,
    Super,
    RangeValue,
    TypeValue,
    Claim,
]


def present(value: StaticValue) -> StaticValue:
    """The value where None would be a fault that mypy reports: `Maybe(x)` is x."""
    return value.value if isinstance(value, Maybe) else value


def as_dim(value: StaticValue) -> Dim | None:
    """The value as an int, None if it is not known to be one."""
    value = present(value)
    if isinstance(value, Opaque):
        return value.dim
    if isinstance(value, bool):
        return Dim.of(int(value))
    return value if isinstance(value, Dim) else None


__all__ = ["UNKNOWN", "StaticValue"]
