"""Functions and methods of NumPy that move, add, drop, join and multiply axes of arrays: by torch's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.broadcast import is_joined
from shaped.spec.dims import ZERO, Dim, product
from shaped.spec.op import find_op, op
from shaped.spec.ops.arguments import axes, ints, listed, spread, unknown_sizes
from shaped.spec.ops.arrays import arrays_of, free
from shaped.spec.ops.expansion import expanded
from shaped.spec.ops.joining import column_stack, concatenated, dstack, hstack, stacked, vstack
from shaped.spec.ops.movement import flip, movedim, permute, roll, squeeze, swapped, unsqueeze
from shaped.spec.ops.reshape import regrouped
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.context import Context


@op("numpy.ravel", "numpy.ravel", "ndarray.ravel", "ndarray.flatten", formula="all axes as one")
def ravel(context: Context, a: TensorType, order: Value = None) -> TensorType:
    return a.with_shape(Shape.of(product(a.shape.dims) if a.shape.rank is not None else context.fresh()))


def _reshaped(context: Context, a: TensorType, sizes: tuple[Value, ...] | None, order: Value) -> TensorType:
    if order is not None and order != "C":
        return context.unknown_tensor(a.dtype)
    return regrouped(context, "reshape", a, sizes)


@op("numpy.reshape", "numpy.reshape", formula="the elements of a, in order, as another shape")
def reshape(context: Context, a: TensorType, shape: Value, order: Value = None) -> Value:
    return _reshaped(context, a, ints(shape), order)


@op("ndarray.reshape", "ndarray.reshape", formula="the elements of a, in order, as another shape")
def reshape_method(context: Context, a: TensorType, *shape: Value, order: Value = None) -> Value:
    return _reshaped(context, a, spread(shape), order)


def _transposed(context: Context, a: TensorType, order: tuple[Value, ...] | None) -> TensorType:
    return context.unknown_tensor(a.dtype) if order is None else permute(context, a, order)


@op("numpy.transpose", "numpy.transpose", formula="y[i_axes[0], i_axes[1], ...] = a[i_0, i_1, ...]")
def transpose(context: Context, a: TensorType, axes: Value = None) -> Value:
    return reverse(context, a) if axes is None else _transposed(context, a, ints(axes))


@op("ndarray.transpose", "ndarray.transpose", formula="y[i_axes[0], i_axes[1], ...] = a[i_0, i_1, ...]")
def transpose_method(context: Context, a: TensorType, *axes: Value) -> Value:
    return reverse(context, a) if axes in ((), (None,)) else _transposed(context, a, spread(axes))


@op("ndarray.T", "ndarray.T", formula="y[..., j, i] = a[i, j, ...]")
def reverse(context: Context, a: TensorType) -> TensorType:
    return a.with_shape(Shape(tuple(reversed(a.shape.axes))))


@op("numpy.expand_dims", "numpy.expand_dims", formula="y[..., 0, ...] = a")
def expand_dims(context: Context, a: TensorType, axis: Value) -> Value:
    return unsqueeze(context, a, axis) if isinstance(axis, Dim) else context.unknown_tensor(a.dtype)


@op("numpy.squeeze", "numpy.squeeze", "ndarray.squeeze", formula="y[i, j] = a[i, 0, j]")
def squeeze_axes(context: Context, a: TensorType, axis: Value = None) -> Value:
    if axis is None:
        return squeeze(context, a)
    dropped = axes(context, "squeeze", a, axis)
    if dropped is None:
        return context.unknown_tensor(a.dtype)
    for place in dropped:
        size = a.shape.dims[place]

        def fault(place: int = place, size: Dim = size) -> ShapeError:
            return ShapeError("squeeze", f"axis {place} has size {size}, not 1", str(a), dims=(size,))

        if size.constant is not None:
            context.require_equal(size, 1, fault)
    return a.with_shape(Shape(tuple(dim for place, dim in enumerate(a.shape.dims) if place not in dropped)))


@op("numpy.moveaxis", "numpy.moveaxis", formula="the axes source stand at destination, the others keep their order")
def moveaxis(context: Context, a: TensorType, source: Value, destination: Value) -> Value:
    return movedim(context, a, source, destination)


@op("numpy.swapaxes", "numpy.swapaxes", "ndarray.swapaxes", formula="y[..., j, ..., i, ...] = a[..., i, ..., j, ...]")
def swapaxes(context: Context, a: TensorType, axis1: Value, axis2: Value) -> Value:
    return swapped(context, "swapaxes", a, axis1, axis2)


@op("numpy.flip", "numpy.flip", formula="y[i] = m[n-1-i]")
def flip_axes(context: Context, m: TensorType, axis: Value = None) -> Value:
    return m if axis is None else flip(context, m, axis)


@op("numpy.fliplr", "numpy.fliplr", "numpy.flipud", formula="m turned round along an axis")
def flip_last(context: Context, m: TensorType) -> Value:
    return m


@op("numpy.roll", "numpy.roll", formula="y[i] = a[(i-shift) % n]")
def roll_axes(context: Context, a: TensorType, shift: Value, axis: Value = None) -> Value:
    return roll(context, a, shift, axis) if isinstance(shift, Dim) and isinstance(axis, Dim) else a


@op("numpy.broadcast_to", "numpy.broadcast_to", formula="a expanded to a shape")
def broadcast_to(context: Context, array: TensorType, shape: Value) -> Value:
    return expanded(context, "broadcast_to", array, ints(shape))


@op("numpy.repeat", "numpy.repeat", "ndarray.repeat", formula="y[..., i, ...] = a[..., i//repeats, ...]")
def repeat(context: Context, a: TensorType, repeats: Value, axis: Value = None) -> Value:
    found = find_op("Tensor.repeat_interleave")
    if found is None or not isinstance(repeats, Dim):
        return context.unknown_tensor(a.dtype)
    return found.rule(context, a, repeats, axis)


@op("numpy.tile", "numpy.tile", formula="y[..., i, ...] = A[..., i % n, ...]")
def tile(context: Context, A: TensorType, reps: Value) -> Value:
    found, repeats = find_op("torch.tile"), ints(reps)
    if found is None or repeats is None:
        return context.unknown_tensor(A.dtype)
    return found.rule(context, A, repeats)


@op("numpy.pad", "numpy.pad", formula="array with pad_width elements before and behind each axis")
def pad(context: Context, array: TensorType, pad_width: Value, mode: Value = None, **options: Value) -> Value:
    rank = array.shape.rank
    if rank is None:
        return context.unknown_tensor(array.dtype)
    widths: tuple[Value, ...] | None = ints(pad_width)
    if widths is not None and all(isinstance(each, Dim) for each in widths):
        widths = ((widths[0], widths[-1]),) * rank if len(widths) in (1, 2) else None
    pairs = [listed(each) for each in widths or ()]
    if len(pairs) != rank:
        return array.with_shape(unknown_sizes(context, array.shape))
    dims = []
    for dim, pair in zip(array.shape.dims, pairs, strict=True):
        known = [each for each in pair or () if isinstance(each, Dim)]
        dims.append(dim + known[0] + known[1] if len(known) == 2 == len(pair or ()) else context.fresh())
    return array.with_shape(Shape(tuple(dims)))


# Several arrays


def _declare_joined(name: str, formula: str, join: Callable[[Context, Value], TensorType]) -> None:
    @op(f"numpy.{name}", f"numpy.{name}", formula=formula)
    def rule(context: Context, tup: Value, **options: Value) -> Value:
        arrays = arrays_of(tup)
        return UNKNOWN if arrays is None else free(join(context, arrays))


for _name, _formula, _join in [
    ("vstack", "arrays of at least 2 axes joined along axis 0", vstack),
    ("hstack", "arrays joined along axis 1, flat ones along axis 0", hstack),
    ("dstack", "arrays of at least 3 axes joined along axis 2", dstack),
    ("column_stack", "arrays as columns joined along axis 1", column_stack),
]:
    _declare_joined(_name, _formula, _join)


@op("numpy.concatenate", "numpy.concatenate", formula="y[..., n_0+...+n_k+i, ...] = a_k[..., i, ...]")
def concatenate(context: Context, arrays: Value, axis: Value = ZERO, **options: Value) -> Value:
    parts = arrays_of(arrays)
    if parts is None:
        return UNKNOWN
    if not isinstance(axis, Dim):
        return TensorType(Shape.of(context.fresh())) if axis is None else context.unknown_tensor()
    return free(concatenated(context, "concatenate", parts, axis))


@op("numpy.stack", "numpy.stack", formula="y[..., k, ...] = a_k[..., ...]")
def stack(context: Context, arrays: Value, axis: Value = ZERO, **options: Value) -> Value:
    parts = arrays_of(arrays)
    return UNKNOWN if parts is None else free(stacked(context, "stack", parts, axis))


@op("numpy.matmul", "numpy.matmul", formula="y[..., i, j] = sum_k x1[..., i, k] x2[..., k, j]")
def matmul(context: Context, x1: TensorType, x2: TensorType) -> Value:
    found = find_op("torch.matmul")
    return UNKNOWN if found is None else found.rule(context, free(x1), free(x2))


@op("numpy.linalg.inv", "numpy.linalg.inv", formula="y @ a = 1")
def inv(context: Context, a: TensorType) -> Value:
    found = find_op("torch.linalg.inv")
    return UNKNOWN if found is None else found.rule(context, free(a))


@op("numpy.meshgrid", "numpy.meshgrid", formula="y_k[i_1, i_0, i_2, ...] = x_k[i_k]")
def meshgrid(context: Context, *xi: Value, indexing: Value = "xy", **options: Value) -> Value:
    arrays = arrays_of(xi)
    if options or not isinstance(arrays, tuple) or any(array.shape.rank != 1 for array in arrays):
        return UNKNOWN
    dims = [array.shape.dims[0] for array in arrays]
    if indexing == "xy" and len(dims) > 1:
        dims[:2] = dims[1::-1]
    return (TensorType(Shape(tuple(dims)), joined=is_joined(*arrays)),) * len(dims) if indexing in _ORDERS else UNKNOWN


_ORDERS = ("xy", "ij")


@op("numpy.dot", "numpy.dot", "ndarray.dot", formula="y[i, j] = sum_k a[i, k] b[k, j]")
def dot(context: Context, a: TensorType, b: TensorType) -> Value:
    # Of more axes it is another product.
    if a.shape.rank not in (1, 2) or b.shape.rank not in (1, 2):
        return context.unknown_tensor()
    return matmul(context, a, b)


# Values decide the size


@op("numpy.unique", "numpy.unique", formula="the different elements, in order")
def unique(context: Context, ar: TensorType, **options: Value) -> Value:
    return UNKNOWN if options else TensorType(Shape.of(context.fresh()), ar.dtype)
