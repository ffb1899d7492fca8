"""The checker knows the shapes of what the data functions give, and they are those at run time."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from shaped.runtime.data import causal_mask, combine_masks, digits, pad_sequence, pad_targets, padding_mask
from shaped.static.check import Checker
from tests.static.oracle import notes

PROGRAM = """\
import torch
from shaped import reveal_shape
from shaped.runtime.data import causal_mask, combine_masks, digits, mnist, pad_sequence, pad_targets, padding_mask
sequences = [torch.zeros(3, 4), torch.zeros(3, 4)]
lengths = torch.tensor([3, 2])
padding = padding_mask(lengths, 3, true_means="keep")
"""
NAMES = {
    **{one.__name__: one for one in (causal_mask, combine_masks, digits, pad_sequence, pad_targets, padding_mask)},
    "torch": torch,
    "sequences": [torch.zeros(3, 4), torch.zeros(3, 4)],
    "lengths": torch.tensor([3, 2]),
    "padding": padding_mask(torch.tensor([3, 2]), 3, true_means="keep"),
}


@pytest.mark.parametrize(
    "expression, shape",
    [
        ("digits()[0].images", "n 1 8 8"),
        ("digits(seed=1)[1].labels", "n"),
        ("causal_mask(5, true_means='mask')", "1 5 5"),
        ("padding", "2 1 3"),
        ("combine_masks(padding, causal_mask(3, true_means='keep'), true_means='keep')", "2 3 3"),
        ("pad_sequence(sequences, padding=0)[0]", "2 3 4"),
        ("pad_sequence(sequences, padding=0)[1]", "2"),
    ],
)
def test_a_shape_is_known_and_is_that_at_run_time(expression: str, shape: str, tmp_path: Path) -> None:
    report = Checker(show_traceback=True).check(tmp_path / "a.py", f"{PROGRAM}reveal_shape({expression})\n")
    assert [found for _, found in notes(report)] == [shape]
    value = eval(expression, dict(NAMES))
    dims = shape.split()
    assert len(dims) == value.dim()
    assert all(not dim.isdigit() or int(dim) == size for dim, size in zip(dims, value.shape))


def test_mnist_has_its_size() -> None:
    report = Checker(show_traceback=True).check(Path("a.py").absolute(), f"{PROGRAM}reveal_shape(mnist('.').images)\n")
    assert [found for _, found in notes(report)] == ["n 1 28 28"]


def test_an_image_of_another_size_is_an_error() -> None:
    program = f"{PROGRAM}torch.nn.Linear(63, 10)(digits()[0].images.flatten(1))\n"
    (error,) = Checker(show_traceback=True).check(Path("a.py").absolute(), program).diagnostics
    assert "64" in error.message
    assert "63" in error.message
