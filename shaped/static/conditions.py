"""Conditions: whether they hold, and what a path that takes one side of them knows."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from shaped.spec.dims import Dim
from shaped.spec.facts import Status
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import assignment
from shaped.static.journal import Changes
from shaped.static.values import (
    Claim,
    ClassValue,
    Container,
    DictValue,
    External,
    FunctionValue,
    Instance,
    ListValue,
    Maybe,
    Opaque,
    ShapeValue,
    SourceModule,
    StaticValue,
    as_dim,
    present,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

T = TypeVar("T")
_FLIPPED = {ast.Eq: ast.Eq, ast.NotEq: ast.NotEq, ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
# Conditions that say nothing about sizes: behind them sizes are as certain as before.
_UNRELATED_ATTRIBUTES = frozenset(["training", "requires_grad", "is_cuda", "device", "dtype"])
_UNRELATED_CALLS = frozenset(
    ["isinstance", "hasattr", "callable", "is_scripting", "is_tracing", "is_available", "is_tensor", "is_grad_enabled"]
)


def truth(interpreter: Interpreter, test: ast.expr) -> bool | None:
    """Whether a condition holds, None if it may or may not."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth(interpreter, operand)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=[first, *rest]):
            stop = isinstance(op, ast.Or)
            answer = truth(interpreter, first)
            if answer is stop or not rest:
                return answer
            others = ast.copy_location(ast.BoolOp(op, rest), test)
            if answer is not None:
                return truth(interpreter, others)
            answer = where_open(interpreter, first, rest[0], stop, lambda: truth(interpreter, others))
            return stop if answer is stop else None
        case ast.Compare():
            values = [interpreter.evaluate(node) for node in (test.left, *test.comparators)]
            return comparison_truth(interpreter, test.ops, values)
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
    value = interpreter.evaluate(test)
    return claim_truth(interpreter, value) if isinstance(value, Claim) else truth_of(value)


def where_open(interpreter: Interpreter, first: ast.expr, second: ast.expr, stop: bool, run: Callable[[], T]) -> T:
    """Run what `and` and `or` only read where their first part leaves it open; it may or may not have been run then."""
    context = interpreter.context
    facts, certain, guarded = context.facts, context.certain, interpreter.guarded

    def path() -> tuple[T, Changes]:
        if not refine(interpreter, first, not stop):
            context.certain, interpreter.guarded = False, True
        return interpreter.journal.on_path(run)

    (result, changes), _ = interpreter.journal.on_path(path)
    interpreter.restore(facts, certain)
    interpreter.guarded = guarded
    interpreter.operands[id(second)] = changes
    interpreter.join_paths([changes, Changes()])
    return result


def truth_of(value: StaticValue) -> bool | None:
    """Whether a value counts as true, None if it is not known."""
    match value:
        case bool():
            return value
        case None:
            return False
        case str() | tuple():
            return bool(value)
        case float():
            return None if value != value else bool(value)  # nan stands for a float that was not followed
        case Dim():
            return bool(value.constant) if value.constant is not None else None
        case ListValue(content=tuple() as content) | Container(content=tuple() as content):
            return bool(content)
        case DictValue(items=items, complete=True):
            return bool(items)
        case FunctionValue() | ClassValue() | SourceModule():
            return True
        case Instance():
            return True if value.cls.find("__len__") is None and value.cls.find("__bool__") is None else None
    return None


def claim(ops: list[ast.cmpop], values: list[StaticValue]) -> Claim | None:
    """A comparison of ints as a value, None for other comparisons."""
    if len(ops) != 1 or type(ops[0]) not in _FLIPPED:
        return None
    left, right = as_dim(values[0]), as_dim(values[1])
    return None if left is None or right is None else Claim(((type(ops[0]), left, right),))


def claim_truth(interpreter: Interpreter, value: Claim) -> bool | None:
    """Whether a claim holds on the path under way."""
    answers = [_pair_truth(interpreter, op(), left, right) for op, left, right in value.parts]
    return False if False in answers else None if None in answers else True


def comparison_truth(interpreter: Interpreter, ops: list[ast.cmpop], values: list[StaticValue]) -> bool | None:
    """Whether `a op b op c` holds for these values."""
    answers = [_pair_truth(interpreter, op, a, b) for op, a, b in zip(ops, values, values[1:])]
    if False in answers:
        return False
    return None if None in answers else True


def _pair_truth(interpreter: Interpreter, op: ast.cmpop, a: StaticValue, b: StaticValue) -> bool | None:
    match op:
        case ast.Is():
            return _is(a, b)
        case ast.IsNot():
            answer = _is(a, b)
            return None if answer is None else not answer
        case ast.In():
            return _contains(interpreter, b, a)
        case ast.NotIn():
            answer = _contains(interpreter, b, a)
            return None if answer is None else not answer
        case ast.Eq():
            return equal(interpreter, a, b)
        case ast.NotEq():
            answer = equal(interpreter, a, b)
            return None if answer is None else not answer
    left, right = as_dim(a), as_dim(b)
    if (isinstance(a, float) and isinstance(b, float)) or (isinstance(a, float) and right is not None):
        return _compare_floats(op, a, right.constant if right is not None else b)
    if left is not None and isinstance(b, float):
        return _compare_floats(op, left.constant, b)
    if left is None or right is None:
        return None
    match op:
        case ast.GtE():
            return _at_least(interpreter, left, right)
        case ast.LtE():
            return _at_least(interpreter, right, left)
        case ast.Gt():
            return _at_least(interpreter, left, right + 1)
        case ast.Lt():
            return _at_least(interpreter, right, left + 1)
    return None


def _compare_floats(op: ast.cmpop, a: StaticValue | int, b: StaticValue | int) -> bool | None:
    if not isinstance(a, (int, float)) or not isinstance(b, (int, float)) or a != a or b != b:
        return None
    match op:
        case ast.Lt():
            return a < b
        case ast.LtE():
            return a <= b
        case ast.Gt():
            return a > b
        case ast.GtE():
            return a >= b
    return None


def _at_least(interpreter: Interpreter, a: Dim, b: Dim) -> bool | None:
    status = interpreter.context.facts.at_least(a, b).status
    return True if status is Status.PROVED else False if status is Status.NEVER else None


def _is(a: StaticValue, b: StaticValue) -> bool | None:
    if a is None and b is None:
        return True
    if a is None or b is None:
        other = b if a is None else a
        return None if other is UNKNOWN or isinstance(other, (Maybe, Opaque)) else False
    if isinstance(a, bool) and isinstance(b, bool):
        return a is b
    return None


def _contains(interpreter: Interpreter, container: StaticValue, item: StaticValue) -> bool | None:
    if isinstance(container, DictValue) and isinstance(item, str):
        return True if item in container.items else False if container.complete else None
    if isinstance(container, ListValue):
        container = container.content if isinstance(container.content, tuple) else UNKNOWN
    if isinstance(container, str) and isinstance(item, str):
        return item in container
    if isinstance(container, tuple):
        answers = [equal(interpreter, item, other) for other in container]
        if True in answers:
            return True
        return None if None in answers else False
    return None


def equal(interpreter: Interpreter, a: StaticValue, b: StaticValue) -> bool | None:
    """Whether two values are equal, None if they may or may not be."""
    if isinstance(a, bool) and isinstance(b, bool):
        return a == b
    left, right = as_dim(a), as_dim(b)
    if left is not None and right is not None:
        status = interpreter.context.facts.compare(left, right).status
        return True if status is Status.PROVED else False if status is Status.NEVER else None
    if isinstance(a, str) and isinstance(b, str):
        return a == b
    if isinstance(a, ListValue) and isinstance(b, ListValue):
        a, b = (value.content if isinstance(value.content, tuple) else UNKNOWN for value in (a, b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return False
        answers = [equal(interpreter, x, y) for x, y in zip(a, b)]
        return False if False in answers else None if None in answers else True
    if a is None or b is None:
        return _is(a, b)
    return None


def refine(interpreter: Interpreter, test: ast.expr, positive: bool) -> bool:
    """Make the path know that a condition holds (or not); False if it may bind sizes in ways not understood."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return refine(interpreter, operand, not positive)
        case ast.BoolOp(op=op, values=values):
            if isinstance(op, ast.And) is positive:
                understood = []
                for value in values:
                    interpreter.journal.apply(interpreter.operands.get(id(value), Changes()))
                    understood.append(refine(interpreter, value, positive))
                return all(understood)
            with interpreter.quietly():
                undecided, _ = interpreter.journal.on_path(
                    lambda: [value for value in values if truth(interpreter, value) is None]
                )
            if len(undecided) == 1:
                return refine(interpreter, undecided[0], positive)
            return all(_is_unrelated(interpreter, value) for value in values)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _refine_comparison(interpreter, left, op, right, positive)
        case ast.NamedExpr(target=target):
            return refine(interpreter, target, positive)
        case ast.Name() | ast.Attribute():
            return _refine_truth(interpreter, test, positive)
    return _is_unrelated(interpreter, test)


def _again(interpreter: Interpreter, node: ast.expr) -> StaticValue:
    """The value of an expression that was evaluated before: what it changed is not changed again."""
    with interpreter.quietly():
        return interpreter.journal.on_path(lambda: interpreter.evaluate(node))[0]


def _refine_truth(interpreter: Interpreter, node: ast.Name | ast.Attribute, positive: bool) -> bool:
    value = _again(interpreter, node)
    if isinstance(value, Maybe):
        if positive:
            assignment.assign(interpreter, node, value.value)
        elif isinstance(value.value, (Instance, TensorType)):
            assignment.assign(interpreter, node, None)
        return True
    if isinstance(value, Claim):
        return _learn_claim(interpreter, value, positive)
    if isinstance(value, Dim):
        facts = interpreter.context.facts
        interpreter.context.facts = facts.with_different(value, 0) if positive else facts.with_equal(value, 0)
        return True
    return _is_unrelated(interpreter, node)


def _refine_comparison(
    interpreter: Interpreter, left: ast.expr, op: ast.cmpop, right: ast.expr, positive: bool
) -> bool:
    if not positive:
        negated = _NEGATED.get(type(op))
        if negated is None:
            return _is_unrelated(interpreter, left)
        op = negated()
    a, b = _again(interpreter, left), _again(interpreter, right)
    match op:
        case ast.Is() | ast.IsNot():
            if b is None:
                return _refine_none(interpreter, left, a, is_none=isinstance(op, ast.Is))
            return _is_unrelated(interpreter, left)
        case ast.Eq() if _rank_owner(interpreter, left) is not None and (rank := as_dim(b)) is not None:
            owner = _rank_owner(interpreter, left)
            if rank.constant is not None and owner is not None:
                _refine_rank(interpreter, owner, rank.constant)
            return True
    learned = _learn(interpreter, left, right, op, a, b)
    return learned or _is_unrelated(interpreter, left)


def _learn(
    interpreter: Interpreter, left: ast.expr, right: ast.expr, op: ast.cmpop, a: StaticValue, b: StaticValue
) -> bool:
    context = interpreter.context
    facts = context.facts
    x, y = as_dim(a), as_dim(b)
    if x is not None and y is not None:
        remainder = _remainder(interpreter, left) if isinstance(op, ast.Eq) and y == 0 else None
        if remainder is not None:
            context.facts = facts.with_exact(*remainder)
            return True
        return _learn_dims(interpreter, type(op), x, y)
    if isinstance(op, ast.Eq):
        return _learn_equal(interpreter, left, right, a, b)
    return isinstance(op, ast.NotEq) and isinstance(present(a), (str, tuple, ShapeValue)) and present(b) is not UNKNOWN


def _learn_dims(interpreter: Interpreter, op: type[ast.cmpop], x: Dim, y: Dim) -> bool:
    facts = interpreter.context.facts
    if op is ast.Eq:
        facts = facts.with_equal(x, y)
    elif op is ast.NotEq:
        facts = facts.with_different(x, y)
    elif op is ast.GtE:
        facts = facts.with_at_least(x, y)
    elif op is ast.LtE:
        facts = facts.with_at_least(y, x)
    elif op is ast.Gt:
        facts = facts.with_at_least(x, y + 1)
    elif op is ast.Lt:
        facts = facts.with_at_least(y, x + 1)
    else:
        return False
    interpreter.context.facts = facts
    return True


def _learn_claim(interpreter: Interpreter, value: Claim, positive: bool) -> bool:
    open_parts = [part for part in value.parts if claim_truth(interpreter, Claim((part,))) is not True]
    if positive:
        learned = [_learn_dims(interpreter, *part) for part in open_parts]
        return all(learned)
    if len(open_parts) == 1:
        op, left, right = open_parts[0]
        return _learn_dims(interpreter, _NEGATED[op], left, right)
    return False


def _learn_equal(interpreter: Interpreter, left: ast.expr, right: ast.expr, a: StaticValue, b: StaticValue) -> bool:
    if isinstance(a, ShapeValue) and isinstance(b, tuple):
        owner = assignment.shape_owner(left)
        dims = assignment.refine_rank(interpreter, owner, a.shape, len(b)) if owner is not None else UNKNOWN
        return _learn_equal(interpreter, left, right, dims, b) if isinstance(dims, tuple) else True
    if isinstance(b, ShapeValue) and isinstance(a, tuple):
        return _learn_equal(interpreter, right, left, b, a)
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        known = True
        for x, y in zip(map(as_dim, a), map(as_dim, b)):
            if x is None or y is None:
                known = False
            else:
                interpreter.context.facts = interpreter.context.facts.with_equal(x, y)
        return known
    return isinstance(a, str) or isinstance(b, str)


def _remainder(interpreter: Interpreter, node: ast.expr) -> tuple[Dim, Dim] | None:
    """`a % b` as (a, b)."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        a, b = as_dim(_again(interpreter, node.left)), as_dim(_again(interpreter, node.right))
        if a is not None and b is not None:
            return a, b
    return None


def _rank_owner(interpreter: Interpreter, node: ast.expr) -> ast.expr | None:
    """The tensor of `x.ndim`, `x.dim()`, `len(x.shape)`, `len(x.size())`."""
    match node:
        case ast.Attribute(value=owner, attr="ndim"):
            return owner
        case ast.Call(func=ast.Attribute(value=owner, attr="dim" | "ndimension"), args=[]):
            return owner
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=owner, attr="shape")]):
            return owner
        case ast.Call(func=ast.Name(id="len"), args=[ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[])]):
            return owner
    return None


def _refine_rank(interpreter: Interpreter, owner: ast.expr, rank: int) -> None:
    value = present(_again(interpreter, owner))
    shape = value.shape if isinstance(value, TensorType) else Shape.of(interpreter.context.fresh_pack())
    if shape.pack is not None and (value is UNKNOWN or isinstance(value, TensorType)):
        assignment.refine_rank(interpreter, owner, shape, rank)


def _refine_none(interpreter: Interpreter, node: ast.expr, value: StaticValue, *, is_none: bool) -> bool:
    if isinstance(node, ast.NamedExpr):
        node = node.target
    if isinstance(node, (ast.Name, ast.Attribute)):
        if is_none:
            assignment.assign(interpreter, node, None)
        elif isinstance(value, Maybe):
            assignment.assign(interpreter, node, value.value)
    return True


def _is_unrelated(interpreter: Interpreter, test: ast.expr) -> bool:
    """Whether a condition says nothing about sizes: whether a layer is there, what type a value is, training mode."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_unrelated(interpreter, operand)
        case ast.BoolOp(values=values):
            return all(_is_unrelated(interpreter, value) for value in values)
        case ast.Attribute(attr=name):
            return name in _UNRELATED_ATTRIBUTES
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _UNRELATED_CALLS
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
        case ast.Compare(left=left, comparators=[right]):
            return _is_unrelated(interpreter, left) or _is_unrelated(interpreter, right)
    return False


def never_returns(interpreter: Interpreter, node: ast.expr) -> bool:
    """Whether a call ends the program."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func
    if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name):
        return (name.value.id, name.attr) in (("sys", "exit"), ("os", "_exit"))
    return isinstance(name, ast.Name) and name.id in ("exit", "quit")


def pattern_test(interpreter: Interpreter, subject: ast.expr, case: ast.match_case) -> ast.expr | None:
    """A case of a `match` as a condition, None if its pattern captures or was not understood."""
    test = _pattern_condition(subject, case.pattern)
    if test is None:
        return None
    if case.guard is not None:
        test = ast.BoolOp(ast.And(), [test, case.guard])
    return ast.fix_missing_locations(ast.copy_location(test, subject))


def _pattern_condition(subject: ast.expr, pattern: ast.pattern) -> ast.expr | None:
    match pattern:
        case ast.MatchValue(value=value):
            return ast.Compare(subject, [ast.Eq()], [value])
        case ast.MatchSingleton(value=value):
            return ast.Compare(subject, [ast.Is()], [ast.Constant(value)])
        case ast.MatchOr(patterns=patterns):
            tests = [_pattern_condition(subject, option) for option in patterns]
            known = [test for test in tests if test is not None]
            return ast.BoolOp(ast.Or(), known) if len(known) == len(tests) else None
    return None


def capture(interpreter: Interpreter, pattern: ast.pattern, value: StaticValue) -> None:
    """The names that a pattern binds."""
    for node in ast.walk(pattern):
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if isinstance(name, str):
            interpreter.assign_name(name, value)


def is_instance(interpreter: Interpreter, value: StaticValue, cls: StaticValue) -> bool | None:
    """`isinstance(value, cls)`, None if it is not known."""
    if isinstance(cls, tuple):
        answers = [is_instance(interpreter, value, one) for one in cls]
        return True if True in answers else None if None in answers else False
    name = cls.name if isinstance(cls, External) else ""
    match value:
        case TensorType():
            if name in ("torch.Tensor", "torch.nn.Parameter"):
                return True if name == "torch.Tensor" else None
            return (
                False
                if name
                in (
                    "builtins.int",
                    "builtins.float",
                    "builtins.str",
                    "builtins.tuple",
                    "builtins.list",
                    "builtins.dict",
                )
                else None
            )
        case Instance() if isinstance(cls, ClassValue):
            return True if cls in value.cls.ancestors() else None
        case bool():
            return name in ("builtins.bool", "builtins.int") if name.startswith("builtins.") else None
        case Dim() if value.constant is not None:
            return name == "builtins.int" if name.startswith("builtins.") else None
        case str():
            return name == "builtins.str" if name.startswith("builtins.") else None
        case None:
            return False if name.startswith(("builtins.", "torch.")) else None
        case tuple():
            return name == "builtins.tuple" if name.startswith("builtins.") else None
        case ListValue():
            return name == "builtins.list" if name.startswith("builtins.") else None
    return None
