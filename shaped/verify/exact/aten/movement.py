"""Rules of operations that pick, repeat and place entries: the same for residues, tangents, images and shadows."""

from __future__ import annotations

from typing import Any

import torch

from shaped.verify.exact.arithmetic import linear, linear_of_many, move_many, where
from shaped.verify.exact.aten.registry import RULES, rule
from shaped.verify.exact.value import Value, lift

aten = torch.ops.aten


def _declare_movement(name: str) -> None:
    # The packet: torch finds the overload from the arguments.
    function = getattr(aten, name)

    def apply(value: Any, *arguments: Any, **options: Any) -> Value:
        return lift(value).move(lambda one: function(one, *arguments, **options))

    RULES[name] = RULES[f"{name}_copy"] = apply


for _name in (
    "permute",
    "transpose",
    "t",
    "unsqueeze",
    "squeeze",
    "slice",
    "select",
    "diagonal",
    "flip",
    "roll",
    "repeat",
    "unfold",
    "narrow",
    "movedim",
    "rot90",
    "channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
):
    _declare_movement(_name)


@rule("view.default", "_unsafe_view", "reshape", "view_copy.default", "_reshape_alias")
def _view(value: Any, shape: Any, *_: Any) -> Value:
    return lift(value).move(lambda one: one.reshape(shape))


@rule("expand", "expand_copy", "broadcast_in_dim")
def _expand(value: Any, shape: Any, *, implicit: bool = False) -> Value:
    return lift(value).move(lambda one: one.expand(shape))


@rule("as_strided", "as_strided_copy")
def _as_strided(value: Any, size: Any, stride: Any, offset: Any = None) -> Value:
    return lift(value).move(lambda one: one.contiguous().as_strided(size, stride, offset or 0))


@rule("cat")
def _cat(tensors: Any, dim: int = 0) -> Value:
    values = [lift(one) for one in tensors]
    values = [value for value in values if value.shape != (0,)] or values[:1]
    return move_many(lambda parts: torch.cat(list(parts), dim), values)


@rule("stack")
def _stack(tensors: Any, dim: int = 0) -> Value:
    return move_many(lambda parts: torch.stack(list(parts), dim), [lift(one) for one in tensors])


@rule("split_with_sizes", "split_with_sizes_copy", "split.Tensor", "split_copy.Tensor", "unsafe_split.Tensor",
      "unsafe_split_with_sizes")  # fmt: skip
def _split(value: Value, sizes: Any, dim: int = 0) -> list[Value]:
    # Views of one tensor; what is carried is split part by part.
    count = len(torch.split(value.shadow, sizes, dim))
    return [value.move(lambda one, part=part: torch.split(one, sizes, dim)[part]) for part in range(count)]  # type: ignore[misc]  # no type is inferred


@rule("unbind", "unbind_copy")
def _unbind(value: Value, dim: int = 0) -> list[Value]:
    return [value.move(lambda one, k=k: one.select(dim, k)) for k in range(value.shape[dim])]  # type: ignore[misc]  # no type is inferred


@rule("slice_scatter")
def _slice_scatter(value: Any, source: Any, *arguments: Any, **options: Any) -> Value:
    return _placed(lambda one, part: aten.slice_scatter(one, part, *arguments, **options), value, source)


@rule("select_scatter")
def _select_scatter(value: Any, source: Any, *arguments: Any) -> Value:
    return _placed(lambda one, part: aten.select_scatter(one, part, *arguments), value, source)


@rule("diagonal_scatter")
def _diagonal_scatter(value: Any, source: Any, *arguments: Any, **options: Any) -> Value:
    return _placed(lambda one, part: aten.diagonal_scatter(one, part, *arguments, **options), value, source)


@rule("as_strided_scatter")
def _as_strided_scatter(value: Any, source: Any, *arguments: Any) -> Value:
    return _placed(lambda one, part: aten.as_strided_scatter(one, part, *arguments), value, source)


def _placed(function: Any, value: Any, source: Any) -> Value:
    return linear_of_many(lambda both: function(both[0], both[1]), [lift(value), lift(source)])


@rule("slice_backward")
def _slice_backward(value: Value, sizes: Any, dim: int, start: int, end: int, step: int) -> Value:
    return linear(lambda one: aten.slice_scatter(one.new_zeros(sizes), one, dim, start, end, step), value)


@rule("select_backward")
def _select_backward(value: Value, sizes: Any, dim: int, index: int) -> Value:
    return linear(lambda one: aten.select_scatter(one.new_zeros(sizes), one, dim, index), value)


@rule("diagonal_backward")
def _diagonal_backward(value: Value, sizes: Any, offset: int, dim1: int, dim2: int) -> Value:
    return linear(lambda one: aten.diagonal_scatter(one.new_zeros(sizes), one, offset, dim1, dim2), value)


@rule("constant_pad_nd")
def _constant_pad(value: Value, padding: Any, number: float = 0) -> Value:
    padded = value.move(lambda one: aten.constant_pad_nd(one, padding, 0))
    inside = aten.constant_pad_nd(torch.ones(value.shape, dtype=torch.bool), padding, False)
    return where(inside, padded, number)


@rule("tril")
def _tril(value: Value, diagonal: int = 0) -> Value:
    return linear(lambda one: one.tril(diagonal), value)


@rule("triu")
def _triu(value: Value, diagonal: int = 0) -> Value:
    return linear(lambda one: one.triu(diagonal), value)


@rule("diag_embed")
def _diag_embed(value: Value, *arguments: Any, **options: Any) -> Value:
    return linear(lambda one: torch.diag_embed(one, *arguments, **options), value)
