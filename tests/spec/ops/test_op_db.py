"""Every rule against torch's own samples."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spec.ops.against_torch import Outcome
from tests.spec.ops.op_db import Score, entries_with_rules, score, score_errors, title

# What is missed of the error inputs about shapes and dtypes: tensors of more than 64 axes, strides beyond the storage,
# axes of size 0, and the dtypes of a bias.
LEAST_REJECTED = 0.9


@pytest.mark.parametrize("entry", entries_with_rules(), ids=title)
def test_a_rule_never_contradicts_torch_on_its_first_samples(entry: Any) -> None:
    defects = score(entry, limit=2, most_dtypes=1, quick=True).defects
    assert not defects, "\n".join(map(str, defects[:10]))


@pytest.mark.slow
def test_a_rule_never_contradicts_torch_on_any_sample() -> None:
    scores = [score(entry) for entry in entries_with_rules()]
    defects = [defect for one in scores for defect in one.defects]
    assert not defects, "\n".join(map(str, defects[:50]))


def test_what_torch_refuses_for_its_shapes_or_dtypes_is_refused() -> None:
    total = Score("all entries")
    for entry in entries_with_rules():
        score_errors(entry, total)
    assert not total.defects, "\n".join(map(str, total.defects))
    assert total.errors[Outcome.REFUSED] >= LEAST_REJECTED * total.errors.total(), "\n".join(map(str, total.missed))
