"""Functions of itertools, functools and operator that go through counted items: `reduce`, `chain`, `product`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from shaped.spec.values import UNKNOWN
from shaped.static import calls, comparisons, iteration, operators
from shaped.static.arguments import Arguments
from shaped.static.join import join_many
from shaped.static.values import ManyValue, StaticValue, as_dim

if TYPE_CHECKING:
    from shaped.static.builtins.kind import Builtin
    from shaped.static.interpreter import Interpreter

MOST_MADE = 256  # items of one product
Items = tuple[StaticValue, ...]


def _counted(interpreter: Interpreter, values: list[StaticValue]) -> list[Items] | None:
    """The items of each value, None if those of one are not counted."""
    found = [iteration.items(interpreter, value) for value in values]
    known = [items for items in found if items is not None]
    return known if len(known) == len(found) else None


def _called(interpreter: Interpreter, function: StaticValue, args: list[StaticValue], node: ast.AST) -> StaticValue:
    step = Arguments()
    step.args = args
    return calls.invoke(interpreter, function, step, node)


def _reduce(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    function, *rest = arguments.args or [UNKNOWN]
    items = iteration.items(interpreter, rest[0]) if rest else None
    if items is None:
        return UNKNOWN
    pending = [*rest[1:2], *items]
    if not pending:
        return UNKNOWN
    total = pending[0]
    for item in pending[1:]:
        total = _called(interpreter, function, [total, item], node)
    return total


def _accumulate(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    items = iteration.items(interpreter, arguments.args[0]) if arguments.args else None
    if items is None or arguments.kwargs or len(arguments.args) > 2:
        return UNKNOWN
    found: list[StaticValue] = []
    for item in items:
        if not found:
            found.append(item)
        elif len(arguments.args) == 2:
            found.append(_called(interpreter, arguments.args[1], [found[-1], item], node))
        else:
            found.append(operators.binary(interpreter, ast.Add(), found[-1], item))
    return tuple(found)


def _chain(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return _joined(interpreter, arguments.args)


def _chain_of_all(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    items = iteration.items(interpreter, arguments.args[0]) if len(arguments.args) == 1 else None
    return UNKNOWN if items is None else _joined(interpreter, list(items))


def _joined(interpreter: Interpreter, values: list[StaticValue]) -> StaticValue:
    joined: Items | ManyValue = ()
    for value in values:
        joined = operators.extended(interpreter, joined, iteration.content(interpreter, value))
    return joined


def _made(make: Callable[..., Iterator[Items]]) -> Builtin:
    """A function of the items of each argument that gives tuples of them."""

    def apply(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        counted = None if arguments.kwargs else _counted(interpreter, arguments.args)
        if counted is None:
            return UNKNOWN
        found = tuple(itertools.islice(make(*counted), MOST_MADE + 1))
        return found if len(found) <= MOST_MADE else UNKNOWN

    return apply


def _chosen(make: Callable[[Items, int], Iterator[Items]]) -> Builtin:
    """A function of items and of how many of them are taken at a time."""

    def apply(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        if len(arguments.args) != 2 or arguments.kwargs:
            return UNKNOWN
        items, dim = iteration.items(interpreter, arguments.args[0]), as_dim(arguments.args[1])
        count = dim.constant if dim is not None else None
        if items is None or count is None or count < 0:
            return UNKNOWN
        found = tuple(itertools.islice(make(items, count), MOST_MADE + 1))
        return found if len(found) <= MOST_MADE else UNKNOWN

    return apply


def _slice(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    source, *bounds = arguments.args or [UNKNOWN]
    items = iteration.items(interpreter, source)
    numbers = [None if bound is None else _constant(bound) for bound in bounds]
    if items is None or not bounds or any(n is None and b is not None for n, b in zip(numbers, bounds)):
        return UNKNOWN
    if any(number is not None and number < 0 for number in numbers):
        return UNKNOWN
    return items[slice(*numbers)]


def _constant(value: StaticValue) -> int | None:
    dim = as_dim(value)
    return None if dim is None else dim.constant


def _repeat(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if len(arguments.args) != 2:
        return UNKNOWN
    count = as_dim(arguments.args[1])
    if count is None:
        return UNKNOWN
    if count.constant is not None and 0 <= count.constant <= iteration.MOST_ITEMS:
        return (arguments.args[0],) * count.constant
    return ManyValue(arguments.args[0], count)


def _filter(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if len(arguments.args) != 2:
        return UNKNOWN
    test, source = arguments.args
    items = iteration.items(interpreter, source)
    if items is not None:
        results = [item if test is None else _called(interpreter, test, [item], node) for item in items]
        truths = [comparisons.truth_of(result) for result in results]
        if None not in truths:
            return tuple(item for item, truth in zip(items, truths) if truth)
    content = iteration.content(interpreter, source)
    return ManyValue(join_many(interpreter.context, content, ()).element, interpreter.context.fresh())


def _operator(kind: type[ast.operator]) -> Builtin:
    def apply(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        if len(arguments.args) != 2 or arguments.kwargs:
            return UNKNOWN
        return operators.binary(interpreter, kind(), *arguments.args)

    return apply


def _index_of(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return arguments.args[0] if len(arguments.args) == 1 else UNKNOWN


FUNCTIONS: dict[str, Builtin] = {
    "functools.reduce": _reduce,
    "itertools.accumulate": _accumulate,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_of_all,
    "itertools.product": _made(itertools.product),
    "itertools.pairwise": _made(itertools.pairwise),
    "itertools.combinations": _chosen(itertools.combinations),
    "itertools.permutations": _chosen(itertools.permutations),
    "itertools.islice": _slice,
    "itertools.repeat": _repeat,
    "builtins.filter": _filter,
    "builtins.pow": _operator(ast.Pow),
    "operator.add": _operator(ast.Add),
    "operator.sub": _operator(ast.Sub),
    "operator.mul": _operator(ast.Mult),
    "operator.floordiv": _operator(ast.FloorDiv),
    "operator.mod": _operator(ast.Mod),
    "operator.pow": _operator(ast.Pow),
    "operator.truediv": _operator(ast.Div),
    "operator.index": _index_of,
}
