"""Short-time Fourier transforms and the windows of `torch.signal`."""

from __future__ import annotations

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.dtypes import COMPLEX, FLOAT32, DType
from shaped.spec.op import op
from shaped.spec.ops.creation import created, size_shape
from shaped.spec.promotion import as_complex, as_real, excluding
from shaped.spec.shape import Axis, Shape
from shaped.spec.values import TensorType, Value

_OF_WINDOWS = frozenset({"float32", "float64"})


@op("stft", "torch.stft", "Tensor.stft", formula="y[k, t] = sum x[t hop + n] window[n] e^(-2 pi i k n / n_fft)")
def stft(
    context: Context,
    input: TensorType,
    n_fft: Value,
    hop_length: Value = None,
    win_length: Value = None,
    window: Value = None,
    center: Value = True,
    pad_mode: Value = "reflect",
    normalized: Value = False,
    onesided: Value = None,
    return_complex: Value = None,
    align_to_window: Value = None,
) -> Value:
    if input.shape.rank == 0 or input.shape.least_rank > 2:
        raise ShapeError("stft", "the signal has 1 or 2 axes", str(input))
    length = input.shape.at(-1)
    if input.shape.rank is None or length is None:
        return context.unknown_tensor()
    count = n_fft if isinstance(n_fft, Dim) else context.fresh(low=1)
    hop = count // 4 if hop_length is None else hop_length if isinstance(hop_length, Dim) else context.fresh(low=1)
    frames = context.fresh(low=1)
    if isinstance(center, bool) and hop.constant != 0:
        padded = length + 2 * (count // 2) if center else length
        _require_window(input, padded, count)
        frames = (padded - count) // hop + 1
    complex_input = input.dtype.is_all(COMPLEX)
    if onesided is None and not input.dtype.may_be(COMPLEX):
        onesided = True
    elif onesided is None and complex_input:
        onesided = False
    frequencies = count // 2 + 1 if onesided is True else count if onesided is False else context.fresh(low=1)
    axes: list[Axis] = [*input.shape.dims[:-1], frequencies, frames]
    if return_complex is True or (return_complex is None and complex_input):
        return input.with_shape(Shape(tuple(axes))).with_dtype(as_complex(input.dtype))
    if return_complex is False:
        return input.with_shape(Shape((*axes, Dim.of(2)))).with_dtype(as_real(input.dtype))
    return context.unknown_tensor()


def _require_window(input: TensorType, padded: Dim, count: Dim) -> None:
    room = (padded - count).constant
    if room is not None and room < 0:
        raise ShapeError("stft", f"a window of {count} does not fit into a signal of {padded}", str(input))


@op("istft", "torch.istft", "Tensor.istft", formula="x with stft(x) nearest to y")
def istft(
    context: Context,
    input: TensorType,
    n_fft: Value,
    hop_length: Value = None,
    win_length: Value = None,
    window: Value = None,
    center: Value = True,
    normalized: Value = False,
    onesided: Value = None,
    length: Value = None,
    return_complex: Value = False,
) -> Value:
    rank = input.shape.rank
    if rank is None:
        return context.unknown_tensor()
    if rank not in (2, 3):
        raise ShapeError("istft", f"the spectrum has 2 or 3 axes, not {rank}", str(input))
    samples = length if isinstance(length, Dim) else context.fresh()
    dtype = as_real(input.dtype) if return_complex is False else input.dtype
    return input.with_shape(Shape((*input.shape.dims[:-2], samples))).with_dtype(dtype)


def _declare_window(name: str) -> None:
    @op(f"signal.windows.{name}", f"torch.signal.windows.{name}", formula=f"the {name} window")
    def rule(
        context: Context,
        M: Value,
        *,
        sym: Value = True,
        dtype: Value = None,
        layout: Value = None,
        device: Value = None,
        requires_grad: Value = False,
        **options: Value,
    ) -> Value:
        if isinstance(dtype, DType):
            excluding(f"signal.windows.{name}", dtype, dtype.names - _OF_WINDOWS, "is not float32 or float64")
        shape = size_shape(context, name, (M if isinstance(M, Dim) else context.fresh(),))
        return created(shape, dtype, FLOAT32, device)


for _name in [
    *("bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming"),
    *("hann", "kaiser", "nuttall"),
]:
    _declare_window(_name)
