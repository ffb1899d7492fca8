"""Modules in a plain list: `self.layers = [nn.Linear(8, 8) for _ in range(4)]`.

torch registers what is assigned to an attribute if it is a module, a parameter or a container of `torch.nn`. In a list,
tuple or dict it sees nothing: the code runs, and the parameters stay where they were made and as they were made.

Only what can be nothing else is reported. All of the list is made where it is kept, at least two entries of it, and
another method looks at them one by one. Nothing is said where they may be registered elsewhere, or are seen to by hand:
where the list is used for anything more in its own method, where it is given away, where its parameters are asked for,
or where a class in the line registers things itself (`add_module`, `setattr`) or says itself what its parameters are.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from shaped.errors import RegistrationError
from shaped.static.made_modules import Made, Method, joined, made_by, names_bound
from shaped.static.node_cache import kept_on_node
from shaped.static.values import ClassValue, External, FunctionValue
from shaped.static.walk import children, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.static.interpreter import Interpreter

_REGISTERING: Final = frozenset(
    [
        *("add_module", "register_module", "register_parameter", "__setattr__", "__dict__", "_modules", "_parameters"),
        *("setattr", "vars"),
    ]
)
# A class that has one of these says itself what belongs to it.
_OF_ITS_OWN: Final = frozenset(
    [
        *("parameters", "named_parameters", "modules", "named_modules", "children", "named_children"),
        *("state_dict", "load_state_dict", "_save_to_state_dict", "_load_from_state_dict"),
        *("to", "cuda", "cpu", "_apply", "train", "eval", "__setattr__", "__getattr__"),
    ]
)
# Who calls these on an entry sees to it by hand.
_BY_HAND: Final = frozenset(
    [
        *("parameters", "named_parameters", "state_dict", "load_state_dict", "to", "cuda", "cpu", "train", "eval"),
        *("requires_grad_", "zero_grad", "register_module", "add_module"),
    ]
)
_GOING_THROUGH: Final = frozenset(["enumerate", "zip", "reversed", "iter"])
# Classes of libraries that register what torch registers.
_KNOWN_BASES: Final = ("torch.nn.", "abc.", "typing.", "lightning.", "pytorch_lightning.")
_CONTAINERS: Final = {
    (Made.MODULE, "list"): "nn.ModuleList",
    (Made.MODULE, "tuple"): "nn.ModuleList",
    (Made.MODULE, "dict"): "nn.ModuleDict",
    (Made.PARAMETER, "list"): "nn.ParameterList",
    (Made.PARAMETER, "tuple"): "nn.ParameterList",
    (Made.PARAMETER, "dict"): "nn.ParameterDict",
}


@dataclass(frozen=True)
class _Kept:
    """`self.name = value` in a method: the only statement of its kind."""

    name: str
    statement: ast.Assign | ast.AnnAssign
    value: ast.expr
    method: Method


def check(interpreter: Interpreter, cls: ClassValue) -> None:
    """Report the attributes of a module that hold modules or parameters in a plain list, tuple or dict.

    Args:
        interpreter: in the frame of the class's module.
        cls: a class of the file under check.
    """
    if not cls.is_module or not (kept := [one for one in _attributes_kept(cls.node) if _kind(one.value, one.method)]):
        return
    family = _family(interpreter, cls)
    if family is None or any(_registers_itself(one.node) for one in family):
        return
    methods = [method for one in family for method in _methods(one.node)]
    for one in kept:
        if cls.find(one.name) is None or not isinstance(cls.find(one.name), FunctionValue):
            _check_attribute(interpreter, one, methods)


def _check_attribute(interpreter: Interpreter, kept: _Kept, methods: list[Method]) -> None:
    uses = [(method, use) for method in methods for use in _uses(method, kept.name)]
    contents = _Contents(kept.method)
    if not contents.take(kept.value) or not all(
        contents.take_use(use) if method is kept.method else _only_looks(use)
        for method, use in uses
        if use.node is not _target(kept.statement)
    ):
        return
    is_looked_at = any(method is not kept.method and method.name != "__init__" for method, _ in uses)
    if not is_looked_at or (contents.count < 2 and not contents.is_repeated):
        return
    made = joined([made_by(interpreter, element, contents.bound, 0) for element in contents.elements])
    kind = _kind(kept.value, kept.method)
    container = _CONTAINERS.get((made, kind))
    if container is not None:
        belongings = "its parameters" if made is Made.MODULE else "they"
        fault = RegistrationError(
            f"self.{kept.name}",
            f"a {kind} of {made.value} is not registered: {belongings} are in no state_dict, no optimiser and no .to()",
            hint=f"{container}(...)?",
        )
        interpreter.fault(kept.statement, fault)


# The class and its line


def _family(interpreter: Interpreter, cls: ClassValue) -> list[ClassValue] | None:
    """A class, those that it inherits from and those of its file that inherit from it; None if one is not known."""
    others = [one for one in cls.module.environment.names.values() if isinstance(one, ClassValue)]
    family = [*cls.ancestors(), *(one for one in others if one is not cls and cls in one.ancestors())]
    for one in family:
        for base in one.bases:
            if isinstance(base, ClassValue):
                continue
            if not isinstance(base, External) or not base.name.startswith(_KNOWN_BASES):
                return None
    return family


@kept_on_node
def _registers_itself(node: ast.ClassDef) -> bool:
    for part in walk(node):
        match part:
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in _REGISTERING:
                return True
    return any(method.name in _OF_ITS_OWN for method in _methods(node))


def _methods(node: ast.ClassDef) -> list[Method]:
    return [statement for statement in node.body if isinstance(statement, Method)]


def _attributes_kept(node: ast.ClassDef) -> Iterator[_Kept]:
    for method in _methods(node):
        receiver = _receiver(method)
        for statement in walk(method):
            match statement:
                case (
                    ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner), attr=name)], value=ast.expr() as value)
                    | ast.AnnAssign(
                        target=ast.Attribute(value=ast.Name(id=owner), attr=name), value=ast.expr() as value
                    )
                ) if owner == receiver:
                    yield _Kept(name, statement, value, method)


def _target(statement: ast.Assign | ast.AnnAssign) -> ast.expr:
    return statement.targets[0] if isinstance(statement, ast.Assign) else statement.target


def _parameters(method: Method) -> list[str]:
    return [parameter.arg for parameter in walk(method.args) if isinstance(parameter, ast.arg)]


def _receiver(method: Method) -> str:
    return next(iter(_parameters(method)), "")


# Uses of an attribute or of a variable


@dataclass(frozen=True)
class _Use:
    """A place that names the attribute or variable, and the nodes around it, the innermost first."""

    node: ast.expr
    around: tuple[ast.AST, ...]

    @property
    def is_binding(self) -> bool:
        """Whether it is assigned to, and not added to as by `+=`."""
        is_load = isinstance(getattr(self.node, "ctx", None), ast.Load)
        return not is_load and not isinstance(self.around[0], ast.AugAssign)


def _uses(method: Method, name: str) -> list[_Use]:
    """Where a method names `self.name`."""
    receiver = _receiver(method)
    return [
        use
        for use in _named(method)
        if isinstance(use.node, ast.Attribute)
        and use.node.attr == name
        and isinstance(use.node.value, ast.Name)
        and use.node.value.id == receiver
    ]


def _variable_uses(method: Method, name: str) -> list[_Use]:
    return [use for use in _named(method) if isinstance(use.node, ast.Name) and use.node.id == name]


@kept_on_node
def _named(root: ast.AST) -> list[_Use]:
    """All names and attributes in a tree, with what stands around them."""
    found: list[_Use] = []
    open_nodes: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(root, ())]
    while open_nodes:
        node, around = open_nodes.pop()
        if isinstance(node, (ast.Name, ast.Attribute)):
            found.append(_Use(node, around))
        open_nodes += [(child, (node, *around)) for child in children(node)]
    return found


def _only_looks(use: _Use) -> bool:
    """Whether a use outside of the method that fills the list goes through the entries or calls one, and no more."""
    node, parent = use.node, use.around[0]
    match parent:
        case ast.Subscript(ctx=ast.Load()) if parent.value is node:
            return _is_taken_as_it_is(parent, use.around[1], use.around[-1])
        case ast.For(iter=iterated) if iterated is node:
            return not _sees_to(parent, parent.target)
        case ast.comprehension(iter=iterated) if iterated is node:
            return not _sees_to(use.around[1], parent.target)
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Call(func=ast.Name(id=function)) if function in _GOING_THROUGH and len(use.around) > 1:
            return _only_looks(_Use(parent, use.around[1:]))
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if test is node:
            return True
        case ast.UnaryOp(op=ast.Not()):
            return True
    return False


def _is_taken_as_it_is(entry: ast.expr, around: ast.AST, method: ast.AST) -> bool:
    """Whether `self.layers[i]` is called, computed with, or something harmless is read of it."""
    match around:
        case ast.Call(func=called):
            return called is entry or not (isinstance(called, ast.Attribute) and _is_self(called.value, method))
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return True
        case ast.Attribute(attr=name):
            return name not in _BY_HAND
        case ast.Assign(targets=[ast.Name() as target]):
            return not _sees_to(method, target)
    return False


def _is_self(node: ast.expr, method: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(method, Method) and node.id == _receiver(method)


def _sees_to(loop: ast.AST, target: ast.expr) -> bool:
    """Whether a loop registers its entries, or moves and trains them itself."""
    names = {node.id for node in walk(target) if isinstance(node, ast.Name)}
    for node in walk(loop):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=method) if name in names and method in _BY_HAND:
                return True
            case ast.Assign(targets=targets, value=ast.Name(id=name)) if name in names:
                if any(isinstance(part, (ast.Attribute, ast.Subscript)) for part in targets):
                    return True
    return False


# What a list is filled with


class _Contents:
    """The expressions that a list is filled with in the method that makes it.

    Attributes:
        elements: the expressions of its entries.
        count: how many entries they are at least, each counted once.
        is_repeated: whether one of them is evaluated any number of times.
        bound: the names that the method binds.
    """

    def __init__(self, method: Method) -> None:
        self.method = method
        self.elements: list[ast.expr] = []
        self.is_repeated = False
        self.bound = names_bound(method)

    @property
    def count(self) -> int:
        return len(self.elements)

    def take(self, value: ast.expr) -> bool:
        """Take the entries of a list that is written out; False if it is not."""
        match value:
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return all(self._take_element(element) for element in elements)
            case ast.Dict(values=values):
                return all(self._take_element(element) for element in values)
            case ast.ListComp(elt=element) | ast.DictComp(value=element):
                self.is_repeated = True
                return self._take_element(element)
            case ast.Call(func=ast.Name(id="list" | "tuple" | "dict"), args=[]):
                return not value.keywords
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[ast.GeneratorExp(elt=element)]):
                self.is_repeated = True
                return self._take_element(element)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.take(left) and self.take(right)
            case ast.BinOp(left=ast.List() as entries, op=ast.Mult()):
                self.is_repeated = True
                return self.take(entries)
            case ast.Name(id=name):
                return self._take_variable(name)
        return False

    def _take_element(self, element: ast.expr) -> bool:
        match element:
            case ast.Starred(value=value):
                return self.take(value)
            case ast.List() | ast.Tuple() | ast.ListComp():
                return self.take(element)
            case ast.Name(id=name):
                made = self._bound_once(name)
                if made is None or len(_variable_uses(self.method, name)) != 2:
                    return False
                self.elements.append(made)
                return True
        self.elements.append(element)
        return True

    def _bound_once(self, name: str) -> ast.expr | None:
        """The value of a variable that is assigned once."""
        bindings = [use for use in _variable_uses(self.method, name) if use.is_binding]
        if len(bindings) != 1 or name in _parameters(self.method):
            return None
        match bindings[0].around[0]:
            case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=value):
                return value
        return None

    def _take_variable(self, name: str) -> bool:
        """The list is made under another name first, which is used for filling it and for nothing more."""
        made = self._bound_once(name)
        if made is None or isinstance(made, ast.Name) or not self.take(made):
            return False
        uses = [use for use in _variable_uses(self.method, name) if not use.is_binding]
        rest = [use for use in uses if not isinstance(use.around[0], (ast.Assign, ast.AnnAssign))]
        return len(rest) == len(uses) - 1 and all(self.take_use(use) for use in rest)

    def take_use(self, use: _Use) -> bool:
        """Take what a use of the list in the method that makes it adds; False if it does anything else."""
        node, around = use.node, use.around
        if any(isinstance(outer, (ast.For, ast.While, ast.comprehension)) for outer in around):
            self.is_repeated = True
        match around:
            case (ast.Attribute(attr="append"), ast.Call(args=[element]), *_):
                return self._take_element(element)
            case (ast.Attribute(attr="insert"), ast.Call(args=[_, element]), *_):
                return self._take_element(element)
            case (ast.Attribute(attr="extend"), ast.Call(args=[entries]), *_):
                return self.take(entries)
            case (ast.AugAssign(op=ast.Add(), value=entries, target=target), *_) if target is node:
                return self.take(entries)
            case (ast.Subscript(value=value, ctx=ast.Store()), ast.Assign(value=element), *_) if value is node:
                return self._take_element(element)
            case (ast.Call(func=ast.Name(id="len")), *_):
                return True
            case (ast.Subscript(ctx=ast.Load()), ast.Attribute(attr=name) as part, user, *_):
                is_kept = isinstance(user, (ast.Assign, ast.AnnAssign)) and user.value is part
                return name not in _BY_HAND and not is_kept
        return False


def _kind(value: ast.expr, method: Method, depth: int = 0) -> str:
    """Whether an expression makes a list, a tuple or a dict; empty if it may be something else."""
    match value:
        case ast.List() | ast.ListComp() | ast.Call(func=ast.Name(id="list")):
            return "list"
        case ast.Tuple() | ast.Call(func=ast.Name(id="tuple")):
            return "tuple"
        case ast.Dict() | ast.DictComp() | ast.Call(func=ast.Name(id="dict")):
            return "dict"
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult()):
            return _kind(left, method, depth)
        case ast.Name(id=name) if depth == 0:
            made = _Contents(method)._bound_once(name)
            return "" if made is None else _kind(made, method, 1)
    return ""
