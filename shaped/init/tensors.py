"""Tensors of deterministic elements on libtorch: the bits of `sample_at`, on any device, whole or in shards.

Tensors on a CPU, but for small ones and those of float64, are filled by a compiled kernel where there is a C compiler,
with the same bits; the environment variable `SHAPED_KERNELS=0` switches that off. torch's own random numbers are
neither used nor changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

from shaped.init.compiled import filled_by_kernel, sampler_for
from shaped.init.fans import valid_shape, with_fans
from shaped.init.overlap import overlaps_itself
from shaped.init.plain_thread import in_plain_threads
from shaped.init.schemes import KaimingUniform, Scheme, SchemeError, XavierUniform, valid_int, valid_scheme
from shaped.init.vectorised_chunks import fill_in_chunks
from shaped.init.vectorised_rounding import FORMATS


def tensor(
    scheme: Scheme,
    shape: Sequence[int],
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    *,
    offset: int = 0,
    count: int | None = None,
) -> Tensor:
    """The tensor whose element at row-major position f is `sample_at(scheme, seed, f)`, rounded once to `dtype`.

    Args:
        scheme: fans that it lacks are those of `shape`.
        shape: that of the whole tensor.
        seed: any int, modulo 2^64.
        dtype: float64, float32, float16 or bfloat16. In the last three a uniform scheme's largest elements can be
            rounded up to `high` itself.
        device: where the result is.
        offset: the first element of a shard; with `offset` or `count`, the result has one axis.
        count: how many elements the shard has; all from `offset` on, if it is not given.

    Raises:
        SchemeError: an argument of which no tensor can be made.

    >>> from shaped.init import Uniform
    >>> tensor(Uniform(), [2, 2])
    tensor([[0.3012, 0.6844],
            [0.3088, 0.2315]])
    >>> tensor(Uniform(), [2, 2], offset=1, count=2)
    tensor([0.6844, 0.3088])
    """
    shape = valid_shape("tensor", shape)
    elements = math.prod(shape)
    offset = valid_int("offset", offset)
    if not 0 <= offset <= elements:
        raise SchemeError(f"tensor: offset is {offset}: a position in the {elements} elements of {shape} is needed")
    if count is None:
        out_shape = shape if offset == 0 else (elements - offset,)
    else:
        count = valid_int("count", count)
        if not 0 <= count <= elements - offset:
            raise SchemeError(
                f"tensor: count is {count}: 0 to {elements - offset} elements follow offset {offset} of {shape}"
            )
        out_shape = (count,)
    _require_dtype(dtype)
    scheme = with_fans(valid_scheme("scheme", scheme), shape)
    return fill_(torch.empty(out_shape, dtype=dtype, device=device), scheme, seed, offset=offset)


def fill_(out: Tensor, scheme: Scheme, seed: int = 0, *, offset: int = 0) -> Tensor:
    """Write `sample_at(scheme, seed, offset + f)`, rounded once, into the element at each row-major position f.

    Args:
        out: of any strides and device; a leaf that requires a gradient may be written too. A tensor without
            numbers, on the device `meta` or a fake one, is left as it is.
        scheme: fans that it lacks are those of `out`'s shape; for a shard give those of the whole (`with_fans`).
        seed: any int, modulo 2^64.
        offset: the position of the first element of `out` in the whole tensor, 0 or more.

    Returns:
        `out`.

    Raises:
        SchemeError: an argument of which no tensor can be made.

    >>> from shaped.init import Uniform
    >>> weight = torch.empty(2, 2)
    >>> fill_(weight.T, Uniform())
    tensor([[0.3012, 0.6844],
            [0.3088, 0.2315]])
    """
    if not isinstance(out, Tensor):
        raise SchemeError(f"fill_: out is a {type(out).__name__}: a tensor is needed")
    scheme = with_fans(valid_scheme("scheme", scheme), out.shape)
    seed, offset = valid_int("seed", seed), valid_int("offset", offset)
    if offset < 0:
        raise SchemeError(f"fill_: offset is {offset}: 0 or more is needed")
    _require_dtype(out.dtype)
    if out.layout != torch.strided:
        raise SchemeError(f"fill_: out has layout {out.layout}: a strided tensor is needed")
    if overlaps_itself(out):
        raise SchemeError(f"fill_: several elements of out share memory, strides {out.stride()}: give a copy of it")
    if out.device.type == "meta" or isinstance(out, FakeTensor):
        return out

    def fill() -> None:
        if not filled_by_kernel(out, scheme, seed, offset):
            fill_in_chunks(out, offset, partial(sampler_for, out, scheme, seed))

    in_plain_threads(fill, out)
    return out


def xavier_w(
    out_dim: int,
    in_dim: int,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Tensor:
    """A weight of shape (out, in), uniform in [-L, L], `L = sqrt(6/(in + out))`.

    >>> xavier_w(1, 2)
    tensor([[-0.5624,  0.5217]])
    """
    return tensor(XavierUniform(), (out_dim, in_dim), seed, dtype, device)


def kaiming_w(
    out_dim: int,
    in_dim: int,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Tensor:
    """A weight of shape (out, in), uniform in [-L, L], `L = sqrt(6/in)`.

    >>> kaiming_w(1, 2)
    tensor([[-0.6888,  0.6389]])
    """
    return tensor(KaimingUniform(), (out_dim, in_dim), seed, dtype, device)


def _require_dtype(dtype: torch.dtype) -> None:
    if dtype not in FORMATS:
        raise SchemeError(f"dtype is {dtype}: one of {', '.join(map(str, FORMATS))} is needed")
