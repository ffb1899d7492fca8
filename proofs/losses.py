"""Losses that compare elements, for every reduction, with and without weights."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_REDUCTIONS = ("mean", "sum", "none")
_PAIR = {"input": "n m", "target": "n m"}

THEOREMS = [
    Theorem(name, _PAIR | {"reduction": reduction})
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy_with_logits")
    for reduction in _REDUCTIONS
]
THEOREMS += [
    Theorem(name, _PAIR | {"weight": "n m", "reduction": reduction})
    for name in ("mse_loss", "l1_loss", "huber_loss")
    for reduction in _REDUCTIONS
]
THEOREMS += [
    Theorem("mse_loss", {"input": "n m", "target": "m"}, "the target is broadcast"),
    Theorem("smooth_l1_loss", _PAIR | {"beta": 0.25}),
    Theorem("smooth_l1_loss", _PAIR | {"beta": 0.0}),
    Theorem("huber_loss", _PAIR | {"delta": 0.25}),
    Theorem("kl_div", _PAIR | {"reduction": "batchmean"}),
    Theorem("kl_div", _PAIR | {"reduction": "batchmean", "log_target": True}),
    Theorem("binary_cross_entropy_with_logits", _PAIR | {"weight": "m"}),
    Theorem("binary_cross_entropy_with_logits", _PAIR | {"pos_weight": "m"}),
    Theorem("binary_cross_entropy_with_logits", _PAIR | {"weight": "n m", "pos_weight": "m", "reduction": "sum"}),
]
THEOREMS += [
    Theorem(name, _PAIR | {"reduction": reduction})
    for name in ("soft_margin_loss", "poisson_nll_loss")
    for reduction in _REDUCTIONS
]
THEOREMS += [
    Theorem("poisson_nll_loss", _PAIR | {"full": True}),
    Theorem("poisson_nll_loss", _PAIR | {"log_input": False}),
    Theorem("gaussian_nll_loss", _PAIR | {"var": "n m"}),
    Theorem("gaussian_nll_loss", _PAIR | {"var": "n", "reduction": "sum"}),
    Theorem("gaussian_nll_loss", _PAIR | {"var": "n 1", "full": True}),
]
