"""Softmax and layer normalisation: what needs all elements of a row before it gives the first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from shaped.runtime.compiled.c.arguments import Call
from shaped.runtime.compiled.c.layout import C_TYPES, View
from shaped.runtime.compiled.c.steps import Kernel
from shaped.runtime.compiled.c.text import indices, loops, vector_loop


def _along(call: Call, views: Sequence[View], body: Callable[[list[str]], list[str]]) -> Kernel:
    """A kernel that does something for each row along the dim of the argument `dim`.

    Args:
        views: the operands and the result, of one shape; the result comes last.
        body: what is done for a row; it is given an element of each view, where `c` counts along the row.
    """
    if not views[-1].dtype.is_floating_point:
        raise call.refusal(f"{views[-1].dtype}")
    shape = views[-1].shape or (1,)
    views = [view if view.shape else view.expand((1,)) for view in views]
    dim = call.integer("dim") % len(shape)
    names = indices("k", len(shape))
    outer = [number for number in range(len(shape)) if number != dim]
    at = ["c" if number == dim else name for number, name in enumerate(names)]
    lines = body([view.at(*at) for view in views])
    nest = loops([names[number] for number in outer], [shape[number] for number in outer], lines)
    lines = nest if outer else ["{", *lines, "}"]
    return Kernel(call.comment, list(views[:-1]), [views[-1]], lines)


def _length(call: Call) -> int:
    shape = call.results[0].shape or (1,)
    return shape[call.integer("dim") % len(shape)]


def _softmax(is_log: bool) -> Callable[[Call], list[Kernel]]:
    def kernel(call: Call) -> list[Kernel]:
        source, (target,) = call.view("self"), call.results
        if source.dtype != target.dtype:
            raise call.refusal("half_to_float")
        kind, length = C_TYPES[target.dtype], _length(call)

        def row(elements: list[str]) -> list[str]:
            value, result = elements
            largest = [
                f"{kind} largest = -({kind})INFINITY;",
                *loops("c", [length], [f"largest = larger_{kind}({value}, largest);"]),
                "double total = 0;",
            ]
            if is_log:
                add = [f"total += exp_{kind}({value} - largest);"]
                put = [f"{result} = {value} - largest - logarithm;"]
                middle = [f"const {kind} logarithm = ({kind})log(total);"]
            else:
                add = [f"const {kind} power = exp_{kind}({value} - largest);", f"{result} = power;", "total += power;"]
                put = [f"{result} = ({kind})({result} / total);"]
                middle = []
            return [
                *largest,
                *vector_loop("c", length, add, " reduction(+ : total)"),
                *middle,
                *vector_loop("c", length, put),
            ]

        return [_along(call, [source, target], row)]

    return kernel


def _softmax_backward(is_log: bool) -> Callable[[Call], list[Kernel]]:
    def kernel(call: Call) -> list[Kernel]:
        gradient, output, (target,) = call.view("grad_output"), call.view("output"), call.results
        if gradient.dtype != target.dtype:
            raise call.refusal("half_to_float")
        kind, length = C_TYPES[target.dtype], _length(call)

        def row(elements: list[str]) -> list[str]:
            slope, value, result = elements
            add = f"total += {slope};" if is_log else f"total += {slope} * {value};"
            put = f"{slope} - exp_{kind}({value}) * sum" if is_log else f"({slope} - sum) * {value}"
            return [
                "double total = 0;",
                *vector_loop("c", length, [add], " reduction(+ : total)"),
                f"const {kind} sum = ({kind})total;",
                *vector_loop("c", length, [f"{result} = {put};"]),
            ]

        return [_along(call, [gradient, output, target], row)]

    return kernel


def _own(view: View, outer: int) -> str:
    """An element of a view that has the normalised dims alone."""
    return view.at(*(f"k{number + outer}" for number in range(len(view.shape))))


def _layer_norm(call: Call) -> list[Kernel]:
    source, weight, bias = call.view("input"), call.optional("weight"), call.optional("bias")
    result, mean, reciprocal = call.results
    if not source.dtype.is_floating_point or any(one and one.dtype != source.dtype for one in (weight, bias)):
        raise call.refusal(f"{source.dtype} with weights of another type")
    kind, outer, inner = _normalised(call, source)
    names = indices("k", len(source.shape))
    value = source.at(*names)
    scale = f" * {_own(weight, outer)}" if weight else ""
    shift = f" + {_own(bias, outer)}" if bias else ""
    count = math.prod(inner)
    body = [
        "double total = 0, squares = 0;",
        *_inner(names[outer:], inner, [f"total += {value};"], "total"),
        f"const double mean = total / {count};",
        *_inner(names[outer:], inner, [f"squares += ({value} - mean) * ({value} - mean);"], "squares"),
        f"const double reciprocal = 1 / sqrt(squares / {count} + {call.number('eps', torch.float64)});",
        *_inner(
            names[outer:], inner, [f"{result.at(*names)} = ({kind})(({value} - mean) * reciprocal){scale}{shift};"]
        ),
        f"{mean.at(*names[:outer])} = ({kind})mean;",
        f"{reciprocal.at(*names[:outer])} = ({kind})reciprocal;",
    ]
    lines = loops(names[:outer], source.shape[:outer], body) if outer else ["{", *body, "}"]
    reads = [view for view in (source, weight, bias) if view is not None]
    return [Kernel(call.comment, reads, [result, mean, reciprocal], lines)]


def _layer_norm_backward(call: Call) -> list[Kernel]:
    gradient, source = call.view("grad_out"), call.view("input")
    mean, reciprocal, weight = call.view("mean"), call.view("rstd"), call.optional("weight")
    wanted = call.arguments["output_mask"]
    assert isinstance(wanted, Sequence)
    to_input, to_weight, to_bias = (place if wish else None for place, wish in zip(call.places, wanted))
    kind, outer, inner = _normalised(call, source)
    names, count = indices("k", len(source.shape)), math.prod(inner)
    slope = gradient.at(*names)
    scaled = f"((double){slope} * {_own(weight, outer)})" if weight else f"(double){slope}"
    normal = f"(((double){source.at(*names)} - mean) * reciprocal)"
    body = [
        f"const double mean = {mean.at(*names[:outer])}, reciprocal = {reciprocal.at(*names[:outer])};",
        "double total = 0, along = 0;",
    ]
    if to_input is not None:
        body += _inner(names[outer:], inner, [f"total += {scaled};", f"along += {scaled} * {normal};"], "total, along")
        value = f"({scaled} - (total + {normal} * along) / {count}) * reciprocal"
        body += _inner(names[outer:], inner, [f"{to_input.at(*names)} = ({kind})({value});"])
    sums, writes = [], [] if to_input is None else [to_input]
    for view, value in ((to_weight, f"({kind})({slope} * {normal})"), (to_bias, slope)):
        if view is not None:
            writes.append(view)
            sums += loops(names[outer:], inner, [f"{_own(view, outer)} = 0;"])
            body += _inner(names[outer:], inner, [f"{_own(view, outer)} += {value};"])
    lines = [*sums, *(loops(names[:outer], source.shape[:outer], body) if outer else ["{", *body, "}"])]
    reads = [view for view in (gradient, source, mean, reciprocal, weight) if view is not None]
    return [Kernel(call.comment, reads, writes, lines)]


def _normalised(call: Call, source: View) -> tuple[str, int, tuple[int, ...]]:
    """The type of the elements, how many dims are not normalised, and the sizes of those that are."""
    shape = call.arguments["normalized_shape"]
    assert isinstance(shape, Sequence)
    outer = len(source.shape) - len(shape)
    if not math.prod(source.shape[outer:]):
        raise call.refusal("rows without elements")
    return C_TYPES[source.dtype], outer, source.shape[outer:]


def _inner(names: Sequence[str], sizes: Sequence[int], body: list[str], sums: str = "") -> list[str]:
    clause = f" reduction(+ : {sums})" if sums else ""
    return loops(names[:-1], sizes[:-1], vector_loop(names[-1], sizes[-1], body, clause))


ROWS: dict[str, Callable[[Call], list[Kernel]]] = {
    "_softmax": _softmax(is_log=False),
    "_log_softmax": _softmax(is_log=True),
    "_softmax_backward_data": _softmax_backward(is_log=False),
    "_log_softmax_backward_data": _softmax_backward(is_log=True),
    "native_layer_norm": _layer_norm,
    "native_layer_norm_backward": _layer_norm_backward,
}
