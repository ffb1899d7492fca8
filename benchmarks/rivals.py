"""How many of the faults in `tests/cases` the tools find that a user could choose, and how often they are wrong.

Each bad program there has a good twin. A tool *finds* the fault of a bad program if it reports something in it that it
does not report in the twin. A *false alarm* is a good program in which it reports an error. The tools that are not this
project's come from an environment of their own, made by the commands in `docs/comparison.md`; those that are not
installed are left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.measure import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

CASES = Path(__file__).parent.parent / "tests" / "cases"
_FILES_IN_A_RUN = 25
_MARK = re.compile(r"#\s*(error\b|cause\b|BUG\b|CAUSE\b)")


class Finding(NamedTuple):
    """One error that a tool reports: the line and what it says of it."""

    line: int
    message: str


Findings = dict[Path, list[Finding]]


@dataclass(frozen=True)
class Set:
    """Bad programs of one kind, each with its good twin."""

    title: str
    bad: list[Path]


def sets() -> list[Set]:
    """The bad programs: our own, those of public reports that raise, and those that run and compute something else."""
    own = sorted(path for path in CASES.glob("*/*_bad.py") if path.parent.name not in ("public", "packages"))
    public = sorted(CASES.glob("public/*_bad.py"))
    return [
        Set("raises, written for the tests", own),
        Set("raises, public report", [path for path in public if path.stem < "060"]),
        Set("runs and is wrong, public report", [path for path in public if path.stem >= "060"]),
    ]


def twin(bad: Path) -> Path:
    """The repaired program."""
    return bad.with_name(bad.name.replace("_bad.py", "_good.py"))


def good_programs() -> list[Path]:
    """Every program without a fault."""
    files = CASES.glob("*/*.py")
    return sorted(path for path in files if path.parent.name != "packages" and not path.stem.endswith("_bad"))


# The tools


def shaped(files: Sequence[Path]) -> Findings:
    """`shaped check`."""
    done = _run(
        [sys.executable, "-m", "shaped", "check", "--no-cache", "--output", "json", "--jobs", "1", *map(str, files)]
    )
    found: Findings = defaultdict(list)
    for line in done.splitlines():
        one = json.loads(line)
        if one["severity"] == "error":
            found[Path(one["file"])].append(Finding(one["line"], one["message"]))
    return found


def pyrefly(environment: Path, files: Sequence[Path]) -> Findings:
    """`pyrefly check` with its default settings, where its torch stubs are installed."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "pyrefly.toml")
        config.touch()
        command = [str(environment / "bin/pyrefly"), "check", "--config", str(config), "--output-format", "json"]
        command += ["--python-interpreter-path", str(environment / "bin/python"), *map(str, files)]
        done = _run(command)
    found: Findings = defaultdict(list)
    for one in json.loads(done)["errors"]:
        if one["severity"] == "error":
            found[Path(one["path"]).resolve()].append(Finding(one["line"], one["description"]))
    return found


def torchtyc(environment: Path, files: Sequence[Path]) -> Findings:
    """`torchtyc check`, which calls each annotated function on tensors without storage.

    It is run for some files at a time, since it imports torch in each run, and where it does not end, for each of them.
    A file that it does not end for counts as one without findings.
    """
    command = [str(environment / "bin/torchtyc"), "check", "--format", "json", "--severity", "error"]
    command += ["--python", str(environment / "bin/python"), "--timeout"]

    def check(some: Sequence[Path], seconds: int) -> list[dict[str, Any]]:
        answer = json.loads(_run([*command, str(seconds), *map(str, some)]))
        if answer["worker_error"]:
            raise RuntimeError(answer["worker_error"])
        found: list[dict[str, Any]] = answer["diagnostics"]
        return found

    found: Findings = defaultdict(list)
    for first in range(0, len(files), _FILES_IN_A_RUN):
        here = files[first : first + _FILES_IN_A_RUN]
        try:
            said = check(here, 30 + 4 * len(here))
        except RuntimeError:
            said = []
            for path in here:
                try:
                    said += check([path], 60)
                except RuntimeError:
                    print(f"torchtyc does not end for {path.parent.name}/{path.name}")
        for one in said:
            if one["severity"] == "error":  # its lines count from 0 in JSON
                found[Path(one["path"]).resolve()].append(Finding(one["line"] + 1, one["message"]))
    return found


def run_time(files: Sequence[Path]) -> Findings:
    """jaxtyping's import hook with beartype: each program is run; an annotation that is not met is an error."""
    import jaxtyping

    found: Findings = {}
    for path in files:
        sys.path.insert(0, str(path.parent))
        sys.modules.pop(path.stem, None)
        try:
            with warnings.catch_warnings(), jaxtyping.install_import_hook(path.stem, "beartype.beartype"):
                warnings.simplefilter("ignore")
                module = importlib.import_module(path.stem)
                getattr(module, "main", lambda: None)()
        except jaxtyping.TypeCheckError as error:
            found[path] = [Finding(_last_line(path, error), str(error).splitlines()[0])]
        except Exception:  # torch's own error, or the program's: not what the tool says
            found.setdefault(path, [])
        finally:
            sys.path.pop(0)
            sys.modules.pop(path.stem, None)
    return found


def _last_line(path: Path, error: BaseException) -> int:
    line, frame = 0, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == str(path):
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def _run(command: Sequence[str]) -> str:
    """The standard output of a tool that may exit with 1."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CASES.parent.parent)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"{command[0]} failed: {done.stderr[-500:]}")
    return done.stdout


# The counts


def is_found(bad: Path, found: Findings) -> bool:
    """Whether something is said of the bad program that is not said of its twin."""
    said_of_twin = {finding.message for finding in found.get(twin(bad), [])}
    return any(finding.message not in said_of_twin for finding in found.get(bad, []))


def is_on_its_line(bad: Path, found: Findings) -> bool:
    """Whether it is found, on a line that is marked as the fault or its cause."""
    lines = bad.read_text(encoding="utf-8").splitlines()
    said_of_twin = {finding.message for finding in found.get(twin(bad), [])}
    return any(
        0 < finding.line <= len(lines) and _MARK.search(lines[finding.line - 1]) and finding.message not in said_of_twin
        for finding in found.get(bad, [])
    )


def row(found: Findings) -> list[str]:
    """What a tool found of each set, and its false alarms."""
    cells = []
    for one in sets():
        total = len(one.bad)
        here = sum(is_found(bad, found) for bad in one.bad)
        placed = sum(is_on_its_line(bad, found) for bad in one.bad)
        cells.append(f"{here} of {total} ({placed} on its line)")
    good = good_programs()
    return [*cells, f"{sum(bool(found.get(path)) for path in good)} of {len(good)}"]


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", type=Path, default=Path(".venv/rivals"), help="where the other tools are")
    parser.add_argument("--verbose", action="store_true", help="list what each tool misses, and its false alarms")
    options = parser.parse_args()
    environment = options.environment.absolute()
    files = sorted({*good_programs(), *(bad for one in sets() for bad in one.bad)})
    tools: dict[str, Callable[[], Findings]] = {f"shaped {version('shaped')}": lambda: shaped(files)}
    for name, tool in (("pyrefly", pyrefly), ("torchtyc", torchtyc)):
        if (environment / "bin" / name).exists():
            title = f"{name} {_version(environment, name)}"
            if name == "pyrefly":
                title += f", torch stubs {_version(environment, 'pyrefly-torch-stubs')}"
            tools[title] = lambda tool=tool: tool(environment, files)  # type: ignore[misc]  # binds this round's tool
        else:
            print(f"{name} is not installed in {options.environment}: left out")
    tools[f"jaxtyping {version('jaxtyping')} + beartype {version('beartype')}, run"] = lambda: run_time(files)
    rows = []
    for title, run in tools.items():
        start = time.monotonic()
        found = run()
        seconds = time.monotonic() - start
        rows.append([title, *row(found), f"{seconds:.0f}"])
        if options.verbose:
            _print_details(title, found)
    print(table(["tool", *(one.title for one in sets()), "false alarms", "seconds"], rows))


def _version(environment: Path, package: str) -> str:
    program = f"import importlib.metadata as m; print(m.version({package!r}))"
    return _run([str(environment / "bin/python"), "-c", program]).strip()


def _print_details(title: str, found: Findings) -> None:
    print(f"== {title}")
    for path in (bad for one in sets() for bad in one.bad):
        if not is_found(path, found):
            print(f"missed       {path.relative_to(CASES)}")
    for path in good_programs():
        for finding in _first(found.get(path, [])):
            print(f"false alarm  {path.relative_to(CASES)}:{finding.line}: {finding.message.splitlines()[0]}")


def _first(findings: Iterable[Finding]) -> list[Finding]:
    return list(findings)[:1]


if __name__ == "__main__":
    main()
