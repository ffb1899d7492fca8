"""Write the pages that are made from the code: the references of what has a rule and of what has a meaning, from the
tables themselves, and `examples/README.md` from the first line of each example."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import shaped.spec.ops  # noqa: F401 - declares the operations
from shaped.spec.meaning import MEANINGS, load
from shaped.spec.op import MODULES, OPS, Module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shaped.spec.op import Op

REPOSITORY = Path(__file__).parent.parent
_TABLE = "shaped.spec.ops."  # operations declared elsewhere are those of a test

_HEAD = """\
# Operations

Written by `python -m docs.generate`; do not edit.

{operations} operations and {modules} modules have a rule: the shape and dtype of the result, and what is refused. Each
row is one declaration, by the file that holds it, with the names that mean it: `F` is `torch.nn.functional`, `Tensor.`
stands before methods and operators, `ndarray.` before those of NumPy's arrays. Arguments are torch's and NumPy's own,
with their names. A call that is not here gives an unknown result, and is counted by `shaped check --stats`.

How much of real code that is, `python -m benchmarks.coverage COUNTS` says for counts of calls by name. Over 2,613 files
of well-known PyTorch projects, on 29 November 2026:

| | names | calls | with a rule | known to the interpreter | neither |
|---|---|---|---|---|---|
| torch and einops, the first 98% of calls | 298 | 61,585 | 90.5% | 9.3% | 0.2% |
| with NumPy and math | 404 | 65,450 | 88.3% | 11.4% | 0.3% |
| methods of tensors, the first 98% of calls | 105 | 64,817 | 99.2% | | 0.8% |

Known to the interpreter are containers, transforms like `torch.func.vmap`, numbers, and what gives no tensor, like
`torch.no_grad()`. Neither: `torch.load`, distributed tensors, trees (`tree_flatten`), distributions, and methods of
Python objects that sparse tensors have too (`values`, `index`).
"""

_MEANINGS_HEAD = """\
# Meanings

Written by `python -m docs.generate`; do not edit.

The {count} operations whose numbers are known as index expressions, so that they can be proved about, evaluated exactly
and held to an error budget. A kink is a place without a derivative; what stands behind it is what torch takes there,
and so do proofs. A backward is derived from the meaning; {declared} have a closed form beside it, which [the
ledger of proofs](../proofs/LEDGER.md) is about.

| operation | defined for | kinks | backward |
|---|---|---|---|
"""

_EXAMPLES_HEAD = """\
# Examples

Written by `python -m docs.generate`; do not edit.

Each is one file that trains or runs for real (`python examples/gpt.py`), in ordinary PyTorch with jaxtyping
annotations; `mypy --config-file examples/mypy.ini examples` and `shaped check examples` find a fault in the broken ones
only. `shaped show examples/gpt.py` prints one with its shapes.
"""


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """The pages that are made from the code, with their text."""
    return {
        REPOSITORY / "docs" / "operations.md": operations(),
        REPOSITORY / "docs" / "meanings.md": meanings(),
        REPOSITORY / "examples" / "README.md": examples(),
    }


def examples() -> str:
    """The list of the examples."""

    def table(folder: Path, head: str) -> str:
        rows = [f"| [{path.name}]({path.relative_to(folder)}) | {_about(path)} |" for path in sorted(folder.glob(head))]
        return "\n".join(["| file | what it is |", "|---|---|", *rows]) + "\n"

    folder = REPOSITORY / "examples"
    broken = "## broken\n\nOne fault each, on the line that is marked.\n\n"
    gradients = "## gradients\n\nFor `shaped verify`.\n\n"
    return "\n".join(
        [
            _EXAMPLES_HEAD,
            table(folder, "*.py"),
            broken + table(folder, "broken/*.py"),
            gradients + table(folder, "gradients/*.py"),
        ]
    )


def meanings() -> str:
    """The reference of meanings: where each is defined, what is taken at its kinks, and whether it has a backward."""
    load()
    rows = [
        f"| `{name}` | {_cell(each.domain)} | {_cell(each.kinks)} | {'declared' if each.backward else 'derived'} |"
        for name, each in sorted(MEANINGS.items(), key=lambda item: item[0].lower())
    ]
    declared = sum(each.backward is not None for each in MEANINGS.values())
    return _MEANINGS_HEAD.format(count=len(MEANINGS), declared=declared) + "\n".join(rows) + "\n"


def _about(path: Path) -> str:
    """The first line of a file's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def operations() -> str:
    """The reference of operations and modules."""
    declared = {family_of(op.rule) for op in OPS.values()} | {family_of(cls) for cls in MODULES.values()}
    ordered = [family for family in sys.modules if family in declared and family.startswith(_TABLE)]
    operations = sum(family_of(op.rule).startswith(_TABLE) for op in OPS.values())
    parts = [_HEAD.format(operations=operations, modules=len(MODULES))]
    for family in ordered:
        file = f"{family.replace('.', '/')}.py"
        link = f"[{file.rpartition('/')[2]}](../{file})"
        rows = "\n".join([*_op_table(family), *_module_table(family)])
        parts.append(f"## {title_of(family)}\n\n{link}\n\n{rows}\n")
    return "\n".join(parts)


def family_of(declared: Callable[..., object]) -> str:
    """The module that declares a rule or a module's class."""
    return declared.__module__


def title_of(family: str) -> str:
    """The first sentence of the docstring of the file, without its end: what its operations have in common."""
    documentation = sys.modules[family].__doc__ or family.rpartition(".")[2]
    return documentation.strip().splitlines()[0].partition(". ")[0].rstrip(".").partition(":")[0]


def _op_table(family: str) -> Iterator[str]:
    rows = sorted((op for op in OPS.values() if family_of(op.rule) == family), key=lambda op: op.name.lower())
    if rows:
        yield "| operation | what it gives | called |"
        yield "|---|---|---|"
        yield from (f"| `{op.name}` | {_cell(op.formula)} | {_names(op)} |" for op in rows)


def _module_table(family: str) -> Iterator[str]:
    """One row for the modules that are the same thing."""
    by_purpose: dict[str, list[str]] = {}
    for name, cls in sorted(MODULES.items()):
        if family_of(cls) == family:
            by_purpose.setdefault(_purpose(cls), []).append(name)
    if by_purpose:
        if any(family_of(op.rule) == family for op in OPS.values()):
            yield ""
        yield "| modules | what they are |"
        yield "|---|---|"
        for purpose, names in by_purpose.items():
            yield f"| {', '.join(f'`{_short(name)}`' for name in names)} | {_cell(purpose)} |"


def _purpose(cls: type[Module]) -> str:
    """The first line of a module's docstring, or of that of the class that it shares its `forward` with."""
    documented = (base.__doc__ for base in cls.__mro__ if base.__doc__ and base is not Module and base is not object)
    return next(documented, "").strip().partition("\n")[0].rstrip(".")


def _names(op: Op) -> str:
    return ", ".join(f"`{_short(name)}`" for name in op.torch)


def _short(name: str) -> str:
    return name.replace("torch.nn.functional.", "F.").replace("torch.nn.", "nn.")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")


if __name__ == "__main__":
    main()
