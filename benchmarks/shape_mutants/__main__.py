"""The command line: `python -m benchmarks.shape_mutants`."""

from __future__ import annotations

from benchmarks.shape_mutants.measuring import main

main()
