"""What the exact gradient check says about each operation of torch's own test database, `op_db`.

An operation counts as *exact* if every sample was exact or only met kinks, and one was exact; as *partly* if some
samples are not supported. A row says how many samples gave what, and why the first unsupported one is.
"""

from __future__ import annotations

import argparse
import signal
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_unflatten

from shaped.verify.exact import exact_gradcheck
from shaped.verify.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

TABLE = Path(__file__).parent.parent / "docs" / "exact-op-db.md"
# Operations whose gradient torch gets wrong, as finite differences of the same samples show.
FAULTS = {
    "as_strided_scatter": "the overwritten entries of the input get a gradient of 1",
    "nn.functional.cosine_similarity": "torch clamps the norms without telling autograd: wrong for norms below eps",
    "nn.functional.max_unpool1d": "places that occur twice keep one entry, but all get its gradient",
    "nn.functional.max_unpool2d": "places that occur twice keep one entry, but all get its gradient",
    "nn.functional.max_unpool3d": "places that occur twice keep one entry, but all get its gradient",
}
ORDER = ("refuted", "hazard", "exact", "partly", "kink", "unsupported", "no samples")


@dataclass
class Row:
    """What the samples of an operation gave."""

    name: str
    levels: Counter[str] = field(default_factory=Counter)
    reason: str = ""
    seconds: float = 0.0

    @property
    def kind(self) -> str:
        """The one word for the operation."""
        levels = {level for level, count in self.levels.items() if count}
        if "refuted" in levels:
            return "refuted"
        if "hazard" in levels:
            return "hazard"
        if not levels:
            return "no samples"
        if levels <= {"exact", "kink"}:
            return "exact" if "exact" in levels else "kink"
        return "partly" if "exact" in levels else "unsupported"


class OutOfTimeError(Exception):
    """An operation took longer than it may."""


def _expire(_: int, __: FrameType | None) -> None:
    raise OutOfTimeError


def problems(op: Any, most: int) -> Iterator[tuple[Callable[..., Any], list[torch.Tensor]]]:
    """Functions of floating tensors, with arguments: the first samples of an operation.

    Args:
        op: an entry of `op_db`.
        most: how many samples.
    """
    for number, sample in enumerate(op.sample_inputs("cpu", torch.float64, requires_grad=True)):
        if number == most:
            return
        leaves, structure = tree_flatten((sample.input, sample.args, sample.kwargs))
        places = [k for k, one in enumerate(leaves) if isinstance(one, torch.Tensor) and one.requires_grad]
        process = sample.output_process_fn_grad

        def function(*tensors: torch.Tensor, leaves=leaves, structure=structure, places=places, process=process) -> Any:  # type: ignore[no-untyped-def]  # bound now
            filled = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                filled[place] = tensor
            first, arguments, options = tree_unflatten(filled, structure)
            return process(op.gradcheck_wrapper(op.get_op(), first, *arguments, **options))

        if places:
            yield function, [leaves[place].detach() for place in places]


def judge(op: Any, *, most: int, seconds: int, order: int, show: bool) -> Row:
    """The row of an operation.

    Args:
        op: an entry of `op_db`.
        most: how many samples.
        seconds: how long they may take together.
        order: of the derivatives.
        show: print each verdict that is neither exact nor a kink.
    """
    row = Row(op.name + (f" ({op.variant_test_name})" if op.variant_test_name else ""))
    start = time.perf_counter()
    signal.signal(signal.SIGALRM, _expire)
    signal.alarm(seconds)
    try:
        torch.manual_seed(0)
        for function, inputs in problems(op, most):
            verdict: Verdict = exact_gradcheck(function, *inputs, order=order)
            row.levels[verdict.level.value] += 1
            if verdict.level not in (Level.EXACT, Level.KINK):
                row.reason = row.reason or verdict.reason
                if show:
                    print(row.name, verdict.explain(), [tuple(one.shape) for one in inputs])
    except OutOfTimeError:
        # Samples that were judged count; none judged is nothing known.
        if not row.levels:
            row.levels["unsupported"] += 1
            row.reason = f"took more than {seconds} s"
    finally:
        signal.alarm(0)
    row.seconds = time.perf_counter() - start
    return row


def report(rows: list[Row], most: int, order: int) -> str:
    """The page with counts and the table."""
    counts = Counter(row.kind for row in rows)
    version = torch.__version__.partition("+")[0]
    lines = [
        "# The exact gradient check on torch's own operations",
        "",
        f"Written by `python -m benchmarks.exact_op_db --write`; do not edit. torch {version}, float64, the first "
        f"{most} samples of each, derivatives of order {order}.",
        "",
        f"{len(rows)} entries of `op_db` support autograd: "
        + ", ".join(f"{counts[kind]} {kind}" for kind in ORDER if counts[kind])
        + ".",
        "",
        "*exact*: each sample was exact, or sits on a kink; *partly*: some samples are not supported; *kink*: all",
        "samples sit on kinks. The reason is that of the first sample that is not exact.",
        "",
        "| operation | | samples | reason |",
        "|---|---|---|---|",
    ]
    for row in sorted(rows, key=lambda one: (ORDER.index(one.kind), one.name)):
        samples = ", ".join(f"{count} {level}" for level, count in sorted(row.levels.items()))
        reason = FAULTS.get(row.name, row.reason) if row.kind == "refuted" else row.reason
        lines.append(f"| `{row.name}` | {row.kind} | {samples} | {reason.replace('|', '/')[:120]} |")
    return "\n".join(lines) + "\n"


def read_rows(page: str) -> dict[str, Row]:
    """The rows of a page that was written before, by name."""
    rows = {}
    for line in page.splitlines():
        if line.startswith("| `"):
            name, _, samples, reason = (cell.strip() for cell in line.split("|")[1:5])
            row = Row(name.strip("`"), reason=reason)
            for one in filter(None, samples.split(", ")):
                count, level = one.split(" ", 1)
                row.levels[level] = int(count)
            rows[row.name] = row
    return rows


def main() -> None:
    """Print the counts, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="operations whose name contains this")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=20, help="for all samples of an operation")
    parser.add_argument("--order", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print each verdict that is not exact")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}; with --only, the rows of those")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    rows = []
    for op in op_db:
        if op.supports_autograd and options.only in op.name and torch.float64 in op.supported_dtypes("cpu"):
            if options.order == 2 and not op.supports_gradgrad:
                continue
            row = judge(op, most=options.samples, seconds=options.seconds, order=options.order, show=options.show)
            rows.append(row)
            if row.kind != "exact":
                print(
                    f"{row.kind:12} {row.name:50} {row.seconds:6.1f} s  {dict(row.levels)} {row.reason[:150]}",
                    flush=True,
                )
    counts = Counter(row.kind for row in rows)
    print(f"{len(rows)} operations: " + ", ".join(f"{counts[kind]} {kind}" for kind in ORDER if counts[kind]))
    reasons = Counter(row.reason.partition(" (")[0] for row in rows if row.kind in ("unsupported", "partly"))
    print("\n".join(f"{count:4} {reason}" for reason, count in reasons.most_common(60)))
    print(f"{time.perf_counter() - start:.0f} s")
    if options.write:
        kept = read_rows(TABLE.read_text()) if options.only and TABLE.exists() else {}
        merged = {**kept, **{row.name: row for row in rows}}
        TABLE.write_text(report(list(merged.values()), options.samples, options.order))


if __name__ == "__main__":
    main()
