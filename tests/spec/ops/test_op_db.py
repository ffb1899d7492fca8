"""Every rule against torch's own samples."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spec.ops.against_torch import Outcome
from tests.spec.ops.op_db import entries_with_rules, score, title

# Error inputs that torch refuses for what is no shape or dtype: values, devices, memory formats, names of options.
LEAST_REJECTED = 0.7


@pytest.mark.parametrize("entry", entries_with_rules(), ids=title)
def test_a_rule_never_contradicts_torch_on_its_first_samples(entry: Any) -> None:
    defects = score(entry, limit=2, most_dtypes=1, quick=True).defects
    assert not defects, "\n".join(map(str, defects[:10]))


@pytest.mark.slow
def test_a_rule_never_contradicts_torch_on_any_sample() -> None:
    scores = [score(entry) for entry in entries_with_rules()]
    defects = [defect for one in scores for defect in one.defects]
    assert not defects, "\n".join(map(str, defects[:50]))
    refused = sum(one.errors[Outcome.REFUSED] for one in scores)
    assert refused >= LEAST_REJECTED * sum(one.errors.total() for one in scores)
