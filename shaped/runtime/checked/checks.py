"""Code that checks one value: straight lines over its shape and dtype, with a variable for each name of an axis.

What a check does on failure is given as lines: at the top they explain and leave, inside an option of a union they
break off to the next option. Variables hold None while a name may be unbound.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from shaped.runtime.checked import reference
from shaped.runtime.checked.arithmetic import Inlined, inlined, renamed
from shaped.runtime.checked.hints import (
    Anything,
    Array,
    Either,
    Every,
    EveryPair,
    Hint,
    Instance,
    Judged,
    Row,
    pack_names,
    size_names,
)
from shaped.runtime.checked.writer import Writer
from shaped.spec.annotation import Anonymous, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Computed

Lines = Sequence[str]


@dataclass(frozen=True)
class Variable:
    """The variable of a name, and whether the name is bound for certain where the code has come to."""

    text: str
    is_bound: bool


@dataclass
class Names:
    """The variables of the names of axes at one place of the code; a name without one is not bound there."""

    sizes: dict[str, Variable] = field(default_factory=dict)
    packs: dict[str, Variable] = field(default_factory=dict)

    def copy(self) -> Names:
        return Names(dict(self.sizes), dict(self.packs))


@dataclass
class Checks:
    """Writes checks.

    Args:
        writer: where to.
        refuse: the lines that explain a failure and leave, for what refuses a whole call.
        parameters: how the code reads each argument, for the fields of axes.
        arguments: an expression for all arguments by name.
        growing: the `*name`s that some annotation writes `*#name`: their variables hold `reference.PackSizes`.
    """

    writer: Writer
    refuse: Lines
    parameters: Mapping[str, str]
    arguments: str
    growing: frozenset[str]
    names: Names = field(default_factory=Names)

    def check(self, hint: Hint, value: str, fail: Lines) -> None:
        """Write a check of the variable `value`."""
        match hint:
            case Anything():
                return
            case Array():
                self._array(hint, value, fail)
            case Either():
                self._either(hint, value, fail)
            case Row():
                self._row(hint, value, fail)
            case Every():
                self._every(hint, value, fail)
            case EveryPair():
                self._every_pair(hint, value, fail)
            case Instance() | Judged():
                self._refuse_if(self._condition(hint, value, is_met=False), fail)

    @contextmanager
    def optional(self, hint: Hint, condition: str) -> Iterator[None]:
        """Check a hint only where a condition holds."""
        merge = _Merge(self, hint)
        with self.writer.block(f"if {condition}:"):
            yield
            merge.branch()
        if not merge.is_empty:
            with self.writer.block("else:"):
                merge.branch()
        merge.finish()

    def _refuse_if(self, condition: str, fail: Lines) -> None:
        with self.writer.block(f"if {condition}:"):
            self.writer.line(*fail)

    def _condition(self, hint: Instance | Judged, value: str, *, is_met: bool) -> str:
        """An expression for whether a hint that binds nothing is met, or is not met."""
        if isinstance(hint, Judged):
            return f"{self.writer.constant('judge', hint.judge)}({value}) is {'' if is_met else 'not '}None"
        if hint.kind is type(None):
            return f"{value} is {'' if is_met else 'not '}None"
        return self._is_no(value, hint.kind).removeprefix("not " * is_met)

    def _is_no(self, value: str, kind: Any) -> str:
        return f"not {self.writer.builtin('isinstance')}({value}, {self._class(kind)})"

    def _class(self, kind: Any) -> str:
        return self.writer.constant(getattr(kind, "__name__", "array_type"), kind)

    # Arrays.

    def _array(self, hint: Array, value: str, fail: Lines) -> None:
        has, length = self.writer.builtin("hasattr"), self.writer.builtin("len")
        if hint.array_type is Any:
            refused = [f'not {has}({value}, "shape")', f'not {has}({value}, "dtype")']
        else:
            refused = [self._is_no(value, hint.array_type)]
        refused += self._dtype(hint, value)
        if all(self._is_known(axis) for axis in hint.axes):
            sizes = "".join(f"{self._known(axis)}, " for axis in hint.axes)
            self._refuse_if(" or ".join([*refused, f"{value}.shape != ({sizes.strip()})"]), fail)
            return
        shape = self.writer.name("shape")
        if hint.pack_index is None:
            self._refuse_if(" or ".join([*refused, f"{length}({shape} := {value}.shape) != {len(hint.axes)}"]), fail)
            self._unpack(hint, shape, fail)
        elif len(hint.axes) > 1:
            self._refuse_if(" or ".join([*refused, f"{length}({shape} := {value}.shape) < {len(hint.axes) - 1}"]), fail)
            self._around_pack(hint, hint.pack_index, shape, fail)
        else:
            self._refuse_if(" or ".join(refused), fail)
            self._around_pack(hint, hint.pack_index, f"{value}.shape", fail)

    def _dtype(self, hint: Array, value: str) -> list[str]:
        """Expressions for a dtype that the annotation does not allow."""
        patterns = hint.hint.dtypes
        if not isinstance(patterns, tuple):
            return []  # any dtype
        if not is_for_tensors(hint):
            name = f"{self.writer.constant('dtype_name', reference.dtype_name)}({value}.dtype)"
            if all(isinstance(pattern, str) for pattern in patterns):
                return [f"{name} not in {self.writer.constant('dtypes', _interned(frozenset(patterns)))}"]
            allows = self.writer.constant("allows", reference.allows)
            return [f"not {allows}({self.writer.constant('patterns', patterns)}, {name})"]
        torch = sys.modules["torch"]
        dtypes = {dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}
        allowed = frozenset(dtype for dtype in dtypes if reference.allows(patterns, reference.dtype_name(dtype)))
        if len(allowed) == 1:
            (single,) = allowed
            return [f"{value}.dtype is not {self.writer.constant(reference.dtype_name(single), single)}"]
        return [f"{value}.dtype not in {self.writer.constant('dtypes', _interned(allowed))}"]

    def _is_known(self, axis: object) -> bool:
        """Whether an axis can only have one size, which a variable or the annotation gives."""
        match axis:
            case Fixed(broadcastable=False):
                return True
            case Named(name=name, broadcastable=False):
                return name in self.names.sizes and self.names.sizes[name].is_bound
        return False

    def _known(self, axis: object) -> str:
        return str(axis.size) if isinstance(axis, Fixed) else self.names.sizes[axis.name].text  # type: ignore[attr-defined]  # _is_known

    def _unpack(self, hint: Array, shape: str, fail: Lines) -> None:
        targets = [self._target(axis, hint.axes[:i]) for i, axis in enumerate(hint.axes)]
        self.writer.line(f"{', '.join(targets)}{',' * (len(targets) == 1)} = {shape}")
        for axis, target in zip(hint.axes, targets):
            self._axis(axis, target, fail)

    def _target(self, axis: object, before: Sequence[object]) -> str:
        """A variable for the size of an axis: the name's own where this is what binds it."""
        if isinstance(axis, Named):
            if not axis.broadcastable and axis.name not in self.names.sizes and axis not in before:
                return self.writer.name(f"size_{axis.name}")
            return self.writer.name(f"other_{axis.name}")
        return self.writer.name("unused" if isinstance(axis, Anonymous) else "size")

    def _around_pack(self, hint: Array, index: int, shape: str, fail: Lines) -> None:
        count = len(hint.axes)
        for i, axis in enumerate(hint.axes):
            if i == index or isinstance(axis, Anonymous):
                continue
            target = self._target(axis, ())
            self.writer.line(f"{target} = {shape}[{i if i < index else i - count}]")
            self._axis(axis, target, fail)
        pack = hint.axes[index]
        if isinstance(pack, NamedPack):
            end = index + 1 - count
            middle = f"{shape}[{index or ''}:{end or ''}]" if index or end else shape
            self._pack(pack, middle, fail)

    def _axis(self, axis: object, size: str, fail: Lines) -> None:
        """Write a check of one axis whose size is in the variable `size`."""
        match axis:
            case Fixed(size=wanted, broadcastable=broadcastable):
                self._compare(size, str(wanted), broadcastable, fail)
            case Named(name=name, broadcastable=broadcastable):
                self._named(name, size, broadcastable, fail)
            case Computed():
                self._computed(axis, size, fail)

    def _compare(self, size: str, wanted: str, broadcastable: bool, fail: Lines) -> None:
        self._refuse_if(f"{f'{size} != 1 and ' * broadcastable}{size} != {wanted}", fail)

    def _named(self, name: str, size: str, broadcastable: bool, fail: Lines) -> None:
        known = self.names.sizes.get(name)
        if known is not None and known.is_bound:
            self._compare(size, known.text, broadcastable, fail)
        elif known is None and not broadcastable:
            self.names.sizes[name] = Variable(size, True)
        elif known is None:
            with self.writer.block(f"if {size} == 1:"):
                self.writer.line(f"{size} = None")
            self.names.sizes[name] = Variable(size, False)
        else:
            new = self.writer.name(f"size_{name}")
            self.writer.line(f"{new} = {known.text}")
            with self.writer.block(f"if {new} is None{f' and {size} != 1' * broadcastable}:"):
                self.writer.line(f"{new} = {size}")
            with self.writer.block(f"elif {f'{size} != 1 and ' * broadcastable}{new} != {size}:"):
                self.writer.line(*fail)
            self.names.sizes[name] = Variable(new, not broadcastable)

    def _pack(self, pack: NamedPack, sizes: str, fail: Lines) -> None:
        known = self.names.packs.get(pack.name)
        if pack.name in self.growing:
            joined = self.writer.constant("joined_packs", reference.joined_packs)
            new = self.writer.name(f"sizes_{pack.name}")
            self.writer.line(f"{new} = {joined}({known.text if known else None}, {pack.broadcastable}, {sizes})")
            self._refuse_if(f"{new} is None", fail)
            self.names.packs[pack.name] = Variable(new, True)
        elif known is not None and known.is_bound:
            self._refuse_if(f"{sizes} != {known.text}", fail)
        else:
            new = self.writer.name(f"sizes_{pack.name}")
            self.writer.line(f"{new} = {sizes}")
            if known is not None:
                self._refuse_if(f"{known.text} is not None and {known.text} != {new}", fail)
            self.names.packs[pack.name] = Variable(new, True)

    def _computed(self, axis: Computed, size: str, fail: Lines) -> None:
        if axis.broadcastable:
            with self.writer.block(f"if {size} != 1:"):
                self._computed(replace(axis, broadcastable=False), size, fail)
            return
        code = inlined(axis, frozenset(self.parameters))
        wanted = self.writer.name("wanted")
        if code is None or any(name in self.names.sizes or name in self.parameters for name in code.functions):
            with self.writer.block("try:"):
                self.writer.line(f"{wanted} = {self._evaluated(axis)}")
        else:
            for name in axis.names:
                known = self.names.sizes.get(name)
                if known is None:
                    self.writer.line(*self.refuse)  # no size of any tensor gives the axis a value
                    return
                if not known.is_bound:
                    self._refuse_if(f"{known.text} is None", self.refuse)
            variables = {name: self.names.sizes[name].text for name in axis.names}
            if not code.may_raise:
                self._compare(size, f"({code.text((), variables)})", False, fail)
                return
            with self.writer.block("try:"):
                self._inlined(axis, code, wanted, variables)
        with self.writer.block(f"except {self.writer.builtin('Exception')}:"):
            self.writer.line(*self.refuse)
        self._compare(size, wanted, False, fail)

    def _inlined(self, axis: Computed, code: Inlined, wanted: str, variables: Mapping[str, str]) -> None:
        fields = [self.writer.name("field") for _ in code.fields]
        for name, expression in zip(fields, code.fields):
            self.writer.line(f"{name} = {renamed(expression, self.parameters)}")
        inline = f"{wanted} = {code.text(fields, variables)}"
        if not fields:
            self.writer.line(inline)
            return
        # As text a negative number or a string may mean something else than as a value.
        kind, whole = self.writer.builtin("type"), self.writer.builtin("int")
        with self.writer.block(f"if {' and '.join(f'{kind}({name}) is {whole} and {name} >= 0' for name in fields)}:"):
            self.writer.line(inline)
        with self.writer.block("else:"):
            self.writer.line(f"{wanted} = {self._evaluated(axis)}")

    def _evaluated(self, axis: Computed) -> str:
        evaluate = self.writer.constant("evaluate", reference.evaluate)
        return f"{evaluate}({self.writer.constant('axis', axis)}, {self.sizes()}, {self.arguments})"

    def sizes(self) -> str:
        """An expression for the sizes of the names that are bound."""
        certain = ", ".join(f"{name!r}: {known.text}" for name, known in self.names.sizes.items() if known.is_bound)
        rest = [(name, known.text) for name, known in self.names.sizes.items() if not known.is_bound]
        if not rest:
            return f"{{{certain}}}"
        maybe = ", ".join(f"{name!r}: {text}" for name, text in rest)
        return f"{self.writer.constant('known', _known)}({{{', '.join(filter(None, (certain, maybe)))}}})"

    def packs(self) -> str:
        """An expression for the `PackSizes` of the `*name`s that are bound."""
        fixed = self.writer.constant("fixed", _fixed)
        pairs = [
            f"{name!r}: {known.text if name in self.growing else f'{fixed}({known.text})'}"
            for name, known in self.names.packs.items()
        ]
        return f"{self.writer.constant('known', _known)}({{{', '.join(pairs)}}})" if pairs else "{}"

    # What holds other hints.

    def _either(self, hint: Either, value: str, fail: Lines) -> None:
        simple = [option for option in hint.options if isinstance(option, (Instance, Judged))]
        if len(simple) == len(hint.options):
            self._refuse_if(" and ".join(self._condition(option, value, is_met=False) for option in simple), fail)
            return
        # What binds nothing and is never an array may be asked first, whatever the order.
        first = [option for option in simple if isinstance(option, Instance) and _is_never(option.kind, hint)]
        rest = [option for option in hint.options if option not in first]
        merge = _Merge(self, hint)
        if first and merge.is_empty:
            others = " and ".join(self._condition(option, value, is_met=False) for option in first)
            with self.writer.block(f"if {others}:"):
                self._options(rest, value, fail, merge)
        elif first:
            with self.writer.block(f"if {' or '.join(self._condition(o, value, is_met=True) for o in first)}:"):
                merge.branch()
            with self.writer.block("else:"):
                self._options(rest, value, fail, merge)
        else:
            self._options(rest, value, fail, merge)
        merge.finish()

    def _options(self, options: Sequence[Hint], value: str, fail: Lines, merge: _Merge) -> None:
        option, *later = options
        if not later:
            self.check(option, value, fail)
            merge.branch()
            return
        is_met = self.writer.name("is_met")
        self.writer.line(f"{is_met} = False")
        with self.writer.block("while True:"):
            self.check(option, value, ["break"])
            merge.branch()
            self.writer.line(f"{is_met} = True", "break")
        with self.writer.block(f"if not {is_met}:"):
            self._options(later, value, fail, merge)

    def _row(self, hint: Row, value: str, fail: Lines) -> None:
        length = f"{self.writer.builtin('len')}({value})"
        self._refuse_if(f"{self._is_no(value, hint.kind)} or {length} != {len(hint.items)}", fail)
        if not hint.items:
            return
        parts = [self.writer.name(f"{value}_{i}") for i in range(len(hint.items))]
        self.writer.line(f"{', '.join(parts)}{',' * (len(parts) == 1)} = {value}")
        for item, part in zip(hint.items, parts):
            self.check(item, part, fail)

    def _every(self, hint: Every, value: str, fail: Lines) -> None:
        self._refuse_if(self._is_no(value, hint.kind), fail)
        item = self.writer.name(f"{value}_item")
        known = hint.kind in (list, tuple)
        items = value if known else f"{self.writer.constant('again', reference.again)}({value})"
        self._loop(f"for {item} in {items}:", [(hint.item, item)], hint, fail)

    def _every_pair(self, hint: EveryPair, value: str, fail: Lines) -> None:
        self._refuse_if(self._is_no(value, hint.kind), fail)
        key, item = self.writer.name(f"{value}_key"), self.writer.name(f"{value}_item")
        self._loop(f"for {key}, {item} in {value}.items():", [(hint.key, key), (hint.value, item)], hint, fail)

    def _loop(self, header: str, parts: Sequence[tuple[Hint, str]], hint: Hint, fail: Lines) -> None:
        merge = _Merge(self, hint)
        merge.start()
        if fail[-1] != "break":  # it leaves the function
            with self.writer.block(header):
                for part, variable in parts:
                    self.check(part, variable, fail)
                merge.branch()
        else:
            is_met = self.writer.name("is_met")
            self.writer.line(f"{is_met} = True")
            with self.writer.block(header):
                for part, variable in parts:
                    self.check(part, variable, [f"{is_met} = False", "break"])
                merge.branch()
            self._refuse_if(f"not {is_met}", fail)
        merge.finish()


class _Merge:
    """The variables of names that branches of the code bind, each in its own way."""

    def __init__(self, checks: Checks, hint: Hint) -> None:
        self.checks = checks
        self.before = checks.names.copy()
        sizes = [name for name in size_names(hint) if not _is_bound(self.before.sizes, name)]
        packs = [name for name in pack_names(hint) if name in checks.growing or not _is_bound(self.before.packs, name)]
        self.sizes = {name: checks.writer.name(f"size_{name}") for name in sizes}
        self.packs = {name: checks.writer.name(f"sizes_{name}") for name in packs}
        self.unbound: set[str] = set()

    @property
    def is_empty(self) -> bool:
        """Whether no branch binds anything."""
        return not self.sizes and not self.packs

    def start(self) -> None:
        """Before a loop: its body starts with what the round before has bound."""
        self._assign(self.before)
        for variables, mine in ((self.checks.names.sizes, self.sizes), (self.checks.names.packs, self.packs)):
            variables.update({name: Variable(text, False) for name, text in mine.items()})

    def branch(self) -> None:
        """At the end of a branch: hand on its variables, and start the next branch with those from before."""
        self._assign(self.checks.names)
        self.checks.names = self.before.copy()

    def _assign(self, names: Names) -> None:
        for variables, mine, mark in ((names.sizes, self.sizes, ""), (names.packs, self.packs, "*")):
            for name, text in mine.items():
                known = variables.get(name)
                if known is None or not known.is_bound:
                    self.unbound.add(mark + name)
                value = known.text if known is not None else "None"
                if value != text:
                    self.checks.writer.line(f"{text} = {value}")

    def finish(self) -> None:
        """After the branches: names that every branch binds are bound."""
        names = self.before.copy()
        names.sizes.update({name: Variable(text, name not in self.unbound) for name, text in self.sizes.items()})
        names.packs.update({name: Variable(text, f"*{name}" not in self.unbound) for name, text in self.packs.items()})
        self.checks.names = names


def _is_bound(variables: Mapping[str, Variable], name: str) -> bool:
    return name in variables and variables[name].is_bound


def _known(sizes: dict[str, Any]) -> dict[str, Any]:
    """The sizes of the names that are bound."""
    return {name: size for name, size in sizes.items() if size is not None}


def _fixed(sizes: Sequence[int] | None) -> reference.PackSizes | None:
    """The sizes of a `*name` that may not grow, None where it is not bound."""
    return None if sizes is None else (False, tuple(sizes))


_NO_TENSORS = (bool, int, float, complex, str, bytes, tuple, list, dict)


def _is_never(kind: type, hint: Hint) -> bool:
    """Whether no instance of a class is an array, a tuple or a list that the hint is about."""
    if kind is type(None):
        return True
    return (
        kind in _NO_TENSORS
        and isinstance(hint, Either)
        and all(
            isinstance(option, Instance) or (isinstance(option, Array) and is_for_tensors(option))
            for option in hint.options
        )
    )


def is_for_tensors(hint: Array) -> bool:
    """Whether an annotation is for tensors of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(hint.array_type, type) and issubclass(hint.array_type, torch.Tensor)


_INTERNED: dict[frozenset[Any], frozenset[Any]] = {}


def _interned(members: frozenset[Any]) -> frozenset[Any]:
    """One object for equal sets."""
    return _INTERNED.setdefault(members, members)
