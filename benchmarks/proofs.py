"""How long proofs take, step by step: tracing, the proof itself, and its independent check.

    python -m benchmarks.proofs [NAME...] [--theorems]

Without `--theorems`, the closed forms of the field (`tests/verify/prove/classics.py`); with it, those in `proofs/`.
The proof is the derivative, the canonical forms and their comparison; the check is exact arithmetic at random points.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from shaped.verify.checking import claim
from shaped.verify.ledger import stated
from shaped.verify.prove import judgement, prove
from shaped.verify.theorem import Theorem
from shaped.verify.verdict import Level
from tests.verify.prove.classics import CLASSICS

PROOFS = Path(__file__).parent.parent / "proofs"


class Clock:
    """Adds up the seconds spent in functions of a module, which it replaces by counted ones."""

    def __init__(self, *names: str) -> None:
        self.seconds = 0.0
        for name in names:
            setattr(judgement, name, self._counted(getattr(judgement, name)))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - start

        return counted

    def taken(self) -> float:
        """The milliseconds since it was last asked."""
        seconds, self.seconds = self.seconds, 0.0
        return 1000 * seconds


def subjects(names: list[str], theorems: bool) -> Iterator[tuple[str, Callable[[], Level]]]:
    """What to prove: a name, and a function that proves it."""
    if not theorems:
        for name, pair in CLASSICS.items():
            if not names or name in names:
                yield name, lambda pair=pair: prove(*pair).level
        return
    for _, theorem in stated(PROOFS):
        if isinstance(theorem, Theorem) and (not names or theorem.op in names):
            yield theorem.statement, lambda theorem=theorem: claim(theorem).judged().level


def main() -> None:
    """Print a row for each proof, and what they take together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--theorems", action="store_true")
    options = parser.parse_args()
    proofs, checks = Clock("adjoint", "compare", "requirements"), Clock("_agreement")
    taken: list[float] = []
    print("   proof    check      all")
    for name, run in subjects(options.names, options.theorems):
        start = time.perf_counter()
        level = run()
        whole = 1000 * (time.perf_counter() - start)
        taken.append(proofs.taken())
        print(f"{taken[-1]:8.1f} {checks.taken():8.1f} {whole:8.1f} ms  {name}: {level.value}", flush=True)
    if taken:
        print(f"{len(taken)} proofs: median {statistics.median(taken):.1f} ms, slowest {max(taken):.0f} ms")


if __name__ == "__main__":
    main()
