"""The check of many files, in order: each report from the cache or made anew, in several processes where that pays."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from shaped.codes import CODES
from shaped.static.config import FILE as PYPROJECT
from shaped.static.host import Checked, checked_by, skipped_note, with_shown_paths
from shaped.static.report import Report
from shaped.static.snapshot import Snapshot
from shaped.static.suppress import chosen
from shaped.static.usage_error import UsageError

if TYPE_CHECKING:
    from shaped.static.cache import Cache
    from shaped.static.check import Checker

STDIN: Final = Path("-")
_ALL_CODES = frozenset(CODES)
_FILES_WORTH_A_PROCESS = 8
# Objects that checks leave behind, most of them in cycles, before they are looked for: about 100 MB.
_MOST_LEFT_BEHIND = 400_000


class Unreadable(UsageError):
    """A file that was to be checked cannot be read; the message names it."""


class Task(NamedTuple):
    """A file to check, the codes that are reported in it, and whether the checker's own faults are shown in full."""

    path: Path
    codes: frozenset[str]
    wants_traceback: bool = False


@dataclass(frozen=True)
class Project:
    """How files are checked.

    Args:
        jobs: the number of processes, 0 for as many as are useful.
        uses_cache: whether reports are kept between runs.
        cache_folder: where; by default beside the nearest pyproject.toml, or else among the user's caches.
        keeps_shapes: whether reports hold the shape of each expression; there is no cache of those.
    """

    jobs: int = 0
    uses_cache: bool = True
    cache_folder: Path | None = None
    keeps_shapes: bool = False

    def check(self, tasks: Sequence[Task]) -> Generator[Checked, None, None]:
        """What is found in each file, in order. The file `-` is the standard input.

        Raises:
            Unreadable: a file cannot be read.
        """
        process = _Process(self)
        with _without_collector():
            if len(tasks) < 2 * _FILES_WORTH_A_PROCESS and self.jobs <= 1:
                yield from map(process.check, tasks)
            else:
                yield from self._check_many(process, tasks)
        process.trim_caches()

    def _check_many(self, process: _Process, tasks: Sequence[Task]) -> Iterator[Checked]:
        known = list(map(process.known, tasks))
        rest = [task for task, checked in zip(tasks, known) if checked is None]
        jobs = min(self.jobs or min(_processors(), len(rest) // _FILES_WORTH_A_PROCESS), len(rest))
        made: Iterator[Checked | None] = map(process.make, rest)
        if jobs > 1:
            from shaped.static.workers import in_processes

            made = in_processes(partial(_start, replace(self, jobs=1)), rest, jobs)
        for task, checked in zip(tasks, known):
            yield checked or next(made) or _not_checked(task.path)


def _processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(project: Project) -> Callable[[Task], Checked]:
    """What a process of several does with a file."""
    gc.disable()
    return _Process(project).make


def _not_checked(path: Path) -> Checked:
    """The report on a file whose process has ended before its time."""
    why = "the process that checked it died (killed, or out of memory)"
    return Checked(Report(str(path), [skipped_note(str(path), why)]), "")


@contextmanager
def _without_collector() -> Iterator[None]:
    """Leave garbage to `_collect`: Python itself would look through the kept trees of source again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()


def _collect() -> None:
    """Free what checks have left behind, if it is much."""
    if gc.get_count()[0] > _MOST_LEFT_BEHIND:
        gc.collect()
        gc.freeze()  # what is left, such as the trees, ends without the collector


class _Process:
    """What one process holds: the files as it sees them, a checker with the trees that it parsed, the caches."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._snapshot = Snapshot()
        self._caches: dict[Path, Cache] = {}
        self._folders: dict[Path, Path] = {}

    def check(self, task: Task) -> Checked:
        """The report of the cache, or else a new one."""
        return self.known(task) or self.make(task)

    def known(self, task: Task) -> Checked | None:
        """The report of the cache, if it holds."""
        cache = self._cache(task)
        if cache is None:
            return None
        source = self._source(task.path)
        path = task.path.absolute()
        report = cache.load(path, self._snapshot.digest(path))
        return None if report is None else self._finished(task, Checked(report, source))

    def make(self, task: Task) -> Checked:
        """A new report."""
        source = self._source(task.path)
        checker = self._checker
        checker.show_traceback = task.wants_traceback
        checked = checked_by(checker, Path("<stdin>") if task.path == STDIN else task.path, source, _ALL_CODES)
        report = checked.report
        cache = self._cache(task)
        if cache is not None and not any(one.code == "internal" for one in report.diagnostics):
            path = task.path.absolute()
            cache.save(path, self._snapshot.digest(path), report)
        if not self._project.keeps_shapes:
            report.shapes.clear()
        _collect()
        return self._finished(task, checked)

    @cached_property
    def _checker(self) -> Checker:
        from shaped.static.check import Checker  # to load it is most of a run that finds all in the cache

        return Checker(read=self._snapshot.read, is_file=self._snapshot.is_file)

    def trim_caches(self) -> None:
        """Keep the caches from growing for ever."""
        for cache in self._caches.values():
            cache.trim()

    def _source(self, path: Path) -> str:
        if path == STDIN:
            return sys.stdin.read()
        try:
            return self._snapshot.read(path.absolute())
        except OSError as error:
            raise Unreadable(f"cannot read {path}: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise Unreadable(f"cannot read {path}: not text in the encoding {error.encoding}") from None

    def _finished(self, task: Task, checked: Checked) -> Checked:
        """The report as it is shown, without what only its maker needs: it may come from another process."""
        report = checked.report
        report.diagnostics = chosen(report.diagnostics, task.codes)
        report.silenced = chosen(report.silenced, task.codes)
        report.depends_on.clear()
        report.packages.clear()
        needs_source = report.diagnostics or self._project.keeps_shapes
        source = checked.source if needs_source else ""
        traceback = checked.traceback if task.wants_traceback else ""
        return with_shown_paths(Checked(report, source, traceback), task.path)

    def _cache(self, task: Task) -> Cache | None:
        if not self._project.uses_cache or task.path == STDIN or task.wants_traceback:
            return None
        folder = self._project.cache_folder or self._folder(task.path.absolute().parent)
        if folder not in self._caches:
            from shaped.static.cache import Cache

            self._caches[folder] = Cache(folder, self._snapshot)
        return self._caches[folder]

    def _folder(self, folder: Path) -> Path:
        """The folder of the cache of the files in a folder."""
        known = self._folders.get(folder)
        if known is None:
            from shaped.static.cache import FOLDER, users_cache

            if (folder / PYPROJECT).is_file():
                known = folder / FOLDER
            else:
                known = self._folder(folder.parent) if folder.parent != folder else users_cache()
            self._folders[folder] = known
        return known
