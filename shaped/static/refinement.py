"""What a path knows that takes one side of a condition."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import assignment, comparisons, conditions, dtype_conditions
from shaped.static.journal import Changes
from shaped.static.values import (
    Claim,
    Instance,
    Maybe,
    ShapeValue,
    StaticValue,
    as_dim,
    present,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


# Conditions that say nothing about sizes: behind them sizes are as certain as before.
_UNRELATED_ATTRIBUTES = frozenset(["training", "requires_grad", "is_cuda", "device", "dtype"])


_UNRELATED_CALLS = frozenset(
    ["isinstance", "hasattr", "callable", "is_scripting", "is_tracing", "is_available", "is_tensor", "is_grad_enabled"]
)


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
                    lambda: [value for value in values if conditions.truth(interpreter, value) is None]
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
    return dtype_conditions.learn_call(interpreter, test, positive) or _is_unrelated(interpreter, test)


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
    if dtype_conditions.learn_comparison(interpreter, left, op, b):
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
    open_parts = [part for part in value.parts if comparisons.claim_truth(interpreter, Claim((part,))) is not True]
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
