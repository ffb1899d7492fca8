"""Rows that are chosen by number, and tensors that are joined.

A number that is out of range is found before anything is written, where it is an input or a held tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shaped.runtime.compiled.c.arguments import Call
from shaped.runtime.compiled.c.layout import C_TYPES, View
from shaped.runtime.compiled.c.steps import Check, Elementwise, Kernel
from shaped.runtime.compiled.c.text import indices, loops


def _check(index: View, size: int, least: int, message: str) -> Check:
    names = indices("n", len(index.shape))
    wrong = f"{index.at(*names)} < {least} || {index.at(*names)} >= {size}"
    return Check(index, loops(names, index.shape, [f"if ({wrong}) {{", "return FAULT;", "}"]), message)


def _require_numbers(call: Call, index: View) -> None:
    if index.c_type not in ("int64_t", "int32_t"):
        raise call.refusal(f"an index of {index.dtype}")


def _lookup(call: Call, table: View, dim: int, index: View, result: View, *, wraps: bool = False) -> list[Kernel]:
    """result[..., n, ...] = table[..., index[n], ...], where the dims of the index replace `dim`."""
    _require_numbers(call, index)
    rank = len(index.shape)
    size = table.shape[dim]
    names = indices("n", rank)
    before, after = indices("b", dim), indices("a", len(table.shape) - dim - 1)
    copy = f"{result.at(*before, *names, *after)} = {table.at(*before, 'row', *after)};"
    find = [f"const int64_t row = {_wrapped(index.at(*names), size) if wraps else index.at(*names)};"]
    each = (
        loops(names, index.shape, [*find, *loops(after, table.shape[dim + 1 :], [copy])])
        if rank
        else ["{", *find, *loops(after, table.shape[dim + 1 :], [copy]), "}"]
    )
    lines = loops(before, table.shape[:dim], each) if dim else each
    message = (
        f"an index is out of range: there are {size} rows"
        if not wraps
        else (f"an index is out of bounds for dimension {dim} with size {size}")
    )
    check = _check(index, size, -size if wraps else 0, message)
    return [Kernel(call.comment, [table, index], [result], lines, check=check)]


def _wrapped(number: str, size: int) -> str:
    """A number that counts from the end where it is negative."""
    return f"{number} < 0 ? {number} + {size} : {number}"


def _index_select(call: Call) -> list[Kernel]:
    table, index = call.view("self"), call.view("index")
    if not table.shape:
        raise call.refusal("a scalar")
    return _lookup(
        call, table, call.integer("dim") % len(table.shape), index.expand(index.shape or (1,)), call.results[0]
    )


def _embedding(call: Call) -> list[Kernel]:
    return _lookup(call, call.view("weight"), 0, call.view("indices"), call.results[0])


def _index(call: Call) -> list[Kernel]:
    given = call.arguments["indices"]
    assert isinstance(given, Sequence)
    places = [place for place, one in enumerate(given) if one is not None]
    (index, *others) = call.views("indices")
    if others:
        raise call.refusal("several indices")
    return _lookup(call, call.view("self"), places[0], index, call.results[0], wraps=True)


def _embedding_backward(call: Call) -> list[Kernel]:
    gradient, index, (result,) = call.view("grad_output"), call.view("indices"), call.results
    _require_numbers(call, index)
    if call.arguments["scale_grad_by_freq"]:
        raise call.refusal("scale_grad_by_freq")
    rows, width = result.shape
    names = indices("n", len(index.shape))
    skipped = call.number("padding_idx", index.dtype)
    add = [
        f"const int64_t row = {index.at(*names)};",
        f"if (row != {skipped}) {{",
        *loops("c", [width], [f"{result.at('row', 'c')} += {gradient.at(*names, 'c')};"]),
        "}",
    ]
    lines = [
        *loops(["row", "c"], [rows, width], [f"{result.at('row', 'c')} = 0;"]),
        *(loops(names, index.shape, add) if names else ["{", *add, "}"]),
    ]
    check = _check(index, rows, 0, f"an index is out of range: there are {rows} rows")
    return [Kernel(call.comment, [gradient, index], [result], lines, check=check)]


def _gather(call: Call) -> list[Kernel]:
    source, index, (result,) = call.view("self"), call.view("index"), call.results
    _require_numbers(call, index)
    if not source.shape or not index.shape:
        raise call.refusal("a scalar")
    dim = call.integer("dim") % len(source.shape)
    names = indices("n", len(index.shape))
    row = [index.at(*names) if number == dim else name for number, name in enumerate(names)]
    row[dim] = f"({row[dim]})"
    lines = loops(names, index.shape, [f"{result.at(*names)} = {source.at(*row)};"])
    size = source.shape[dim]
    check = _check(index, size, 0, f"an index is out of bounds for dimension {dim} with size {size}")
    return [Kernel(call.comment, [source, index], [result], lines, check=check)]


def _add_rows(call: Call) -> list[Kernel | Elementwise]:
    """index_add: a copy, to which rows are added."""
    start, index, source = call.view("self"), call.view("index"), call.view("source")
    (result,) = call.results
    _require_numbers(call, index)
    if not start.shape or not index.shape:
        raise call.refusal("a scalar")
    dim = call.integer("dim") % len(start.shape)
    names = indices("n", len(start.shape))
    at = ["row" if number == dim else name for number, name in enumerate(names)]
    add = f"{result.at(*at)} += {call.number('alpha', result.dtype)} * {source.at(*names)};"
    body = [f"const int64_t row = {index.at(names[dim])};", add]
    size = start.shape[dim]
    check = _check(index, size, 0, f"an index is out of range: there are {size} rows")
    adding = Kernel(call.comment, [index, source, result], [result], loops(names, source.shape, body), check=check)
    if start == result:
        return [adding]
    copy = Elementwise(call.comment, f"v_{call.node.name}", result.squeeze(), (start.squeeze(),), "$0")
    return [copy, adding]


def _cat(call: Call) -> list[Elementwise]:
    (result,) = call.results
    parts = [part for part in call.views("tensors") if part.shape != (0,)]
    dim = call.integer("dim") % max(1, len(result.shape))
    first, copies = 0, []
    for number, part in enumerate(parts):
        place = result.narrow(dim, first, part.shape[dim])
        first += part.shape[dim]
        copies.append(_copied(call, number, place, part))
    return copies


def _slice_backward(call: Call) -> list[Elementwise]:
    gradient, (result,) = call.view("grad_output"), call.results
    dim, step = call.integer("dim") % len(result.shape), call.integer("step")
    start = slice(call.integer("start"), call.integer("end"), step).indices(result.shape[dim])[0]
    strides = (*result.strides[:dim], result.strides[dim] * step, *result.strides[dim + 1 :])
    offset = result.offset + start * result.strides[dim]
    return _in_zeros(call, View(result.buffer, gradient.shape, strides, offset), gradient)


def _select_backward(call: Call) -> list[Elementwise]:
    gradient, (result,) = call.view("grad_output"), call.results
    dim = call.integer("dim") % len(result.shape)
    others = [number for number in range(len(result.shape)) if number != dim]
    place = result.narrow(dim, call.integer("index") % result.shape[dim], 1).select(others)
    return _in_zeros(call, place, gradient)


def _in_zeros(call: Call, place: View, part: View) -> list[Elementwise]:
    (result,) = call.results
    zeros = Elementwise(call.comment, f"v_{call.node.name}_zeros", result.squeeze(), (), "0")
    return [zeros, _copied(call, 0, place, part)] if part.numel else [zeros]


def _stack(call: Call) -> list[Elementwise]:
    (result,) = call.results
    dim = call.integer("dim") % len(result.shape)
    others = [number for number in range(len(result.shape)) if number != dim]
    parts = call.views("tensors")
    return [
        _copied(call, number, result.narrow(dim, number, 1).select(others), part) for number, part in enumerate(parts)
    ]


def _copied(call: Call, number: int, place: View, part: View) -> Elementwise:
    value = "$0" if part.dtype == place.dtype else f"({C_TYPES[place.dtype]})$0"
    return Elementwise(call.comment, f"v_{call.node.name}_{number}", place.squeeze(), (part.squeeze(),), value)


INDEXING: dict[str, Callable[[Call], Sequence[Kernel | Elementwise]]] = {
    "index_select": _index_select,
    "embedding": _embedding,
    "index": _index,
    "embedding_dense_backward": _embedding_backward,
    "gather": _gather,
    "index_add": _add_rows,
    "index_add_": _add_rows,
    "cat": _cat,
    "stack": _stack,
    "slice_backward": _slice_backward,
    "select_backward": _select_backward,
}
