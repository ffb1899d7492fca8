"""The seed of each parameter of a model, from one seed of the model."""

from __future__ import annotations

from collections.abc import Iterator

from shaped.init.schemes import SchemeError, valid_int
from shaped.init.splitmix64 import splitmix64
from shaped.spec.splitmix64 import GAMMA


def parameter_seed(seed: int, name: str) -> int:
    """The seed of the parameter `name` in a model of seed `seed`: the name's bytes are folded in, eight at a time.

    It depends on nothing else: a layer that is added or moved leaves the others as they were, and models of
    neighbouring seeds share nothing.

    >>> hex(parameter_seed(0, "fc1.weight"))
    '0x1c6e19ea854f7e4c'
    """
    if not isinstance(name, str):
        raise SchemeError(f"parameter_seed: name is {name!r}: the name of a parameter is needed")
    state = splitmix64(valid_int("seed", seed))
    encoded = name.encode()
    for start in range(0, len(encoded), 8):
        state = splitmix64(state ^ int.from_bytes(encoded[start : start + 8], "little"))
    return splitmix64(state ^ len(encoded))


def next_seed(seed: int, count: int) -> int:
    """The seed that TorchLean gives to the draw number `count` of a model of seed `seed`.

    Kept for models that have to have TorchLean's numbers. `next_seed(0, 1) == next_seed(1, 0)`: models of neighbouring
    seeds share weights, which `parameter_seed` avoids.

    >>> next_seed(0, 0)
    7960286522194355700
    """
    return splitmix64(valid_int("seed", seed) + valid_int("count", count) + GAMMA)


def reference_stream(seed: int) -> Iterator[int]:
    """The seeds that TorchLean draws for a model of seed `seed`, one after the other: a linear layer takes two.

    >>> stream = reference_stream(0)
    >>> next(stream), next(stream)
    (7960286522194355700, 13757245211066428519)
    """
    count = 0
    while True:
        yield next_seed(seed, count)
        count += 1
