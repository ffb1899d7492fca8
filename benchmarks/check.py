"""How long `shaped check` takes from process start, and how that grows with the lines of a file."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.measure import python, table, time_command
from benchmarks.models import model_source

SIZES = (500, 1000, 2000, 4000, 10000)


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        starts = {
            "python alone": python("-c", "pass"),
            "importing the checker": python("-c", "import shaped.static.check"),
            "importing torch": python("-c", "import torch"),
        }
        rows = []
        for what, command in starts.items():
            timing = time_command(command, repeat=options.repeat)
            rows.append([what, f"{timing.processor:.3f}", f"{timing.wall:.3f}"])
        empty = folder / "empty.py"
        empty.write_text("")
        start = time_command(python("-m", "shaped", "check", "--no-cache", str(empty)), repeat=options.repeat)
        rows.append(["shaped check of an empty file", f"{start.processor:.3f}", f"{start.wall:.3f}"])
        print(table(["from process start", "processor s", "wall s"], rows))
        print()
        rows = []
        for size in SIZES:
            source = model_source(size)
            file = folder / f"model{size}.py"
            file.write_text(source)
            timing = time_command(python("-m", "shaped", "check", "--no-cache", str(file)), repeat=options.repeat)
            lines = source.count("\n")
            per_line = (timing.processor - start.processor) / lines * 1e6
            rows.append([str(lines), f"{timing.processor:.3f}", f"{timing.wall:.3f}", f"{per_line:.0f}"])
        print(table(["lines", "processor s", "wall s", "µs a line, start left out"], rows))


if __name__ == "__main__":
    main()
