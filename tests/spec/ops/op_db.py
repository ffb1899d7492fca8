"""torch's own samples, `op_db`: for each operation with a rule the calls that torch tests, and those it must refuse."""

from __future__ import annotations

import functools
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from shaped.spec.op import Op, find_op
from tests.spec.ops.against_torch import VIEWS, Comparison, Outcome, View, compare, resolve

DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64, torch.float16, torch.uint8)

# The entries of these functions take the second argument first.
SWAPPED = {
    "nn.functional.embedding",
    "nn.functional.embedding_bag",
    "einsum",
    "polygamma",
    "special.polygamma",
    "where",
}


@dataclass(frozen=True)
class Call:
    """One way to call a sample: torch's name and function, and the operation that has the rule."""

    name: str
    operation: Op
    function: Callable[..., Any]
    in_place: bool
    swapped: bool


@dataclass
class Score:
    """What the comparisons of one operation gave."""

    name: str
    samples: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    symbolic: Counter[Outcome] = field(default_factory=Counter)
    errors: Counter[Outcome] = field(default_factory=Counter)
    defects: list[Comparison] = field(default_factory=list)
    missed: list[Comparison] = field(default_factory=list)

    def add(self, comparison: Comparison) -> None:
        """Count a comparison of a sample."""
        (self.outcomes if comparison.view == View.name else self.symbolic)[comparison.outcome] += 1
        if comparison.outcome.is_defect:
            self.defects.append(comparison)


@functools.cache
def entries() -> tuple[Any, ...]:
    """The entries of `op_db`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db

    return tuple(op_db)


def calls(entry: Any) -> list[Call]:
    """The ways to call the samples of an entry that have a rule: as a function, a method, and in place."""
    found: dict[str, Call] = {}
    names = {entry.name, *(alias.name for alias in entry.aliases)}
    for name in sorted(names):
        for torch_name in (f"torch.{name}", f"Tensor.{name}", f"Tensor.{name}_"):
            operation = find_op(torch_name)
            if operation is None:
                continue
            in_place = torch_name.endswith("_") and not name.endswith("_")
            if in_place and entry.inplace_variant is None:
                continue
            swapped = torch_name.removeprefix("torch.") in SWAPPED and not torch_name.startswith("Tensor.")
            found[torch_name] = Call(torch_name, operation, resolve(torch_name), in_place, swapped)
    return list(found.values())


def entries_with_rules() -> list[Any]:
    """The entries of which at least one call has a rule."""
    return [entry for entry in entries() if calls(entry)]


def samples(entry: Any, limit: int | None = None, most_dtypes: int = len(DTYPES)) -> Iterator[Any]:
    """The sample inputs of an entry, of the first of DTYPES that it takes; `limit` of them a dtype at most."""
    for dtype in [dtype for dtype in DTYPES if dtype in entry.dtypes][:most_dtypes]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield from itertools.islice(entry.sample_inputs("cpu", dtype), limit)
        except (RuntimeError, AssertionError, ImportError):
            # A generator that needs what is not installed has no samples here.
            continue


def error_samples(entry: Any) -> Iterator[Any]:
    """The inputs that torch must refuse."""
    if entry.error_inputs_func is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from entry.error_inputs("cpu")


def is_about_shapes(message: str) -> bool:
    """Whether an error of torch is about shapes or dtypes: not about values, devices or options, nor a TypeError, which
    is mypy's to find."""
    return _SHAPES.search(message) is not None and _OTHERS.search(message) is None


_SHAPES = re.compile(
    r"siz|shape|dim|dtype|type|axis|axes|rank|broadcast|element|numel|length|same|\d-?D\b", re.IGNORECASE
)
_OTHERS = re.compile(
    r"^TypeError|memory|probab|sparse|layout|device|autograd|requires_grad|\binf\b|\bnan\b"
    r"|expects (lambda|sigma|std|p) |lambda must|out of bounds"
)


def title(entry: Any) -> str:
    """The entry's name with its variant."""
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else str(entry.name)


def score(entry: Any, limit: int | None = None, most_dtypes: int = len(DTYPES), *, quick: bool = False) -> Score:
    """The score of an entry over its samples and error inputs; `quick` forgets sizes in one way to call it only."""
    result = Score(title(entry))
    ways = calls(entry)
    for sample in samples(entry, limit, most_dtypes):
        result.samples += 1
        for way in ways:
            views = (View,) if quick and way is not ways[0] else VIEWS
            for comparison in compare(way.operation, way.function, *_arguments(sample, way), views, way.name):
                # What torch refuses among its samples is refused for want of a kernel: no fault of shape or dtype.
                if comparison.outcome not in (Outcome.MISSED, Outcome.REFUSED):
                    result.add(comparison)
    score_errors(entry, result)
    return result


def score_errors(entry: Any, result: Score) -> None:
    """Count the error inputs of an entry, those about shapes or dtypes, for the first way to call it."""
    way = calls(entry)[0]
    for error in error_samples(entry):
        args, kwargs = _arguments(error.sample_input, way)
        if "out" in kwargs:
            continue
        for comparison in compare(way.operation, way.function, args, kwargs, (View,), way.name):
            if not is_about_shapes(comparison.torch):
                continue
            if comparison.outcome is Outcome.MISSED:
                result.missed.append(comparison)
            if comparison.outcome.is_defect:
                result.defects.append(comparison)
            result.errors[comparison.outcome] += 1


def _arguments(sample: Any, way: Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
    first = sample.input.clone() if way.in_place and isinstance(sample.input, torch.Tensor) else sample.input
    args = (first, *sample.args)
    return ((args[1], args[0], *args[2:]) if way.swapped else args), dict(sample.kwargs)
