"""`torch._foreach_*`: one operation on each tensor of a list, as optimizers use them."""

from __future__ import annotations

from shaped.spec.context import Context
from shaped.spec.op import op
from shaped.spec.values import UNKNOWN, Many, TensorType, Value

_SAME = [
    *("add", "sub", "mul", "div", "sqrt", "neg", "maximum", "minimum"),
    *("addcmul", "addcdiv", "lerp", "pow", "abs", "exp"),
]


def _declare(name: str) -> None:
    @op(f"_foreach_{name}", f"torch._foreach_{name}", formula=f"{name} of each tensor")
    def rule(context: Context, self: Value, *args: Value, **options: Value) -> Value:
        return _of_the_same_shapes(self)

    @op(f"_foreach_{name}_", f"torch._foreach_{name}_", formula=f"{name} of each tensor, in place")
    def in_place(context: Context, self: Value, *args: Value, **options: Value) -> Value:
        return self


def _of_the_same_shapes(tensors: Value) -> Value:
    if isinstance(tensors, tuple):
        return tuple(TensorType(item.shape) if isinstance(item, TensorType) else UNKNOWN for item in tensors)
    if isinstance(tensors, Many) and isinstance(tensors.element, TensorType):
        return Many(TensorType(tensors.element.shape), tensors.length)
    return UNKNOWN


for _name in _SAME:
    _declare(_name)
