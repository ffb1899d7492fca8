"""Differences of expressions made into counterexamples that torch confirms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from shaped.spec.size import Size
from shaped.spec.tensor import Tensor
from shaped.verify.hazards import numeric_refutation
from shaped.verify.prove.variables import shape_at
from shaped.verify.subject import SubjectError

if TYPE_CHECKING:
    from shaped.spec.evaluation import Disagreement
    from shaped.verify.prove.judgement import Judgement
    from shaped.verify.prove.programs import Traced
    from shaped.verify.subject import Subject
    from shaped.verify.verdict import Verdict


def refuted(subject: Subject, traced: Traced | None, judgements: tuple[Judgement, ...]) -> Verdict | None:
    """A counterexample that running the program confirms, None if none is found.

    The smallest inputs are searched first; then the point is tried at which the expressions were seen to differ.
    """
    try:
        found = numeric_refutation(subject)
    except SubjectError:  # it accepts no inputs that its annotations describe
        return None
    if found is not None:
        return found
    for judgement in judgements:
        if judgement.disagreement is not None and traced is not None:
            found = _at(subject, traced, judgement.disagreement)
            if found is not None:
                return found
    return None


def _at(subject: Subject, traced: Traced, point: Disagreement) -> Verdict | None:
    """The counterexample at one point, if torch finds a fault there."""
    inputs = tuple(
        _tensor(name.name, value, point) if isinstance(value, Tensor) else _whole(value, point)
        for name, value in zip(subject.inputs, traced.inputs.values)
    )
    if any(value is None and isinstance(symbol, Tensor) for value, symbol in zip(inputs, traced.inputs.values)):
        return None
    try:
        return numeric_refutation(subject, *inputs)
    except (SubjectError, RuntimeError, ValueError, IndexError):  # torch refuses the point
        return None


def _whole(value: object, point: Disagreement) -> object:
    """A size as its number at a point; anything else as it is."""
    if not isinstance(value, Size):
        return value
    sizes = {symbol: point.sizes.get(symbol.name, 1) for symbol in value.dim.symbols()}
    return value.dim.evaluate(sizes)


def _tensor(name: str, symbol: Tensor, point: Disagreement) -> torch.Tensor | None:
    """A tensor of torch with the values of a point; None if it has none."""
    sizes = {each: point.sizes.get(each.name) for dim in symbol.sizes for each in dim.symbols()}
    known = {each: size for each, size in sizes.items() if size is not None}
    names = [f"{name}.{part}" for part in ("real", "imag")] if symbol.kind == "complex" else [name]
    found = [point.values[each] for each in names if each in point.values]
    if len(found) < len(names) or len(known) < len(sizes):
        return None
    kind = {"int": int, "bool": bool}.get(symbol.kind, float)
    parts = [torch.tensor(each.astype(kind)).reshape(shape_at(symbol.sizes, known)) for each in found]
    return torch.complex(*parts) if len(parts) > 1 else parts[0]
