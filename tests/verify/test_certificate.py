"""A certificate is checked without a prover: numbers, and the chain rule on numbers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from shaped.spec.meaning import MEANINGS, load
from shaped.spec.tensor import Tensor, variable
from shaped.verify.certificate import Certificate, certify


def certificate(claim: Tensor, output: Tensor, name: str = "x") -> Certificate:
    """The claim that `claim` is the gradient of `output` by x."""
    (found,) = certify("test", [output], [GRAD], {name: X}, {name: claim})
    return found


load()
X = variable("x", ("b", "c"))
GRAD = variable("grad", ("b", "c"))
SOFTMAX = X.softmax(-1)
RIGHT = SOFTMAX * (GRAD - (GRAD * SOFTMAX).sum(-1, keepdim=True))


def test_a_right_claim_holds_at_points_that_were_compared() -> None:
    agreement = certificate(RIGHT, SOFTMAX).check()
    assert agreement.holds
    assert agreement.points > 0


def test_a_wrong_claim_does_not_hold_and_shows_where() -> None:
    agreement = certificate(GRAD * SOFTMAX * (1 - SOFTMAX), SOFTMAX).check()
    assert not agreement.holds
    assert agreement.disagreement is not None
    assert set(agreement.disagreement.sizes) == {"b", "c"}


@pytest.mark.parametrize("wrong", ["factor", "sign", "term", "axis"])
def test_each_kind_of_wrong_claim_is_found(wrong: str) -> None:
    mean = (GRAD * SOFTMAX).sum(-1, keepdim=True)
    claims = {
        "factor": RIGHT * 2,
        "sign": SOFTMAX * (GRAD + mean),
        "term": SOFTMAX * GRAD,
        "axis": SOFTMAX * (GRAD - (GRAD * SOFTMAX).sum(0, keepdim=True)),
    }
    assert certificate(claims[wrong], SOFTMAX).check().disagreement is not None


def test_it_does_not_use_the_prover(monkeypatch: pytest.MonkeyPatch) -> None:
    from shaped.spec.canonical import equality, forms

    def refuse(*_: object) -> None:
        raise AssertionError("the check of a certificate must not ask the prover")

    claim = certificate(RIGHT, SOFTMAX)
    for module, name in ((forms, "adjoint"), (forms, "canonical"), (equality, "compare")):
        monkeypatch.setattr(module, name, refuse)
    assert claim.check().holds


def test_what_was_written_is_what_is_read() -> None:
    claim = replace(certificate(RIGHT, SOFTMAX), domain=("c != 0",))
    read = Certificate.from_data(json.loads(json.dumps(claim.to_data())))
    assert (read.statement, read.domain) == ("test, x", ("c != 0",))
    assert str(read.claimed) == str(claim.claimed)
    assert read.check(seed=3).holds


def test_a_text_that_is_no_certificate_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a statement, a domain and a graph"):
        Certificate.from_data({"statement": "x"})


def test_a_claim_about_nothing_that_is_defined_is_no_check() -> None:
    nowhere = MEANINGS["log"].entry(X * 0)
    agreement = certificate(GRAD, nowhere).check()
    assert not agreement.holds
    assert agreement.disagreement is None


def test_a_complex_gradient_has_a_certificate_for_each_part() -> None:
    z, grad = variable("z", ("n",), "complex"), variable("grad", ("n",), "complex")
    found = list(certify("square", [z * z], [grad], {"z": z}, {"z": grad * 2 * z.conj()}))
    assert len(found) == 2
    assert all(each.check().holds for each in found)
    wrong = list(certify("square", [z * z], [grad], {"z": z}, {"z": grad * 2 * z}))
    assert any(each.check().disagreement is not None for each in wrong)
