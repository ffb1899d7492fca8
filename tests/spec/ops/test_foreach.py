"""Operations on lists of tensors against torch."""

from __future__ import annotations

import torch

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN, Many, TensorType
from tests.spec.ops.against_torch import check

b, n = Dim.name("b"), Dim.name("n")


def test_each_tensor_keeps_its_shape() -> None:
    tensors = [torch.ones(2), torch.ones(3, 4)]
    for name, *arguments in [("add", 1.0), ("mul", tensors), ("sqrt",), ("neg",), ("maximum", tensors)]:
        check(f"torch._foreach_{name}", tensors, *arguments)
        check(f"torch._foreach_{name}_", tensors, *arguments)


def test_a_list_that_is_not_counted_stays_one() -> None:
    operation = find_op("torch._foreach_neg")
    assert operation is not None
    result = operation.apply(Context(), [Many(TensorType.of(b), n)], {})
    assert isinstance(result, Many)
    assert str(result.element) == "(b,)"
    assert operation.apply(Context(), [UNKNOWN], {}) is UNKNOWN
