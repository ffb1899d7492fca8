"""Abstract interpretation of Python source over shapes.

`Interpreter` holds the state of one check: the path (`context`), the changes to undo (`journal`), the frames of the
calls under way and what was found. What each construct means stands in `expressions`, `statements`, `conditions`,
`calls`, `attributes`; they take the interpreter as their first argument.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from shaped.codes import DEFAULT_CODES
from shaped.errors import Fault, Origin
from shaped.spec.binding import Bindings
from shaped.spec.context import Context
from shaped.spec.dims import Dim, Kind
from shaped.spec.facts import Facts
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value
from shaped.static import alone, copies, expressions, lowering, meant, program, statements
from shaped.static.annotations import TypeForm
from shaped.static.changes import NOTHING_BEHIND, ChangesBehind, changes_behind
from shaped.static.ends import Findings
from shaped.static.fingerprints import Fingerprints
from shaped.static.free_names import holds_functions
from shaped.static.imports import Imports
from shaped.static.join import join_slots
from shaped.static.journal import Changes, Journal, LocalNames
from shaped.static.loops import Loop
from shaped.static.memory import Memory
from shaped.static.report import Assumption, Diagnostic, Note, Report, ShownShape, Span
from shaped.static.values import (
    ClassValue,
    Environment,
    FunctionValue,
    Instance,
    ShapeValue,
    SourceModule,
    StaticValue,
    present,
)

if TYPE_CHECKING:
    from shaped.static.functions import Returned

T = TypeVar("T")
MOST_CALLS = 12  # calls within calls that are followed
# Expressions evaluated for one function of the checked file, its calls included: beyond the first number no further
# calls are followed, beyond the second the function is given up.
MOST_STEPS_IN_CALLS = 6_000
MOST_STEPS = 60_000
MOST_STEPS_OF_FILE = 150_000  # beyond this many for the whole file no further calls are followed


class TooMuch(Exception):
    """The function under check costs more than `MOST_STEPS`: it is given up, silently."""


@dataclass(eq=False)
class Frame:
    """One call under way, or a module's top level."""

    module: SourceModule
    environment: Environment
    function: FunctionValue | None = None
    receiver: StaticValue = None
    caller: Frame | None = None
    call: ast.AST | None = None
    bindings: Bindings = field(default_factory=Bindings)
    returned: list[Returned] = field(default_factory=list)
    depth: int = 0  # of the journal where its body began
    yielded: list[StaticValue] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    declared: dict[str, Environment] = field(default_factory=dict)  # the scopes of `global` and `nonlocal` names
    local_forms: dict[str, TypeForm] = field(default_factory=dict)  # of names that are annotated before they are bound
    target: str = ""  # what the statement under way assigns to, for the origins of sizes
    changed_behind: ChangesBehind = NOTHING_BEHIND
    ints: Kind = Kind.QUANTITY  # how free the ints are that a caller gives
    suspicions: list[tuple[ast.AST, Fault]] = field(default_factory=list)  # what a fault further on may come from


class Interpreter:
    """The state of the check of one file."""

    def __init__(self, path: Path, imports: Imports, *, show_traceback: bool = False) -> None:
        self.path = path
        self.imports = imports
        self.show_traceback = show_traceback
        self.context = Context()
        self.journal = Journal()
        self.report = Report(str(path))
        self.frame: Frame | None = None
        self.steps = 0
        self.all_steps = 0
        self.muted = 0
        self.counting = False
        self.known: dict[tuple[int, int, int, int], tuple[ast.expr, TensorType]] = {}
        self.known_tuples: dict[Span, tuple[ast.expr, str]] = {}
        self.generic: dict[tuple[int, str], StaticValue] = {}
        self.forms: dict[int, TypeForm] = {}
        self.classes: dict[str, ClassValue] = {}
        self.aliases: dict[str, TypeForm] = {}
        self.memory = Memory()
        self.fingerprints = Fingerprints(self.journal)
        self.sizes_of: dict[int, dict[str, Dim]] = {}  # what a generic object's constructor was given, by its identity
        self.facts_of: dict[int, Facts] = {}  # what a generic object's constructor left known, by its identity
        self.wrong_alone: dict[int, tuple[ast.AST, ...]] = {}  # where functions are wrong for all callers
        self.faulty: set[int] = set()  # functions that are wrong for all callers
        self.in_trial = 0
        self.operands: dict[int, Changes] = {}  # what later operands of `and` and `or` change where they are read
        self.findings: Findings | None = None  # where the faults of a trial are kept that is to be looked at
        self._found: dict[tuple[int, str], Diagnostic] = {}

    # Evaluation

    def evaluate(self, node: ast.expr) -> StaticValue:
        """The value of an expression on the path under way. A fault in it is reported; its value is then unknown."""
        self.steps += 1
        self.all_steps += 1
        if self.steps > MOST_STEPS:
            raise TooMuch
        certain = self.context.certain
        try:
            value = expressions.evaluate(self, node)
        except Fault as fault:
            self.fault(node, fault)
            value = self.context.unknown_tensor()
        except (TooMuch, RecursionError):
            raise
        except Exception as error:  # our own faults never take the user's tool down
            if self.show_traceback:
                raise
            self.context.certain = certain
            self.internal(node, error)
            value = UNKNOWN
        if self.context.found:
            self.report_found(node)
        if self.context.facts.axes and isinstance(value, (TensorType, ShapeValue)):
            value = self._seen(value)
        if isinstance(value, TensorType):
            value = self._located(node, value)
            if value.made is not None and value.made.place is None:
                value = replace(value, made=replace(value.made, place=node))
            if self.counting:
                self._count(node, value)
        elif self.counting and isinstance(value, tuple) and isinstance(node, (ast.Name, ast.Attribute)):
            self._show_items(node, value)
        return value

    def _seen(self, value: TensorType | ShapeValue) -> StaticValue:
        """A tensor or shape with the axes that the path under way has found it to have."""
        shape = self.context.facts.seen(value.shape)
        if shape is value.shape:
            return value
        if isinstance(value, TensorType):
            return value.with_shape(shape)
        return ShapeValue(shape) if shape.rank is None else shape.dims

    def report_found(self, node: ast.AST) -> None:
        """Report the faults that did not stop the operation at `node`."""
        for fault in self.context.found:
            if not meant.is_meant(self.here.function, node, fault):
                self.fault(self._cause(fault) or node, fault)
        self.context.found.clear()

    def _cause(self, fault: Fault) -> ast.AST | None:
        """What a fault comes from, if it stands in the function under way."""
        function = self.here.function
        if fault.place is None or function is None:
            return None
        return next((node for node in ast.walk(function.node) if node is fault.place), None)

    def _located(self, node: ast.expr, tensor: TensorType) -> TensorType:
        """The tensor with sizes that an operation put together, as `flatten`, said to come from `node`."""
        axes = tensor.shape.axes
        if not any(isinstance(axis, Dim) and axis.origin is not None and not axis.origin.line for axis in axes):
            return tensor
        located = [
            axis.at(self.origin(axis.origin.text, node))
            if isinstance(axis, Dim) and axis.origin is not None and not axis.origin.line
            else axis
            for axis in axes
        ]
        return replace(tensor, shape=Shape(tuple(located)))

    def evaluate_all(self, nodes: Sequence[ast.expr]) -> list[StaticValue]:
        """The values of several expressions, in order."""
        return [self.evaluate(node) for node in nodes]

    def execute(self, body: Sequence[ast.stmt]) -> bool:
        """Run statements; False if no path reaches the end of them."""
        return all(statements.execute(self, node) for node in body)

    @property
    def here(self) -> Frame:
        """The frame under way."""
        assert self.frame is not None
        return self.frame

    @property
    def scope(self) -> str:
        """What tells the names of the frame under way from equal names of others."""
        return self.here.bindings.scope

    def new_frame(
        self, module: SourceModule, environment: Environment, scope: str, function: FunctionValue | None = None
    ) -> Frame:
        """A frame for a run of its own, in a new scope within `environment`."""
        if function is None or not holds_functions(function.node):
            names = {} if function is None else LocalNames()
            return Frame(module, Environment(names, environment), function, bindings=Bindings(scope))
        behind = changes_behind(function.node)
        return Frame(module, Environment({}, environment), function, bindings=Bindings(scope), changed_behind=behind)

    def call_method(self, receiver: Instance, name: str, args: list[StaticValue], node: ast.AST) -> StaticValue:
        """The result of `receiver.name(*args)`; UNKNOWN if its class has no such method."""
        method = receiver.cls.find(name)
        if not isinstance(method, FunctionValue):
            return UNKNOWN
        return program.call_function(self, method, [receiver, *args], {}, node)

    def lower(self, value: StaticValue) -> Value:
        """A value as operations take it."""
        return lowering.lower(self.context, value)

    # Names and slots

    def assign_name(self, name: str, value: StaticValue) -> None:
        """Bind a name in the scope under way."""
        behind = self.here.changed_behind
        if name in behind.names:
            value = UNKNOWN
        elif name in behind.objects:
            value = copies.emptied(self.context, value)
        declared = self.here.declared.get(name)
        if declared is not None:
            self.journal.set(declared.names, name, value)
        else:
            self.journal.set(self.here.environment.names, name, value, local=True)

    # Paths

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Report and count nothing: a trial run."""
        self.muted += 1
        counting, self.counting = self.counting, False
        try:
            yield
        finally:
            self.muted -= 1
            self.counting = counting

    @contextmanager
    def steps_apart(self) -> Iterator[None]:
        """Count steps anew; what is given up meanwhile is given up alone."""
        steps, self.steps = self.steps, 0
        try:
            yield
        except TooMuch:
            pass
        finally:
            self.steps = steps

    def on_path(self, run: Callable[[], T]) -> tuple[T, Changes]:
        """Run one path, then undo it: its result, and what it changed. What a name of an annotation first stands for
        there, it stands for on that path only."""
        frame = self.here
        bindings, frame.bindings = frame.bindings, frame.bindings.copy()
        try:
            return self.journal.on_path(run)
        finally:
            frame.bindings = bindings

    @contextmanager
    def in_frame(self, frame: Frame) -> Iterator[None]:
        """Work in another frame; its facts do not outlive it unless the caller keeps them."""
        previous, self.frame = self.frame, frame
        counting = self.counting
        self.counting = counting and frame.caller is None
        try:
            yield
        finally:
            self.frame = previous
            self.counting = counting

    @property
    def guarded(self) -> bool:
        """Whether the path under way is under a condition that was not understood."""
        return self.context.guarded

    @guarded.setter
    def guarded(self, guarded: bool) -> None:
        self.context.guarded = guarded

    def restore(self, facts: Facts, certain: bool) -> None:
        """Go back to what a path knew. Divisions that were meant to leave no rest stay so: `d_model // n_heads` of a
        constructor is relied on in other methods."""
        for numerator, denominator in self.context.facts.intended - facts.intended:
            facts = facts.with_intended(numerator, denominator)
        self.context.facts, self.context.certain = facts, certain

    def join_paths(self, paths: list[Changes]) -> None:
        """Make the joined changes of paths that meet."""
        if paths:
            self.journal.apply_joined(paths, partial(join_slots, self.context))

    def trial(self, run: Callable[[], object]) -> Changes:
        """What a run would change, with nothing reported and facts as before."""
        facts, certain, count = self.context.facts, self.context.certain, len(self.context.assumptions)
        returned, yielded = len(self.here.returned), len(self.here.yielded)
        self.in_trial += 1
        try:
            with self.quietly():
                _, changes = self.on_path(run)
        finally:
            self.in_trial -= 1
        self.restore(facts, certain)
        del self.context.assumptions[count:], self.here.returned[returned:], self.here.yielded[yielded:]
        return changes

    @property
    def depth(self) -> int:
        """The number of calls under way."""
        count, frame = 0, self.frame
        while frame is not None:
            count, frame = count + 1, frame.caller
        return count

    @property
    def may_follow_calls(self) -> bool:
        """Whether the call that begins may be followed into the function's body."""
        return self.steps <= MOST_STEPS_IN_CALLS and self.all_steps <= MOST_STEPS_OF_FILE and self.depth <= MOST_CALLS

    # Findings

    def fault(self, node: ast.AST, fault: Fault) -> None:
        """Report a fault at `node`, or at the call that leads there when the fault is the caller's."""
        if self.findings is not None and self.muted == self.findings.muted:
            self.findings.faults.append((node, fault))
            return
        if self.muted or (self.here.caller is not None and self.guarded):
            # In a call, a path under a condition that was not understood may be none that this caller takes.
            return
        place = self._place(node)
        if place is None:
            return
        is_wrong = fault.code in DEFAULT_CODES  # others are questions of style
        if is_wrong and self.here.caller is None and self.here.function is not None and fault.code.startswith("shape"):
            self.faulty.add(id(self.here.function.node))
        function = self.here.function
        if function is not None and function.module.path != self.path and alone.is_wrong_for_all(self, function, node):
            return
        if function is not None and self.here.caller is None and isinstance(node, ast.Return):
            self.wrong_alone[id(function.node)] = (*self.wrong_alone.get(id(function.node), ()), node)
        node, path_notes = place
        notes = [*_origin_notes(fault), *path_notes]
        if fault.sizes and not _is_obvious(fault):
            sizes = ", ".join(f"{name}={size}" for name, size in fault.sizes.items())
            notes.append(Note(0, f"it fails for {sizes}"))
        self.add(Diagnostic(str(self.path), span_of(node), fault.code, str(fault), "error", tuple(notes), fault.hint))
        suspicions: list[tuple[ast.AST, Fault]] = []
        if is_wrong:
            suspicions, self.here.suspicions = self.here.suspicions, suspicions
        for cause, suspicion in suspicions:
            self.fault(cause, suspicion)

    def note(self, node: ast.AST, message: str, code: str = "reveal") -> None:
        """Report something that is no fault."""
        place = None if self.muted else self._place(node)
        if place is not None:
            self.add(Diagnostic(str(self.path), span_of(place[0]), code, message, "note"))

    def internal(self, node: ast.AST, error: BaseException, name: str = "") -> None:
        """Note a fault of the checker itself: what it was about is skipped."""
        function = self.frame.function if self.frame is not None else None
        name = name or (function.name if function is not None else "the module")
        message = f"shaped could not check {name}: {type(error).__name__}: {error}"
        hint = "run shaped check --traceback and report it"
        place = self._place(node) if self.frame is not None else None
        span = span_of(place[0] if place is not None else node)
        self.add(Diagnostic(str(self.path), span, "internal", message, "note", (), hint))

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a finding, one for each line and code: what follows from a fault is not said again."""
        key = (diagnostic.span.line, diagnostic.message if diagnostic.code == "reveal" else diagnostic.code)
        if key not in self._found:
            self._found[key] = diagnostic
            self.report.diagnostics.append(diagnostic)

    def _place(self, node: ast.AST) -> tuple[ast.AST, list[Note]] | None:
        """The node of the checked file to blame, with notes for the calls that lead from there to the fault."""
        frame = self.here
        notes: list[Note] = []
        while frame.module.path != self.path:
            if frame.caller is None or frame.call is None:
                return None
            where = "" if frame.module.path == self.path else str(frame.module.path.name)
            name = frame.function.name if frame.function else frame.module.name
            notes.insert(0, Note(getattr(node, "lineno", 0), f"in {name}", where))
            node, frame = frame.call, frame.caller
        outer: Frame | None = frame
        while outer is not None and outer.caller is not None and outer.call is not None:
            # The same line may be right for other callers: say which call this is about.
            if outer.caller.module.path == self.path and outer.function is not None:
                notes.append(Note(getattr(outer.call, "lineno", 0), f"{outer.function.name} is called"))
            outer = outer.caller
        return node, notes

    def assume(self, node: ast.AST, count: int) -> None:
        """Record the assumptions made since there were `count` of them as relied on at `node`."""
        made = self.context.assumptions[count:]
        del self.context.assumptions[count:]
        place = None if self.muted else self._place(node)
        if place is not None:
            for text in made:
                assumption = Assumption(str(self.path), span_of(place[0]).line, text)
                if assumption not in self.report.assumptions:
                    self.report.assumptions.append(assumption)

    def _count(self, node: ast.expr, value: TensorType) -> None:
        span = span_of(node)
        value = value.with_shape(self.known_shape(value.shape))
        self.known[(span.line, span.column, span.end_line, span.end_column)] = (node, value)

    def show_again(self, node: ast.expr, value: TensorType) -> None:
        """An expression that was counted has a shape that is better known: that which an annotation says."""
        span = span_of(node)
        if (span.line, span.column, span.end_line, span.end_column) in self.known and self.counting:
            self._count(node, value)

    def _show_items(self, node: ast.expr, items: tuple[StaticValue, ...]) -> None:
        """Keep the shapes of a tuple of tensors, to be shown."""
        shapes = [self.known_shape(item.shape).annotation() for item in items if isinstance(item, TensorType)]
        if shapes and len(shapes) == len(items):
            text = ", ".join(f'"{shape}"' for shape in shapes) + "," * (len(shapes) == 1)
            self.known_tuples[span_of(node)] = (node, f"({text})")

    def known_shape(self, shape: Shape) -> Shape:
        """The shape with the sizes that the path under way has learned: 768 behind `assert d == 768`."""
        if shape.is_known or not self.context.facts.values:
            return shape
        axes = [self.context.facts.normalize(axis) if isinstance(axis, Dim) else axis for axis in shape.axes]
        return Shape(tuple(axes))

    def finish(self, source: str) -> Report:
        """The report, with what was counted; `source` is the file's text."""
        lines = source.split("\n")
        for node, value in self.known.values():
            if not value.shape.has_known_axes:
                self.report.statistics.unknown += 1
            elif value.shape.has_known_sizes:
                self.report.statistics.shape_known += 1
            else:
                self.report.statistics.rank_known += 1
            self.report.shapes.append(ShownShape(span_of(node), _text(node, lines), value.shape.annotation()))
        for span, (tuple_node, shapes) in self.known_tuples.items():
            self.report.shapes.append(ShownShape(span, _text(tuple_node, lines), shapes, is_many=True))
        self.report.depends_on.update(map(str, self.imports.looked_for - {self.path}))
        self.report.shapes.sort()
        self.report.diagnostics.sort(key=lambda diagnostic: (diagnostic.span, diagnostic.code))
        self.report.assumptions.sort()
        return self.report

    def without_rule(self, name: str) -> None:
        """Count a call of a library's function for which there is no rule."""
        if self.counting:
            self.report.statistics.without_rule[name] += 1

    # Values

    def name_of(self, node: ast.expr) -> str:
        """How users write the target of an assignment: `self.fc1`."""
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=owner, attr=name):
                prefix = self.name_of(owner)
                return f"{prefix}.{name}" if prefix else ""
        return ""

    def evaluate_present(self, node: ast.expr) -> StaticValue:
        """The value of an expression where None would be a fault of another kind."""
        return present(self.evaluate(node))

    def origin(self, text: str, node: ast.AST) -> Origin:
        """An origin at `node` in the file under way."""
        path = "" if self.here.module.path == self.path else self.here.module.path.name
        return Origin(text, getattr(node, "lineno", 0), path)


def _text(node: ast.expr, lines: list[str]) -> str:
    """An expression as it stands in the file, on one line."""
    line = lines[node.lineno - 1] if node.lineno == node.end_lineno and node.lineno <= len(lines) else ""
    return line[node.col_offset : node.end_col_offset] if line and line.isascii() else ast.unparse(node)


def span_of(node: ast.AST) -> Span:
    """Where a node stands."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    return Span(
        line, column, getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column
    )


def _is_obvious(fault: Fault) -> bool:
    """Whether the sizes at fault are names and numbers only: that these can differ needs no example."""
    return bool(fault.dims) and all(dim.symbol is not None or dim.constant is not None for dim in fault.dims)


def _origin_notes(fault: Fault) -> list[Note]:
    notes: list[Note] = []
    for dim in fault.dims:
        if dim.origin is not None:
            note = Note(dim.origin.line, f"{dim}: {dim.origin.text}", dim.origin.path)
            if note not in notes:
                notes.append(note)
    return notes


__all__ = ["UNKNOWN", "Frame", "Interpreter", "TooMuch", "span_of"]
