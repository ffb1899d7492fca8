"""`shaped check` of a folder: time and memory, with nothing in the cache and with all of it, beside Pyrefly.

    python -m benchmarks.whole_project FOLDER --pyrefly .venv/rivals/bin/pyrefly

The memory is that of the largest process. Tools run in turn, so that a busy moment of the machine meets all.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.measure import python, table

if TYPE_CHECKING:
    from collections.abc import Sequence


class Run(NamedTuple):
    """What one run took: seconds on the clock and of processors, and the memory of its largest process in bytes."""

    wall: float
    processor: float
    memory: int


def run(command: Sequence[str], folder: Path) -> Run:
    """Run a command to its end, whatever it finds."""
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0  # it has been waited for
    return Run(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pyrefly", type=Path, help="the command, in an environment that has torch's stubs")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    target = options.folder.absolute()
    files = sorted(target.rglob("*.py")) if target.is_dir() else [target]
    lines = sum(file.read_bytes().count(b"\n") for file in files)
    runs: dict[str, list[Run]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        (here / "pyrefly.toml").touch()
        for _ in range(options.repeat):
            for jobs in options.jobs:
                shutil.rmtree(here / "cache", ignore_errors=True)
                command = python("-m", "shaped", "check", "--cache-dir", str(here / "cache"), "--jobs", str(jobs))
                for state in ("cold", "warm"):
                    runs[f"shaped, {state}, jobs {jobs}"].append(run([*command, str(target)], Path.cwd()))
            if options.pyrefly:
                command = [str(options.pyrefly.absolute()), "check", "--config", str(here / "pyrefly.toml")]
                command += ["--python-interpreter-path", str(options.pyrefly.absolute().with_name("python"))]
                runs["Pyrefly"].append(run([*command, *map(str, files)], here))
    print(f"{len(files)} files, {lines} lines")
    rows = []
    for tool, taken in runs.items():
        wall, processor = min(one.wall for one in taken), min(one.processor for one in taken)
        rows.append([tool, f"{wall:.2f}", f"{processor:.2f}", f"{max(one.memory for one in taken) / 2**20:.0f}"])
    print(table(["tool", "wall s", "processor s", "largest process, MB"], rows))


if __name__ == "__main__":
    main()
