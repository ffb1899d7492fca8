"""Operations along an axis that cannot be meant: a softmax over the batch, a default dim that nobody wrote.

torch runs them. What an axis stands for is read from its name in an annotation (`axis_roles`), and only what
practically nobody does on purpose is said:

- A softmax over the batch lets the samples compete. It may be right over the last axis, as in the logits (queries, b)
  of a retrieval, but not in (t, b), and where the batch is all there is, as in weights (b,) or (b, 1) of samples.
- A running sum along the batch is reported beside a sequence or a vocabulary, which it should follow. To count the
  samples of each expert or class, (b, experts), is common.
- A largest element along the batch is reported beside a vocabulary. To look for the sample that excites a feature most,
  (b, t, features), is common.
- Vectors (b, d) are normalized along the batch to decorrelate features; tensors of more axes are not.
- Where a call gives no dim, torch takes axis 1 (`normalize`, `cosine_similarity`), or 0 or 1 by the rank (`softmax`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from shaped.errors import ShapeError
from shaped.spec.axis_roles import Role, is_channels, is_features, is_spectrum, is_vocabulary, name_of, roles
from shaped.spec.dims import ONE, Dim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.context import Context
    from shaped.spec.shape import Axis, Shape
    from shaped.spec.values import TensorType, Value

# The dim 1 that torch takes where a call gives none: this very object. A 1 that somebody wrote is another.
DEFAULT_ONE: Final = Dim.of(1)

_SAID: Final = {Role.BATCH: "batch", Role.HEAD: "heads", Role.SEQUENCE: "sequence"}


def check_softmax(context: Context, operation: str, tensor: TensorType, dim: Value) -> None:
    """Report a softmax over the batch, the heads or the tokens of logits, and one where torch guesses a wrong dim.

    >>> from shaped.spec.context import Context
    >>> from shaped.spec.values import TensorType
    >>> context = Context()
    >>> check_softmax(context, "softmax", TensorType.of(*map(Dim.name, "tbk")), Dim.of(-2))
    >>> print(context.found[0], context.found[0].hint, sep="; ")
    softmax: (t, b, k): it goes along axis 1, b, the batch; dim=-1?
    """
    axes = tensor.shape.axes
    if dim is None and tensor.shape.rank != 2:
        _check_default(context, operation, tensor, 0 if tensor.shape.rank == 3 else 1)
        return
    place, role = _axis(tensor.shape, ONE if dim is None else dim)
    is_inner = place < len(axes) - 1 and not _may_be_one(axes[-1])
    is_of_heads = len(axes) > 3 and (role is Role.HEAD or (place == len(axes) - 3 and _is_attention(tensor.shape)))
    is_of_tokens = role is Role.SEQUENCE and is_vocabulary(axes[-1])
    if is_inner and (role is Role.BATCH or is_of_heads or is_of_tokens):
        _report(context, operation, tensor, place)
    elif role is Role.BATCH and not is_inner:
        _report_beside(context, operation, tensor, place)


def check_running(context: Context, operation: str, tensor: TensorType, dim: Value) -> None:
    """Report a running sum, product or extreme along the batch, beside a sequence or a vocabulary."""
    place, role = _axis(tensor.shape, dim)
    if role is Role.BATCH:
        _report_beside(context, operation, tensor, place)


def check_search(context: Context, operation: str, tensor: TensorType, dim: Value) -> None:
    """Report the place of an extreme, or what normalizes logits, along the batch, beside a vocabulary."""
    place, role = _axis(tensor.shape, dim)
    if role is Role.BATCH and is_vocabulary(tensor.shape.axes[-1]):
        _report(context, operation, tensor, place)


def check_vectors(context: Context, operation: str, tensor: TensorType, dim: Value) -> None:
    """Report vectors that are normalized or compared along the batch, or along axis 1 because no dim is given."""
    axes = tensor.shape.axes
    if dim is DEFAULT_ONE:
        if axes and roles(axes)[-1] is None and not is_spectrum(axes[-1]):
            _check_default(context, operation, tensor, 1)
        return
    place, role = _axis(tensor.shape, dim)
    if role is Role.BATCH and len(axes) > 2 and place < len(axes) - 1 and axes[-1] != ONE:
        _report(context, operation, tensor, place)


def check_trailing(context: Context, operation: str, tensor: TensorType, sizes: Sequence[Dim]) -> None:
    """Report features that are normalized together with their sequence or batch.

    Only if the sizes were read from the tensor: a layer made for (steps, features) means both. Frames (c, t), images
    and spectra are normalized as a whole on purpose.
    """
    axes = tensor.shape.axes
    if not 2 <= len(sizes) <= len(axes) or len(axes) < 3 or tuple(sizes) != axes[-len(sizes) :]:
        return
    found = roles(axes)[-len(sizes) :]
    if None in found[:-1] or found[-1] is not None or is_spectrum(axes[-1]) or axes[-1] == ONE:
        return
    wrong = [i for i, role in enumerate(found) if role in (Role.BATCH, Role.SEQUENCE)]
    if wrong:
        place = len(axes) - len(sizes) + wrong[-1]
        _report(context, operation, tensor, place, "the last axis is normalized together with", "x.shape[-1:]?")


def _check_default(context: Context, operation: str, tensor: TensorType, place: int) -> None:
    """Report that axis `place`, which torch takes where the call gives no dim, does not hold the features.

    It is the batch, a sequence or the heads, or the last axis is named as features and it is not: (b, n, d).
    """
    shape = tensor.shape
    if shape.rank is None or shape.rank < 3 or shape.axes[-1] == ONE:
        return
    axis, last, found = shape.axes[place], shape.axes[-1], roles(shape.axes)
    is_features_last = is_features(last) if shape.rank == 3 else is_channels(last)
    is_beside = found[0] is Role.BATCH and is_features_last and name_of(axis) and not is_features(axis)
    if found[place] is not None or is_beside or (place == shape.rank - 3 and _is_attention(shape)):
        _report(context, operation, tensor, place, "without a dim it goes along")


def _is_attention(shape: Shape) -> bool:
    """Whether the last two axes are the same sequence, as in the scores (b, heads, t, t) of an attention."""
    return shape.axes[-2:-1] == shape.axes[-1:] and roles(shape.axes)[-1] is Role.SEQUENCE


def _may_be_one(axis: Axis) -> bool:
    """Whether an axis has size 1 or was not followed, as the result of a layer that a caller gives."""
    if axis == ONE or not isinstance(axis, Dim):
        return True
    return any(symbol.is_fresh or symbol.may_be_one for symbol in axis.symbols())


def _axis(shape: Shape, dim: Value) -> tuple[int, Role | None]:
    """The place of the axis that `dim` names, and what it stands for if no other axis has its size."""
    count = len(shape.axes)
    index = dim.constant if isinstance(dim, Dim) else None
    first, end = (-count, count) if shape.pack is None else (-len(shape.tail), len(shape.head))
    if index is None or not first <= index < end:
        return 0, None
    place = index % count
    return place, roles(shape.axes)[place] if shape.axes.count(shape.axes[place]) == 1 else None


def _report_beside(context: Context, operation: str, tensor: TensorType, place: int) -> None:
    """Report the axis at `place` if there is another one to follow: a sequence or a vocabulary."""
    axes = tensor.shape.axes
    found = roles(axes)
    meant = [i for i, axis in enumerate(axes) if found[i] is Role.SEQUENCE or is_vocabulary(axis)]
    if meant:
        _report(context, operation, tensor, place, hint=f"dim={meant[-1] - len(axes)}?")


def _report(
    context: Context,
    operation: str,
    tensor: TensorType,
    place: int,
    reason: str = "it goes along",
    hint: str = "dim=-1?",
) -> None:
    """Report the axis at `place`, if the shape is certain."""
    axis = tensor.shape.axes[place]
    if not context.is_clear or tensor.joined or not isinstance(axis, Dim):
        return
    role = roles(tensor.shape.axes)[place]
    number = place if tensor.shape.rank is not None else place - len(tensor.shape.axes)
    said = f", the {_SAID[role]}" if role and role.value[:3] not in name_of(axis) else ""  # `batch_size` says it itself
    context.found.append(
        ShapeError(operation, f"{reason} axis {number}, {axis}{said}", str(tensor), hint, (axis,), code="shape-reduce")
    )
