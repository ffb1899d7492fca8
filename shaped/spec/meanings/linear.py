"""Linear and bilinear maps of the last axis."""

from __future__ import annotations

from shaped.errors import ShapeError
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.labels import Label, contract, require_equal, require_rank
from shaped.spec.meanings.unbroadcast import unbroadcast
from shaped.spec.tensor import Tensor


@meaning("linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    require_rank("linear", weight, 1, 2)
    if not input.rank:
        raise ShapeError("linear", "the input needs at least 1 axis")
    require_equal("linear", "in_features", input.sizes[-1], weight.sizes[-1])
    batch: list[object] = list(range(input.rank - 1))
    out = ["o"] if weight.rank == 2 else []
    result = contract("linear", [input, weight], [[*batch, "i"], [*out, "i"]], [*batch, *out])
    return result if bias is None else result + bias


@backward("linear")
def linear_backward(grad: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> tuple[Tensor, ...]:
    batch: list[object] = list(range(input.rank - 1))
    out = ["o"] if weight.rank == 2 else []
    to_input = contract("linear", [grad, weight.conj()], [[*batch, *out], [*out, "i"]], [*batch, "i"])
    to_weight = contract("linear", [grad, input.conj()], [[*batch, *out], [*batch, "i"]], [*out, "i"])
    return to_input, to_weight, *(() if bias is None else (unbroadcast(grad, bias),))


@meaning("bilinear")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    require_rank("bilinear", weight, 3)
    require_equal("bilinear", "in1_features", input1.sizes[-1], weight.sizes[1])
    require_equal("bilinear", "in2_features", input2.sizes[-1], weight.sizes[2])
    batch: list[object] = list(range(input1.rank - 1))
    labels: list[list[Label]] = [[*batch, "i"], [*batch, "j"], ["o", "i", "j"]]
    result = contract("bilinear", [input1, input2, weight], labels, [*batch, "o"])
    return result if bias is None else result + bias


@backward("bilinear")
def bilinear_backward(
    grad: Tensor, input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> tuple[Tensor, ...]:
    batch: list[object] = list(range(input1.rank - 1))
    upstream, first, second, middle = [*batch, "o"], [*batch, "i"], [*batch, "j"], ["o", "i", "j"]
    to_first = contract("bilinear", [grad, input2, weight], [upstream, second, middle], first)
    to_second = contract("bilinear", [grad, input1, weight], [upstream, first, middle], second)
    to_weight = contract("bilinear", [grad, input1, input2], [upstream, first, second], middle)
    return to_first, to_second, to_weight, *(() if bias is None else (unbroadcast(grad, bias),))
