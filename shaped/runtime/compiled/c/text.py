"""Pieces of C: nested loops, and lines that are indented by their braces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def loops(names: Sequence[str], sizes: Sequence[int | str], body: Iterable[str]) -> list[str]:
    """Loops over all indices, the last one fastest.

    >>> print("\\n".join(loops("ij", (2, 3), ["x[i * 3 + j] = 0;"])))
    for (int64_t i = 0; i < 2; i++) {
    for (int64_t j = 0; j < 3; j++) {
    x[i * 3 + j] = 0;
    }
    }
    """
    opened = [f"for (int64_t {name} = 0; {name} < {size}; {name}++) {{" for name, size in zip(names, sizes)]
    return [*opened, *body, *("}" for _ in opened)]


def vector_loop(name: str, size: int | str, body: Iterable[str], clause: str = "") -> list[str]:
    """A loop whose rounds do not depend on each other, but through the sums that the clause names."""
    return [f"#pragma omp simd{clause}", *loops([name], [size], body)]


def indices(prefix: str, count: int) -> list[str]:
    """Names of indices: `r0`, `r1`."""
    return [f"{prefix}{number}" for number in range(count)]


def indented(lines: Iterable[str]) -> str:
    """The lines with four spaces for each open brace."""
    depth, result = 0, []
    for line in lines:
        depth -= line.startswith("}")
        result.append(line if line.startswith("#") or not line else "    " * depth + line)
        depth += line.count("{") - line.count("}") + line.startswith("}")
    return "\n".join(result) + "\n"
