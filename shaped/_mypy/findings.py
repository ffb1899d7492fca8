"""Findings as mypy errors: each file's report, put into mypy's errors once, and put back where mypy drops them."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from shaped._mypy.codes import error_code
from shaped._mypy.records import Records
from shaped.codes import DEFAULT_CODES
from shaped.static.config import CONFIGURABLE, Choice, Configurations
from shaped.static.host import Checked, Positions, check_source, fault_note, read_source
from shaped.static.render import note_texts
from shaped.static.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mypy.errors import ErrorInfo, Errors
    from mypy.nodes import MypyFile
    from mypy.options import Options

    from shaped.static.check import Checker
    from shaped.static.report import Diagnostic


@dataclass
class _File:
    """A file that mypy checks: its module, its options, and what was last found in it."""

    module: str
    options: Options
    digest: str = ""
    checked: Checked | None = None


class Findings:
    """The findings of all files that mypy checks in this process.

    mypy keeps its errors by target (a function, a module); its daemon checks a target again when a *type* that it uses
    has changed. Our findings belong to no target, so mypy never drops them one by one. After it has dropped all errors,
    at the start of each of the daemon's updates, all of them are put back; the files whose dependencies have changed
    are checked again for that.

    Args:
        records: where the dependencies of files are noted.
        roots: folders in which absolute imports are looked up.
        options: mypy's, complete when the first file is met.
        show_traceback: print where the checker itself fails.
        is_daemon: whether mypy keeps this process for later updates.
    """

    def __init__(
        self, records: Records, roots: Sequence[Path], options: Options, *, show_traceback: bool, is_daemon: bool
    ) -> None:
        self.records = records
        self.errors: Errors | None = None
        self.modules: dict[str, MypyFile] = {}
        self._roots = roots
        self._options = options
        self._show_traceback = show_traceback
        self._is_daemon = is_daemon
        self._checker: Checker | None = None
        self._files: dict[str, _File] = {}
        self._checked: dict[str, Checked] = {}
        self._replacements: dict[str, str] = {}
        self._last_file = ""
        self._last_errors: dict[str, list[ErrorInfo]] | None = None

    @cached_property
    def configurations(self) -> Configurations:
        """What pyproject.toml files say, and before them mypy's own `enable_error_code`."""
        return Configurations(Choice(enable=frozenset(CONFIGURABLE).intersection(self._options.enable_error_code)))

    def replace_file(self, path: str, replacement: str) -> None:
        """Read the text of one file from another (`--shadow-file`)."""
        self._replacements[path] = replacement

    def visit(self) -> None:
        """Report on the file that mypy is at, unless that is done."""
        errors = self.errors
        if errors is None:
            return
        path = errors.file
        if self._is_daemon:
            self.restore()
        elif path is self._last_file:
            return
        self._last_file = path
        if path in self._files or errors.target_module is None or not self.is_checked(path):
            return
        self._files[path] = file = _File(errors.target_module, errors.options)
        self._report(path, file)

    def visit_last(self, tree: MypyFile, options: Options) -> None:
        """Report on a file that mypy has just finished, unless that is done.

        Args:
            tree: the file.
            options: mypy's options for it, where mypy is at another file.
        """
        errors = self.errors
        if errors is None or tree.path in self._files or not self.is_checked(tree.path):
            return
        file = _File(tree.fullname, errors.options if errors.file == tree.path else options)
        self._files[tree.path] = file
        self._report(tree.path, file)

    def restore(self) -> None:
        """In the daemon: put every file's findings back after mypy has dropped all errors."""
        errors = self.errors
        if errors is None or not self._is_daemon or errors.error_info_map is self._last_errors:
            return
        self._last_errors = errors.error_info_map
        self._forget_changed()
        for path, file in self._files.items():
            tree = self.modules.get(file.module)
            if tree is None:  # no longer part of the program
                continue
            if path not in errors.ignored_lines:
                errors.set_file_ignored_lines(path, tree.ignored_lines)
            self._report(path, file)

    def is_checked(self, path: str) -> bool:
        """Whether mypy reports errors in a file: not in a stub, a library or a file whose errors are ignored.

        Raises:
            ConfigurationError: the file's configuration, which may exclude it, means nothing.
        """
        if not path.endswith(".py") or is_library(path) or self.configurations.is_excluded(Path(path)):
            return False
        return self.errors is None or path not in self.errors.ignored_files

    def check(self, path: str) -> Checked | None:
        """Check a file, once, and note what the answer depends on; None if the file cannot be read."""
        if path not in self._checked:
            try:
                source = self._read(Path(path))
            except (OSError, UnicodeDecodeError):  # mypy itself says so
                return None
            try:
                checked = self._check(Path(path), source)
                self.records.save(path, checked.report.depends_on, checked.report.packages)
            except Exception as fault:  # the checker itself cannot be loaded: mypy goes on without it
                self.records.forget(path)
                checked = Checked(Report(path, [fault_note(path, fault)]), source, traceback.format_exc())
            if checked.traceback and self._wants_traceback(path):
                print(checked.traceback, file=sys.stderr, end="")
            self._checked[path] = checked
        return self._checked[path]

    def digest(self, path: str) -> str | None:
        """A digest of all that a file's findings depend on, apart from its own text; None if it was never checked.

        Raises:
            ConfigurationError: the file's configuration means nothing.
        """
        if self.configurations.is_excluded(Path(path)):
            return "excluded"
        digest = self.records.digest(path)
        codes = self.configurations.codes(Path(path))
        return digest if digest is None or codes == DEFAULT_CODES else " ".join((digest, *sorted(codes)))

    def _check(self, path: Path, source: str) -> Checked:
        if self._checker is None:  # loaded for the first file that is checked: most runs find all in mypy's cache
            from shaped.static.check import Checker

            self._checker = Checker(self._roots, read=self._read)
        self._checker.show_traceback = self._wants_traceback(str(path))
        return check_source(self._checker, path, source, self.configurations.codes(path))

    def _wants_traceback(self, path: str) -> bool:
        return self._show_traceback or self.configurations.wants_traceback(Path(path))

    def _read(self, path: Path) -> str:
        return read_source(Path(self._replacements.get(str(path), path)))

    def _forget_changed(self) -> None:
        """Forget the findings of files that have changed, or that depend on one that has."""
        self._checker = None
        for path, file in self._files.items():
            if self._digest(path) != file.digest:
                self._checked.pop(path, None)

    def _digest(self, path: str) -> str:
        """A digest of a file's text and of all that its findings depend on."""
        return f"{self.records.text_digest(path)} {self.digest(path)}"

    def _report(self, path: str, file: _File) -> None:
        """Put a file's findings into mypy's errors."""
        checked = self.check(path)
        errors = self.errors
        if checked is None or errors is None:
            return
        if self._is_daemon:
            file.digest = self._digest(path)
        report = checked.report
        if not report.diagnostics and not report.silenced:
            return
        state = (errors.file, errors.target_module, errors.scope, errors.options, errors._watchers)
        errors.file, errors.target_module, errors.scope, errors.options = path, None, None, file.options
        errors._watchers = []  # mypy may be trying an alternative whose errors it will drop
        try:
            positions = Positions(checked.source)
            for diagnostic in sorted([*report.diagnostics, *report.silenced]):
                if diagnostic.code != "syntax":  # mypy's own
                    _put(errors, diagnostic, positions)
        finally:
            errors.file, errors.target_module, errors.scope, errors.options, errors._watchers = state


def _put(errors: Errors, diagnostic: Diagnostic, positions: Positions) -> None:
    """One finding, with its notes below it: mypy sorts by place, so they stand at the place of the finding."""
    span = diagnostic.span
    end_line = max(span.end_line, span.line)
    column = positions.column(span.line, span.column)
    end_column = positions.column(end_line, span.end_column) if span.end_line else column + 1
    texts = [(diagnostic.severity, diagnostic.message)]
    texts += [("note", text) for text in note_texts(diagnostic)]
    for severity, text in texts:
        errors.report(
            span.line,
            column,
            text,
            error_code(diagnostic.code),
            severity=severity,
            origin_span=range(span.line, end_line + 1),
            end_line=end_line,
            end_column=end_column,
        )


def is_library(path: str) -> bool:
    """Whether a file is an installed package's, to judge by its folder."""
    parts = path.replace("\\", "/").split("/")
    return "site-packages" in parts or "dist-packages" in parts or "typeshed" in parts
