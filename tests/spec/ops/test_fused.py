"""Operations that do the work of several, against torch."""

from __future__ import annotations

import pytest
import torch

from shaped.errors import ShapeError
from tests.spec.ops.against_torch import check, check_exact, check_refused
from tests.spec.ops.shapes import apply, b, n, of, shape_of

OFFSETS = torch.tensor([16, 32], dtype=torch.int32)


@pytest.mark.parametrize(
    ("left", "right", "offsets"),
    [
        ((2, 16, 8), (2, 8, 24), None),
        ((32, 16), (2, 16, 24), OFFSETS),
        ((2, 16, 8), (8, 32), OFFSETS),
        ((16, 32), (32, 24), OFFSETS),
    ],
)
@pytest.mark.parametrize("name", ["torch.nn.functional.grouped_mm", "torch._grouped_mm"])
def test_groups_are_multiplied(
    name: str, left: tuple[int, ...], right: tuple[int, ...], offsets: torch.Tensor | None
) -> None:
    operands = [torch.ones(shape, dtype=torch.bfloat16) for shape in (left, right)]
    check_exact(name, *operands, offs=offsets)


def test_groups_of_other_inner_sizes_are_refused() -> None:
    left, right = torch.ones(2, 16, 8, dtype=torch.bfloat16), torch.ones(2, 16, 24, dtype=torch.bfloat16)
    check_refused("torch.nn.functional.grouped_mm", left, right)


def test_scaled_matrices_are_multiplied() -> None:
    left = torch.ones(16, 32).to(torch.float8_e4m3fn)
    right = torch.ones(48, 32).to(torch.float8_e4m3fn).t()
    one = torch.tensor(1.0)
    check_exact("torch._scaled_mm", left, right, one, one, out_dtype=torch.bfloat16)
    assert shape_of("torch.nn.functional.scaled_mm", of(b, 32), of(32, n), of(), 0, of(), 0) == "(b, n)"


def test_a_convolution_over_time() -> None:
    check_exact("torch.conv_tbc", torch.ones(9, 2, 3), torch.ones(4, 3, 5), torch.ones(5), 1)
    check_exact("torch.nn.functional.conv_tbc", torch.ones(9, 2, 3), torch.ones(1, 3, 5), torch.ones(5))
    check_refused("torch.conv_tbc", torch.ones(9, 2, 3), torch.ones(4, 4, 5), torch.ones(5), 1)


def test_a_loss_of_a_projection() -> None:
    name = "torch.nn.functional.linear_cross_entropy"
    x, weight, target = torch.ones(7, 3), torch.ones(5, 3), torch.zeros(7, dtype=torch.int64)
    for reduction in ("mean", "sum", "none"):
        check_exact(name, x, weight, target, reduction=reduction)
        check_exact(name, x[0], weight, target[0], reduction=reduction)
    check(name, torch.ones(7, 3), torch.ones(5, 2, 3), torch.zeros(7, 2, dtype=torch.int64))
    check_refused(name, x, torch.ones(5, 4), target)
    with pytest.raises(ShapeError):
        apply(name, of(b, 3), of(5, 3), of(n))


def test_channels_are_shuffled() -> None:
    check_exact("torch.nn.functional.native_channel_shuffle", torch.ones(1, 6, 2, 2), 3)
