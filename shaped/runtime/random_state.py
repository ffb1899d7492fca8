"""The states of the random generators: what has to be put back for random numbers to go on where they were.

A state is plain data (tensors, numbers, tuples), so that it can be read with `torch.load(..., weights_only=True)`. The
hundreds of words of a Mersenne twister are kept as one tensor, which is written faster than as many numbers.
"""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch


def capture() -> dict[str, Any]:
    """The states of the generators of torch, its devices in use, Python, and numpy where it is loaded."""
    version, words, gauss = random.getstate()
    state: dict[str, Any] = {"torch": torch.get_rng_state(), "python": (version, torch.tensor(words), gauss)}
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]  # torch's own
        state["cuda"] = torch.cuda.get_rng_state_all()
    if torch.backends.mps.is_available():
        state["mps"] = torch.mps.get_rng_state()
    if numpy := sys.modules.get("numpy"):
        name, key, *rest = numpy.random.get_state()
        state["numpy"] = (name, torch.tensor(key.tolist()), *rest)
    return state


def problems(state: object) -> list[str]:
    """Why `restore` would not take a state; nothing is changed."""
    if not isinstance(state, Mapping):
        return [f"the random state is a {type(state).__name__}, not a dict"]
    found = []
    trials: dict[str, Callable[[Any], object]] = {
        "torch": lambda value: torch.Generator().set_state(value),
        "python": lambda value: random.Random().setstate(_python(value)),
        "numpy": lambda value: _numpy().RandomState().set_state(_with_words(value)),
    }
    for name, trial in trials.items():
        if name not in state:
            if name != "numpy":
                found.append(f"the random state of {name} is missing")
            continue
        try:
            trial(state[name])
        except Exception as error:  # whatever the generator says
            found.append(f"the random state of {name} is refused: {error}")
    return found


def restore(state: Mapping[str, Any]) -> None:
    """Put back the states that `capture` gave.

    States of devices that this machine does not have are left out.
    """
    torch.set_rng_state(state["torch"])
    random.setstate(_python(state["python"]))
    if "numpy" in state:
        _numpy().set_state(_with_words(state["numpy"]))
    if "cuda" in state and torch.cuda.is_available():
        for device, one in zip(range(torch.cuda.device_count()), state["cuda"]):
            torch.cuda.set_rng_state(one, device)
    if "mps" in state and torch.backends.mps.is_available():
        torch.mps.set_rng_state(state["mps"])


def _with_words(state: Sequence[Any]) -> tuple[Any, ...]:
    """A state whose second part is the words as numbers again."""
    first, words, *rest = state
    return first, words.tolist(), *rest


def _python(state: Sequence[Any]) -> tuple[Any, ...]:
    """The state as Python's generator takes it."""
    version, words, gauss = _with_words(state)
    return version, tuple(words), gauss


def _numpy() -> Any:
    """numpy.random, which a run that is resumed may not have loaded yet."""
    return importlib.import_module("numpy.random")
