"""The negative log likelihood of classes that are given by number."""

from __future__ import annotations

from collections.abc import Callable

import torch

from shaped.runtime.compiled.c.arguments import Call
from shaped.runtime.compiled.c.layout import C_TYPES, View
from shaped.runtime.compiled.c.steps import Check, Kernel
from shaped.runtime.compiled.c.text import loops

_MEAN = 1


def _operands(call: Call) -> tuple[View, View, View | None, int, int, str]:
    """The log probabilities as (examples, classes), the classes, their weights, both sizes, and what is ignored."""
    source, target, weight = call.view("self"), call.view("target"), call.optional("weight")
    if len(source.shape) == 1:
        source, target = source.expand((1, *source.shape)), target.expand((1,))
    if not source.dtype.is_floating_point or target.dtype != torch.int64:
        raise call.refusal(f"{source.dtype} and {target.dtype}")
    examples, classes = source.shape
    return source, target, weight, examples, classes, call.number("ignore_index", torch.int64)


def _check(target: View, examples: int, classes: int, ignored: str) -> Check:
    wrong = f"{target.at('i')} != {ignored} && ({target.at('i')} < 0 || {target.at('i')} >= {classes})"
    lines = loops("i", [examples], [f"if ({wrong}) {{", "return FAULT;", "}"])
    return Check(target, lines, f"a target is out of bounds: there are {classes} classes")


def _nll_loss_forward(call: Call) -> list[Kernel]:
    source, target, weight, examples, classes, ignored = _operands(call)
    result, total = call.results
    kind = C_TYPES[result.dtype]
    its_weight = f"{weight.at('c')}" if weight else "1"
    find = [f"const int64_t c = {target.at('i')};"]
    if not call.integer("reduction"):
        shown = result.expand((examples,)) if len(result.shape) == 0 else result
        put = f"{shown.at('i')} = c == {ignored} ? 0 : -{source.at('i', 'c')} * {its_weight};"
        body = [*loops("i", [examples], [*find, put]), f"{total.at()} = 0;"]
    else:
        body = [
            "double sum = 0, weights = 0;",
            *loops(
                "i",
                [examples],
                [
                    *find,
                    f"if (c != {ignored}) {{",
                    f"sum -= (double){source.at('i', 'c')} * {its_weight};",
                    f"weights += {its_weight};",
                    "}",
                ],
            ),
            f"{result.at()} = ({kind})(sum{' / weights' if call.integer('reduction') == _MEAN else ''});",
            f"{total.at()} = ({kind})weights;",
        ]
    reads = [view for view in (source, target, weight) if view is not None]
    lines = ["{", *body, "}"]
    return [Kernel(call.comment, reads, [result, total], lines, check=_check(target, examples, classes, ignored))]


def _nll_loss_backward(call: Call) -> list[Kernel]:
    source, target, weight, examples, classes, ignored = _operands(call)
    gradient, total, (result,) = call.view("grad_output"), call.view("total_weight"), call.results
    shown = result if len(result.shape) == 2 else result.expand((1, *result.shape))
    reduction = call.integer("reduction")
    slope = gradient.expand((examples,)).at("i") if not reduction else gradient.at()
    if reduction == _MEAN:
        slope += f" / {total.at()}"
    put = f"{shown.at('i', 'c')} = -({slope}){' * ' + weight.at('c') if weight else ''};"
    body = [
        *loops("j", [classes], [f"{shown.at('i', 'j')} = 0;"]),
        f"const int64_t c = {target.at('i')};",
        f"if (c != {ignored}) {{",
        put,
        "}",
    ]
    reads = [view for view in (source, target, weight, gradient, total) if view is not None]
    check = _check(target, examples, classes, ignored)
    return [Kernel(call.comment, reads, [result], loops("i", [examples], body), check=check)]


CLASSES: dict[str, Callable[[Call], list[Kernel]]] = {
    "nll_loss_forward": _nll_loss_forward,
    "nll_loss_backward": _nll_loss_backward,
}
