"""Code that checks one array: straight lines over its shape and dtype, with a variable for each name of an axis.

What a check does on failure is given as lines: at the top they explain and leave, inside an option of a union they
break off to the next option.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shaped.runtime.checked import reference
from shaped.runtime.checked.arithmetic import Inlined, inlined, renamed
from shaped.runtime.checked.hints import Array, is_for_tensors
from shaped.runtime.checked.names import Names, Variable
from shaped.runtime.checked.writer import Lines, Writer
from shaped.spec.annotation import Anonymous, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Computed


@dataclass
class ArrayChecks:
    """Writes checks of arrays.

    Args:
        writer: where to.
        refuse: the lines that explain a failure and leave, for what refuses a whole call.
        parameters: how the code reads each argument, for the fields of axes.
        arguments: an expression for all arguments by name.
        growing: the `*name`s that some annotation writes `*#name`: their variables hold `reference.PackSizes`.
        names: the variables of the names that are bound.
        heard: a variable with jaxtyping's record of the call after its body, which may have bound further names.
    """

    writer: Writer
    refuse: Lines
    parameters: Mapping[str, str]
    arguments: str
    growing: frozenset[str]
    names: Names = field(default_factory=Names)
    heard: str = ""

    def array(self, hint: Array, value: str, fail: Lines) -> None:
        """Write a check of the array in the variable `value`."""
        refused = [*self._kind(hint, value), *self._dtype(hint, value)]
        known = [self._known(axis) for axis in hint.axes]
        shape, length = self.writer.name("shape"), self.writer.builtin("len")
        if None not in known:
            sizes = "".join(f"{size}, " for size in known)
            refused.append(f"{value}.shape != ({sizes.strip()})")
        elif hint.pack_index is None:
            refused.append(f"{length}({shape} := {value}.shape) != {len(known)}")
        elif len(known) > 1:
            refused.append(f"{length}({shape} := {value}.shape) < {len(known) - 1}")
        else:
            shape = f"{value}.shape"
        self.writer.refuse_if(" or ".join(refused), fail)
        if None in known:
            self._axes(hint, shape, fail)

    def _kind(self, hint: Array, value: str) -> list[str]:
        """Expressions for what is no array of the annotation's."""
        if hint.array_type is not Any:
            return [self.writer.is_no(value, hint.array_type)]
        has = self.writer.builtin("hasattr")
        return [f'not {has}({value}, "shape")', f'not {has}({value}, "dtype")']

    def _dtype(self, hint: Array, value: str) -> list[str]:
        """Expressions for a dtype that the annotation does not allow."""
        patterns = hint.hint.dtypes
        if not isinstance(patterns, tuple):
            return []  # any dtype
        if is_for_tensors(hint):
            allowed = _torch_dtypes(patterns)
            if len(allowed) > 1:
                return [f"{value}.dtype not in {self.writer.constant('dtypes', allowed)}"]
            return [f"{value}.dtype is not {self.writer.constant('dtype', next(iter(allowed), None))}"]
        name = f"{self.writer.constant('dtype_name', reference.dtype_name)}({value}.dtype)"
        if all(isinstance(pattern, str) for pattern in patterns):
            return [f"{name} not in {self.writer.constant('dtypes', _names(patterns))}"]
        allows = self.writer.constant("allows", reference.allows)
        return [f"not {allows}({self.writer.constant('patterns', patterns)}, {name})"]

    def _known(self, axis: object) -> str | None:
        """The only size that an axis may have, from a variable or the annotation; None if it may have several."""
        match axis:
            case Fixed(size=size, broadcastable=False):
                return str(size)
            case Named(name=name, broadcastable=False) if name in self.names.sizes and self.names.sizes[name].is_bound:
                return self.names.sizes[name].text
        return None

    def _axes(self, hint: Array, shape: str, fail: Lines) -> None:
        index, count = hint.pack_index, len(hint.axes)
        if index is None:
            targets = [self._target(axis) for axis in hint.axes]
            self.writer.line(f"{', '.join(targets)}{',' * (count == 1)} = {shape}")
            for axis, target in zip(hint.axes, targets):
                self._axis(axis, target, fail)
            return
        for i, axis in enumerate(hint.axes):
            if i == index or isinstance(axis, Anonymous):
                continue
            target = self._target(axis)
            self.writer.line(f"{target} = {shape}[{i if i < index else i - count}]")
            self._axis(axis, target, fail)
        pack = hint.axes[index]
        if isinstance(pack, NamedPack):
            end = index + 1 - count
            self._pack(pack, f"{shape}[{index or ''}:{end or ''}]" if index or end else shape, fail)

    def _target(self, axis: object) -> str:
        """A variable for the size of an axis: the name's own where this is what binds it."""
        if isinstance(axis, Named):
            is_known = axis.broadcastable or axis.name in self.names.sizes
            return self.writer.name(f"{'other' if is_known else 'size'}_{axis.name}")
        return self.writer.name("unused" if isinstance(axis, Anonymous) else "size")

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
        self.writer.refuse_if(f"{f'{size} != 1 and ' * broadcastable}{size} != {wanted}", fail)

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
            self.writer.refuse_if(f"{new} is None", fail)
            self.names.packs[pack.name] = Variable(new, True)
        elif known is not None and known.is_bound:
            self.writer.refuse_if(f"{sizes} != {known.text}", fail)
        else:
            new = self.writer.name(f"sizes_{pack.name}")
            self.writer.line(f"{new} = {sizes}")
            if known is not None:
                self.writer.refuse_if(f"{known.text} is not None and {known.text} != {new}", fail)
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
                    self.writer.refuse_if(f"{known.text} is None", self.refuse)
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
        # As text what is no int may mean something else than as a value.
        kind, whole = self.writer.builtin("type"), self.writer.builtin("int")
        with self.writer.block(f"if {' and '.join(f'{kind}({name}) is {whole}' for name in fields)}:"):
            self.writer.line(inline)
        with self.writer.block("else:"):
            self.writer.line(f"{wanted} = {self._evaluated(axis)}")

    def _evaluated(self, axis: Computed) -> str:
        evaluate = self.writer.constant("evaluate", reference.evaluate)
        return f"{evaluate}({self.writer.constant('axis', axis)}, {self.sizes()}, {self.arguments})"

    def sizes(self) -> str:
        """An expression for the sizes of the names that are bound."""
        heard = [f"**({self.heard} or ({{}},))[0]"] if self.heard else []
        pairs = [f"{name!r}: {known.text}" for name, known in self.names.sizes.items() if known.is_bound]
        certain = ", ".join([*heard, *pairs])
        rest = [(name, known.text) for name, known in self.names.sizes.items() if not known.is_bound]
        if not rest:
            return f"{{{certain}}}"
        maybe = ", ".join(f"{name!r}: {text}" for name, text in rest)
        return f"{self.writer.constant('bound_only', _bound_only)}({{{', '.join(filter(None, (certain, maybe)))}}})"

    def packs(self) -> str:
        """An expression for the `PackSizes` of the `*name`s that are bound."""
        fixed = self.writer.constant("fixed", _fixed)
        pairs = [
            f"{name!r}: {known.text if name in self.growing else f'{fixed}({known.text})'}"
            for name, known in self.names.packs.items()
        ]
        return f"{self.writer.constant('bound_only', _bound_only)}({{{', '.join(pairs)}}})" if pairs else "{}"


def _bound_only(sizes: dict[str, Any]) -> dict[str, Any]:
    """The sizes of the names that are bound."""
    return {name: size for name, size in sizes.items() if size is not None}


def _fixed(sizes: Sequence[int] | None) -> reference.PackSizes | None:
    """The sizes of a `*name` that may not grow, None where it is not bound."""
    return None if sizes is None else (False, tuple(sizes))


@functools.cache
def _torch_dtypes(patterns: tuple[str | re.Pattern[str], ...]) -> frozenset[Any]:
    """The dtypes of torch that a word includes."""
    torch = sys.modules["torch"]
    dtypes = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    return frozenset(dtype for dtype in dtypes if reference.allows(patterns, reference.dtype_name(dtype)))


@functools.cache
def _names(patterns: tuple[str, ...]) -> frozenset[str]:
    return frozenset(patterns)
