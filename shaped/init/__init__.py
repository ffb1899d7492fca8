"""Deterministic initialisers: the same bits on every machine, device and number of shards.

The names here are loaded when they are first used: the plain Python rendering, which is the specification, needs no
torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaped.init.fans import fans as fans
    from shaped.init.sampling import sample_at as sample_at
    from shaped.init.schemes import KaimingUniform as KaimingUniform
    from shaped.init.schemes import Normal as Normal
    from shaped.init.schemes import Ones as Ones
    from shaped.init.schemes import Scheme as Scheme
    from shaped.init.schemes import SchemeError as SchemeError
    from shaped.init.schemes import Uniform as Uniform
    from shaped.init.schemes import XavierUniform as XavierUniform
    from shaped.init.schemes import Zeros as Zeros
    from shaped.init.seeds import next_seed as next_seed
    from shaped.init.seeds import parameter_seed as parameter_seed
    from shaped.init.splitmix64 import rand01 as rand01
    from shaped.init.splitmix64 import splitmix64 as splitmix64
    from shaped.init.tensors import kaiming_w as kaiming_w
    from shaped.init.tensors import tensor as tensor
    from shaped.init.tensors import xavier_w as xavier_w

_HOMES = {
    **dict.fromkeys(["fans"], "shaped.init.fans"),
    **dict.fromkeys(["sample_at"], "shaped.init.sampling"),
    **dict.fromkeys(
        ["KaimingUniform", "Normal", "Ones", "Scheme", "SchemeError", "Uniform", "XavierUniform", "Zeros"],
        "shaped.init.schemes",
    ),
    **dict.fromkeys(["next_seed", "parameter_seed"], "shaped.init.seeds"),
    **dict.fromkeys(["rand01", "splitmix64"], "shaped.init.splitmix64"),
    **dict.fromkeys(["kaiming_w", "tensor", "xavier_w"], "shaped.init.tensors"),
}

__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
