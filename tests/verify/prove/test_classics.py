"""The closed forms of the field are proved, for every size and value."""

from __future__ import annotations

import pytest

from shaped.verify.prove import prove
from shaped.verify.prove.proof import RAISES
from shaped.verify.verdict import Level
from tests.verify.prove.classics import CLASSICS

# Those that take a second or more.
SLOW = frozenset(
    """
    layer_norm batch_norm group_norm swiglu attention attention_flash attention_with_bias attention_causal
    lstm_cell gru_cell conv1d_strided conv2d_padded mlp cross_entropy_smoothed cross_entropy_ignoring
    """.split()  # noqa: SIM905  (a column of quoted names reads worse)
)
# What the backward needs and the forward does not: each divides by what it could do without.
DOMAINS = {
    "cosine_similarity": ("(sum over i < d of a[i, i]^2) != 0", "(sum over i < d of b[i, i]^2) != 0"),
    "cumprod": ("x[i] != 0",),
}


@pytest.fixture(autouse=True)
def _internal_errors_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RAISES, "1")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CLASSICS])
def test_a_closed_form_is_proved(name: str) -> None:
    verdict = prove(*CLASSICS[name])
    assert verdict.level is Level.PROVED, verdict.explain()
    alone = [text for text in verdict.domain if text.endswith("(required by the backward alone)")]
    assert len(alone) == len(DOMAINS.get(name, ())), verdict.domain
    assert "not confirmed by running it" not in verdict.notes
