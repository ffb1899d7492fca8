"""Large tensors on a CPU filled by the compiled kernel of `kernel`, all but the elements that it is not certain of.

The kernel gives float32. Rounding that again to a 16-bit dtype is wrong only where the float32 is half way between two
numbers of the dtype: it has lost on which side of the middle the element was. So those elements are uncertain, too.
"""

from __future__ import annotations

import torch
from torch import Tensor

from shaped.init import kernel
from shaped.init.schemes import KaimingUniform, Normal, Scheme, Uniform, XavierUniform
from shaped.init.vectorised_normal import redo
from shaped.init.vectorised_rounding import BITS

# Below this the kernel's gain is less than a millisecond or two.
LEAST_ELEMENTS = 2**20
# More than one in so many is only met around a middle, as with all elements there; the libtorch rendering is faster.
RAREST = 2**10


def filled_by_kernel(out: Tensor, scheme: Scheme, seed: int, first: int) -> bool:
    """Whether the kernel wrote the elements from `first` on into `out`. If not, it may have written some of it."""
    if out.device.type != "cpu" or not out.is_contiguous() or out.numel() < LEAST_ELEMENTS:
        return False
    if not isinstance(scheme, (Uniform, XavierUniform, KaimingUniform, Normal)) or out.dtype == torch.float64:
        return False
    flat = out.view(-1)
    if out.dtype == torch.float32:
        uncertain = kernel.fill_float32(flat, scheme, seed, first)
        if uncertain is not None:
            redo(flat, uncertain, scheme, seed, first)
        return uncertain is not None
    # As much at a time as keeps all of the kernel's threads at work.
    size = kernel.BLOCK * torch.get_num_threads()
    values = torch.empty(min(size, flat.numel()), dtype=torch.float32)
    return all(
        _filled_narrowly(flat[start : start + size], values, scheme, seed, first + start)
        for start in range(0, flat.numel(), size)
    )


def _filled_narrowly(
    out: Tensor, buffer: Tensor, scheme: Uniform | XavierUniform | KaimingUniform | Normal, seed: int, first: int
) -> bool:
    """`filled_by_kernel` of a run in a 16-bit dtype, by way of a buffer of float32."""
    values = buffer[: out.numel()]
    uncertain = kernel.fill_float32(values, scheme, seed, first)
    if uncertain is None:
        return False
    halfway = halfway_between(values, out.dtype)
    if len(halfway) > out.numel() // RAREST:
        return False
    out.copy_(values)
    redo(out, torch.cat([uncertain, halfway]), scheme, seed, first)
    return True


def halfway_between(values: Tensor, dtype: torch.dtype) -> Tensor:
    """The positions of the float32 that are half way between two numbers of a 16-bit dtype, and of a few others.

    >>> halfway_between(torch.tensor([1.0, 1 + 2**-8, 1 + 2**-8 + 2**-20]), torch.bfloat16)
    tensor([1])
    """
    # The numbers before and after one half way are rounded to different sides, and their mean is its.
    bits = values.view(torch.int32)
    before, after = (bits - 1).view(torch.float32).to(dtype), (bits + 1).view(torch.float32).to(dtype)
    positions = (before.view(BITS[dtype]) != after.view(BITS[dtype])).nonzero().flatten()
    mean = before[positions].float() * 0.5 + after[positions].float() * 0.5
    # Of zero and of the largest numbers a neighbour is no number, and so is the mean.
    return positions[(mean == values[positions]) | ~mean.isfinite()]
