"""Whether a tensor is what an annotation says: an argument of a call, a returned value.

`match` raises where it is not, binds the names that are not bound yet to the sizes that the tensor has, and gives the
tensor with what the annotation adds. `fits` asks without raising, for the options of a union.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from shaped.errors import DtypeError, Fault, ShapeError
from shaped.spec.annotation import AnnotatedAxis, AnonymousPack, ArrayAnnotation, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Computed, Evaluate
from shaped.spec.axis_layout import check_padded
from shaped.spec.axis_order import factors_of
from shaped.spec.binding import Bindings, computed_size, stands_for_text
from shaped.spec.context import Context
from shaped.spec.dims import Dim, Kind, Symbol
from shaped.spec.dtypes import DType
from shaped.spec.facts import solve
from shaped.spec.merged_axes import are_other_names_first, are_tiled_heads, written_factors
from shaped.spec.shape import Axis, Pack, Shape
from shaped.spec.values import TensorType


def match(
    annotation: ArrayAnnotation,
    tensor: TensorType,
    bindings: Bindings,
    context: Context,
    *,
    evaluate: Evaluate | None = None,
    operation: str = "",
    what: str = "argument",
) -> TensorType:
    """Check a tensor against an annotation; bind its names to the sizes that the tensor has.

    Args:
        evaluate: the sizes of the expressions in `{}` fields.
        operation: the function, for the message (`Mlp.forward`).
        what: what the tensor is there, for the message (`argument x`, `return`).

    Returns:
        The tensor with what the annotation adds: sizes and axes that were not followed, and dtypes.

    Raises:
        ShapeError: a size or the number of axes differs.
        DtypeError: no dtype is the tensor's and the annotation's.

    >>> from shaped.spec.annotation import parse
    >>> x = TensorType.of(Dim.name("b"), 4, 45, 64)
    >>> match(parse("Float", "b 3 h w"), x, Bindings(), Context(), operation="Mlp.forward", what="argument x")
    Traceback (most recent call last):
    shaped.errors.ShapeError: argument x of Mlp.forward: (b, 4, 45, 64) does not match "b 3 h w": axis 1 is 4, not 3
    """
    subject = f"{what} of {operation}" if operation else what
    certain, repeats = context.certain, context.repeats
    if tensor.joined:  # what holds for only some of its sizes is no error
        context.certain = context.repeats = False
    try:
        return _Match(annotation, tensor, bindings, context, evaluate, subject).run()
    finally:
        context.certain, context.repeats = certain, repeats


def fits(
    annotation: ArrayAnnotation,
    tensor: TensorType,
    bindings: Bindings,
    context: Context,
    *,
    evaluate: Evaluate | None = None,
) -> bool | None:
    """Whether a tensor fits an annotation: True for all sizes, False for no sizes, else None.

    Binds and learns nothing.
    """
    probe = replace(context, certain=False, repeats=False, assumptions=[])
    matching = _Match(annotation, tensor, bindings.copy(), probe, evaluate, "", is_probe=True)
    try:
        matching.run()
    except Fault:
        return False
    return True if matching.is_exact else None


@dataclass
class _Match:
    """One check of a tensor against an annotation. `is_exact` stays True while everything was proved (in a probe)."""

    annotation: ArrayAnnotation
    tensor: TensorType
    bindings: Bindings
    context: Context
    evaluate: Evaluate | None
    subject: str
    is_probe: bool = False
    is_exact: bool = True

    def run(self) -> TensorType:
        dtype = self._dtype()
        result = replace(self.tensor, shape=self._shape(), dtype=dtype)
        if result.merged and not self.is_probe and self.context.is_clear:
            self._look_at_merged_axes(result)
        return result

    def _look_at_merged_axes(self, tensor: TensorType) -> None:
        """Note a fault where axes were merged, or heads repeated, in another order than the annotation says."""
        if tensor.shape.rank != len(self.annotation.axes):
            return
        for number, (axis, size) in enumerate(zip(self.annotation.axes, tensor.shape.dims)):
            written = written_factors(axis, self.bindings.dims, self.evaluate)
            if written is None:
                continue
            factors = factors_of(tensor, size)
            if are_other_names_first(factors, written):
                hint = "transpose before the axes are merged?"
            elif are_tiled_heads(self.annotation, number, factors, written):
                hint = f"repeat_interleave({written[1]}, {number})?"
            else:
                continue
            fault = self._fault(f"axis {number} is merged as {'*'.join(map(str, factors))}, not as {axis}", (size,))
            fault.hint, fault.code = hint, "shape-axes"
            self.context.found.append(fault)

    def _dtype(self) -> DType:
        actual, wanted = self.tensor.dtype.names, self.annotation.dtype.names
        both = actual & wanted
        if not both:
            raise DtypeError(self.subject, f"dtype {self.tensor.dtype} does not match {self.annotation}")
        self.is_exact = self.is_exact and actual <= wanted
        return DType(both)

    def _shape(self) -> Shape:
        head, pack, tail = self._annotated()
        if self.tensor.shape.pack is not None:
            return self._of_unknown_rank(head, pack, tail)
        actual = self.tensor.shape.dims
        least = len(head) + len(tail)
        if pack is None and len(actual) != least:
            raise self._rank_fault(str(least))
        if len(actual) < least:
            raise self._rank_fault(f"{least} or more")
        end = len(actual) - len(tail)
        sizes = self._sizes([*_pairs(head, actual, 0), *_pairs(tail, actual[end:], end)])
        middle: tuple[Axis, ...] = actual[len(head) : end]
        if isinstance(pack, NamedPack):
            middle = self._pack(pack, middle)
        return Shape((*sizes[: len(head)], *middle, *sizes[len(head) :]))

    def _of_unknown_rank(
        self, head: list[AnnotatedAxis], pack: NamedPack | AnonymousPack | None, tail: list[AnnotatedAxis]
    ) -> Shape:
        shape = self.tensor.shape
        if pack is None and shape.least_rank > len(head):
            raise self._rank_fault(str(len(head)))
        if pack is None:
            head, tail = head[: len(shape.head)], head[len(shape.head) :]
        # Only the axes outside both packs face each other; those of one side that the other's pack hides do not.
        front, back = min(len(head), len(shape.head)), min(len(tail), len(shape.tail))
        facing_tail = tail[len(tail) - back :]
        sizes = self._sizes(
            [*_pairs(head[:front], shape.head, 0), *_pairs(facing_tail, shape.tail[len(shape.tail) - back :], -back)]
        )
        hidden = (head[front:], tail[: len(tail) - back])
        middle: tuple[Axis, ...] = shape.axes[front : len(shape.axes) - back]
        if any(hidden):
            self.is_exact = False
            before, after = (tuple(self._hidden(axis) for axis in axes) for axes in hidden)
            between = () if pack is None else self._hidden_pack(pack)
            # Axes of the tensor beside its pack may be those that seem hidden: then its own shape says more.
            if pack is None or len(middle) == 1:
                middle = (*before, *between, *after)
        elif pack is None:
            self.is_exact = False
            middle = ()
        elif isinstance(pack, NamedPack):
            middle = self._pack(pack, middle)
        return Shape((*sizes[:front], *middle, *sizes[front:]))

    def _annotated(self) -> tuple[list[AnnotatedAxis], NamedPack | AnonymousPack | None, list[AnnotatedAxis]]:
        """The annotation's axes before its pack, the pack, and the axes after it."""
        axes: list[AnnotatedAxis] = [
            AnonymousPack() if stands_for_text(axis, self.evaluate, self.annotation.is_formatted) else axis
            for axis in self.annotation.axes
        ]
        packs = [i for i, axis in enumerate(axes) if isinstance(axis, (NamedPack, AnonymousPack))]
        if not packs:
            return axes, None, []
        first = axes[packs[0]]
        pack = first if len(packs) == 1 and isinstance(first, NamedPack) else AnonymousPack()
        return axes[: packs[0]], pack, axes[packs[-1] + 1 :]

    def _sizes(self, pairs: Sequence[tuple[AnnotatedAxis, Dim, int]]) -> list[Dim]:
        """The sizes of axes that face the tensor's; arithmetic last, when the names are bound."""
        sizes = [actual for _, actual, _ in pairs]
        for i, (axis, actual, number) in enumerate(pairs):
            if not isinstance(axis, Computed):
                sizes[i] = self._size(axis, actual, number)
        for i, (axis, actual, number) in enumerate(pairs):
            if isinstance(axis, Computed):
                sizes[i] = self._computed(axis, actual, number)
        return sizes

    def _size(self, axis: AnnotatedAxis, actual: Dim, number: int) -> Dim:
        match axis:
            case Fixed(size=constant, broadcastable=broadcastable):
                return self._require(actual, Dim.of(constant), number, str(constant), broadcastable)
            case Named(name=name, by_leaf=False, broadcastable=broadcastable):
                bound = self.bindings.dims.get(name)
                if bound is None:
                    if not broadcastable or actual.constant not in (None, 1):
                        self.bindings.dims[name] = actual
                    elif actual.constant is None:
                        self.bindings.dims[name] = self.context.fresh()  # the actual size, or any if that is 1
                    return actual
                if not self.is_probe and not broadcastable and self.tensor.shape.rank is not None:
                    operands = f'{self.tensor} for "{self.annotation.text}"'
                    check_padded(self.context, self.subject, self.tensor, number, bound, operands)
                size = self._require(actual, bound, number, name, broadcastable)
                if bound.has_unknown and not broadcastable:
                    self.bindings.dims[name] = size
                return size
            case Named():
                self.is_exact = False
        return actual

    def _computed(self, axis: Computed, actual: Dim, number: int) -> Dim:
        free = [name for name in axis.names if name not in self.bindings.dims]
        if not free:
            size = computed_size(axis, self.bindings, self.context, self.evaluate)
            if size is not None:
                return self._require(actual, size, number, axis.text, axis.broadcastable)
        elif len(free) == 1 and not axis.broadcastable and not actual.has_unknown:
            self._solve(axis, actual, free[0], number)
        else:
            self.is_exact = False
        return actual

    def _solve(self, axis: Computed, actual: Dim, name: str, number: int) -> None:
        """Bind the only free name of an axis of arithmetic to the size that gives the actual size."""
        symbol = Symbol(name, Kind.NAME, f"{self.bindings.scope} solved")
        size = axis.size({**self.bindings.dims, name: Dim.atom(symbol)}, self.evaluate)
        values = None if size is None else solve((size, actual), symbol)
        if isinstance(values, range) and not values:
            reason = f"axis {number} is {actual}, which no size {name} gives as {axis.text}"
            raise self._fault(reason, (actual,))
        if isinstance(values, Dim):
            self.bindings.dims[name] = values
        elif isinstance(values, range) and len(values) == 1:
            self.bindings.dims[name] = Dim.of(values[0])
        else:
            self.is_exact = False

    def _require(self, actual: Dim, wanted: Dim, number: int, text: str, broadcastable: bool) -> Dim:
        """Demand that an axis has the size that the annotation writes as `text`; gives the better known of the two."""
        shown = text if str(wanted) == text else f"{text}={wanted}"
        if broadcastable:
            if self.is_probe and actual != 1 and not self.context.is_equal(actual, wanted):
                self.is_exact = False
            if self.context.is_never_equal(actual, wanted) and self.context.is_never_equal(actual, 1):
                raise self._fault(f"axis {number} is {actual}, neither 1 nor {shown}", (actual, wanted))
            return actual
        if self.is_probe and not self.context.is_equal(actual, wanted):
            self.is_exact = False
        other = f"not {shown}" if str(actual) != shown else f"not the {shown} that was bound before"
        return self.context.require_equal(
            actual, wanted, lambda: self._fault(f"axis {number} is {actual}, {other}", (actual, wanted))
        )

    def _hidden(self, axis: AnnotatedAxis) -> Dim:
        """The size of an axis that the tensor's pack hides."""
        match axis:
            case Fixed(size=constant, broadcastable=False):
                return Dim.of(constant)
            case Named(name=name, by_leaf=False, broadcastable=broadcastable):
                bound = self.bindings.dims.setdefault(name, self.context.fresh(name=name))
                return self.context.fresh() if broadcastable else bound
            case Computed(broadcastable=False):
                size = computed_size(axis, self.bindings, self.context, self.evaluate)
                return self.context.fresh() if size is None else size
        return self.context.fresh()

    def _hidden_pack(self, pack: NamedPack | AnonymousPack) -> tuple[Axis, ...]:
        """The axes of a pack that the tensor's pack hides."""
        unknown = (self.context.fresh_pack(),)
        if isinstance(pack, AnonymousPack) or pack.by_leaf:
            return unknown
        if not self._may_grow(pack):
            return self.bindings.packs.setdefault(pack.name, unknown)
        if pack.name not in self.bindings.packs or pack.name in self.bindings.broadcastable:
            self.bindings.packs[pack.name] = unknown
            self.bindings.broadcastable.add(pack.name)
        return unknown

    def _may_grow(self, pack: NamedPack) -> bool:
        return pack.broadcastable or pack.name in self.bindings.broadcastable

    def _pack(self, pack: NamedPack, actual: tuple[Axis, ...]) -> tuple[Axis, ...]:
        """The axes that face a `*name`: bound to them, or equal to those that it was bound to before."""
        if pack.by_leaf:
            self.is_exact = False
            return actual
        bound = self.bindings.packs.get(pack.name)
        if bound is None:
            self.bindings.packs[pack.name] = actual
            if pack.broadcastable:
                self.bindings.broadcastable.add(pack.name)
            return actual
        if self._may_grow(pack):
            self.is_exact = False
            self._broadcast_pack(pack, Shape(actual), Shape(bound))
            return actual
        if actual == bound:
            return actual
        better = self._equal_pack(pack, Shape(actual), Shape(bound))
        self.bindings.packs[pack.name] = better.axes
        return better.axes

    def _equal_pack(self, pack: NamedPack, actual: Shape, bound: Shape) -> Shape:
        def fault() -> ShapeError:
            return self._fault(f"{pack} is {actual}, not {bound}", (*_sizes_of(actual), *_sizes_of(bound)))

        a, b = actual.pack, bound.pack
        if (a is None and b is None) or (a == b and len(actual.head) == len(bound.head)):
            if len(actual.axes) != len(bound.axes):
                raise fault()
            axes = [
                x if isinstance(x, Pack) or isinstance(y, Pack) else self._equal_size(x, y, fault)
                for x, y in zip(actual.axes, bound.axes)
            ]
            return Shape(tuple(axes))
        self.is_exact = False
        if a == b:
            if actual.least_rank != bound.least_rank:
                raise fault()  # the same pack and more axes
            return actual
        # The number of axes of one of them is not known.
        for known, other in ((actual, bound), (bound, actual)):
            if known.rank is not None and known.rank < other.least_rank:
                raise fault()
        universal = all(side.pack is None or side.pack.kind is Kind.NAME for side in (actual, bound))
        followed = not any(size.has_unknown for size in (*_sizes_of(actual), *_sizes_of(bound)))
        if universal and followed and self.context.certain:
            # As for two names: what holds for only some axes is an error.
            if bound.axes == (b,):
                raise self._fault(f"{pack} may be any axes, not only {actual}", _sizes_of(actual))
            raise fault()
        return bound if a is not None and a.kind is Kind.UNKNOWN else actual

    def _equal_size(self, actual: Dim, bound: Dim, fault: Callable[[], ShapeError]) -> Dim:
        if self.is_probe and not self.context.is_equal(actual, bound):
            self.is_exact = False
        return self.context.require_equal(actual, bound, fault)

    def _broadcast_pack(self, pack: NamedPack, actual: Shape, bound: Shape) -> None:
        """Refuse axes that do not broadcast with the bound ones, where either may be stretched."""
        actual_stretches, bound_stretches = pack.broadcastable, pack.name in self.bindings.broadcastable
        shapes = f"{pack} is {actual}, not {bound}"
        if actual.rank is not None and bound.rank is not None:
            longer = actual.rank - bound.rank
            if (longer > 0 and not bound_stretches) or (longer < 0 and not actual_stretches):
                raise self._fault(f"{shapes}: the number of axes differs", (*_sizes_of(actual), *_sizes_of(bound)))
        for a, b in zip(reversed(actual.axes), reversed(bound.axes)):
            if isinstance(a, Pack) or isinstance(b, Pack):
                break
            equations = [(a, b), *[(a, Dim.of(1))] * actual_stretches, *[(b, Dim.of(1))] * bound_stretches]
            if all(self.context.is_never_equal(x, y) for x, y in equations):
                raise self._fault(f"{shapes}: {a} and {b} do not broadcast", (a, b))
        if not actual_stretches:
            self.bindings.packs[pack.name] = actual.axes
            self.bindings.broadcastable.discard(pack.name)
        elif bound_stretches:
            self.bindings.packs[pack.name] = self._stretched(actual, bound)

    def _stretched(self, a: Shape, b: Shape) -> tuple[Axis, ...]:
        """The axes that two shapes broadcast to, not followed where that depends on sizes."""
        if a.rank is None or b.rank is None:
            return (self.context.fresh_pack(),)
        longer, shorter = sorted((a.dims, b.dims), key=len, reverse=True)
        ones = (Dim.of(1),) * (len(longer) - len(shorter))
        pairs = zip(longer, ones + shorter)
        return tuple(
            y if x == 1 else x if y == 1 or self.context.is_equal(x, y) else self.context.fresh() for x, y in pairs
        )

    def _rank_fault(self, wanted: str) -> ShapeError:
        shape = self.tensor.shape
        least = "" if shape.rank is not None else "at least "
        axes = "1 axis" if shape.least_rank == 1 else f"{shape.least_rank} axes"
        return self._fault(f"it has {least}{axes}, not {wanted}", ())

    def _fault(self, reason: str, dims: tuple[Dim, ...]) -> ShapeError:
        return ShapeError(self.subject, reason, f'{self.tensor} does not match "{self.annotation.text}"', dims=dims)


def _pairs(
    annotated: Sequence[AnnotatedAxis], actual: Sequence[Dim], first: int
) -> list[tuple[AnnotatedAxis, Dim, int]]:
    """The axes that face each other, with the number of each for messages."""
    return [(axis, size, first + i) for i, (axis, size) in enumerate(zip(annotated, actual))]


def _sizes_of(shape: Shape) -> tuple[Dim, ...]:
    return tuple(axis for axis in shape.axes if isinstance(axis, Dim))
