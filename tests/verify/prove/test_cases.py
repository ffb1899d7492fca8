"""What `prove` says of reported bugs: the right forms are proved, of the wrong ones only what no real number tells."""

from __future__ import annotations

import pytest

from shaped.verify.files import load_module
from shaped.verify.prove import prove
from shaped.verify.prove.proof import RAISES
from shaped.verify.verdict import Level
from tests.verify.test_cases import FILES, arguments, surrogate

REPORTED = {file.stem[:3]: file for file in FILES if file.stem[:3].isdigit()}
QUICK = ("004", "009", "011", "015", "016", "024", "026", "033", "041", "050", "051", "053")
# Wrong in floats, or in the gradient of the gradient, and right over the reals on all of the forward's domain.
RIGHT_OVER_THE_REALS = frozenset(["025", "033", "051"])
# A loop over the entries of an integer tensor that keeps the last write of each.
NOT_PROVED = frozenset(["038"])
NUMBERS = [pytest.param(number, marks=[pytest.mark.slow] * (number not in QUICK)) for number in REPORTED]


@pytest.fixture(autouse=True)
def _internal_errors_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RAISES, "1")


@pytest.mark.parametrize("number", NUMBERS)
def test_the_right_form_is_proved(number: str) -> None:
    case = load_module(REPORTED[number])
    verdict = prove(*arguments(case, "right"), gradient_of=surrogate(case))
    assert verdict.ok is (number not in NOT_PROVED), verdict.explain()
    assert verdict.level is not Level.REFUTED


@pytest.mark.parametrize("number", NUMBERS)
def test_the_wrong_form_is_not_proved_where_the_forward_is_defined(number: str) -> None:
    case = load_module(REPORTED[number])
    verdict = prove(*arguments(case, "wrong"), gradient_of=surrogate(case))
    alone = any("required by the backward alone" in text for text in verdict.domain)
    assert (verdict.ok and not alone) is (number in RIGHT_OVER_THE_REALS), verdict.explain()
