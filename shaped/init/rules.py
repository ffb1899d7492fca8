"""Rules: which scheme each parameter of a module is drawn by. The first rule that matches a parameter decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeAlias, TypeVar, get_args

from torch import nn

from shaped.init.places import Place
from shaped.init.schemes import Scheme, SchemeError, Uniform, Zeros, valid_int


class RuleError(SchemeError):
    """Rules and a module that do not fit together: for which parameters, and what to do."""


ZEROS = Zeros()
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Keep:
    """The parameter keeps the values that it has."""


@dataclass(frozen=True)
class ExceptRows:
    """`scheme`, but `rows` in the rows from `start` up to, not including, `stop`. Fans are those of the whole tensor.

    For the padding row of an embedding, or one gate of a recurrent layer:

    >>> ExceptRows(Uniform(), 0, 1)
    ExceptRows(scheme=Uniform(low=0.0, high=1.0), start=0, stop=1, rows=Zeros())
    """

    scheme: Scheme
    start: int
    stop: int
    rows: Scheme = ZEROS

    def __post_init__(self) -> None:
        for scheme in (self.scheme, self.rows):
            _require_decision("ExceptRows", scheme, Scheme)
        start, stop = valid_int("ExceptRows: start", self.start), valid_int("ExceptRows: stop", self.stop)
        if not 0 <= start <= stop:
            raise RuleError(f"ExceptRows: start is {self.start}, stop is {self.stop}: 0 <= start <= stop is needed")


Decision: TypeAlias = Scheme | ExceptRows | Keep
Choice: TypeAlias = Decision | Callable[[Place], Decision | None]
Pattern: TypeAlias = str | type[nn.Module] | tuple[type[nn.Module], str] | Callable[[Place], bool]


@dataclass(frozen=True)
class Rule:
    """The parameters that `pattern` matches are drawn by `scheme`.

    Args:
        pattern: one of
            a glob on the full name, `"blocks.*.attn.*.weight"`: `*` stands for any characters, dots too, and `*.` at
            the start for nothing as well, so `"*.bias"` is each bias of a model, and the bias of a single layer;
            a type of module, `nn.Linear`: all parameters that such a module, or a subclass, holds itself;
            a type and a glob on the parameter's own name, `(nn.Linear, "weight")`;
            a function of the place that says whether it matches.
        scheme: a scheme, `ExceptRows`, `Keep()`, or a function of the place that gives one of these, or None to leave
            the decision to the rules that follow.
        may_be_unused: it is no error if the rule decides about no parameter. For rule sets, which serve many models.

    >>> Rule("*.bias", Zeros()).matches(Place("fc.bias", "bias", nn.Linear(1, 1), (1,)))
    True
    """

    pattern: Pattern
    scheme: Choice
    may_be_unused: bool = False

    def __post_init__(self) -> None:
        match self.pattern:
            case str() | (type(), str()):
                pass
            case type() as kind if issubclass(kind, nn.Module):
                pass
            case nn.Module() as module:
                name = type(module).__name__
                raise RuleError(f"Rule: the pattern is a module of type {name}: give the type, {name}")
            case pattern if not isinstance(pattern, type) and callable(pattern):
                pass
            case pattern:
                raise RuleError(
                    f"Rule: the pattern is {pattern!r}: a glob on names, a type of module, (type, glob) or a function "
                    "is needed"
                )
        if not callable(self.scheme) or isinstance(self.scheme, type):
            _require_decision(f"Rule({self.described()})", self.scheme, Decision)

    def matches(self, place: Place) -> bool:
        """Whether the rule is about the parameter at this place."""
        match self.pattern:
            case str(glob):
                return fnmatchcase(place.name, glob) or (glob.startswith("*.") and fnmatchcase(place.name, glob[2:]))
            case (kind, own_glob):
                return isinstance(place.module, kind) and fnmatchcase(place.own_name, own_glob)
            case type() as kind:
                return isinstance(place.module, kind)
            case predicate:
                return bool(self._asked(predicate, place))

    def decide(self, place: Place) -> Decision | None:
        """What the rule says about a parameter that it matches."""
        if not callable(self.scheme):
            return self.scheme
        decision = self._asked(self.scheme, place)
        if decision is not None:
            _require_decision(f"Rule({self.described()}): the function's answer for {place.name}", decision, Decision)
        return decision

    def _asked(self, function: Callable[[Place], Answer], place: Place) -> Answer:
        try:
            return function(place)
        except Exception as error:  # the user's own; it arrives as it is
            error.add_note(f"Rule({self.described()}): its function was given the `Place` of {place.name}")
            raise

    def described(self) -> str:
        """The pattern as it stands in messages."""
        match self.pattern:
            case str(glob):
                return repr(glob)
            case (kind, own_glob):
                return f"({kind.__name__}, {own_glob!r})"
            case pattern:
                return getattr(pattern, "__name__", repr(pattern))


Rules: TypeAlias = Scheme | Mapping[Pattern, Choice] | Sequence[Rule]


def constant(value: float) -> Scheme:
    """All elements `value`.

    >>> constant(0.25)
    Uniform(low=0.25, high=0.25)
    """
    return Uniform(value, value)


def _require_decision(where: str, given: object, wanted: object) -> None:
    kinds = get_args(wanted)
    if isinstance(given, kinds):
        return
    if isinstance(given, type) and issubclass(given, kinds):
        raise RuleError(f"{where}: the class {given.__name__} is no scheme: {given.__name__}() is")
    raise RuleError(f"{where}: {given!r} is none of {', '.join(kind.__name__ for kind in kinds)}")
