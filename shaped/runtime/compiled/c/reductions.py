"""Sums, means, extrema over dims. Sums of float are made in double, so they are no less accurate than torch's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from shaped.runtime.compiled.c.arguments import Call
from shaped.runtime.compiled.c.elementwise import FORMULAS
from shaped.runtime.compiled.c.layout import C_TYPES, View, loop_order
from shaped.runtime.compiled.c.steps import Kernel
from shaped.runtime.compiled.c.text import indices, loops, vector_loop

# How many sums are made side by side, where the elements of one do not come one after the other.
_SIDE_BY_SIDE = 512
_SUM = "{total} + {value}"


def reduction(
    call: Call,
    operands: Sequence[View],
    value: str,
    dims: Sequence[int],
    *,
    combine: str = _SUM,
    start: str = "0",
    finish: str = "{total}",
    kind: str = "double",
    target: View | None = None,
) -> Kernel:
    """A kernel that combines values over dims.

    Args:
        operands: what the values are made of, all of one shape.
        value: a value in C; `{0}` stands for an element of the first operand.
        dims: the dims that go.
        combine: how a value joins those before it.
        start: what no values give.
        finish: what becomes of the total.
        kind: the type of the total.
        target: where the totals go, if not to the results of the call.
    """
    target = call.results[0] if target is None else target
    operands = [*operands]
    shape = operands[0].shape
    kept = [dim for dim in range(len(shape)) if dim not in dims and shape[dim] != 1]
    gone = [dim for dim in dims if shape[dim] != 1]
    places = target.squeeze() if len(target.shape) == len(shape) else _without_ones(target, shape, dims)
    steps = {dim: abs(operands[0].strides[dim]) for dim in (*kept, *gone)}
    side_by_side = bool(kept and gone) and min(steps, key=lambda dim: (steps[dim], dim in gone)) in kept
    sizes, strides = loop_order([shape[dim] for dim in gone], [one.select(gone) for one in operands])
    inner = indices("r", len(sizes))
    if side_by_side and target.numel:
        column = min(kept, key=lambda dim: steps[dim])
        lines = _side_by_side(
            operands, places, kept, column, sizes, strides, inner, value, combine, start, finish, kind
        )
    else:
        names = indices("k", len(kept))
        elements = [_element(one, kept, names, own, inner) for one, own in zip(operands, strides)]
        add = f"total = {combine.format(total='total', value=value.format(*elements))};"
        clause = " reduction(+ : total)" if combine == _SUM else None
        body = [add]
        if inner:
            last = vector_loop(inner[-1], sizes[-1], body, clause) if clause else loops(inner[-1:], sizes[-1:], body)
            body = loops(inner[:-1], sizes[:-1], last)
        body = [f"{kind} total = {start};", *body, f"{places.at(*names)} = {finish.format(total='total')};"]
        lines = loops(names, [shape[dim] for dim in kept], body) if names else ["{", *body, "}"]

    def elsewhere(move: Callable[[View], View]) -> Kernel:
        return reduction(
            call,
            [move(one) for one in operands],
            value,
            dims,
            combine=combine,
            start=start,
            finish=finish,
            kind=kind,
            target=move(target),
        )

    return Kernel(call.comment, operands, [target], lines if target.numel else [], elsewhere=elsewhere)


def _side_by_side(
    operands: Sequence[View],
    places: View,
    kept: Sequence[int],
    column: int,
    sizes: Sequence[int],
    strides: Sequence[Sequence[int]],
    inner: Sequence[str],
    value: str,
    combine: str,
    start: str,
    finish: str,
    kind: str,
) -> list[str]:
    """Totals that lie next to each other, made together: each round of the loop over the rest adds a row to them."""
    shape = operands[0].shape
    width = min(shape[column], _SIDE_BY_SIDE)
    names = ["first + j" if dim == column else f"k{number}" for number, dim in enumerate(kept)]
    outer = [(f"k{number}", shape[dim]) for number, dim in enumerate(kept) if dim != column]
    bracketed = [f"({name})" if "+" in name else name for name in names]
    elements = [_element(one, kept, bracketed, own, inner) for one, own in zip(operands, strides)]
    add = f"totals[j] = {combine.format(total='totals[j]', value=value.format(*elements))};"
    put = f"{places.at(*bracketed)} = {finish.format(total='totals[j]')};"

    def each(line: str) -> list[str]:
        return ["#pragma omp simd", "for (int64_t j = 0; j < width; j++) {", line, "}"]

    body = [
        f"for (int64_t first = 0; first < {shape[column]}; first += {width}) {{",
        f"const int64_t width = {shape[column]} - first < {width} ? {shape[column]} - first : {width};"
        if shape[column] % width
        else f"const int64_t width = {width};",
        f"{kind} totals[{width}];",
        *each(f"totals[j] = {start};"),
        *loops(inner, sizes, each(add)),
        *each(put),
        "}",
    ]
    return loops([name for name, _ in outer], [size for _, size in outer], body)


def _element(
    view: View, kept: Sequence[int], names: Sequence[str], strides: Sequence[int], inner: Sequence[str]
) -> str:
    at = View(view.buffer, (0,) * (len(kept) + len(inner)), (*(view.strides[d] for d in kept), *strides), view.offset)
    return at.at(*names, *inner)


def _without_ones(target: View, shape: Sequence[int], dims: Sequence[int]) -> View:
    """The view of a result without the reduced dims, and without those of size 1."""
    left = [dim for dim in range(len(shape)) if dim not in dims]
    return target.select([number for number, dim in enumerate(left) if shape[dim] != 1])


def _sum(call: Call) -> list[Kernel]:
    source = call.view("self")
    dims = call.dims("dim", len(source.shape)) if "dim" in call.arguments else tuple(range(len(source.shape)))
    kind = "double" if call.results[0].dtype.is_floating_point else "int64_t"
    return [reduction(call, [source], "{0}", dims, kind=kind)]


def _mean(call: Call) -> list[Kernel]:
    source = call.view("self")
    dims = call.dims("dim", len(source.shape)) if "dim" in call.arguments else tuple(range(len(source.shape)))
    count = torch.Size([source.shape[dim] for dim in dims]).numel()
    return [reduction(call, [source], "{0}", dims, finish=f"{{total}} / {count}.0")]


def _extremum(sign: str) -> Callable[[Call], list[Kernel]]:
    def kernel(call: Call) -> list[Kernel]:
        source = call.view("self")
        dims = call.dims("dim", len(source.shape)) if "dim" in call.arguments else tuple(range(len(source.shape)))
        if not source.dtype.is_floating_point:
            raise call.refusal(f"{source.dtype}")
        if not all(source.shape[dim] for dim in dims):
            raise call.refusal("no elements")
        kind = C_TYPES[source.dtype]
        start = f"{'-' if sign == '>' else ''}({kind})INFINITY"
        # A NaN stays: no comparison with it is true.
        combine = f"{{value}} {sign} {{total}} || {{value}} != {{value}} ? {{value}} : {{total}}"
        return [reduction(call, [source], "{0}", dims, combine=combine, start=start, kind=kind)]

    return kernel


def _loss(call: Call) -> list[Kernel]:
    """The sum or the mean of a loss's elements."""
    source, target = call.view("self"), call.view("target")
    formula = FORMULAS[call.node.target.overloadpacket.__name__]  # type: ignore[union-attr]  # an operation of torch
    assert isinstance(formula, str)
    given = {one: call.number(one, source.dtype) for one in ("beta", "delta") if one in call.arguments}
    value = formula.format(self="{0}", target="{1}", T=C_TYPES[source.dtype], **given)
    shape: torch.Size = torch.broadcast_shapes(source.shape, target.shape)  # type: ignore[no-untyped-call]  # torch's
    operands = [source.expand(shape), target.expand(shape)]
    finish = f"{{total}} / {shape.numel()}.0" if call.arguments["reduction"] == 1 else "{total}"
    return [reduction(call, operands, value, range(len(shape)), finish=finish)]


REDUCTIONS = {
    "sum": _sum,
    "mean": _mean,
    "amax": _extremum(">"),
    "amin": _extremum("<"),
    "mse_loss": _loss,
    "smooth_l1_loss": _loss,
    "huber_loss": _loss,
}
