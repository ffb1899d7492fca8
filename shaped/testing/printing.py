"""How Hypothesis prints the tensors of a failing example: in full, as text that makes them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis.vendor.pretty import for_type_by_name

from shaped.testing.literal import literal

if TYPE_CHECKING:
    from hypothesis.vendor.pretty import RepresentationPrinter
    from torch import Tensor


def _print(x: Tensor, printer: RepresentationPrinter, cycle: bool) -> None:
    printer.text(literal(x))


def print_tensors_as_literals() -> None:
    """Let Hypothesis print tensors as Python text: torch's own text cuts digits and cannot be run."""
    for_type_by_name("torch", "Tensor", _print)
    for_type_by_name("torch.nn.parameter", "Parameter", _print)
