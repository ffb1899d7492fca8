"""The type of `module(x)`: what the module's `forward` declares, where torch says `Any`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import Decorator, FuncDef
from mypy.server.trigger import make_trigger
from mypy.types import AnyType, CallableType, Instance, TupleType, Type, get_proper_type

if TYPE_CHECKING:
    from mypy.nodes import TypeInfo
    from mypy.plugin import MethodContext

_MODULE = "torch.nn.modules.module.Module"
_TENSOR = "torch._tensor.Tensor"


def module_call_type(context: MethodContext) -> Type:
    """The type of a call of an `nn.Module`; mypy's own answer where `forward` declares nothing to go by.

    Args:
        context: the call of a `__call__` method.
    """
    default = context.default_return_type
    module = context.type
    if not isinstance(module, Instance) or not isinstance(get_proper_type(default), AnyType):
        return default
    owner = _owner(module.type, "__call__")
    if owner is None or owner.fullname != _MODULE:
        return default
    _check_again_with_forward(context, module.type)
    owner = _owner(module.type, "forward")
    if owner is None or owner.fullname == _MODULE or not _is_annotated(owner):
        return default
    checker = getattr(context.api, "expr_checker", None)
    if checker is None:
        return default
    forward = get_proper_type(checker.analyze_external_member_access("forward", module, context.context))
    if not isinstance(forward, CallableType) or forward.variables:
        return default  # overloaded, or generic in itself: the arguments decide
    if owner.module_name.split(".", 1)[0] == "torch" and not _is_plain(forward.ret_type):
        return default  # torch's own unions, such as MultiheadAttention's, would ask for checks that nobody writes
    return forward.ret_type


def _check_again_with_forward(context: MethodContext, info: TypeInfo) -> None:
    """Tell mypy's daemon that the calling function is to be checked again when the class's `forward` changes."""
    tree = getattr(context.api, "tree", None)
    target = context.api.msg.errors.current_target()
    if tree is not None and target is not None:
        tree.plugin_deps.setdefault(make_trigger(f"{info.fullname}.forward"), set()).add(target)


def _owner(info: TypeInfo, name: str) -> TypeInfo | None:
    """The class that defines a method which instances of `info` have."""
    return next((base for base in info.mro if name in base.names), None)


def _is_annotated(owner: TypeInfo) -> bool:
    """Whether the class's `forward` is a method that declares what it returns."""
    node = owner.names["forward"].node
    function = node.func if isinstance(node, Decorator) else node
    if not isinstance(function, FuncDef) or function.type is None:
        return False
    declared = get_proper_type(function.type)
    return isinstance(declared, CallableType) and not isinstance(get_proper_type(declared.ret_type), AnyType)


def _is_plain(declared: Type) -> bool:
    """Whether a type is a tensor or a tuple of tensors."""
    proper = get_proper_type(declared)
    if isinstance(proper, TupleType):
        return all(map(_is_plain, proper.items))
    return isinstance(proper, Instance) and proper.type.fullname == _TENSOR
