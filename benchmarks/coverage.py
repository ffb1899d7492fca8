"""How many of the calls that real code makes have a rule: python -m benchmarks.coverage COUNTS...

Each file of counts has a line for each name, `torch.cat<TAB>3709`, most frequent first. Names without a dot are methods
of tensors. Of each file the first names are judged, up to a share of its calls, and all of them together:

- *rule*: an operation or module of the table, whose shape rule is tested against torch.
- *interpreted*: the interpreter itself knows what it gives: containers, base classes, transforms, numbers, and what
  gives no tensor at all (`torch.no_grad`, `torch.cuda.is_available`), where nothing is to be known of a shape.
- *none*: its result is not known; these are listed, most frequent first.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import shaped.spec.ops  # noqa: F401  # declares the operations
from benchmarks.measure import table
from shaped.spec.op import find_module, find_op
from shaped.static import builtins, containers
from shaped.static.names import canonical

HEADER = ["names", "calls", "rule", "interpreted", "none", "with rule or interpreted"]
# `super().__init__()` of a module runs the constructor of torch's base class, which sets no sizes; a class that
# inherits from it is one of the program's.
BASES = frozenset(["torch.nn.Module", "torch.nn.Module.__init__"])


@dataclass(frozen=True)
class Count:
    """How often a name is called."""

    name: str
    calls: int

    @property
    def treatment(self) -> str:
        """How the checker treats it: `rule`, `interpreted` or `none`.

        >>> Count("torch.cat", 1).treatment, Count("view", 1).treatment, Count("torch.nn.Sequential", 1).treatment
        ('rule', 'rule', 'interpreted')
        >>> Count("torch.no_such_function", 1).treatment
        'none'
        """
        if "." not in self.name:
            return "rule" if find_op(f"Tensor.{self.name}") else "none"
        name = canonical(self.name)
        if find_op(name) or find_module(name):
            return "rule"
        is_known = name in builtins.FUNCTIONS or name in containers.KINDS or name in BASES
        return "interpreted" if is_known else "none"


def read(path: Path) -> list[Count]:
    """The counts of a file, most frequent first.

    Raises:
        ValueError: a line is no name and number with a tab between.
    """
    counts = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        name, tab, calls = line.partition("\t")
        if not tab or not calls.isdigit():
            raise ValueError(f"{path}:{number}: expected a name, a tab and a number, got {line!r}")
        counts.append(Count(name, int(calls)))
    return sorted(counts, key=lambda count: -count.calls)


def most_frequent(counts: list[Count], share: float) -> list[Count]:
    """The first names that together have this share of all calls.

    >>> [count.name for count in most_frequent([Count("a", 90), Count("b", 9), Count("c", 1)], 0.98)]
    ['a', 'b']
    """
    wanted, total = share * sum(count.calls for count in counts), 0
    for place, count in enumerate(counts):
        if total >= wanted:
            return counts[:place]
        total += count.calls
    return counts


def row(counts: list[Count]) -> list[str]:
    """The shares of these names' calls."""
    total = sum(count.calls for count in counts)
    calls = {
        treatment: sum(count.calls for count in counts if count.treatment == treatment)
        for treatment in ("rule", "interpreted", "none")
    }
    shares = [f"{100 * each / total:.1f} %" for each in calls.values()]
    return [str(len(counts)), str(total), *shares, f"{100 - 100 * calls['none'] / total:.1f} %"]


def main() -> None:
    """Print a table for each file, and what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="+", type=Path, help="files of names and how often they are called")
    parser.add_argument("--share", type=float, default=0.98, help="judge the first names with this share of all calls")
    parser.add_argument("--without", nargs="*", default=[], metavar="PREFIX", help="leave out names that begin so")
    parser.add_argument("--missing", type=int, default=40, help="how many names without a rule to list")
    options = parser.parse_args()
    for path in options.counts:
        counts = [count for count in read(path) if not count.name.startswith(tuple(options.without))]
        first = most_frequent(counts, options.share)
        print(f"{path.name}: the first {len(first)} names, and all of them")
        print(table(HEADER, [row(first), row(counts)]))
        missing = [f"{count.name} ({count.calls})" for count in counts if count.treatment == "none"]
        print(f"without: {', '.join(missing[: options.missing])}{', ...' if len(missing) > options.missing else ''}\n")


if __name__ == "__main__":
    main()
