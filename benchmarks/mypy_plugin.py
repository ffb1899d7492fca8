"""What the plugin adds to mypy's own time, over the same files: from no cache, and with all of it cached."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from benchmarks.measure import Timing, python, table, time_command
from benchmarks.models import model_source

EXAMPLES = Path(__file__).parent.parent / "examples"


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for example in EXAMPLES.glob("*.py"):
            shutil.copy(example, folder)
        (folder / "model.py").write_text(model_source(500))
        files = sorted(path.name for path in folder.glob("*.py"))
        lines = sum(len((folder / file).read_text().splitlines()) for file in files)
        (folder / "with.ini").write_text("[mypy]\nplugins = shaped.mypy\n")
        (folder / "without.ini").write_text("[mypy]\n")
        # The two in turn, so that a busy moment of the machine meets both.
        cold: dict[str, list[Timing]] = {"without": [], "with": []}
        warm: dict[str, list[Timing]] = {"without": [], "with": []}
        for _ in range(options.repeat):
            for variant in cold:
                cache = folder / f"cache-{variant}"
                shutil.rmtree(cache, ignore_errors=True)
                command = python("-m", "mypy", "--config-file", f"{variant}.ini", "--cache-dir", cache.name, *files)
                cold[variant].append(time_command(command, repeat=1, folder=folder, allowed=(0, 1)))
                warm[variant].append(time_command(command, repeat=3, folder=folder, allowed=(0, 1)))
        print(f"mypy over {len(files)} files, {lines} lines, and torch")
        rows = []
        for state, timings in (("cold", cold), ("warm", warm)):
            without, with_plugin = (min(one.processor for one in timings[variant]) for variant in ("without", "with"))
            rows.append([state, f"{without:.2f}", f"{with_plugin:.2f}", f"{with_plugin / without:.3f}"])
        print(table(["cache", "without, processor s", "with, processor s", "ratio"], rows))


if __name__ == "__main__":
    main()
