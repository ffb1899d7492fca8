"""Every theorem in `proofs/` holds, at the level that the ledger says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shaped.verify.checking import check
from shaped.verify.ledger import read_certificates, stated
from shaped.verify.theorem import AnyTheorem, ScanTheorem
from shaped.verify.verdict import ACCEPTED

PROOFS = Path(__file__).parents[2] / "proofs"
THEOREMS = [theorem for _, theorem in stated(PROOFS)]
_ROW = re.compile(r"^\| `(?P<statement>.+?)`(?: \(.*?\))? \| (?P<level>\w+) \|", re.MULTILINE)
LEVELS = {row["statement"]: row["level"] for row in _ROW.finditer((PROOFS / "LEDGER.md").read_text(encoding="utf-8"))}
# Those that take seconds: cells with packed gates, and normalisations over small groups.
SLOW = ("gru_cell", "lstm_cell", "group_norm(input=(b 6")


def marked(theorem: AnyTheorem) -> object:
    """A theorem as a test, in the slow tier where it takes seconds."""
    is_slow = any(name in theorem.statement for name in SLOW)
    return pytest.param(theorem, id=theorem.statement, marks=[pytest.mark.slow] if is_slow else [])


@pytest.mark.parametrize("theorem", list(map(marked, THEOREMS)))
def test_a_theorem_holds_as_the_ledger_says(theorem: AnyTheorem) -> None:
    verdict = check(theorem).verdict
    assert verdict.level in ACCEPTED, verdict.explain()
    assert verdict.level.value == LEVELS.get(theorem.statement), "run `shaped prove proofs`"


def test_almost_all_is_proved_for_every_size() -> None:
    assert len(THEOREMS) > 500
    assert list(LEVELS.values()).count("proved") >= 0.98 * len(THEOREMS)


def test_recurrent_networks_are_proved_by_induction() -> None:
    scans = [theorem.name for theorem in THEOREMS if isinstance(theorem, ScanTheorem)]
    assert {"elman_step", "gru_cell", "lstm_cell"} <= set(scans)


@pytest.mark.slow
def test_every_certificate_holds_at_points_that_were_never_used() -> None:
    for certificate in read_certificates(PROOFS):
        agreement = certificate.check(seed=12345)
        assert agreement.holds, f"{certificate.statement}: {agreement}"
