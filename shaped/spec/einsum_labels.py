"""Labels of an einsum that cannot be meant: a contraction that is none, the diagonal of an attention.

Two labels that each stand in one operand only and not in the output are summed by themselves: "bi,bj->b" is a product
of two sums, not the dot products "bi,bi->b". That is reported where both have the same size, so that they can be one
axis: the squared norms "bi,bj->b" of (b, d_out) and (b, d_in) are right. So it is of several labels for each axis,
"bchw,bcxy->bc". Where both operands are contracted over more labels it is meant, "id,jd->" sums over all pairs; and
"ij,kl->" is the product of two totals.

A label that stands twice in an operand takes its diagonal. The diagonal of a matrix times something, "ii,ij->ij", is
common; that of an attention, "btt,btd->btd", is not: each token would look at itself only.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.axis_roles import Role, is_called_sequence, roles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import EllipsisType

    from shaped.spec.context import Context
    from shaped.spec.dims import Dim
    from shaped.spec.shape import Shape
    from shaped.spec.values import TensorType

    Labels = Sequence[str | EllipsisType]


def check_labels(
    context: Context,
    operation: str,
    operands: Sequence[TensorType],
    inputs: Sequence[Labels],
    output: Labels,
    sizes: Mapping[str, Dim],
    text: str,
) -> None:
    """Report labels that cannot be meant, given their sizes; `text` shows equation and operands in messages."""
    if len(inputs) < 2 or not context.is_clear or any(operand.joined for operand in operands):
        return
    alone = summed_alone(inputs, output)
    twice = repeated(inputs)
    pairs = summed_apart(inputs, output)
    if pairs and all(sizes[a] == sizes[b] != 1 for a, b in pairs):
        a, b = (", ".join(labels) for labels in zip(*pairs))
        each = "both" if len(pairs) == 1 else "each pair"
        reason = f"{a} and {b}, {each} of size {', '.join(str(sizes[label]) for label, _ in pairs)}, are summed apart"
        _report(context, operation, sizes[pairs[0][0]], f"{reason}, not contracted", text, f"{a} in place of {b}?")
    elif twice is not None and len(alone) == 1 and sizes[twice] == sizes[alone[0]] != 1:
        reason = f"only the diagonal along {twice} is taken, and {alone[0]}, of the same size, is summed by itself"
        _report(context, operation, sizes[twice], reason, text, f"{alone[0]} in place of one {twice}?")
    elif twice is not None and is_attention(operands, inputs, output, twice):
        reason = f"{twice} stands twice in one operand, of which only the diagonal is taken"
        _report(context, operation, sizes[twice], reason, text, "another label for the keys?")


def _report(context: Context, operation: str, size: Dim, reason: str, text: str, hint: str) -> None:
    context.found.append(ShapeError(operation, reason, text, hint, (size,), code="shape-reduce"))


def summed_apart(inputs: Sequence[Labels], output: Labels) -> list[tuple[str, str]]:
    """The labels of two operands that stand nowhere else, in pairs; none where both operands are contracted otherwise.

    >>> summed_apart(["bi", "oij", "bk"], "bo"), summed_apart(["bchw", "bcxy"], "bc"), summed_apart(["id", "jd"], "")
    ([('j', 'k')], [('h', 'x'), ('w', 'y')], [])
    """
    named = [[label for label in labels if isinstance(label, str)] for labels in inputs]
    counts = Counter(label for labels in named for label in labels)
    lone = [[label for label in labels if counts[label] == 1 and label not in output] for labels in named]
    places = [i for i, labels in enumerate(lone) if labels]
    if len(places) != 2 or len(lone[places[0]]) != len(lone[places[1]]):
        return []
    first, second = (named[place] for place in places)
    is_contracted = [any(counts[label] > 1 and label not in output for label in labels) for labels in (first, second)]
    pairs = list(zip(lone[places[0]], lone[places[1]]))
    is_of_one_row = any(label in inputs[places[1]] and label in output for label in inputs[places[0]])
    return pairs if not all(is_contracted) and (len(pairs) == 1 or is_of_one_row) else []


def summed_alone(inputs: Sequence[Labels], output: Labels) -> list[str]:
    """The labels that the output lacks, if they are one or two, each in another operand; else none.

    >>> summed_alone(["ij", "k"], "i"), summed_alone(["ij", "jk"], ""), summed_alone(["ijk", "i"], "i")
    (['j', 'k'], [], [])
    """
    summed = [(label, i) for i, labels in enumerate(inputs) for label in labels if isinstance(label, str)]
    summed = [(label, i) for label, i in summed if label not in output]
    names, places = [label for label, _ in summed], {i for _, i in summed}
    return names if len(set(names)) == len(places) == len(summed) <= 2 else []


def repeated(inputs: Sequence[Labels]) -> str | None:
    """The label that stands twice in an operand, if there is one only.

    >>> repeated(["bii", "bij"]), repeated(["bij", "bjk"]), repeated(["iijj", "ij"])
    ('i', None, None)
    """
    found = [label for labels in inputs for label in set(labels) if list(labels).count(label) > 1]
    return found[0] if len(found) == 1 and isinstance(found[0], str) else None


def is_attention(operands: Sequence[TensorType], inputs: Sequence[Labels], output: Labels, twice: str) -> bool:
    """Whether the operand with a label twice is the weights of an attention, and the other what they are applied to.

    The weights end with the label, which says that it is a sequence, or whose axis does; all their other labels are
    shared with the values; and the values bring a label to the output.
    """
    if len(inputs) != 2:
        return False
    weights = next(i for i, labels in enumerate(inputs) if list(labels).count(twice) > 1)
    *shared, again, last = inputs[weights]
    values = inputs[1 - weights]
    if not again == last == twice or not shared or twice not in values or twice not in output:
        return False
    brings = any(label in output and label not in inputs[weights] for label in values)
    is_batched = all(label in values and label in output for label in shared)
    return brings and is_batched and (is_called_sequence(twice) or _is_sequence(operands[weights].shape))


def _is_sequence(shape: Shape) -> bool:
    """Whether the axis before the last is a sequence."""
    return len(shape.tail if shape.pack is not None else shape.axes) > 1 and roles(shape.axes)[-2] is Role.SEQUENCE
