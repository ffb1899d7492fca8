"""The checker's entry: one file or source text in, one `Report` out."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from shaped.codes import DEFAULT_CODES
from shaped.static import alone, functions, suppress, unregistered
from shaped.static.imports import Imports
from shaped.static.interpreter import Interpreter, TooMuch
from shaped.static.report import Diagnostic, Report, Span
from shaped.static.trees import Trees
from shaped.static.values import ClassValue, FunctionValue, SourceModule


class Checker:
    """A check of files, each alone with what it imports.

    Args:
        roots: the folders in which absolute imports are looked up; by default each file's own project.
        show_traceback: raise the checker's own faults instead of noting them.
        read: reads a source file (an editor or mypy may hold newer text than the disk).
        is_file: says whether there is a file.
    """

    def __init__(
        self,
        roots: Sequence[Path] = (),
        *,
        show_traceback: bool = False,
        read: Callable[[Path], str] | None = None,
        is_file: Callable[[Path], bool] = Path.is_file,
    ) -> None:
        self.roots = tuple(roots)
        self.show_traceback = show_traceback
        self.read = read or (lambda path: path.read_text(encoding="utf-8"))
        self._is_file = is_file
        self._trees = Trees()

    def check(self, path: Path, source: str | None = None, codes: frozenset[str] = DEFAULT_CODES) -> Report:
        """Check one file. A syntax error is one diagnostic with the code `syntax`.

        Args:
            path: the file.
            source: its text, if that is not to be read from the disk.
            codes: the codes of the errors that are reported.

        Raises:
            OSError: the file cannot be read.
        """
        with _deep_recursion():
            report = self._check(path.absolute(), source)
        report.diagnostics = suppress.chosen(report.diagnostics, codes)
        report.silenced = suppress.chosen(report.silenced, codes)
        return report

    def _check(self, path: Path, source: str | None) -> Report:
        if source is None:
            try:
                source = self.read(path)
            except UnicodeDecodeError as error:
                return _unreadable(path, 1, 0, f"the file is no UTF-8 text: {error.reason}")
        imports = Imports(self.roots, self.read, self._is_file, self._trees)
        try:
            module = imports.source(path, source)
        except SyntaxError as error:
            return _unreadable(path, error.lineno or 1, max((error.offset or 1) - 1, 0), error.msg)
        except ValueError as error:
            return _unreadable(path, 1, 0, str(error))
        except RecursionError:
            return _unreadable(path, 1, 0, "the code is nested too deep to be parsed")
        interpreter = Interpreter(path, imports, show_traceback=self.show_traceback)
        interpreter.context.settings = module.settings
        _run(interpreter, module)
        report = interpreter.finish(source)
        report.packages.update(map(str, imports.packages))
        report.diagnostics, report.silenced = suppress.split(source, report.diagnostics)
        return report


_DEEPEST = 6_000


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Let expressions be nested as deep as Python itself reads them; each level takes several calls here."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _unreadable(path: Path, line: int, column: int, message: str) -> Report:
    return Report(str(path), [Diagnostic(str(path), Span(line, column, line, column + 1), "syntax", message)])


def _run(interpreter: Interpreter, module: SourceModule) -> None:
    """Check a module's top level, then each of its functions for all that a caller may give it.

    Functions come first in the findings: a fault that a body has by itself is said there, not at a call.
    """
    with interpreter.in_frame(interpreter.new_frame(module, module.environment, module.name)):
        with interpreter.quietly():
            _guarded(interpreter, module.tree, "the module", lambda: functions.define_all(interpreter, module))
        for node, function, cls in list(_definitions(module)):
            name = f"{cls.name}.{node.name}" if cls else node.name
            _guarded(interpreter, node, name, lambda f=function, c=cls: _check_function(interpreter, f, c))  # type: ignore[misc]  # the defaults bind this round's values
        for cls in _classes(module):
            _guarded(interpreter, cls.node, cls.name, partial(unregistered.check, interpreter, cls))
        _guarded(interpreter, module.tree, "the module", lambda: _check_top_level(interpreter, module))


def _check_top_level(interpreter: Interpreter, module: SourceModule) -> None:
    interpreter.steps, interpreter.guarded = 0, False
    interpreter.counting = True
    try:
        functions.execute_module(interpreter, module)
    finally:
        interpreter.counting = False


def _definitions(module: SourceModule) -> Iterator[tuple[ast.FunctionDef, FunctionValue, ClassValue | None]]:
    for value in list(module.environment.names.values()):
        if isinstance(value, FunctionValue) and value.module is module and isinstance(value.node, ast.FunctionDef):
            yield value.node, value, None
        elif isinstance(value, ClassValue) and value.module is module:
            for member in list(value.names.values()):
                if isinstance(member, FunctionValue) and isinstance(member.node, ast.FunctionDef):
                    yield member.node, member, value


def _classes(module: SourceModule) -> list[ClassValue]:
    values = module.environment.names.values()
    return [value for value in values if isinstance(value, ClassValue) and value.module is module]


def _check_function(interpreter: Interpreter, function: FunctionValue, cls: ClassValue | None) -> None:
    interpreter.steps = 0
    interpreter.counting = True
    try:
        # What one function changes in an object that stands for all is undone before the next is checked.
        interpreter.journal.on_path(partial(alone.run, interpreter, function, cls))
    finally:
        interpreter.counting = False


def _guarded(interpreter: Interpreter, node: ast.AST, name: str, run: Callable[[], None]) -> None:
    """Run a part of the check; a fault of the checker itself skips that part with one note."""
    state = (interpreter.frame, interpreter.muted, interpreter.counting)
    facts, certain = interpreter.context.facts, interpreter.context.certain
    try:
        run()
    except (TooMuch, RecursionError):  # too long or too deep to be followed: nothing is known of it
        pass
    except Exception as error:  # our own faults never take the user's tool down
        if interpreter.show_traceback:
            raise
        interpreter.frame = None
        interpreter.internal(node, error, name)
    finally:
        interpreter.frame, interpreter.muted, interpreter.counting = state
        interpreter.context.facts, interpreter.context.certain = facts, certain
        interpreter.journal.reset()
