"""A compiled update is torch's single-tensor optimiser, whatever its settings."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.optim import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop

from tests.runtime.compiled.training import Twins, perceptron

RATES = st.floats(1e-4, 0.1)
DECAYS = st.just(0.0) | st.floats(1e-4, 0.5)
SHARES = st.floats(0.0, 0.99)
EPS = st.floats(1e-10, 1e-2)
BETAS = st.tuples(SHARES, SHARES)
# What may change between steps, and what is for the whole run: torch keeps no moments for what is turned on later.
CHANGING: dict[type[Optimizer], dict[str, st.SearchStrategy[Any]]] = {
    SGD: {"momentum": st.floats(0.1, 0.99), "dampening": SHARES},
    Adam: {"betas": BETAS, "eps": EPS},
    AdamW: {"betas": BETAS, "eps": EPS},
    RMSprop: {"alpha": SHARES, "eps": EPS},
    Adagrad: {"lr_decay": DECAYS, "eps": EPS},
}
FIXED: dict[type[Optimizer], dict[str, st.SearchStrategy[Any]]] = {
    SGD: {},
    Adam: {"amsgrad": st.booleans()},
    AdamW: {"amsgrad": st.booleans()},
    RMSprop: {"momentum": st.just(0.0) | SHARES, "centered": st.booleans()},
    Adagrad: {"initial_accumulator_value": DECAYS},
}


def changing(kind: type[Optimizer]) -> dict[str, st.SearchStrategy[Any]]:
    return {"lr": RATES, "weight_decay": DECAYS, "maximize": st.booleans(), **CHANGING[kind]}


@st.composite
def runs(draw: st.DrawFn) -> tuple[type[Optimizer], dict[str, Any], list[dict[str, Any]]]:
    """An optimiser, its settings, and what changes of them before each of the later steps."""
    kind = draw(st.sampled_from(list(CHANGING)))
    chosen = draw(st.fixed_dictionaries({**changing(kind), **FIXED[kind]}))
    if kind is SGD:
        form = draw(st.sampled_from(["plain", "damped", "nesterov"]))
        if form == "plain":
            chosen["momentum"] = 0.0
        elif form == "nesterov":
            chosen.update(nesterov=True, dampening=0.0)
    later = changing(kind)
    if kind is SGD and chosen["momentum"] == 0:
        del later["momentum"]
    changes = draw(st.lists(st.fixed_dictionaries({}, optional=later), min_size=2, max_size=3))
    return kind, chosen, changes


@settings(max_examples=20, deadline=None)
@given(run=runs())
def test_steps_are_those_of_torch_to_the_bit_though_settings_change(
    run: tuple[type[Optimizer], dict[str, Any], list[dict[str, Any]]],
) -> None:
    kind, chosen, changes = run
    generator = torch.Generator().manual_seed(1)
    x, y = torch.randn(6, 3, generator=generator), torch.randn(6, 1, generator=generator)
    make: Any = kind
    twins = Twins(perceptron(3, 4, 1), nn.MSELoss(), lambda p: make(p, foreach=False, **chosen), (x, y), "python")
    for changed in [{}, *changes]:
        for optimizer in (twins.optimizer, twins.optimizer_by_hand):
            optimizer.param_groups[0].update(changed)
        compiled, by_hand = twins.train(x, y)
        assert torch.equal(compiled, by_hand)
        twins.assert_equal()
