"""`torch.fft`: transforms keep a shape up to the axes that a real signal's symmetry halves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import DtypeError, ShapeError
from shaped.spec.dims import Dim
from shaped.spec.dtypes import COMPLEX, FLOAT32, DType
from shaped.spec.op import op
from shaped.spec.ops.arguments import axes, ints, unknown_sizes
from shaped.spec.promotion import as_complex, as_float, as_real, requested
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shaped.spec.context import Context

LAST = Dim.of(-1)
LAST_TWO = (Dim.of(-2), Dim.of(-1))


def _half(context: Context, size: Dim) -> Dim:
    """The frequencies of a real signal: the others are their conjugates."""
    return size // 2 + 1


def _whole(context: Context, size: Dim) -> Dim:
    """The real signal of least length 2*(n-1) that has n frequencies."""
    return (size - 1) * 2


def _same(context: Context, size: Dim) -> Dim:
    return size


def _transformed(
    context: Context,
    operation: str,
    input: TensorType,
    lengths: Value,
    dims: Value,
    last: Callable[[Context, Dim], Dim],
) -> Shape:
    """The shape with the axes `dims` cut or padded to `lengths`; `last` gives the size of the last of them."""
    if input.shape.rank == 0 and (last is not _same or dims is not None):
        raise ShapeError(operation, "a tensor without axes has none to transform", str(input))
    sizes = None if lengths is None else ints(lengths)
    chosen: Sequence[int] | None
    if lengths == LAST:
        raise ShapeError(operation, "-1 is no length of a transform", str(input))
    if dims is None and lengths is not None:
        if sizes is None:
            return unknown_sizes(context, input.shape)
        if input.shape.rank is not None and len(sizes) > input.shape.rank:
            raise ShapeError(operation, f"{len(sizes)} lengths for {input.shape.rank} axes", str(input))
        chosen = _last_axes(input, len(sizes))
    elif dims is None:
        chosen = None if input.shape.rank is None else list(range(input.shape.rank))
    else:
        chosen = _chosen(context, operation, input, dims)
    if chosen is None or (lengths is not None and sizes is None):
        return unknown_sizes(context, input.shape)
    if sizes is not None and len(sizes) != len(chosen):
        raise ShapeError(operation, f"{len(sizes)} lengths for {len(chosen)} axes", str(input))
    shape = input.shape
    for i, axis in enumerate(chosen):
        own = shape.at(axis)
        if own is None:
            return unknown_sizes(context, input.shape)
        given = sizes[i] if sizes is not None else LAST
        is_last = i == len(chosen) - 1
        size = _length(context, operation, input, own, given, last if is_last else _same)
        shape = shape.replace(axis, size)
    return shape


def _last_axes(input: TensorType, count: int) -> list[int] | None:
    if input.shape.rank is None:
        return list(range(-count, 0)) if count <= len(input.shape.tail) else None
    return list(range(input.shape.rank - count, input.shape.rank))


def _chosen(context: Context, operation: str, input: TensorType, dims: Value) -> Sequence[int] | None:
    if input.shape.rank is not None:
        return axes(context, operation, input, dims)
    values = ints(dims)
    constants = [value.constant if isinstance(value, Dim) else None for value in values or ()]
    known = [constant for constant in constants if constant is not None]
    return None if values is None or len(known) < len(values) else known


def _length(
    context: Context,
    operation: str,
    input: TensorType,
    own: Dim,
    given: Value,
    last: Callable[[Context, Dim], Dim],
) -> Dim:
    if not isinstance(given, Dim):
        return context.fresh()
    is_whole = last is _whole
    if given == -1:
        # Without a length the inverse of a real transform guesses an even one.
        result = last(context, own)
        points = (result if is_whole else own).constant
        if points is not None and points < 1:
            raise ShapeError(operation, f"an axis of size {own} cannot be transformed", str(input))
        return result
    if given.constant is not None and given.constant < 1:
        raise ShapeError(operation, f"{given} is no length of a transform", str(input))
    return given if is_whole else last(context, given)


def _complex(operation: str, dtype: DType) -> DType:
    return as_complex(as_float(dtype))


def _real(operation: str, dtype: DType) -> DType:
    return as_real(as_complex(as_float(dtype)))


def _complex_of_real(operation: str, dtype: DType) -> DType:
    if dtype.is_all(COMPLEX):
        raise DtypeError(operation, f"expects a real tensor, not {dtype}")
    names = dtype.names - COMPLEX
    return as_complex(as_float(DType(names)))


# name: what happens to the last axis, and to the dtype.
_FAMILIES = {
    "fft": (_same, _complex),
    "ifft": (_same, _complex),
    "rfft": (_half, _complex_of_real),
    "irfft": (_whole, _real),
    "hfft": (_whole, _real),
    "ihfft": (_half, _complex_of_real),
}


def _declare(name: str, ending: str, dims: Value, axes_in_words: str) -> None:
    last, dtype = _FAMILIES[name]
    operation = f"fft.{name}{ending}"

    def result(context: Context, input: TensorType, lengths: Value, dim: Value) -> TensorType:
        shape = _transformed(context, operation, input, lengths, dim, last)
        return input.with_shape(shape).with_dtype(dtype(operation, input.dtype))

    declare = op(operation, f"torch.{operation}", formula=f"the discrete Fourier transform along {axes_in_words}")
    if not ending:

        @declare
        def along_one(
            context: Context, input: TensorType, n: Value = None, dim: Value = dims, norm: Value = None
        ) -> TensorType:
            return result(context, input, n, dim)

    else:

        @declare
        def along_several(
            context: Context, input: TensorType, s: Value = None, dim: Value = dims, norm: Value = None
        ) -> TensorType:
            return result(context, input, s, dim)


for _name in _FAMILIES:
    _declare(_name, "", LAST, "one axis")
    _declare(_name, "2", LAST_TWO, "two axes")
    _declare(_name, "n", None, "several axes")


@op("fft.fftshift", "torch.fft.fftshift", "torch.fft.ifftshift", formula="y[i] = x[(i + n//2) % n]")
def fftshift(context: Context, input: TensorType, dim: Value = None) -> TensorType:
    for each in ints(dim) or () if dim is not None else ():
        context.axis("fft.fftshift", input, each)
    return input


def _frequencies(context: Context, n: Value, dtype: Value, *, half: bool) -> TensorType:
    size = n if isinstance(n, Dim) else context.fresh()
    return TensorType(Shape((size // 2 + 1 if half else size,)), requested(dtype, FLOAT32))


@op("fft.fftfreq", "torch.fft.fftfreq", formula="the frequencies of a transform of length n")
def fftfreq(
    context: Context,
    n: Value,
    d: Value = 1.0,
    *,
    out: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
) -> TensorType:
    return _frequencies(context, n, dtype, half=False)


@op("fft.rfftfreq", "torch.fft.rfftfreq", formula="the frequencies of a real transform of length n")
def rfftfreq(
    context: Context,
    n: Value,
    d: Value = 1.0,
    *,
    out: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
) -> TensorType:
    return _frequencies(context, n, dtype, half=True)
