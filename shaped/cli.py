"""The `shaped` command: `check` and `show` for shapes, `verify` and `prove` for gradients."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from shaped import __version__
from shaped.static.usage_error import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType
    from typing import TextIO

    from shaped.static.config import Configurations
    from shaped.static.host import Checked
    from shaped.static.project import Task
    from shaped.static.render import Style

CLEAN, FINDINGS, USAGE, INTERRUPTED = 0, 1, 2, 130
_STDIN = "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line without the program's name; by default that of the process.

    Returns:
        0 clean, 1 findings, 2 usage.
    """
    if arguments is None:
        gc.set_threshold(200_000, 20, 100)  # trees of source live to the end: to look through them takes a third
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except UsageError as error:
        print(f"shaped {options.command}: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:  # the reader (`| head`) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where the interpreter flushes the rest to
        return FINDINGS
    return status


def run() -> NoReturn:
    """The command as a process. It ends without taking its trees of source apart, which is a tenth of its time."""
    status = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        status = FINDINGS
    os._exit(status)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="shaped", description="Shape errors in PyTorch code, before anything runs.")
    parser.add_argument("--version", action="version", version=f"shaped {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    check = commands.add_parser(
        "check",
        help="report shape errors in files and folders",
        description="Report the shape errors in Python files. Exit status: 0 clean, 1 errors found, 2 wrong usage.",
    )
    check.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder (all *.py below it), or - for stdin")
    check.add_argument("--output", choices=("text", "json"), default="text", help="json: one object a line")
    check.add_argument("--stats", action="store_true", help="how many shapes are known, and the calls without a rule")
    check.add_argument("--assumptions", action="store_true", help="what the code relies on, such as d %% h == 0")
    check.add_argument("--traceback", action="store_true", help="show where the checker itself fails")
    _add_code_options(check)
    check.add_argument("--no-cache", action="store_true", help="keep and use no reports of earlier runs")
    check.add_argument("--cache-dir", type=Path, metavar="FOLDER", help="where to keep them")
    check.add_argument("--jobs", type=int, default=0, metavar="N", help="processes (default: as many as are useful)")
    check.set_defaults(run=_check)

    show = commands.add_parser("show", help="print a file with each line's shapes beside it")
    show.add_argument("file", metavar="FILE", help="a Python file, or - for stdin")
    show.add_argument("--traceback", action="store_true", help="show where the checker itself fails")
    _add_code_options(show)
    show.set_defaults(run=_show)

    verify = commands.add_parser(
        "verify",
        help="say whether the gradients in files are right",
        description="Find the torch.autograd.Functions and the functions with a backward beside them (forward and "
        "backward, gelu and gelu_backward) in Python files, run the files, and print a verdict for each. Exit status: "
        "0 none is wrong, 1 one is, 2 wrong usage.",
    )
    verify.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a Python file")
    verify.add_argument("--output", choices=("text", "json"), default="text", help="json: one object a line")
    verify.add_argument("--explain", action="store_true", help="what each verdict rests on")
    verify.set_defaults(run=_verify)

    prove = commands.add_parser(
        "prove",
        help="check the theorems of a folder and write its ledger",
        description="Check the theorems in the files of a folder, and write LEDGER.md and the certificates there. Exit "
        "status: 0 all hold, 1 one does not, 2 wrong usage.",
    )
    prove.add_argument("folder", type=Path, metavar="FOLDER", help="a folder of files with a list THEOREMS")
    prove.add_argument("--quiet", action="store_true", help="print only what does not hold, and the counts")
    prove.add_argument("--certificates", action="store_true", help="check the written certificates instead, anew")
    prove.set_defaults(run=_prove)
    return parser


def _add_code_options(command: argparse.ArgumentParser) -> None:
    for verb, meaning in (("enable", "report findings with this code"), ("disable", "do not report them")):
        text = f"{meaning}, whatever pyproject.toml says (may be repeated)"
        command.add_argument(f"--{verb}", action="append", default=[], metavar="CODE", help=text)


def _verify(options: argparse.Namespace) -> int:
    """`shaped verify`."""
    command = _verification(options.command)
    try:
        is_well = command.verify(options.files, as_json=options.output == "json", explain=options.explain)
    except command.FileError as error:
        raise UsageError(str(error)) from error
    return CLEAN if is_well else FINDINGS


def _prove(options: argparse.Namespace) -> int:
    """`shaped prove`."""
    command = _verification(options.command)
    if not options.folder.is_dir():
        raise UsageError(f"{options.folder} is no folder")
    try:
        if options.certificates:
            return CLEAN if command.check_certificates(options.folder) else FINDINGS
        return CLEAN if command.prove(options.folder, quiet=options.quiet) else FINDINGS
    except command.FileError as error:
        raise UsageError(str(error)) from error


def _verification(command: str) -> ModuleType:
    """The part of the package that verifies gradients, which needs torch and more.

    Raises:
        UsageError: what it needs is not installed.
    """
    try:
        return importlib.import_module("shaped.verify.command")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("shaped"):
            raise
        raise UsageError(f"{command} needs {error.name}: pip install 'shaped[torch,verify]'") from error


def _check(options: argparse.Namespace) -> int:
    """`shaped check`."""
    from shaped.static.project import Project

    configurations = _configurations(options)
    paths = list(dict.fromkeys(path for name in options.paths for path in _files(name, configurations)))
    cache = options.cache_dir or os.environ.get("SHAPED_CACHE_DIR")
    project = Project(options.jobs, not options.no_cache, Path(cache) if cache else None)
    output = _Output(options)
    try:
        with closing(project.check([_task(path, configurations, options) for path in paths])) as reports:
            for checked in reports:
                output.add(checked)
    except KeyboardInterrupt:
        output.end(len(paths))
        return INTERRUPTED
    output.end(len(paths))
    return FINDINGS if output.errors else CLEAN


def _show(options: argparse.Namespace) -> int:
    """`shaped show`."""
    from shaped.static import render
    from shaped.static.host import error_count
    from shaped.static.project import Project

    configurations = _configurations(options)
    (path,) = _files(options.file, configurations, folders=False)
    project = Project(uses_cache=False, keeps_shapes=True)
    (checked,) = project.check([_task(path, configurations, options)])
    _print_lines(render.listing(checked, render.Style(_wants_colour(sys.stdout))))
    print(checked.traceback, file=sys.stderr, end="")
    return FINDINGS if error_count([checked.report]) else CLEAN


class _Output:
    """What `shaped check` prints: each report as it comes, and what they add up to."""

    def __init__(self, options: argparse.Namespace) -> None:
        from shaped.static import render
        from shaped.static.report import Statistics

        self.errors = 0
        self._options = options
        self._is_json = options.output == "json"
        self._render = render
        self._style = render.Style(_wants_colour(sys.stdout))
        self._statistics = Statistics()
        self._files = self._files_with_errors = 0

    def add(self, checked: Checked) -> None:
        """Print one report."""
        from shaped.static.host import error_count

        render, report = self._render, checked.report
        if self._is_json:
            _print_json(render.json_objects(checked))
        else:
            _print_lines(render.text_lines(checked, self._style))
        if self._options.assumptions:
            if self._is_json:
                _print_json(render.assumption_objects(report))
            else:
                _print_lines(render.assumption_lines(report, self._style))
        print(checked.traceback, file=sys.stderr, end="")
        errors = error_count([report])
        self.errors += errors
        self._files += 1
        self._files_with_errors += errors > 0
        self._statistics.add(report.statistics)

    def end(self, files: int) -> None:
        """Print what the reports add up to.

        Args:
            files: how many there are; fewer were checked if the run was interrupted.
        """
        if self._options.stats:
            if self._is_json:
                _print_json([{"statistics": self._render.statistics_object(self._statistics)}])
            else:
                _print_lines(self._render.statistics_lines(self._statistics))
        if self._files < files:
            print(f"Interrupted: {self._files} of {_plural(files, 'file')} checked", file=sys.stderr)
        if not self._is_json:
            print(_summary(self.errors, self._files_with_errors, self._files, self._style))


def _configurations(options: argparse.Namespace) -> Configurations:
    """What pyproject.toml files say, and before them the command line."""
    from shaped.static.config import Configurations

    if not options.enable and not options.disable:
        return Configurations()
    from shaped.static.config_file import choice

    return Configurations(choice(options.enable, options.disable, "--enable and --disable"))


def _files(name: str, configurations: Configurations, *, folders: bool = True) -> Iterator[Path]:
    """The files that an argument stands for: a file that is named itself is never excluded."""
    from shaped.static.host import python_files

    path = Path(name)
    if name == _STDIN or path.is_file():
        yield path
    elif not path.exists():
        raise UsageError(f"no such file or folder: {name}")
    elif not folders:
        raise UsageError(f"is a folder, not a file: {name}")
    else:
        files = list(python_files(path))
        if not files:
            raise UsageError(f"no Python files in folder: {name}")
        yield from (file for file in files if not configurations.is_excluded(file))


def _task(path: Path, configurations: Configurations, options: argparse.Namespace) -> Task:
    from shaped.static.project import Task

    traceback = options.traceback or configurations.wants_traceback(path)
    return Task(path, configurations.codes(path), traceback)


def _summary(errors: int, files_with_errors: int, files: int, style: Style) -> str:
    """The last line, in mypy's words."""
    if not errors:
        return style.good(f"Success: no shape errors in {_plural(files, 'file')}")
    found = f"Found {_plural(errors, 'error')} in {_plural(files_with_errors, 'file')}"
    return style.error(f"{found} (checked {_plural(files, 'file')})")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _print_json(objects: Iterable[dict[str, object]]) -> None:
    import json

    for one in objects:
        print(json.dumps(one, ensure_ascii=False))


def _wants_colour(stream: TextIO) -> bool:
    """Colour on a terminal, unless NO_COLOR is set; FORCE_COLOR asks for it anywhere."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")
