"""Writes in place, and what shares memory with what is written to.

A write through a part (`d[0] += v`) goes on to the whole. A tensor that shares memory in another way (`x.T`,
`x.view(-1)`), or was taken before a write, is not followed after it: using it then is `NotExpressible`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError

if TYPE_CHECKING:
    from shaped.spec.tensor import Tensor, TensorLike

_KINDS = ("bool", "int", "float", "complex")  # each holds those before it


def part(source: Tensor, key: object) -> Tensor:
    """`source[key]`, through which the source can be written to."""
    from shaped.spec.calls import as_argument, as_result, notice
    from shaped.spec.meanings.indexing import getitem

    notice("getitem")
    found: Tensor = own(as_result(getitem(up_to_date(source), as_argument(key))))
    found.shares, found.key = (source, source.version), key
    return found


def assign(target: Tensor, key: object, value: object) -> None:
    """`target[key] = value`."""
    from shaped.spec.calls import as_argument, notice
    from shaped.spec.meanings.indexing import setitem

    notice("setitem")
    shares = getattr(value, "shares", None)
    if key is getattr(value, "key", None) and shares and shares[0] is target and shares[1] == target.version:
        return  # `target[key] += v` has written through the part already
    changed = own(up_to_date(target))
    setitem(changed, as_argument(key), as_argument(value))
    write(target, changed)


def write(target: Tensor, value: TensorLike) -> Tensor:
    """Write a value into a tensor in place, and into what it is a part of; gives the tensor.

    Raises:
        ShapeError: the value has another shape.
        NotExpressible: the tensor shares memory with another in a way that is not followed, or does not hold the kind
            of numbers.
    """
    from shaped.spec.tensor import NotExpressible, tensor

    value = _of_kind(tensor(value), target.kind)
    if value.sizes != target.sizes:
        shapes = [f"({', '.join(map(str, each.sizes))})" for each in (value, target)]
        raise ShapeError("write in place", f"a value of shape {shapes[0]} into a tensor of shape {shapes[1]}")
    if target.shares is not None:
        whole, version = target.shares
        if target.key is None or version != whole.version:
            raise NotExpressible("a write to a tensor that shares memory with another")
        assign(whole, target.key, own(value))
        target.shares = whole, whole.version
    target.axes, target.body, target.imaginary = value.axes, value.body, value.imaginary
    target.version += 1
    return target


def up_to_date(operand: Tensor) -> Tensor:
    """The tensor, unless what it shares memory with was written to since.

    Raises:
        NotExpressible: it was.
    """
    from shaped.spec.tensor import NotExpressible

    each = operand
    while each.shares is not None:
        whole, version = each.shares
        if whole.version != version:
            raise NotExpressible("a view of a tensor that was written to since")
        each = whole
    return operand


def own(value: Tensor) -> Tensor:
    """The same numbers as a tensor of its own."""
    from shaped.spec.tensor import Tensor

    return Tensor(value.axes, value.body, value.kind, value.imaginary)


def _of_kind(value: Tensor, kind: str) -> Tensor:
    """The value in a kind that holds it, as torch converts what is written."""
    from shaped.spec.expr import real
    from shaped.spec.tensor import NotExpressible, Tensor

    if value.kind == kind:
        return value
    if kind == "bool" or _KINDS.index(value.kind) > _KINDS.index(kind):
        raise NotExpressible(f"numbers of kind {value.kind} written into a tensor of kind {kind}")
    imaginary = real(0) if kind == "complex" else None
    return Tensor(value.axes, value.at(*value.places), kind, imaginary)
