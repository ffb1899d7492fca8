"""Sums of products by labelled axes: `torch.einsum`, in both of its forms, and what einops' einsum shares with it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Union

from shaped.errors import DtypeError, ShapeError
from shaped.spec.broadcast import broadcast
from shaped.spec.dims import ONE, Dim
from shaped.spec.dtypes import DType
from shaped.spec.einsum_labels import check_labels
from shaped.spec.op import op
from shaped.spec.ops.arguments import ends, listed, shown, with_rank
from shaped.spec.ops.options import require_equal
from shaped.spec.promotion import as_sum, common_device, result_type
from shaped.spec.shape import Axis, Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import EllipsisType

    from shaped.spec.context import Context

Label = Union[str, "EllipsisType"]


@op(
    "einsum", "torch.einsum", "torch.functional.einsum", formula="the sum of products over labels that the output lacks"
)
def einsum(context: Context, *args: Value) -> TensorType:
    if not args or args[0] is UNKNOWN:
        return context.unknown_tensor()
    if isinstance(args[0], TensorType):
        return _by_lists(context, args)
    if not isinstance(args[0], str):
        return context.unknown_tensor()
    operands = args[1:]
    if len(operands) == 1 and isinstance(operands[0], (tuple, Many)):
        counted = listed(operands[0])
        if counted is None:
            return context.unknown_tensor()
        operands = counted
    inputs, output = parse_equation(args[0])
    found = _tensors(context, operands)
    if found is None:
        return context.unknown_tensor()
    return contract(context, "einsum", found, inputs, output, f'"{args[0]}"')


def _tensors(context: Context, values: Sequence[Value]) -> list[TensorType] | None:
    found = [context.unknown_tensor() if value is UNKNOWN else value for value in values]
    kept = [value for value in found if isinstance(value, TensorType)]
    return kept if len(kept) == len(found) else None


def _by_lists(context: Context, args: Sequence[Value]) -> TensorType:
    """`einsum(a, [0, 1], b, [1, 2], [0, 2])`."""
    output = args[-1] if len(args) % 2 else None
    operands, labels = args[: len(args) // 2 * 2 : 2], [*args[1::2], *(() if output is None else (output,))]
    found, named = _tensors(context, operands), [_labels(value) for value in labels]
    lists = [each for each in named if each is not None]
    if found is None or len(lists) < len(named):
        return context.unknown_tensor()
    given = None if output is None else lists.pop()
    return contract(context, "einsum", found, lists, given, "")


def _labels(value: Value) -> list[Label] | None:
    """A list of ints as labels: 0 is A, 26 is a, as torch prints them."""
    values = listed(value)
    numbers = [item.constant if isinstance(item, Dim) else None for item in values or ()]
    known = [number for number in numbers if number is not None and 0 <= number < 52]
    if values is None or len(known) < len(values):
        return None
    return [chr(65 + number) if number < 26 else chr(97 + number - 26) for number in known]


def parse_equation(equation: str) -> tuple[list[list[Label]], list[Label] | None]:
    """The labels of each operand, and of the output if there is an arrow.

    Raises:
        ShapeError: it is malformed.

    >>> parse_equation("bij,bjk")
    ([['b', 'i', 'j'], ['b', 'j', 'k']], None)
    """
    left, arrow, right = equation.partition("->")
    inputs = [_parse_labels(equation, part) for part in left.split(",")]
    return inputs, _parse_labels(equation, right) if arrow else None


def _parse_labels(equation: str, part: str) -> list[Label]:
    labels: list[Label] = []
    for character in part.replace(" ", "").replace("...", "…"):
        if character == "…":
            if ... in labels:
                raise ShapeError("einsum", "`...` stands twice for one operand", f'"{equation}"')
            labels.append(...)
        elif character.isascii() and character.isalpha():
            labels.append(character)
        else:
            raise ShapeError("einsum", f"{character!r} is no label, letters are", f'"{equation}"')
    return labels


def contract(
    context: Context,
    operation: str,
    operands: Sequence[TensorType],
    inputs: Sequence[Sequence[Label]],
    output: Sequence[Label] | None,
    equation: str,
) -> TensorType:
    """The type of the sum of products over the labels that `output` lacks; None stands for torch's implicit output.

    Raises:
        ShapeError: an operand has another number of axes than labels, two axes of one label differ, or the output
            has a label that no operand has or has one twice.
        DtypeError: operands of different dtypes are contracted.
    """
    text = ", ".join(part for part in (equation, shown(*operands)) if part)
    if len(operands) != len(inputs):
        wanted = "1 operand" if len(inputs) == 1 else f"{len(inputs)} operands"
        raise ShapeError(operation, f"labels for {wanted}, {len(operands)} given", text)
    sizes: dict[str, Dim] = {}
    hidden: list[TensorType] = []
    for operand, labels in zip(operands, inputs, strict=True):
        own, rest = _labelled(context, operation, operand, labels, text)
        if rest is not None:
            hidden.append(TensorType(Shape(rest)))
        for label, size in own.items():
            sizes[label] = _common(context, operation, operands, label, (sizes.get(label, ONE), size), text)
    if output is None:
        output = _implicit_output(inputs)
    _check_output(operation, inputs, output, text)
    unseen = broadcast(context, operation, *hidden, operands=text).axes if hidden else ()
    axes: list[Axis] = []
    for each in output:
        axes.extend((sizes[each],) if isinstance(each, str) else unseen)
    _check_dtypes(operation, operands, inputs, output, sizes)
    check_labels(context, operation, operands, inputs, output, sizes, text)
    joined = any(operand.joined for operand in operands)
    dtype = result_type(*operands)
    if any(label not in output for label in sizes):
        # Whether small integers are summed as int64 depends on the path of contraction that torch takes.
        dtype = DType(dtype.names | as_sum(dtype).names)
    return TensorType(Shape(tuple(axes)), dtype, common_device(operands), joined)


def _labelled(
    context: Context, operation: str, operand: TensorType, labels: Sequence[Label], text: str
) -> tuple[dict[str, Dim], tuple[Axis, ...] | None]:
    """The size of each label of an operand, and the axes that `...` stands for."""
    shape = operand.shape
    count = sum(label is not ... for label in labels)
    if shape.rank is not None and (shape.rank < count if ... in labels else shape.rank != count):
        named = "1 label" if count == 1 else f"{count} labels"
        raise ShapeError(operation, f"{named} for the {_axes(shape)} of {shape}", text)
    if shape.least_rank > count and ... not in labels:
        raise ShapeError(operation, f"{count} labels for more axes of {shape}", text)
    rest: tuple[Axis, ...] | None = None
    if ... in labels:
        split = list(labels).index(...)
        head, rest, tail = ends(context, shape, split, count - split)
        seen = (*head, *tail)
    else:
        seen = with_rank(context, operand, count).shape.dims
    sizes: dict[str, Dim] = {}
    for label, size in zip(_named(labels), seen, strict=True):
        if label in sizes:
            a, b = sizes[label], size

            def fault(a: Dim = a, b: Dim = b, label: str = label) -> ShapeError:
                return ShapeError(operation, f"label {label} is repeated: sizes {a} and {b} differ", text, dims=(a, b))

            sizes[label] = context.require_equal(a, b, fault)
        else:
            sizes[label] = size
    return sizes, rest


def _axes(shape: Shape) -> str:
    return "1 axis" if shape.rank == 1 else f"{shape.rank} axes"


def _common(
    context: Context, operation: str, operands: Sequence[TensorType], label: str, pair: tuple[Dim, Dim], text: str
) -> Dim:
    """The size of one label in two operands: equal, or 1 in one of them."""
    a, b = pair
    if a == ONE or b == ONE:
        return b if a == ONE else a
    if a.has_unknown and not b.has_unknown:
        return b
    if b.has_unknown and a != b:
        return a if not a.has_unknown else context.fresh()

    def fault() -> ShapeError:
        return ShapeError(operation, f"label {label}: sizes {a} and {b} differ", text, dims=(a, b))

    return require_equal(context, tuple(operands), a, b, fault)


def _named(labels: Sequence[Label]) -> list[str]:
    return [label for label in labels if isinstance(label, str)]


def _implicit_output(inputs: Sequence[Sequence[Label]]) -> list[Label]:
    """`...` first, then the labels that stand once, in alphabetical order."""
    counts = Counter(label for labels in inputs for label in _named(labels))
    has_rest = any(... in labels for labels in inputs)
    return [*([...] if has_rest else []), *sorted(label for label, count in counts.items() if count == 1)]


def _check_output(operation: str, inputs: Sequence[Sequence[Label]], output: Sequence[Label], text: str) -> None:
    known = {label for labels in inputs for label in _named(labels)}
    for label in _named(output):
        if label not in known:
            raise ShapeError(operation, f"the output's {label} is in no operand", text)
        if list(output).count(label) > 1:
            raise ShapeError(operation, f"the output has {label} twice", text)


def _check_dtypes(
    operation: str,
    operands: Sequence[TensorType],
    inputs: Sequence[Sequence[Label]],
    output: Sequence[Label],
    sizes: Mapping[str, Dim],
) -> None:
    """Two operands that are summed over a label of both are a matrix product, which takes one dtype only."""
    if len(operands) != 2:
        return
    shared = [label for label in _named(inputs[0]) if label in inputs[1] and label not in output]
    if not any(sizes[label].constant not in (None, 0, 1) for label in shared):
        return
    a, b = operands
    if not a.dtype.names & b.dtype.names:
        raise DtypeError(operation, f"dtypes {a.dtype} and {b.dtype} differ", f"{a.dtype}{a}, {b.dtype}{b}")
