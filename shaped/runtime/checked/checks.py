"""Code that checks one value of any hint.

What binds no names is one condition; a union with several options that bind some tries them one after the other, and a
container is gone through in a loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from shaped.runtime.checked import reference
from shaped.runtime.checked.array_checks import ArrayChecks
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
    is_for_tensors,
)
from shaped.runtime.checked.names import Merge
from shaped.runtime.checked.scope import compile_test
from shaped.runtime.checked.writer import Lines


class Checks(ArrayChecks):
    """Writes checks."""

    def check(self, hint: Hint, value: str, fail: Lines) -> None:
        """Write a check of the variable `value`."""
        match hint:
            case Anything():
                return
            case Array():
                self.array(hint, value, fail)
            case Either():
                self._either(hint, value, fail)
            case Row():
                self._row(hint, value, fail)
            case Every():
                self._every(hint, value, fail)
            case EveryPair():
                self._every_pair(hint, value, fail)
            case Instance() | Judged():
                self.writer.refuse_if(self._condition(hint, value, is_met=False), fail)

    @contextmanager
    def optional(self, hint: Hint, condition: str) -> Iterator[None]:
        """Check a hint only where a condition holds."""
        merge = Merge(self.writer, self.names, hint, self.growing)
        with self.writer.block(f"if {condition}:"):
            yield
            self.names = merge.branch(self.names)
        if not merge.is_empty:
            with self.writer.block("else:"):
                self.names = merge.branch(self.names)
        self.names = merge.merged()

    def _condition(self, hint: Instance | Judged, value: str, *, is_met: bool) -> str:
        """An expression for whether a hint that binds nothing is met, or is not met."""
        if isinstance(hint, Judged):
            return self._judgement(hint, value, is_met=is_met)
        if hint.kind is type(None):
            return f"{value} is {'' if is_met else 'not '}None"
        return self.writer.is_no(value, hint.kind).removeprefix("not " * is_met)

    def _judgement(self, hint: Judged, value: str, *, is_met: bool) -> str:
        judged = f"{self.writer.constant('judge', hint.judge)}({value}) is {'' if is_met else 'not '}None"
        is_compiling = compile_test()
        if is_compiling is None:
            return judged
        # beartype's random choices cannot be traced: in a compiled graph its hints are taken to be met.
        traced = f"{self.writer.constant('is_compiling', is_compiling)}()"
        return f"({traced} or {judged})" if is_met else f"not {traced} and {judged}"

    def _either(self, hint: Either, value: str, fail: Lines) -> None:
        simple = [option for option in hint.options if isinstance(option, (Instance, Judged))]
        if len(simple) == len(hint.options):
            self.writer.refuse_if(" and ".join(self._condition(option, value, is_met=False) for option in simple), fail)
            return
        # What binds nothing and is never an array may be asked first, whatever the order.
        first = [option for option in simple if isinstance(option, Instance) and _is_never(option.kind, hint)]
        rest = [option for option in hint.options if option not in first]
        merge = Merge(self.writer, self.names, hint, self.growing)
        if first and merge.is_empty:
            others = " and ".join(self._condition(option, value, is_met=False) for option in first)
            with self.writer.block(f"if {others}:"):
                self._options(rest, value, fail, merge)
        elif first:
            with self.writer.block(f"if {' or '.join(self._condition(o, value, is_met=True) for o in first)}:"):
                self.names = merge.branch(self.names)
            with self.writer.block("else:"):
                self._options(rest, value, fail, merge)
        else:
            self._options(rest, value, fail, merge)
        self.names = merge.merged()

    def _options(self, options: Sequence[Hint], value: str, fail: Lines, merge: Merge) -> None:
        option, *later = options
        if not later:
            self.check(option, value, fail)
            self.names = merge.branch(self.names)
            return
        is_met = self.writer.name("is_met")
        self.writer.line(f"{is_met} = False")
        with self.writer.block("while True:"):
            self.check(option, value, ["break"])
            self.names = merge.branch(self.names)
            self.writer.line(f"{is_met} = True", "break")
        with self.writer.block(f"if not {is_met}:"):
            self._options(later, value, fail, merge)

    def _row(self, hint: Row, value: str, fail: Lines) -> None:
        length = f"{self.writer.builtin('len')}({value})"
        self.writer.refuse_if(f"{self.writer.is_no(value, hint.kind)} or {length} != {len(hint.items)}", fail)
        if not hint.items:
            return
        parts = [self.writer.name(f"{value}_{i}") for i in range(len(hint.items))]
        self.writer.line(f"{', '.join(parts)}{',' * (len(parts) == 1)} = {value}")
        for item, part in zip(hint.items, parts):
            self.check(item, part, fail)

    def _every(self, hint: Every, value: str, fail: Lines) -> None:
        self.writer.refuse_if(self.writer.is_no(value, hint.kind), fail)
        item = self.writer.name(f"{value}_item")
        known = hint.kind in (list, tuple)
        items = value if known else f"{self.writer.constant('again', reference.again)}({value})"
        self._loop(f"for {item} in {items}:", [(hint.item, item)], hint, fail)

    def _every_pair(self, hint: EveryPair, value: str, fail: Lines) -> None:
        self.writer.refuse_if(self.writer.is_no(value, hint.kind), fail)
        key, item = self.writer.name(f"{value}_key"), self.writer.name(f"{value}_item")
        self._loop(f"for {key}, {item} in {value}.items():", [(hint.key, key), (hint.value, item)], hint, fail)

    def _loop(self, header: str, parts: Sequence[tuple[Hint, str]], hint: Hint, fail: Lines) -> None:
        merge = Merge(self.writer, self.names, hint, self.growing)
        self.names = merge.loop()
        if fail[-1] != "break":  # it leaves the function
            with self.writer.block(header):
                for part, variable in parts:
                    self.check(part, variable, fail)
                self.names = merge.branch(self.names)
        else:
            is_met = self.writer.name("is_met")
            self.writer.line(f"{is_met} = True")
            with self.writer.block(header):
                for part, variable in parts:
                    self.check(part, variable, [f"{is_met} = False", "break"])
                self.names = merge.branch(self.names)
            self.writer.refuse_if(f"not {is_met}", fail)
        self.names = merge.merged()


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
