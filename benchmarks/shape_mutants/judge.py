"""What torch says of a mutant: run beside the original on the same inputs, and again at other sizes of the named dims.

A program is run as its `main` runs it. What is compared are the calls from `main` into the program, one by one: the
first that raises, or gives something else, decides. Each of them is repeated at sizes drawn for the names of its
annotations, where the original runs at these sizes too.
"""

from __future__ import annotations

import ast
import contextlib
import io
import random
import signal
import sys
import warnings
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import beartype
import jaxtyping
import torch

from benchmarks.shape_mutants import resizing
from benchmarks.shape_mutants.changes import DRIVERS
from benchmarks.shape_mutants.results import Difference, difference, snapshot
from benchmarks.shape_mutants.weights import set_weights
from benchmarks.shape_mutants.wrapping import FunctionCall, Wrapper, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from benchmarks.shape_mutants.resizing import Resized

_SECONDS = 20
_MOST_REPEATED = 3  # calls of one function that are repeated at other sizes
_MODULE = "mutant_under_judgement"
torch.set_num_threads(1)  # the programs are small: threads would only wait for one another


class Effect(Enum):
    """What a change does."""

    RAISES = "raises"
    CONTRADICTS = "contradicts an annotation"
    SHAPE = "another shape"
    VALUE = "other values"
    NONE = "none"


class OutOfTimeError(BaseException):
    """A program takes longer than it is given."""


class _DecidedError(BaseException):
    """Ends the run of a mutant; no program catches it."""

    def __init__(self, effect: Effect) -> None:
        self.effect = effect


@dataclass
class Call:
    """A call from `main`: what it gave, and what it gave at other sizes."""

    name: str
    result: Any
    at_sizes: list[tuple[Resized, Any]] = field(default_factory=list)


@dataclass
class Behaviour:
    """What an original program does.

    Args:
        calls: the calls, in order.
        lines: the lines that were run.
        is_enforceable: whether it also runs with its annotations checked.
    """

    calls: list[Call]
    lines: set[int]
    is_enforceable: bool = False


def observe(source: str, driver: str | None = None) -> Behaviour | None:
    """What a program does; None if it raises, or does not do the same again.

    Args:
        source: the program.
        driver: a `main` for the one that the program has.
    """
    recorder = None
    for enforce in (True, False):  # sizes at which annotations are met, where that can be checked
        try:
            with _lines_run() as lines:
                explorer = _Explorer()
                _run(_prepared(source, driver), explorer, enforce=enforce)
            recorder = _Recorder([sizes for _, sizes in explorer.found])
            _run(_prepared(source, driver), recorder)
            break
        except (Exception, OutOfTimeError):
            recorder = None
    if recorder is None:
        return None
    behaviour = Behaviour(recorder.calls, lines)
    if not behaviour.calls or effect_of(source, behaviour, driver) is not Effect.NONE:
        return None
    behaviour.is_enforceable = effect_of(source, behaviour, driver, enforce=True) is Effect.NONE
    return behaviour


def effect_of(source: str, original: Behaviour, driver: str | None = None, *, enforce: bool = False) -> Effect | None:
    """What a changed program does beside the original; None if that was not decided in time.

    Args:
        source: the changed program.
        original: what the original does.
        driver: the `main` that the original was observed with.
        enforce: let jaxtyping check the annotations of each call.

    >>> program = "import torch\\ndef f(x):\\n    return x.sum({})\\ndef main():\\n    f(torch.ones(2, 3))\\n"
    >>> right = observe(program.format(0))
    >>> [effect_of(program.format(dim), right).value for dim in (-2, 1, 2)]
    ['none', 'another shape', 'raises']
    """
    judge = _Judge(original.calls)
    try:
        _run(_prepared(source, driver), judge, enforce=enforce)
    except _DecidedError as decided:
        return decided.effect
    except (OutOfTimeError, MemoryError):
        return None
    except Exception as error:  # between the calls, or while the program was read
        return _effect_of_error(error)
    return Effect.NONE if judge.position == len(original.calls) else Effect.VALUE


def _effect_of_error(error: Exception) -> Effect:
    return Effect.CONTRADICTS if isinstance(error, jaxtyping.TypeCheckError) else Effect.RAISES


# What is done with each call


class _Explorer(Wrapper):
    """Finds the sizes at which the original's calls can be repeated."""

    def __init__(self) -> None:
        self.found: list[tuple[str, list[Resized]]] = []
        self.random = random.Random(0)

    def called(self, call: FunctionCall) -> Any:
        before = call.copied()
        result = call.run()
        sizes: list[Resized] = []
        if before is not None and sum(name == call.name for name, _ in self.found) < _MOST_REPEATED:
            sizes = resizing.sizes_that_work(before, self.random)
        self.found.append((call.name, sizes))
        return result


class _Recorder(Wrapper):
    """Records what the original gives."""

    def __init__(self, sizes: list[list[Resized]]) -> None:
        self.sizes = sizes
        self.calls: list[Call] = []

    def called(self, call: FunctionCall) -> Any:
        sizes = self.sizes[len(self.calls)]
        before = call.copied() if sizes else None
        call.seed()
        result = call.run()
        recorded = Call(call.name, snapshot((result, call.arguments)))
        self.calls.append(recorded)
        for one in sizes:
            assert before is not None
            call.seed()
            recorded.at_sizes.append((one, snapshot(resizing.run_at(before, one))))
        return result


class _Judge(Wrapper):
    """Holds what a mutant gives against what the original gave."""

    def __init__(self, calls: list[Call]) -> None:
        self.calls = calls
        self.position = 0

    def called(self, call: FunctionCall) -> Any:
        if self.position == len(self.calls) or self.calls[self.position].name != call.name:
            raise _DecidedError(Effect.VALUE)  # it takes another way
        expected = self.calls[self.position]
        self.position += 1
        before = call.copied() if expected.at_sizes else None
        call.seed()
        result = self._decide(expected.result, lambda: ((value := call.run()), (value, call.arguments)))
        for resized, expected_there in expected.at_sizes:
            assert before is not None
            call.seed()
            self._decide(expected_there, partial(_repeated, before, resized))
        return result

    @staticmethod
    def _decide(expected: Any, run: Callable[[], tuple[Any, Any]]) -> Any:
        try:
            result, compared = run()
        except Exception as error:
            raise _DecidedError(_effect_of_error(error)) from None
        match difference(expected, snapshot(compared)):
            case Difference.SHAPE:
                raise _DecidedError(Effect.SHAPE)
            case Difference.VALUE:
                raise _DecidedError(Effect.VALUE)
        return result

    def constructing(self, run: Callable[[], None]) -> None:
        try:
            run()
        except Exception as error:
            raise _DecidedError(_effect_of_error(error)) from None


def _repeated(call: FunctionCall, resized: Resized) -> tuple[None, Any]:
    return None, resizing.run_at(call, resized)


# Running


def _prepared(source: str, driver: str | None) -> ast.Module:
    """The program without what `main` asserts, since that is not the program's own."""
    tree = ast.parse(source)
    if driver is not None:
        tree.body = [one for one in tree.body if not (isinstance(one, ast.FunctionDef) and one.name == "main")]
        tree.body += [ast.increment_lineno(one, 1_000_000) for one in ast.parse(driver).body]  # no lines of the file
    for top in tree.body:
        if isinstance(top, ast.FunctionDef) and top.name in DRIVERS:
            _Unasserted().visit(top)
    return tree


class _Unasserted(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return ast.copy_location(ast.Expr(node.test), node)


def _run(tree: ast.Module, wrapper: Wrapper, *, enforce: bool = False) -> None:
    """Run a program's top level and its `main`; its calls go through the wrapper."""
    module = ModuleType(_MODULE)
    module.__file__ = f"{_MODULE}.py"
    sys.modules[_MODULE] = module
    check = (lambda one: jaxtyping.jaxtyped(one, typechecker=beartype.beartype)) if enforce else None
    torch.manual_seed(0)
    random.seed(0)
    try:
        with _quiet(), _limited():
            exec(compile(tree, module.__file__, "exec"), vars(module))
            wrap(module, wrapper, check, set_weights)
            module.main()
    finally:
        del sys.modules[_MODULE]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raise `OutOfTimeError` in a program that takes too long."""

    def stop(signal_number: int, frame: FrameType | None) -> None:
        raise OutOfTimeError

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@contextlib.contextmanager
def _lines_run() -> Iterator[set[int]]:
    """The lines of the program that are run."""
    lines: set[int] = set()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != f"{_MODULE}.py":
            return None
        lines.add(frame.f_lineno)
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(previous)
