"""What expressions are, by the kind of their node."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.values import UNKNOWN
from shaped.static import (
    assignment,
    attributes,
    calls,
    comparisons,
    conditions,
    ends,
    functions,
    indexing,
    iteration,
    one_element,
    operators,
    refinement,
)
from shaped.static.builtins import builtin, distinct
from shaped.static.copies import copied, names_in, walrus_names
from shaped.static.join import join
from shaped.static.journal import LocalNames
from shaped.static.values import (
    Claim,
    DictValue,
    EllipsisValue,
    Imported,
    ListValue,
    ManyValue,
    Maybe,
    ShapeValue,
    SliceValue,
    StaticValue,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
MOST_ROUNDS = 32  # a comprehension over more items is evaluated once


def evaluate(interpreter: Interpreter, node: ast.expr) -> StaticValue:
    """The value of an expression.

    Raises:
        Fault: an operation in it is wrong.
    """
    function = _EVALUATE.get(type(node))
    return UNKNOWN if function is None else function(interpreter, node)


def _constant(interpreter: Interpreter, node: ast.Constant) -> StaticValue:
    value = node.value
    if isinstance(value, (bool, str, float)) or value is None:
        return value
    if isinstance(value, int):
        return Dim.of(value) if value.bit_length() <= operators.MOST_BITS else UNKNOWN
    return EllipsisValue() if value is ... else UNKNOWN


def _name(interpreter: Interpreter, node: ast.Name) -> StaticValue:
    scope = interpreter.here.environment.find(node.id)
    if scope is None:
        return builtin(node.id)
    value = scope.names[node.id]
    if isinstance(value, Imported):
        value = functions.resolve(interpreter, value)
        scope.names[node.id] = value
    return value


def _attribute(interpreter: Interpreter, node: ast.Attribute) -> StaticValue:
    return attributes.get_attribute(interpreter, interpreter.evaluate_present(node.value), node.attr, node)


def _binary(interpreter: Interpreter, node: ast.BinOp) -> StaticValue:
    return operators.binary(interpreter, node.op, interpreter.evaluate(node.left), interpreter.evaluate(node.right))


def _unary(interpreter: Interpreter, node: ast.UnaryOp) -> StaticValue:
    if isinstance(node.op, ast.Not):
        truth = conditions.truth(interpreter, node.operand)
        return UNKNOWN if truth is None else not truth
    return operators.unary(interpreter, node.op, interpreter.evaluate(node.operand))


def _boolean(interpreter: Interpreter, node: ast.BoolOp) -> StaticValue:
    stops_when = isinstance(node.op, ast.Or)
    results = _operands(interpreter, node.values, stops_when)
    if not stops_when and all(isinstance(value, Claim) for value in results):
        return Claim(tuple(part for value in results if isinstance(value, Claim) for part in value.parts))
    joined = results[0]
    for value in results[1:]:
        joined = join(interpreter.context, joined, value)
    return joined


def _operands(interpreter: Interpreter, nodes: list[ast.expr], stop: bool) -> list[StaticValue]:
    """The operands of `and` and `or` that may be the result, each read where those before it leave it open."""
    value = interpreter.evaluate(nodes[0])
    truth = comparisons.truth_of(value)
    if truth is stop or len(nodes) == 1:
        return [value]
    one_element.check_truth(interpreter, nodes[0], value)
    if truth is not None:
        return _operands(interpreter, nodes[1:], stop)
    rest = conditions.where_open(interpreter, nodes[0], nodes[1], stop, lambda: _operands(interpreter, nodes[1:], stop))
    # `x or default` is x where x is there.
    return [value.value if stop and isinstance(value, Maybe) else value, *rest]


def _compare(interpreter: Interpreter, node: ast.Compare) -> StaticValue:
    values = interpreter.evaluate_all([node.left, *node.comparators])
    if len(node.ops) == 1:
        value = operators.compare(interpreter, node.ops[0], values[0], values[1])
        if value is not UNKNOWN:
            return value
    truth = comparisons.comparison_truth(interpreter, node.ops, values)
    claim = comparisons.claim(node.ops, values) if truth is None else None
    return truth if truth is not None else UNKNOWN if claim is None else claim


def _conditional(interpreter: Interpreter, node: ast.IfExp) -> StaticValue:
    from shaped.static.statements import branch

    values: list[StaticValue] = []

    def side(expression: ast.expr) -> Callable[[], bool]:
        def run() -> bool:
            values.append(interpreter.evaluate(expression))
            return True

        return run

    branch(interpreter, node.test, side(node.body), side(node.orelse))
    return values[0] if len(values) == 1 else join(interpreter.context, values[0], values[1])


def _tuple(interpreter: Interpreter, node: ast.Tuple) -> StaticValue:
    content = _content(interpreter, node.elts)
    return content


def _list(interpreter: Interpreter, node: ast.List) -> StaticValue:
    content = _content(interpreter, node.elts)
    return ListValue(content) if isinstance(content, (tuple, ManyValue)) else UNKNOWN


def _content(interpreter: Interpreter, nodes: list[ast.expr]) -> tuple[StaticValue, ...] | ManyValue | ShapeValue:
    """The items of a display; a starred shape keeps its axes that were not counted."""
    if not any(isinstance(node, ast.Starred) for node in nodes):
        return tuple(interpreter.evaluate_all(nodes))
    total: StaticValue = ()
    for node in nodes:
        if isinstance(node, ast.Starred):
            value = interpreter.evaluate_present(node.value)
            more: StaticValue = value if isinstance(value, ShapeValue) else iteration.content(interpreter, value)
        else:
            more = (interpreter.evaluate(node),)
        if isinstance(more, ManyValue) or isinstance(total, ManyValue):
            parts = [part if isinstance(part, (tuple, ManyValue)) else (UNKNOWN,) for part in (total, more)]
            total = operators.extended(interpreter, parts[0], parts[1])
        else:
            total = operators.binary(interpreter, ast.Add(), total, more)
    return (
        total if isinstance(total, (tuple, ManyValue, ShapeValue)) else ManyValue(UNKNOWN, interpreter.context.fresh())
    )


def _set(interpreter: Interpreter, node: ast.Set) -> StaticValue:
    return distinct(interpreter, tuple(interpreter.evaluate_all(node.elts)))


def _dict(interpreter: Interpreter, node: ast.Dict) -> StaticValue:
    items: dict[object, StaticValue] = {}
    complete = True
    for key_node, value_node in zip(node.keys, node.values):
        value = interpreter.evaluate(value_node)
        if key_node is None:
            if isinstance(value, DictValue):
                items.update(value.items)
            if not isinstance(value, DictValue) or not value.complete:
                items, complete = dict.fromkeys(items, UNKNOWN), False
            continue
        key = assignment.constant_key(interpreter.evaluate(key_node))
        if key is None:
            items, complete = dict.fromkeys(items, UNKNOWN), False  # it may be any of those before
        else:
            items[key] = value
    return DictValue(items, complete)


def _slice(interpreter: Interpreter, node: ast.Slice) -> StaticValue:
    parts = [None if part is None else interpreter.evaluate(part) for part in (node.lower, node.upper, node.step)]
    return SliceValue(*parts)


def _named(interpreter: Interpreter, node: ast.NamedExpr) -> StaticValue:
    value = interpreter.evaluate(node.value)
    assignment.assign(interpreter, node.target, value)
    return value


def _formatted(interpreter: Interpreter, node: ast.JoinedStr) -> StaticValue:
    # Each part, also behind one that is not followed: there may be faults in it.
    values = [
        interpreter.evaluate(part.value if isinstance(part, ast.FormattedValue) else part) for part in node.values
    ]
    text = ""
    for value in values:
        if isinstance(value, Dim) and value.constant is not None:
            text += str(value.constant)
        elif isinstance(value, str):
            text += value
        else:
            return UNKNOWN
    return text


def _comprehension(interpreter: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> StaticValue:
    content = _comprehend(interpreter, node, lambda: interpreter.evaluate(node.elt), (node.elt,))
    return distinct(interpreter, content) if isinstance(node, ast.SetComp) else ListValue(content)


def _dict_comprehension(interpreter: Interpreter, node: ast.DictComp) -> StaticValue:
    def pair() -> StaticValue:
        return (interpreter.evaluate(node.key), interpreter.evaluate(node.value))

    content = _comprehend(interpreter, node, pair, (node.key, node.value))
    if isinstance(content, ManyValue):
        return DictValue({}, complete=False)
    items: dict[object, StaticValue] = {}
    for item in content:
        key = assignment.constant_key(item[0]) if isinstance(item, tuple) else None
        if key is None or not isinstance(item, tuple):
            return DictValue({}, complete=False)
        items[key] = item[1]
    return DictValue(items)


def _comprehend(
    interpreter: Interpreter, node: Comprehension, make: Callable[[], StaticValue], parts: tuple[ast.expr, ...]
) -> tuple[StaticValue, ...] | ManyValue:
    """The items that a comprehension makes. Its names live in a scope of their own."""
    from shaped.static.values import Environment

    frame = interpreter.here
    outer = frame.environment
    names = LocalNames() if isinstance(outer.names, LocalNames) else {}
    frame.environment = Environment(names, outer)
    facts = interpreter.context.facts
    try:
        return _generate(interpreter, node.generators, make, parts)
    finally:
        frame.environment = outer
        interpreter.restore(facts, interpreter.context.certain)
        for name in walrus_names(node):
            interpreter.assign_name(name, UNKNOWN)  # bound outside, in as many rounds as there were


def _generate(
    interpreter: Interpreter,
    generators: list[ast.comprehension],
    make: Callable[[], StaticValue],
    parts: tuple[ast.expr, ...],
) -> tuple[StaticValue, ...] | ManyValue:
    if not generators:
        return (make(),)
    generator, rest = generators[0], generators[1:]
    iterable = interpreter.evaluate_present(generator.iter)
    counted = iteration.items(interpreter, iterable)
    if counted and not rest and not generator.ifs and not any(names_in(generator.target) & names_in(p) for p in parts):
        # Every round makes the same: `[Block(width) for _ in range(12)]`.
        assignment.assign(interpreter, generator.target, counted[0])
        first = make()
        if len(counted) == 1:
            return (first,)
        second = make()
        return (first, second, *(copied(first, second) for _ in counted[2:]))
    if counted is not None and len(counted) <= MOST_ROUNDS:
        made: tuple[StaticValue, ...] | ManyValue = ()
        for item in counted:
            assignment.assign(interpreter, generator.target, item)
            truths = [conditions.truth(interpreter, test) for test in generator.ifs]
            if False in truths:
                continue
            for test in generator.ifs:
                refinement.refine(interpreter, test, True)
            more = _generate(interpreter, rest, make, parts)
            made = operators.extended(interpreter, made, more)
            if None in truths:
                made = ManyValue(_any(interpreter, made), interpreter.context.fresh())
        return made
    make_item, count = iteration.element(interpreter, iterable)
    if not rest and not generator.ifs:

        def make_end(item: StaticValue) -> None:
            assignment.assign(interpreter, generator.target, item)
            make()

        found = ends.ends_of(interpreter, generator.iter, iterable)
        ends.check_ends(interpreter, found, ends.name_of_number(generator.target), parts, make_end)
    assignment.assign(interpreter, generator.target, make_item())
    for test in generator.ifs:
        conditions.truth(interpreter, test)
        refinement.refine(interpreter, test, True)
    inner = _generate(interpreter, rest, make, parts)
    length = inner.length if isinstance(inner, ManyValue) else Dim.of(len(inner))
    total = count * length if count is not None and not generator.ifs else interpreter.context.fresh()
    return ManyValue(_any(interpreter, inner), total)


def _any(interpreter: Interpreter, content: tuple[StaticValue, ...] | ManyValue) -> StaticValue:
    from shaped.static.join import join_many

    return join_many(interpreter.context, content, ()).element


def _lambda(interpreter: Interpreter, node: ast.Lambda) -> StaticValue:
    return functions.make_lambda(interpreter, node)


def _await(interpreter: Interpreter, node: ast.Await) -> StaticValue:
    return interpreter.evaluate(node.value)


def _yield(interpreter: Interpreter, node: ast.Yield) -> StaticValue:
    value: StaticValue = None if node.value is None else interpreter.evaluate(node.value)
    interpreter.here.yielded.append(value)
    return UNKNOWN


def _yield_from(interpreter: Interpreter, node: ast.YieldFrom) -> StaticValue:
    make, _ = iteration.element(interpreter, interpreter.evaluate(node.value))
    interpreter.here.yielded.append(make())
    return UNKNOWN


def _starred(interpreter: Interpreter, node: ast.Starred) -> StaticValue:
    return interpreter.evaluate(node.value)


_EVALUATE: dict[type[ast.expr], Callable[..., StaticValue]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: calls.call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.Subscript: indexing.subscript,
    ast.Slice: _slice,
    ast.NamedExpr: _named,
    ast.JoinedStr: _formatted,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.Lambda: _lambda,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Starred: _starred,
}
