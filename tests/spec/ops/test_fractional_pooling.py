"""Pooling over windows at random places, against torch."""

from __future__ import annotations

import pytest
import torch

from tests.spec.ops.against_torch import Outcome, check, check_exact


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_an_output_of_a_given_size_has_it(count: int, batch: tuple[int, ...]) -> None:
    x = torch.ones(*batch, 3, *[9] * count)
    name = f"torch.nn.functional.fractional_max_pool{count}d"
    check_exact(name, x, 2, output_size=4)
    check_exact(name, x, 2, output_size=(4, 5, 3)[:count])
    check_exact(name, x, 2, output_size=4, return_indices=True)
    check_exact(f"{name}_with_indices", x, 2, output_size=4)


@pytest.mark.parametrize("count", [2, 3])
def test_a_part_of_the_input_is_not_counted(count: int) -> None:
    x = torch.ones(1, 3, *[9] * count)
    ratio = (0.5,) * count
    assert check(f"torch.nn.functional.fractional_max_pool{count}d", x, 2, output_ratio=ratio) is Outcome.UNKNOWN
