"""What the names of annotations stand for, and the tensor that an annotation describes.

All annotations of one call of a function share one `Bindings`. `instantiate` gives the tensor that a body sees on
entry, or that a caller gets back; `matching` checks a tensor that is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from shaped.errors import Origin
from shaped.spec.annotation import AnnotatedAxis, AnonymousPack, ArrayAnnotation, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Computed, Evaluate
from shaped.spec.axis_order import Factors, remembered
from shaped.spec.axis_roles import are_rows_and_columns
from shaped.spec.context import Context
from shaped.spec.dims import Dim, FloorDiv, Kind
from shaped.spec.merged_axes import written_factors
from shaped.spec.provenance import left_by
from shaped.spec.shape import Axis, Pack, Shape
from shaped.spec.values import TensorType


@dataclass
class Bindings:
    """What the names of annotations stand for in one call of one function.

    Args:
        scope: tells the names of this function from equal names of others.
        dims: the sizes of names.
        packs: the axes of `*name`s.
        broadcastable: the `*name`s that were bound as `*#name`: their axes may still grow from 1.
    """

    scope: str = ""
    dims: dict[str, Dim] = field(default_factory=dict)
    packs: dict[str, tuple[Axis, ...]] = field(default_factory=dict)
    broadcastable: set[str] = field(default_factory=set)

    def copy(self) -> Bindings:
        """The same bindings, to bind more names on one path."""
        return Bindings(self.scope, dict(self.dims), dict(self.packs), set(self.broadcastable))


def instantiate(
    annotation: ArrayAnnotation,
    bindings: Bindings,
    context: Context,
    *,
    origin: Origin | None = None,
    evaluate: Evaluate | None = None,
    unbound: Kind = Kind.NAME,
    least: int = 0,
) -> TensorType:
    """The tensor that `annotation` describes; binds the names that are not bound yet.

    Args:
        origin: the argument (`x of forward`) and its line; the sizes get origins that name it.
        evaluate: the sizes of the expressions in `{}` fields.
        unbound: what a name that is not bound stands for: any size (NAME, what a body sees on entry) or one that was
            not followed (UNKNOWN, what a caller gets back).
        least: the least size of a name that was not followed.

    >>> from shaped.spec.annotation import parse
    >>> print(instantiate(parse("Float", "b c*h {self.d} 3"), Bindings(), Context(), evaluate=lambda text: Dim.of(64)))
    (b, c*h, 64, 3)
    """
    entry = _Entry(bindings, context, evaluate, unbound, least)
    axes: list[Axis] = []
    for i, axis in enumerate(annotation.axes):
        if stands_for_text(axis, evaluate, annotation.is_formatted):
            axes.append(context.fresh_pack())
        elif isinstance(axis, (NamedPack, AnonymousPack)):
            axes += entry.pack(axis)
        else:
            size = entry.size(axis)
            if size.origin is None and origin is not None:
                size = size.at(_axis_origin(annotation, i, origin))
                if isinstance(axis, Named) and bindings.dims.get(axis.name) == size:
                    bindings.dims[axis.name] = size
            elif isinstance(axis, Fixed):
                size = left_by("an annotation", size)
            axes.append(size)
    tensor = TensorType(Shape(_with_one_pack(axes, context)), annotation.dtype)
    return remembered(tensor, [*_orders(annotation, bindings, evaluate)])


def _orders(annotation: ArrayAnnotation, bindings: Bindings, evaluate: Evaluate | None) -> Iterator[Factors]:
    """The products of an annotation that are read as an order of axes.

    b*t in front says what was merged into the batch, h*w that rows were laid one behind the other. Elsewhere a product
    is often written in any order: scale*h, d*heads, w*h.
    """
    for i, axis in enumerate(annotation.axes):
        written = written_factors(axis, bindings.dims, evaluate)
        if written is not None and (i == 0 or are_rows_and_columns(written)):
            yield written


def _axis_origin(annotation: ArrayAnnotation, index: int, origin: Origin) -> Origin:
    pack = annotation.pack_index
    number = index if pack is None or index < pack else index - len(annotation.axes)
    return replace(origin, text=f"axis {number} of {origin.text}")


def stands_for_text(axis: AnnotatedAxis, evaluate: Evaluate | None, is_formatted: bool) -> bool:
    """Whether an axis of a real f-string may stand for any number of axes: a field of it was not followed."""
    if not is_formatted or not isinstance(axis, Computed) or not axis.fields:
        return False
    return evaluate is None or any(not text or evaluate(text) is None for text in axis.fields)


def _with_one_pack(axes: Sequence[Axis], context: Context) -> tuple[Axis, ...]:
    """The axes with all from the first pack to the last one not followed, where there are several packs."""
    packs = [i for i, axis in enumerate(axes) if isinstance(axis, Pack)]
    if len(packs) < 2:
        return tuple(axes)
    return (*axes[: packs[0]], context.fresh_pack(), *axes[packs[-1] + 1 :])


@dataclass
class _Entry:
    """The sizes of an annotation's axes where there is no tensor to compare with."""

    bindings: Bindings
    context: Context
    evaluate: Evaluate | None
    unbound: Kind
    least: int

    def size(self, axis: AnnotatedAxis) -> Dim:
        match axis:
            case Named(broadcastable=False, by_leaf=False):
                return self.name(axis.name)
            case Named(broadcastable=True, by_leaf=False):
                return self.context.fresh(name=f"#{axis.name}")  # 1, or what the others have that are called so
            case Fixed(size=constant, broadcastable=False):
                return Dim.of(constant)
            case Computed(broadcastable=False):
                for name in axis.names:
                    self.bind_argument(name)
                    self.name(name)
                size = computed_size(axis, self.bindings, self.context, self.evaluate)
                return self.context.fresh() if size is None else size
        return self.context.fresh()

    def name(self, name: str) -> Dim:
        if name not in self.bindings.dims:
            universal = self.unbound is Kind.NAME
            new = Dim.name(name, self.bindings.scope) if universal else self.context.fresh(self.least, name=name)
            self.bindings.dims[name] = new
        return self.bindings.dims[name]

    def bind_argument(self, name: str) -> None:
        """Take a name of arithmetic, h of h*w, for the int argument of this name, since no axis has it alone."""
        given = self.evaluate(name) if self.unbound is Kind.NAME and self.evaluate is not None else None
        symbol = given.symbol if given is not None else None
        if given is not None and symbol is not None and symbol.kind is Kind.QUANTITY and symbol.name == name:
            self.bindings.dims.setdefault(name, given)

    def pack(self, axis: NamedPack | AnonymousPack) -> tuple[Axis, ...]:
        if isinstance(axis, AnonymousPack) or axis.broadcastable or axis.by_leaf:
            return (self.context.fresh_pack(),)
        if axis.name in self.bindings.broadcastable:
            return (self.context.fresh_pack(),)
        if axis.name not in self.bindings.packs:
            universal = self.unbound is Kind.NAME
            new = Pack(axis.name, Kind.NAME, self.bindings.scope) if universal else self.context.fresh_pack()
            self.bindings.packs[axis.name] = (new,)
        return self.bindings.packs[axis.name]


def computed_size(axis: Computed, bindings: Bindings, context: Context, evaluate: Evaluate | None) -> Dim | None:
    """The size of an axis of arithmetic; None if it is not known. Notes the divisions that the user wrote."""
    size = axis.size(bindings.dims, evaluate)
    if size is not None:
        for atom in size.atoms():
            if isinstance(atom, FloorDiv):
                context.facts = context.facts.with_intended(atom.numerator, atom.denominator)
    return size
