"""No wrong formula is proved: mutants of the closed forms, judged by torch."""

from __future__ import annotations

import pytest

from benchmarks.prover_mutants import judged, mutants, sample
from shaped.verify.verdict import Level
from tests.verify.prove import classics

QUICK = ("matmul", "softmax", "silu", "mse", "linear", "broadcast_product")


def check(name: str, most: int) -> int:
    """How many mutants of a closed form are wrong; none of these may be proved."""
    forward, _ = classics.CLASSICS[name]
    wrong = 0
    for mutant in sample({name: classics.CLASSICS[name]}, vars(classics), most):
        outcome = judged(mutant, forward)
        if outcome is not None:
            wrong += outcome.is_wrong
            assert not outcome.is_unsound, f"{name}, {mutant.change}: {outcome.level}, {outcome.domain}"
            if not outcome.is_wrong:
                assert outcome.level is not Level.REFUTED, f"{name}, {mutant.change}"
    return wrong


@pytest.mark.parametrize("name", QUICK)
def test_no_wrong_mutant_is_proved(name: str) -> None:
    assert check(name, 4) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", classics.CLASSICS)
def test_no_wrong_mutant_of_many_is_proved(name: str) -> None:
    check(name, 40)


def test_mutants_change_what_is_computed() -> None:
    found = list(mutants("softmax", classics.softmax_backward, vars(classics)))
    assert len(found) > 10
    assert len({mutant.change for mutant in found}) > 10
