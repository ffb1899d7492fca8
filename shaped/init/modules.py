"""`init_module`: every parameter of a module, in place, to the same bits everywhere."""

from __future__ import annotations

import sys
from typing import TypeVar

import torch
from torch import nn

from shaped.init.overlap import overlaps_itself, shared_elements
from shaped.init.parametrized import originals_for
from shaped.init.places import Slot
from shaped.init.plan import Seeds, listed, planned
from shaped.init.rules import RuleError, Rules
from shaped.init.vectorised_rounding import FORMATS

Module = TypeVar("Module", bound=nn.Module)

# Known by name, so that nothing of torch.distributed is imported: a module that has such parameters imported it.
_DISTRIBUTED = (
    ("torch.distributed.tensor", "DTensor"),
    ("torch.distributed.fsdp._flat_param", "FlatParameter"),
)


def init_module(module: Module, rules: Rules, seed: int = 0, *, seeds: Seeds = "names") -> Module:
    """Initialise all parameters of a module in place; gives the module.

    What a parameter gets depends on the scheme, its shape, the seed and its name: not on the device, the other
    parameters, or torch's random state. Buffers keep their values, parameters their `requires_grad`. All is decided
    before the first write: after an error the module is as it was.

    Args:
        module: any module. Tied weights are drawn once, by their first name. A parametrized tensor
            (`torch.nn.utils.parametrize`) is drawn as if it had been before it was parametrized.
        rules: a scheme for all weights (see `shaped.init.rule_sets.weights` for what biases and norms get); or patterns
            and schemes in order, as a mapping or a sequence of `Rule`, of which the first that matches a parameter
            decides (see `Rule`).
        seed: the seed of the model.
        seeds: `names` draws each parameter from `parameter_seed(seed, name)`; `reference` from TorchLean's stream, of
            which each linear layer takes two seeds.

    Raises:
        RuleError: parameters that no rule decides, rules that decide nothing, parameters that cannot be drawn.
        SchemeError: a seed that is no int.

    >>> from shaped.init import KaimingUniform, XavierUniform, Zeros
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> model = init_module(model, XavierUniform(), seed=0)
    >>> model[2].weight
    Parameter containing:
    tensor([[ 0.7470, -0.2966, -1.0599]], requires_grad=True)
    >>> model = init_module(model, {"*.bias": Zeros(), "2.*": XavierUniform(), nn.Linear: KaimingUniform()}, seed=0)
    """
    plan = planned(module, rules, seed, seeds)
    _require_writable([slot for slot, _ in plan])
    with torch.no_grad():
        computed = [(slot, originals_for(slot, draw)) for slot, draw in plan if slot.parametrizations is not None]
        for slot, originals in computed:
            for parameter, value in zip(slot.parameters, originals):
                parameter.copy_(value)
        for slot, draw in plan:
            if slot.parametrizations is None:
                draw.fill_(slot.parameters[0])
    return module


def _require_writable(found: list[Slot]) -> None:
    problems = [
        f"{slot.place.name} {problem}"
        for slot in found
        for problem in sorted({_problem(parameter) for parameter in slot.parameters})
        if problem
    ]
    problems = problems or shared_elements(found)
    if problems:
        raise RuleError(listed("init_module", problems))


def _problem(parameter: nn.Parameter) -> str:
    """Why the values of a parameter cannot be set; empty if they can."""
    for module, name in _DISTRIBUTED:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(parameter, kind):
            return f"is distributed ({name}): initialise before it is, or write each shard of `plan_module`"
    if parameter.is_meta:
        return "is on the meta device, which has no memory: call module.to_empty(device=...) first"
    if parameter.layout != torch.strided:
        return f"has the layout {parameter.layout}: make it dense, or give it Keep()"
    if parameter.dtype not in FORMATS:
        return f"is {parameter.dtype}, one of {', '.join(map(str, FORMATS))} is needed: give it Keep()"
    if parameter.is_inference() and not torch.is_inference_mode_enabled():
        return "was made in inference mode: make the module outside of it"
    if overlaps_itself(parameter):
        return "has several elements that are one number in memory: make it contiguous"
    return ""
