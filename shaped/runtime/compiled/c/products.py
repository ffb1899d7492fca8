"""Products of matrices, by the way that their sizes and strides make the fastest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from shaped.runtime.compiled.c.arguments import Call
from shaped.runtime.compiled.c.layout import C_TYPES, Buffer, View
from shaped.runtime.compiled.c.steps import Elementwise, Kernel
from shaped.runtime.compiled.c.text import indices, loops

# Up to so many multiplications, plain loops are faster than the calls of functions.
_TINY = 2048
# Up to so many rows, columns that are contiguous are read where they are, if they are as long as a vector at least.
_FEW_ROWS = 4
_LONG_DOT = 16
# The widest panel is two vectors of 64 bytes; it is as deep as `product.c` says.
_PANEL_BYTES = 128
_PANEL_DEPTH = 256


def product(call: Call, a: View, b: View, start: View | None, c: View) -> Kernel:
    """c = start + a b, for matrices or as many matrices as the dims before say; `start` has the shape of c."""
    reads = [a, b, *([start] if start is not None else [])]
    *batch, rows, columns = c.shape
    depth = a.shape[-1]
    outer = indices("n", len(batch))
    lines = _one_product(a, b, start, c, outer)
    scratch = min(depth, _PANEL_DEPTH) * _PANEL_BYTES
    work = torch.Size(batch).numel() * rows * columns * depth

    def elsewhere(move: Callable[[View], View]) -> Kernel:
        return product(call, move(a), move(b), None if start is None else move(start), move(c))

    nest = loops(outer, batch, lines) if outer else lines
    return Kernel(call.comment, reads, [c], nest, scratch, work, elsewhere=elsewhere, right=b)


def _one_product(a: View, b: View, start: View | None, c: View, outer: list[str]) -> list[str]:
    rows, columns = c.shape[-2:]
    depth = a.shape[-1]
    if c.strides[-1] != 1 and columns != 1 and (c.strides[-2] == 1 or rows == 1):
        # The rows of the transposed product are contiguous.
        return _one_product(b.transpose(), a.transpose(), start.transpose() if start else None, c.transpose(), outer)
    kind = C_TYPES[c.dtype]
    contiguous = c.strides[-1] == 1 or columns == 1
    startable = start is None or start.strides[-1] in (0, 1)
    are_dots = rows <= _FEW_ROWS and a.strides[-1] == 1 and b.strides[-2] == 1 and depth >= _LONG_DOT
    is_tiny = rows * columns * depth <= _TINY and not are_dots
    if is_tiny or not contiguous or not startable:
        return _plain_loops(a, b, start, c, outer)
    given = [f"{rows}, {depth}, {columns}"]
    if start is None:
        begin = "0, 0, 0"
    else:
        begin = f"{_address(start, outer)}, {start.strides[-2]}, {start.strides[-1]}"
    to = f"{_address(c, outer)}, {c.strides[-2]}"
    if are_dots:
        given += [f"{_address(a, outer)}, {a.strides[-2]}", f"{_address(b, outer)}, {b.strides[-1]}", begin, to]
        return [f"product_by_dots_{kind}({', '.join(given)});"]
    given += [
        f"{_address(a, outer)}, {a.strides[-2]}, {a.strides[-1]}",
        f"{_address(b, outer)}, {b.strides[-2]}, {b.strides[-1]}",
        begin,
        to,
        "scratch",
    ]
    return [f"product_{kind}({', '.join(given)});"]


def _plain_loops(a: View, b: View, start: View | None, c: View, outer: list[str]) -> list[str]:
    rows, columns = c.shape[-2:]
    begin = start.at(*outer, "i", "j") if start is not None else "0"
    add = f"sum += {a.at(*outer, 'i', 'k')} * {b.at(*outer, 'k', 'j')};"
    body = [f"{C_TYPES[c.dtype]} sum = {begin};", *loops("k", [a.shape[-1]], [add]), f"{c.at(*outer, 'i', 'j')} = sum;"]
    return loops("ij", [rows, columns], body)


def _address(view: View, outer: list[str]) -> str:
    return f"{view.buffer.name} + {view.place(*outer)}" if outer or view.offset else view.buffer.name


def _matrices(call: Call, a: View, b: View, c: View, start: View | None = None) -> list[Kernel | Elementwise]:
    """c = beta start + alpha a b."""
    if not c.dtype.is_floating_point:
        raise call.refusal(f"{c.dtype}")
    alpha, beta = call.arguments.get("alpha", 1), call.arguments.get("beta", 1)
    if beta == 0:
        start = None  # torch does not read it: it may be NaN
    if start is not None:
        start = start.expand(c.shape)
    if alpha == 1 and (start is None or beta == 1):
        return [product(call, a, b, start, c)]
    plain = replace(c, buffer=Buffer(f"{c.buffer.name}_product", c.dtype, c.buffer.size, "temporary"))
    scaled = f"{call.number('alpha', c.dtype)} * $0"
    operands = [plain.squeeze()]
    if start is not None:
        scaled = f"{call.number('beta', c.dtype)} * $1 + {scaled}"
        operands.append(start.squeeze())
    name = f"v_{call.node.name}"
    return [product(call, a, b, None, plain), Elementwise(call.comment, name, c.squeeze(), tuple(operands), scaled)]


def _mm(call: Call) -> list[Kernel | Elementwise]:
    return _matrices(call, call.view("self"), call.view("mat2"), call.results[0])


def _addmm(call: Call) -> list[Kernel | Elementwise]:
    return _matrices(call, call.view("mat1"), call.view("mat2"), call.results[0], call.view("self"))


def _baddbmm(call: Call) -> list[Kernel | Elementwise]:
    return _matrices(call, call.view("batch1"), call.view("batch2"), call.results[0], call.view("self"))


def _as_column(vector: View) -> View:
    return View(vector.buffer, (*vector.shape, 1), (*vector.strides, 1), vector.offset)


def _as_row(vector: View) -> View:
    return View(vector.buffer, (1, *vector.shape), (1, *vector.strides), vector.offset)


def _mv(call: Call) -> list[Kernel | Elementwise]:
    return _matrices(call, call.view("self"), _as_column(call.view("vec")), _as_column(call.results[0]))


def _addmv(call: Call) -> list[Kernel | Elementwise]:
    start = call.view("self").expand(call.results[0].shape)
    vector = _as_column(call.view("vec"))
    return _matrices(call, call.view("mat"), vector, _as_column(call.results[0]), _as_column(start))


def _dot(call: Call) -> list[Kernel | Elementwise]:
    result = _as_row(_as_column(call.results[0]))
    return _matrices(call, _as_row(call.view("self")), _as_column(call.view("tensor")), result)


PRODUCTS: dict[str, Callable[[Call], list[Kernel | Elementwise]]] = {
    "mm": _mm,
    "addmm": _addmm,
    "bmm": _mm,
    "baddbmm": _baddbmm,
    "mv": _mv,
    "addmv": _addmv,
    "dot": _dot,
}
