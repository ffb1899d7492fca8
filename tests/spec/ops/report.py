"""The rules against torch's own samples, as a table: `python -m tests.spec.ops.report [-v] [--limit N] [NAME...]`."""

from __future__ import annotations

import argparse
import sys
import time

from tests.spec.ops.against_torch import Outcome
from tests.spec.ops.op_db import Score, entries, entries_with_rules, score, title


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if a rule is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.spec.ops.report", description=__doc__)
    parser.add_argument("names", nargs="*", help="entries of op_db (all that have a rule)")
    parser.add_argument("--limit", type=int, default=None, help="samples a dtype for each entry")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what was missed, too")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    scores: list[Score] = []
    for entry in entries_with_rules():
        if not options.names or entry.name in options.names or title(entry) in options.names:
            scores.append(score(entry, options.limit))
            print_score(scores[-1], verbose=options.verbose)
    print_total(scores, time.monotonic() - start)
    return int(any(one.defects for one in scores))


def print_score(one: Score, *, verbose: bool) -> None:
    """One line, and the defects below it."""
    exact, unknown = one.outcomes[Outcome.EXACT], one.outcomes[Outcome.UNKNOWN]
    refused, errors = one.errors[Outcome.REFUSED], one.errors.total()
    print(
        f"{one.name:45} samples {one.samples:5}  exact {exact:5}  unknown {unknown:5}  "
        f"error inputs rejected {refused:3} of {errors:3}  defects {len(one.defects)}",
        flush=True,
    )
    for defect in one.defects[:3]:
        print(f"    {defect}")
    if verbose:
        for missed in one.missed:
            print(f"    {missed}")


def print_total(scores: list[Score], seconds: float) -> None:
    """The sums over all entries."""
    exact = sum(one.outcomes[Outcome.EXACT] for one in scores)
    unknown = sum(one.outcomes[Outcome.UNKNOWN] for one in scores)
    symbolic_exact = sum(one.symbolic[Outcome.EXACT] for one in scores)
    symbolic = sum(one.symbolic.total() for one in scores)
    refused = sum(one.errors[Outcome.REFUSED] for one in scores)
    print(f"entries of op_db with a rule     {len(scores)} of {len(entries())}")
    print(f"sample inputs                    {sum(one.samples for one in scores)}")
    print(f"calls (function, method, in place): exact {exact}, unknown {unknown}")
    print(f"the same with sizes forgotten    {symbolic}, of which exact {symbolic_exact}")
    print(f"error inputs rejected            {refused} of {sum(one.errors.total() for one in scores)}")
    print(f"defects                          {sum(len(one.defects) for one in scores)}")
    print(f"seconds                          {seconds:.0f}")


if __name__ == "__main__":
    sys.exit(main())
