"""`torch.einsum`, in both of its forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.expr import TRUE, Condition, both, index_zero
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.labels import Label, contract
from shaped.spec.meanings.places import chosen, entry, nothing
from shaped.spec.ops.einsum import parse_equation
from shaped.spec.tensor import Body, Tensor, build


def _read(args: Sequence[Any]) -> tuple[list[Tensor], list[list[Label]], list[Label]]:
    """The operands, the labels of their axes, and those of the output."""
    if isinstance(args[0], str):
        operands = list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
            operands = list(operands[0])
        inputs, output = parse_equation(args[0])
    else:
        operands = list(args[: len(args) // 2 * 2 : 2])
        inputs = [list(labels) for labels in args[1 : len(args) // 2 * 2 : 2]]
        output = list(args[-1]) if len(args) % 2 else None
    if len(inputs) != len(operands):
        raise ShapeError("einsum", f"{len(inputs)} terms for {len(operands)} tensors")
    labels = [_elided(names, each.rank) for names, each in zip(inputs, operands)]
    if output is not None:
        most = max((len([name for name in names if isinstance(name, tuple)]) for names in labels), default=0)
        return operands, labels, _elided(output, len(output) - 1 + most if Ellipsis in output else len(output))
    counts = Counter(name for names in labels for name in names)
    elided = sorted((name for name in counts if isinstance(name, tuple)), key=lambda name: name[1], reverse=True)
    single = sorted((name for name, count in counts.items() if count == 1 and not isinstance(name, tuple)), key=_order)
    return operands, labels, [*elided, *single]


def _order(label: Label) -> tuple[int, str]:
    """Where a label stands in torch's implicit output: numbers by size, letters by the alphabet, capitals first."""
    return (label, "") if isinstance(label, int) else (0, str(label))


def _elided(names: Sequence[Any], rank: int) -> list[Label]:
    """The labels of all axes, those of the ellipsis counted from the end."""
    count = rank - len(names) + 1
    if Ellipsis not in names:
        if len(names) != rank:
            raise ShapeError("einsum", f"{len(names)} labels for {rank} axes")
        return list(names)
    at = list(names).index(Ellipsis)
    return [*names[:at], *(("...", place) for place in range(count, 0, -1)), *names[at + 1 :]]


@meaning("einsum")
def einsum(*args: Tensor | Any) -> Tensor:
    operands, labels, output = _read(args)
    return contract("einsum", operands, labels, output)


@backward("einsum")
def einsum_backward(grad: Tensor, *args: Tensor | Any) -> tuple[Tensor, ...]:
    """For each operand the product of the upstream gradient and of the others, over the operand's labels.

    A label that only this operand has is summed away by the forward: its gradient is the same along that axis. One that
    it has twice stands on its diagonal.
    """
    operands, labels, output = _read(args)
    grads = []
    for number, (operand, names) in enumerate(zip(operands, labels)):
        others = [grad, *(each.conj() for other, each in enumerate(operands) if other != number)]
        other_labels = [output, *(each for other, each in enumerate(labels) if other != number)]
        grads.append(_adjoint(operand, names, others, other_labels))
    return tuple(grads)


def _adjoint(operand: Tensor, names: list[Label], others: list[Tensor], other_labels: list[list[Label]]) -> Tensor:
    met = {name for each in other_labels for name in each}
    # A label whose axis is stretched here is summed away, as it does not stand in the output.
    kept = [name for name, size in zip(names, operand.sizes) if name in met and size != 1]
    kept = list(dict.fromkeys(kept))
    product = contract("einsum", others, other_labels, kept)

    def gradient(*places: Dim) -> Body:
        first: dict[Label, Dim] = {}
        on_diagonal: Condition = TRUE
        for name, place in zip(names, places):
            if name in first:
                on_diagonal = both(on_diagonal, index_zero(first[name] - place))
            else:
                first[name] = place
        at = [first[name] for name in kept]
        return chosen(on_diagonal, entry(product, at), nothing(product.kind))

    return build(operand.sizes, gradient)
