"""How much of the error that rounding explains torch's own kernels make: outputs and gradients of each operation.

For each operation of `op_db`, torch's own test database, that has a meaning in the table, the first samples run in
float32 and float64 on the CPU. Each entry of an output and of a gradient is compared with its true value, enclosed at
the very floats that were given; `rho` is the difference over the derived error bound (`shaped.verify.budget`). No
tolerance is chosen: `rho <= 1` is what a sound kernel keeps.
"""

from __future__ import annotations

import argparse
import math
import signal
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten

from shaped.verify.budget import Budget, gradients_within_budget, within_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

TABLE = Path(__file__).parent.parent / "docs" / "kernels.md"
DTYPES = (torch.float32, torch.float64)
# Samples with more entries than this take too long in balls of 128 bits.
MOST_ENTRIES = 2000


# Operations of which torch's kernels make more than what rounding explains, in one dtype or both, and why.
_PLACES = "the places between entries are rounded in proportion to the place, not to the weight that they give"
KNOWN = {
    "expm1": "the gradient is `grad * (result + 1)`, where `exp(x)` is lost beside 1",
    "nn.functional.hardsigmoid": "the gradient is multiplied by 1/6 in float32",
    "nn.functional.interpolate (linear)": _PLACES,
    "nn.functional.interpolate (bilinear)": _PLACES,
    "nn.functional.interpolate (trilinear)": _PLACES,
    "nn.functional.interpolate (bicubic)": _PLACES,
    "nn.functional.upsample_bilinear": _PLACES,
}


class OutOfTimeError(Exception):
    """An operation took longer than it may."""


@dataclass
class Row:
    """What the samples of an operation gave in one dtype."""

    name: str
    dtype: torch.dtype
    forward: Budget | None = None
    gradient: Budget | None = None
    compared: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    beyond: list[str] = field(default_factory=list)

    def add(self, budget: Budget, *, is_gradient: bool) -> None:
        """Keep the worst budget."""
        if not budget.compared:
            self.reasons[str(budget)] += 1
            return
        self.compared += budget.compared
        worst = self.gradient if is_gradient else self.forward
        if worst is None or budget.rho > worst.rho:
            if is_gradient:
                self.gradient = budget
            else:
                self.forward = budget
        if budget.rho > 1:
            self.beyond.append(str(budget))


@dataclass(frozen=True)
class Call:
    """One way to call an operation: the function, its arguments, and which of its results is looked at."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    named: dict[str, Any]


def calls(op: Any, dtype: torch.dtype, most: int) -> Iterator[Call]:
    """The first samples of an operation; a tensor that is given twice stands for two tensors."""
    torch.manual_seed(0)
    for sample in islice(op.sample_inputs("cpu", dtype, requires_grad=op.supports_autograd), most):
        yield Call(op.op, (sample.input, *sample.args), dict(sample.kwargs))


def measure(op: Any, dtype: torch.dtype, *, most: int, seconds: int) -> Row:
    """The row of an operation.

    Args:
        op: an entry of `op_db`.
        dtype: the dtype of the samples.
        most: how many samples.
        seconds: how long they may take together.
    """
    row = Row(op.name + (f" ({op.variant_test_name})" if op.variant_test_name else ""), dtype)
    signal.signal(signal.SIGALRM, _expire)
    signal.alarm(seconds)
    try:
        for call in calls(op, dtype, most):
            try:
                _measure_call(call, row)
            except OutOfTimeError:
                raise
            except Exception as error:  # op_db calls torch in ways that take no spec tensor; all are told by --show
                row.reasons[f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"] += 1
    except OutOfTimeError:
        row.reasons[f"took more than {seconds} s"] += 1
    finally:
        signal.alarm(0)
    return row


def _measure_call(call: Call, row: Row) -> None:
    leaves = [leaf for leaf in tree_flatten((call.arguments, call.named))[0] if isinstance(leaf, torch.Tensor)]
    if sum(leaf.numel() for leaf in leaves) > MOST_ENTRIES:
        row.reasons["a large sample"] += 1
        return
    # The reference first: what has no meaning need not run.
    outputs = call.function(*call.arguments, **call.named)
    results = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    if sum(result.numel() for result in results if isinstance(result, torch.Tensor)) > MOST_ENTRIES:
        row.reasons["a large sample"] += 1
        return
    differentiable = [leaf for leaf in leaves if leaf.requires_grad]
    for number, result in enumerate(results):
        if not isinstance(result, torch.Tensor) or result.dtype not in DTYPES:
            continue

        def reference(*arguments: Any, number: int = number, **named: Any) -> Any:
            found = call.function(*arguments, **named)
            return found[number] if isinstance(found, (tuple, list)) else found

        row.add(within_budget(result, reference, *call.arguments, **call.named), is_gradient=False)
        if not (differentiable and result.requires_grad):
            continue
        upstream = torch.randn_like(result)
        found = torch.autograd.grad(result, differentiable, upstream, retain_graph=True, allow_unused=True)
        budget = gradients_within_budget(found, reference, upstream, *call.arguments, of=differentiable, **call.named)
        row.add(budget, is_gradient=True)


def _expire(_: int, __: FrameType | None) -> None:
    raise OutOfTimeError


def _shown(budget: Budget | None) -> str:
    return "-" if budget is None else "inf" if math.isinf(budget.rho) else f"{budget.rho:.3f}"


def page(rows: list[Row], most: int) -> str:
    """The page with the table."""
    measured = [row for row in rows if row.compared]
    kept = sum(not row.beyond for row in measured)
    lines = [
        "# torch's own kernels against exact values",
        "",
        f"Written by `python -m benchmarks.kernels --write`; do not edit. torch {torch.__version__.partition('+')[0]},"
        " CPU, the first",
        f"{most} samples of each operation of `op_db` that has a meaning.",
        "",
        "Each number is the greatest `rho = |kernel - exact| / bound` of all entries, where the bound is what rounding",
        "explains, derived for any order of summation (`shaped/spec/scalars/running_error.py`): at most 1 for a sound",
        f"kernel. {kept} of {len(measured)} rows keep it. 0.000 is exact; - stands for no gradient.",
        "",
        "| operation | dtype | entries | output | gradient | |",
        "|---|---|---|---|---|---|",
    ]
    for row in measured:
        dtype = str(row.dtype).removeprefix("torch.")
        cells = [f"`{row.name}`", dtype, str(row.compared), _shown(row.forward), _shown(row.gradient)]
        cells.append(KNOWN.get(row.name, "") if row.beyond else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="operations whose name contains this")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=20, help="for all samples of an operation")
    parser.add_argument("--show", action="store_true", help="print why samples were not compared")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    rows = []
    for op in op_db:
        if options.only not in op.name:
            continue
        for dtype in DTYPES:
            if dtype in op.supported_dtypes("cpu"):
                row = measure(op, dtype, most=options.samples, seconds=options.seconds)
                rows.append(row)
                if row.compared:
                    print(
                        f"{row.name:44} {row.dtype!s:14} {_shown(row.forward):>8} {_shown(row.gradient):>8}", flush=True
                    )
                for text in row.beyond:
                    print(f"    beyond: {text}", flush=True)
                if options.show:
                    for reason, count in row.reasons.most_common():
                        print(f"    {count} x {row.name}: {reason}", flush=True)
    measured = [row for row in rows if row.compared]
    kept = sum(not row.beyond for row in measured)
    print(f"{len(measured)} rows, {kept} within the budget, {time.perf_counter() - start:.0f} s")
    if options.write:
        TABLE.write_text(page(rows, options.samples), encoding="utf-8")


if __name__ == "__main__":
    main()
