"""Running a program on bounded tensors instead of tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx
from torch._ops import OpOverload

from shaped.runtime.compiled.program import Program
from shaped.runtime.compiled.rounding.bounded import Bounded, Terms, given, number, rounded
from shaped.runtime.compiled.rounding.formats import NoFormat, format_of
from shaped.runtime.compiled.rounding.movement import bounded_in, moved, viewed, with_tensors
from shaped.runtime.compiled.rounding.rules import MOVEMENTS, RULES

# Where a result lies says nothing of its value.
_NOT_OF_VALUES = frozenset({"device", "layout", "pin_memory", "memory_format", "non_blocking"})


class NotBounded(Exception):
    """An operation whose rounding has no bound here.

    Args:
        operation: its name.
        reason: why, if not for want of a rule.
    """

    def __init__(self, operation: str, reason: str = "its rounding is not described") -> None:
        super().__init__(f"{operation} has no error bound: {reason}")
        self.operation = operation
        self.reason = reason


@dataclass(frozen=True)
class Evaluated:
    """What every sound kernel comes to.

    Args:
        outputs: the outputs of the program.
        held: what its held tensors contain afterwards.
    """

    outputs: list[Bounded]
    held: dict[fx.Node, Bounded]


def evaluate(program: Program, values: Mapping[fx.Node, Tensor | Bounded | float]) -> Evaluated:
    """Compute a program in 64 bits, with bounds on what any sound kernels of its dtypes may differ.

    It is computed on the CPU, whatever device the tensors are on; they are not written to.

    Args:
        values: of each placeholder: the numbers that kernels get, exactly. A held tensor that already is off by a
            bound, after other steps, is given as `Bounded`.

    >>> x = torch.tensor([1.0, 2.0, 3.0])
    >>> from torch.fx.experimental.proxy_tensor import make_fx
    >>> graph = make_fx(lambda x: (x.sum().exp(),), tracing_mode="fake")(x).graph
    >>> (input,) = graph.find_nodes(op="placeholder")
    >>> (output,) = evaluate(Program(graph, (input,), {}), {input: x}).outputs
    >>> print(f"{output.value:.3f} {output.bound:.0e}")
    403.429 6e-04

    Raises:
        NotBounded: an operation has no rule, draws random numbers, or has a dtype without error bounds.
        ValueError: a placeholder has no value, or one of another shape.
    """
    with torch.no_grad():
        return _Evaluation(program, values).result()


class _Evaluation:
    def __init__(self, program: Program, values: Mapping[fx.Node, Tensor | Bounded | float]) -> None:
        self.program = program
        self.known: dict[fx.Node, Any] = {}
        for node in program.graph.nodes:
            if node.op in ("placeholder", "get_attr"):
                self.known[node] = _start(node, values)

    def result(self) -> Evaluated:
        held = {node: self.known[node] for node in self.program.held}
        last = {used: node for node in self.program.graph.nodes for used in node.all_input_nodes}
        leaving: dict[fx.Node, list[fx.Node]] = {}
        for used, user in last.items():
            leaving.setdefault(user, []).append(used)
        for node in self.program.operations:
            self.known[node] = self._computed(node)
            for used in leaving.get(node, ()):
                del self.known[used]
        return Evaluated([self.known[node] for node in self.program.outputs], held)

    def _computed(self, node: fx.Node) -> Any:
        args: Any = fx.map_arg(node.args, self.known.__getitem__)
        kwargs: Any = fx.map_arg(dict(node.kwargs), self.known.__getitem__)
        if node.target is operator.getitem:
            return args[0][args[1]]
        if not isinstance(node.target, OpOverload):
            raise NotBounded(str(node.target), "only aten's operations are known")
        try:
            return self._operation(
                node, node.target, args, {name: one for name, one in kwargs.items() if name not in _NOT_OF_VALUES}
            )
        except NoFormat as error:
            raise NotBounded(str(node.target), str(error)) from error

    def _operation(self, node: fx.Node, target: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if any(each.alias_info and not each.alias_info.is_write for each in target._schema.returns):
            if any(isinstance(each, torch.dtype) for each in args):
                raise NotBounded(str(target), "it reads the bits of numbers")
            return viewed(node, target, args, kwargs)
        made = node.meta["val"]
        name = target._schema.name.removeprefix("aten::")
        if not name.endswith("_"):
            result = _functional(target, name, args, kwargs, made)
            return _finished(result, made, _memories([*args, *kwargs.values()]))
        # What is written is what the operation without the last letter gives.
        result = _functional(target, name[:-1], args, kwargs, made)
        written: Bounded = args[0]
        self._forget_least(written)
        written.write(result)
        return written

    def _forget_least(self, written: Bounded) -> None:
        """A lower bound of what the memory of a tensor had before says nothing of what is written to it."""
        memory = written.value.untyped_storage().data_ptr()
        for each in bounded_in(list(self.known.values())):
            if each.least > -math.inf and each.value.untyped_storage().data_ptr() == memory:
                each.least = -math.inf


def _start(node: fx.Node, values: Mapping[fx.Node, Tensor | Bounded | float]) -> Bounded | float:
    if node not in values:
        raise ValueError(f"no value is given for the placeholder {node.name}")
    value = values[node]
    if isinstance(value, (int, float)):
        return float(value)
    shape = tuple(value.value.shape if isinstance(value, Bounded) else value.shape)
    made = node.meta.get("val")
    if isinstance(made, Tensor) and tuple(made.shape) != shape:
        raise ValueError(f"{node.name} has the shape {shape}, but the program is of {tuple(made.shape)}")
    if isinstance(value, Bounded):
        new = Bounded(value.value.clone(), value.bound.clone(), value.format)
    else:
        try:
            new = given(value)
        except NoFormat as error:
            raise NotBounded(node.name, str(error)) from error
    return _laid_out(new, made) if isinstance(made, Tensor) else new


def _functional(target: OpOverload, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], made: object) -> Any:
    """What an operation gives, as a new tensor."""
    overload = target._schema.overload_name or "default"
    full = f"{name}.{overload}"
    if name in MOVEMENTS or full in MOVEMENTS:
        return moved(_without_writing(target, name, overload), args, kwargs)
    results = [each for each in (made if isinstance(made, (list, tuple)) else [made]) if isinstance(each, Tensor)]
    used = list(bounded_in([*args, *kwargs.values()]))
    if (
        used
        and not any(each.format.is_float for each in used)
        and all(format_of(each.dtype).unit == 0 for each in results)
    ):
        return _of_integers(_without_writing(target, name, overload), args, kwargs)
    rule = RULES.get(full, RULES.get(name))
    if rule is None:
        is_random = torch.Tag.nondeterministic_seeded in target.tags
        raise NotBounded(str(target), *(["it draws random numbers"] if is_random else []))
    floats = [each.dtype for each in results if each.is_floating_point()]
    return rule(format_of((floats or [each.dtype for each in results])[0]), *args, **kwargs)


def _without_writing(target: OpOverload, name: str, overload: str) -> OpOverload:
    """The operation that gives what one that ends in `_` writes."""
    if target._schema.name == f"aten::{name}":
        return target
    functional: OpOverload = getattr(getattr(torch.ops.aten, name), overload)
    return functional


def _of_integers(target: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Integers and truth values, computed as they are; what depends on an undecided one is undecided."""

    def value(each: Bounded) -> Tensor:
        return each.value

    used = list(bounded_in([*args, *kwargs.values()]))
    made = target(*with_tensors(args, value), **{name: with_tensors(one, value) for name, one in kwargs.items()})

    def result(one: Tensor) -> Bounded:
        bound = torch.zeros(one.shape, dtype=torch.float64)
        if not all(each.is_exact for each in used):
            entry_by_entry = torch.Tag.pointwise in target.tags or target is torch.ops.aten._to_copy.default
            for each in used:
                bound = bound + (each.bound if entry_by_entry else math.inf)
        return Bounded(one, bound, format_of(one.dtype))

    return [result(one) for one in made] if isinstance(made, (list, tuple)) else result(made)


def _memories(arguments: object) -> frozenset[int]:
    """Where tensors have their numbers."""
    return frozenset(each.untyped_storage().data_ptr() for one in bounded_in(arguments) for each in _tensors(one))


def _tensors(one: Bounded) -> Iterator[Tensor]:
    yield one.value
    yield one.bound
    if one.terms:
        yield one.terms.magnitude
        yield one.terms.error


def _finished(result: Any, made: Any, memories: frozenset[int]) -> Any:
    """Results in their own memory, in the dtypes and with the strides that the program's tensors have."""
    results: Iterable[Bounded | None] = [result] if result is None or isinstance(result, Bounded) else result
    if isinstance(made, Tensor):
        return _finished_one(next(iter(results)), made, memories)
    return [None if like is None else _finished_one(each, like, memories) for each, like in zip(results, made)]


def _finished_one(each: Bounded | None, like: Tensor, memories: frozenset[int]) -> Bounded:
    to = format_of(like.dtype)
    if each is None:  # it means nothing
        value = torch.zeros(tuple(like.shape), dtype=torch.float64 if to.is_float else like.dtype)
        each = Bounded(value, torch.full(value.shape, math.inf, dtype=torch.float64), to)
    each = rounded(number(each, to), to) if to.is_float else each
    if tuple(each.bound.shape) != tuple(each.value.shape):
        each.bound = each.bound.expand(each.value.shape).clone()
    if _memories(each) & memories:
        of = each.terms
        terms = of and Terms(of.roundings, of.magnitude.clone(), of.error.clone())
        each = Bounded(each.value.clone(), each.bound.clone(), each.format, terms, each.least)
    return _laid_out(each, like)


def _laid_out(each: Bounded, like: Tensor) -> Bounded:
    """The same tensor, with the strides of the program's."""
    if tuple(each.value.shape) != tuple(like.shape):
        raise RuntimeError(f"a rule gives the shape {tuple(each.value.shape)}, and torch {tuple(like.shape)}")

    def laid_out(values: Tensor) -> Tensor:
        same = all(a == b or size == 1 for a, b, size in zip(values.stride(), like.stride(), like.shape))
        if same or not values.numel() or 0 in like.stride():
            return values
        return torch.empty_strided(tuple(like.shape), like.stride(), dtype=values.dtype).copy_(values)

    each.value, each.bound = laid_out(each.value), laid_out(each.bound)
    if each.terms:
        each.terms = Terms(each.terms.roundings, laid_out(each.terms.magnitude), laid_out(each.terms.error))
    return each
