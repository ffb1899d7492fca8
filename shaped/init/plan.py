"""The plan of a module: how each of its parameters is drawn, before anything is written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import torch
from torch import nn

from shaped.init import tensors
from shaped.init.fans import interval, with_fans
from shaped.init.places import Place, Slot, slots
from shaped.init.rule_sets import weights
from shaped.init.rules import Decision, ExceptRows, Keep, Rule, RuleError, Rules
from shaped.init.schemes import (
    KaimingUniform,
    Normal,
    Ones,
    Scheme,
    SchemeError,
    Uniform,
    XavierUniform,
    Zeros,
    valid_int,
    valid_scheme,
)
from shaped.init.seeds import parameter_seed, reference_stream

if TYPE_CHECKING:
    from torch import Tensor

Seeds: TypeAlias = Literal["names", "reference"]


@dataclass(frozen=True)
class Draw:
    """How a parameter is drawn: by which scheme, its fans filled in, and from which seed.

    >>> Draw(Ones(), seed=0, shape=(2, 2), rows=(1, 2, Zeros())).tensor()
    tensor([[1., 1.],
            [0., 0.]])
    """

    scheme: Scheme
    seed: int
    shape: tuple[int, ...]
    rows: tuple[int, int, Scheme] | None = None

    def fill_(self, out: Tensor) -> Tensor:
        """Write all elements into a tensor of this shape, in place."""
        tensors.fill_(out, self.scheme, self.seed)
        if self.rows is not None:
            start, stop, scheme = self.rows
            offset = start * math.prod(self.shape[1:])
            tensors.fill_(out[start:stop], scheme, self.seed, offset=offset)
        return out

    def tensor(self, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu") -> Tensor:
        """The whole parameter."""
        return self.fill_(torch.empty(self.shape, dtype=dtype, device=device))

    def shard(
        self, offset: int, count: int, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> Tensor:
        """The elements at the flat indices from `offset` on, `count` of them, without the others.

        >>> Draw(Uniform(), seed=7, shape=(4, 3)).shard(3, 6).equal(Draw(Uniform(), 7, (4, 3)).tensor()[1:3].flatten())
        True
        """
        whole = tensors.tensor(self.scheme, self.shape, self.seed, dtype, device, offset=offset, count=count)
        if self.rows is not None:
            first_row, last_row, scheme = self.rows
            size = math.prod(self.shape[1:])
            start, stop = max(offset, first_row * size), last_row * size
            if start < stop:  # a slice ends where the shard does
                tensors.fill_(whole[start - offset : stop - offset], scheme, self.seed, offset=start)
        return whole


def plan_module(module: nn.Module, rules: Rules, seed: int = 0, *, seeds: Seeds = "names") -> dict[str, Draw]:
    """How `init_module` with the same arguments draws each parameter, by name; nothing is written.

    The module may be on the meta device, or distributed, so that each rank draws its own shard:

    >>> with torch.device("meta"):
    ...     model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    >>> plan = plan_module(model, XavierUniform(), seed=1)
    >>> plan["0.weight"].scheme
    XavierUniform(fan_in=3, fan_out=4)
    >>> plan["0.weight"].shard(offset=6, count=3).shape
    torch.Size([3])

    Raises:
        RuleError: parameters that no rule decides, rules that decide nothing, a scheme that a parameter cannot have.
        SchemeError: a seed that is no int.
    """
    return {slot.place.name: draw for slot, draw in planned(module, rules, seed, seeds)}


def planned(module: nn.Module, rules: Rules, seed: int, seeds: Seeds) -> list[tuple[Slot, Draw]]:
    """The parameters to be written, and how each is drawn."""
    if not isinstance(module, nn.Module):
        raise RuleError(f"init_module: module is a {type(module).__name__}: a torch.nn.Module is needed")
    seed = valid_int("init_module: seed", seed)
    if seeds not in get_args(Seeds):
        raise SchemeError(f"init_module: seeds is {seeds!r}: one of {', '.join(get_args(Seeds))} is needed")
    found = slots(module)
    _require_shapes(found)
    decisions = _decisions(found, _as_rules(rules))
    reference = _reference_seeds(module, seed) if seeds == "reference" else None
    plan: list[tuple[Slot, Draw]] = []
    problems: list[str] = []
    for slot, decision in zip(found, decisions):
        if isinstance(decision, Keep):
            continue
        try:
            plan.append((slot, _draw(slot.place, decision, seed, reference)))
        except SchemeError as fault:
            problems.append(f"{_described(slot.place)}: {fault}")
    if problems:
        raise RuleError(listed("init_module: a scheme does not fit", problems))
    return plan


def _as_rules(rules: Rules) -> Sequence[Rule]:
    if isinstance(rules, Scheme):
        return weights(rules)
    if isinstance(rules, Mapping):
        return [Rule(pattern, scheme) for pattern, scheme in rules.items()]
    given: object = rules
    if isinstance(given, Sequence) and all(isinstance(rule, Rule) for rule in given) and not isinstance(given, str):
        return rules
    if isinstance(given, type) and issubclass(given, Scheme):
        valid_scheme("init_module: rules", given)
    raise RuleError(
        f"init_module: rules is {rules!r}: a scheme, a mapping of patterns to schemes, or a sequence of Rule is needed"
    )


def _decisions(found: list[Slot], rules: Sequence[Rule]) -> list[Decision]:
    """What the first rule that decides says about each parameter."""
    decisions: list[Decision] = []
    undecided: list[str] = []
    used: set[int] = set()
    for slot in found:
        for number, rule in enumerate(rules):
            if rule.matches(slot.place):
                used.add(number)
                decision = rule.decide(slot.place)
                if decision is not None:
                    decisions.append(decision)
                    break
        else:
            undecided.append(_described(slot.place))
    unused = [
        f"{rule.described()} {_why_unused(rule, found)}"
        for number, rule in enumerate(rules)
        if number not in used and not rule.may_be_unused and rule.pattern != "*"  # for the rest, if there is any
    ]
    faults: list[str] = []
    if undecided:
        advice = "add rules for them; Rule('*', Keep()) as the last one leaves them as they are"
        faults.append(listed("init_module: no rule decides", undecided, advice))
    if unused:
        faults.append(listed("init_module: a rule decides nothing", unused))
    if faults:
        raise RuleError("\n".join(faults))
    return decisions


def _why_unused(rule: Rule, found: list[Slot]) -> str:
    for slot in found:
        if rule.matches(slot.place):
            return f"matches {slot.place.name}, but an earlier rule decides: put it first"
        for alias in slot.aliases:
            if rule.matches(alias):
                return f"matches {alias.name}, which is {slot.place.name}: tied weights go by their first name"
    similar = get_close_matches(str(rule.pattern), [slot.place.name for slot in found], n=1)
    return "matches no parameter" + (f": is {similar[0]!r} meant?" if similar else "")


def _draw(
    place: Place, decision: Scheme | ExceptRows, seed: int, reference: Mapping[tuple[nn.Module, str], int] | None
) -> Draw:
    rows = None
    if isinstance(decision, ExceptRows):
        count = place.shape[0] if place.shape else 0
        if decision.stop > count:
            raise SchemeError(f"ExceptRows: rows {decision.start} to {decision.stop} of {count}")
        rows = decision.start, decision.stop, with_fans(decision.rows, place.shape)
        decision = decision.scheme
    scheme = with_fans(decision, place.shape)
    if reference is None:
        own_seed = parameter_seed(seed, place.name)
    elif (place.module, place.own_name) in reference:
        own_seed = reference[place.module, place.own_name]
    elif _is_constant(scheme) and (rows is None or _is_constant(rows[2])):
        own_seed = 0
    else:
        raise SchemeError("the reference's stream has seeds for linear layers only: seeds='names' has one for each")
    return Draw(scheme, own_seed, place.shape, rows)


def _reference_seeds(module: nn.Module, seed: int) -> dict[tuple[nn.Module, str], int]:
    """TorchLean's seeds: each linear layer takes two, in the order of the modules, whether or not it has a bias."""
    stream = reference_stream(seed)
    layers = [layer for layer in module.modules() if isinstance(layer, nn.Linear)]
    return {(layer, name): next(stream) for layer in layers for name in ("weight", "bias")}


def _is_constant(scheme: Scheme) -> bool:
    """Whether all elements are equal, whatever the seed."""
    match scheme:
        case Zeros() | Ones() | Normal(std=0):
            return True
        case Uniform() | XavierUniform() | KaimingUniform():
            return interval(scheme)[1] == 0
    return False


def _require_shapes(found: list[Slot]) -> None:
    lazy = [slot.place for slot in found if any(isinstance(one, nn.UninitializedParameter) for one in slot.parameters)]
    if lazy:
        advice = "run the model once on an input of the right shape, then initialise it"
        raise RuleError(listed("init_module: a lazy module has no shape yet", [place.name for place in lazy], advice))


def _described(place: Place) -> str:
    return f"{place.name} ({type(place.module).__name__}, shape {place.shape})"


def listed(fault: str, items: list[str], advice: str = "") -> str:
    """`fault: item`, or one line for each of several items; then the advice."""
    if len(items) == 1:
        return f"{fault}: {items[0]}" + (f"; {advice}" if advice else "")
    return "\n    ".join([f"{fault}:", *items]) + (f"\n{advice}" if advice else "")
