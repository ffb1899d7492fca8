"""Is a wrong formula ever proved? Mutants of the closed forms of the field, judged by torch.

Each mutant changes one place of a backward: an operator, a sign, a constant, an axis, a name, a missing factor. torch
says whether it is wrong, at random inputs in float64 against autograd. A wrong mutant that is proved is unsound; a
right one that is not proved, a gap.

    python -m benchmarks.prover_mutants [NAME...] [--most 1000] [--seed 0]
"""

from __future__ import annotations

import argparse
import ast
import copy
import inspect
import itertools
import random
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from shaped.verify.prove.cases import cases
from shaped.verify.prove.programs import Program
from shaped.verify.prove.proof import Proof
from shaped.verify.samples import draw_upstream
from shaped.verify.subject import Subject
from shaped.verify.trials import generic_samples
from shaped.verify.verdict import Level

_SAMPLES = 3  # inputs at which torch judges a mutant
# float64 computes the closed forms to about 1e-12, but torch multiplies ints by floats in float32, which errs by 6e-8;
# constants are changed by 1e-6.
_TOLERANCE = 1e-7
_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.Div),
    ast.Div: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.Pow: (ast.Mult,),
}
_METHODS = {
    "sum": ("mean", "amax"),
    "mean": ("sum",),
    "sigmoid": ("tanh", "exp"),
    "tanh": ("sigmoid",),
    "exp": ("sigmoid",),
    "rsqrt": ("sqrt",),
    "softmax": ("sigmoid",),
    "erf": ("tanh",),
    "flip": ("clone",),
    "T": ("clone",),
}


@dataclass(frozen=True)
class Mutant:
    """One changed backward.

    Args:
        name: the closed form.
        change: what was changed, with the line within the function.
        backward: the changed function.
    """

    name: str
    change: str
    backward: Callable[..., Any]


@dataclass(frozen=True)
class Outcome:
    """What torch and the prover say of one mutant."""

    mutant: Mutant
    is_wrong: bool
    level: Level
    domain: tuple[str, ...]
    seconds: float

    @property
    def is_unsound(self) -> bool:
        """Whether a formula that torch finds wrong was proved, on all of the forward's domain."""
        alone = any("required by the backward alone" in text for text in self.domain)
        return self.is_wrong and self.level in (Level.PROVED, Level.EXACT) and not alone


def mutants(name: str, backward: Callable[..., Any], scope: dict[str, Any]) -> Iterator[Mutant]:
    """All mutants of one backward."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(backward)))
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    nodes = list(ast.walk(tree))
    names = sorted({node.id for node in nodes if isinstance(node, ast.Name)} & set(_local_names(function)))
    for place, node in enumerate(nodes):
        for change, mutate in _changes(node, names):
            copied = copy.deepcopy(tree)
            target = list(ast.walk(copied))[place]
            mutate(target)
            ast.fix_missing_locations(copied)
            own = dict(scope)
            exec(compile(copied, f"<mutant of {name}>", "exec"), own)
            line = getattr(node, "lineno", 0)
            yield Mutant(name, f"line {line}: {change}", own[function.name])


def _local_names(function: ast.FunctionDef) -> list[str]:
    assigned = [
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return [argument.arg for argument in function.args.args] + assigned


def _changes(node: ast.AST, names: list[str]) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """The changes of one node: what each is, and the function that makes it in a copy."""
    match node:
        case ast.BinOp(op=operator):
            for other in _OPERATORS.get(type(operator), ()):
                yield f"{type(operator).__name__} to {other.__name__}", _setting("op", other())
            yield "the right operand left out", _replacing_by("left")
            yield "the left operand left out", _replacing_by("right")
        case ast.UnaryOp(op=ast.USub()):
            yield "a sign left out", _setting("op", ast.UAdd())
        case ast.Constant(value=bool(value)):
            yield f"{value} to {not value}", _setting("value", not value)
        case ast.Constant(value=int(value)):
            yield f"{value} to {value + 1}", _setting("value", value + 1)
            if value:
                yield f"{value} to {-value}", _setting("value", -value)
        case ast.Constant(value=float(value)):
            yield f"{value} to {value + 1e-6}", _setting("value", value + 1e-6)
            yield f"{value} to {2 * value}", _setting("value", 2 * value)
        case ast.Attribute(attr=name) if name in _METHODS:
            for other in _METHODS[name]:
                yield f"{name} to {other}", _setting("attr", other)
        case ast.Name(id=name, ctx=ast.Load()) if name in names:
            for other in names:
                if other != name:
                    yield f"{name} to {other}", _setting("id", other)
        case ast.Compare(ops=[ast.GtE()]):
            yield ">= to >", _setting("ops", [ast.Gt()])


def _setting(field: str, value: object) -> Callable[[Any], None]:
    return lambda node: setattr(node, field, value)


def _replacing_by(side: str) -> Callable[[Any], None]:
    """Keep one operand of a binary operation: times 1 would do it, but leaves no trace of the other."""

    def mutate(node: Any) -> None:
        kept = getattr(node, side)
        node.left, node.op, node.right = kept, ast.Mult(), ast.Constant(1)

    return mutate


def judged(mutant: Mutant, forward: Callable[..., Any]) -> Outcome | None:
    """What torch and the prover say of a mutant; None if torch cannot run it."""
    try:
        is_wrong = _is_wrong(Subject.of(forward, mutant.backward))
    except Exception:  # the mutant is no program
        return None
    start = time.perf_counter()
    program = Program.of(forward, mutant.backward)
    outcome = Proof(program).outcome(next(iter(cases(program.signature, (1,)))))
    return Outcome(mutant, is_wrong, outcome.level, outcome.domain, time.perf_counter() - start)


def _is_wrong(subject: Subject) -> bool:
    """Whether the gradients differ from autograd's at random inputs in float64."""
    for number, inputs in enumerate(_inputs(subject)):
        outputs = subject.outputs(inputs)
        upstream = draw_upstream(outputs, number)
        found, expected = subject.run(inputs, upstream), subject.reference(inputs, upstream)
        for one, other in zip(found.gradients, expected):
            if other is None:
                continue
            if one is None:
                one = torch.zeros_like(other)
            if one.shape != other.shape or not torch.allclose(one, other, rtol=_TOLERANCE, atol=_TOLERANCE):
                return True
    return False


def _inputs(subject: Subject) -> Iterator[tuple[object, ...]]:
    """Samples, and the same with other ints, so that a stride is no dilation."""
    for sample in generic_samples(subject, _SAMPLES):
        yield sample.inputs
        for start in (1, 2):
            numbers = itertools.count(start)
            changed = tuple(next(numbers) if type(each) is int else each for each in sample.inputs)
            if any(type(each) is int for each in changed) and _accepts(subject, changed):
                yield changed


def _accepts(subject: Subject, inputs: tuple[object, ...]) -> bool:
    try:
        return bool(subject.outputs(inputs))
    except Exception:  # sizes that the forward does not take
        return False


def sample(classics: dict[str, tuple[Any, Any]], scope: dict[str, Any], most: int, seed: int = 0) -> list[Mutant]:
    """A sample of the mutants of all closed forms, as many of each as of the others."""
    source = random.Random(seed)
    by_name = {}
    for name, (_, backward) in classics.items():
        found = list(mutants(name, backward, scope))
        source.shuffle(found)
        by_name[name] = found
    chosen: list[Mutant] = []
    while len(chosen) < most and any(by_name.values()):
        for found in by_name.values():
            if found and len(chosen) < most:
                chosen.append(found.pop())
    return chosen


def main() -> None:
    """Print what is said of the mutants, and every unsound proof in full."""
    from tests.verify.prove import classics

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chosen = {name: pair for name, pair in classics.CLASSICS.items() if not options.names or name in options.names}
    counts: Counter[str] = Counter()
    for number, mutant in enumerate(sample(chosen, vars(classics), options.most, options.seed)):
        if number and number % 50 == 0:
            print(f"{number}: {dict(counts)}", flush=True)
        outcome = judged(mutant, chosen[mutant.name][0])
        if outcome is None:
            counts["no program"] += 1
            continue
        truth = "wrong" if outcome.is_wrong else "right"
        counts[f"{truth} by torch, {outcome.level.value}"] += 1
        if outcome.is_unsound:
            counts["UNSOUND"] += 1
            print(f"UNSOUND: {mutant.name}, {mutant.change}: {outcome.level.value} on {outcome.domain}", flush=True)
        elif outcome.is_wrong and outcome.level in (Level.PROVED, Level.EXACT):
            counts["wrong by torch, proved where the backward is defined"] += 1
            print(f"smaller domain: {mutant.name}, {mutant.change}: {outcome.domain}", flush=True)
        elif not outcome.is_wrong and outcome.level not in (Level.PROVED, Level.EXACT):
            print(f"not proved: {mutant.name}, {mutant.change}: {outcome.level.value}", flush=True)
    for what, count in sorted(counts.items()):
        print(f"{count:6d}  {what}")


if __name__ == "__main__":
    main()
