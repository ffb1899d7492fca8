"""Deterministic initialisers: the same bits on every machine, device and number of shards.

The names here are loaded when they are first used: the plain Python rendering, which is the specification, needs no
torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# Loaded at once: their modules have their names, and would stand here in their place as soon as one is imported.
from shaped.init.fans import fans as fans
from shaped.init.fans import with_fans as with_fans
from shaped.init.splitmix64 import splitmix64 as splitmix64

if TYPE_CHECKING:
    from shaped.init.modules import init_module as init_module
    from shaped.init.places import Place as Place
    from shaped.init.plan import Draw as Draw
    from shaped.init.plan import plan_module as plan_module
    from shaped.init.pytorch_defaults import PYTORCH_DEFAULTS as PYTORCH_DEFAULTS
    from shaped.init.rule_sets import TORCHLEAN as TORCHLEAN
    from shaped.init.rule_sets import gpt2 as gpt2
    from shaped.init.rule_sets import weights as weights
    from shaped.init.rules import ExceptRows as ExceptRows
    from shaped.init.rules import Keep as Keep
    from shaped.init.rules import Rule as Rule
    from shaped.init.rules import RuleError as RuleError
    from shaped.init.rules import constant as constant
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
    from shaped.init.tensors import fill_ as fill_
    from shaped.init.tensors import kaiming_w as kaiming_w
    from shaped.init.tensors import tensor as tensor
    from shaped.init.tensors import xavier_w as xavier_w

_HOMES = {
    **dict.fromkeys(["fans", "with_fans"], "shaped.init.fans"),
    **dict.fromkeys(["sample_at"], "shaped.init.sampling"),
    **dict.fromkeys(
        ["KaimingUniform", "Normal", "Ones", "Scheme", "SchemeError", "Uniform", "XavierUniform", "Zeros"],
        "shaped.init.schemes",
    ),
    **dict.fromkeys(["next_seed", "parameter_seed"], "shaped.init.seeds"),
    **dict.fromkeys(["rand01", "splitmix64"], "shaped.init.splitmix64"),
    **dict.fromkeys(["fill_", "kaiming_w", "tensor", "xavier_w"], "shaped.init.tensors"),
    **dict.fromkeys(["init_module"], "shaped.init.modules"),
    **dict.fromkeys(["Place"], "shaped.init.places"),
    **dict.fromkeys(["Draw", "plan_module"], "shaped.init.plan"),
    **dict.fromkeys(["PYTORCH_DEFAULTS"], "shaped.init.pytorch_defaults"),
    **dict.fromkeys(["TORCHLEAN", "gpt2", "weights"], "shaped.init.rule_sets"),
    **dict.fromkeys(["ExceptRows", "Keep", "Rule", "RuleError", "constant"], "shaped.init.rules"),
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
