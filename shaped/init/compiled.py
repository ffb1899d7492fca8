"""Tensors on a CPU by the compiled kernel of `kernel`, all but the elements that it is not certain of.

The kernel gives float32. Rounding that again to a 16-bit dtype is wrong only where the float32 is half way between two
numbers of the dtype: it has lost on which side of the middle the element was. So those elements are uncertain, too.
"""

from __future__ import annotations

import torch
from torch import Tensor

from shaped.init import kernel
from shaped.init.kernel import KernelScheme
from shaped.init.schemes import KaimingUniform, Normal, Scheme, Uniform, XavierUniform
from shaped.init.vectorised import Sampler, sampler_of
from shaped.init.vectorised_normal import MOST_UNCERTAIN, redo
from shaped.init.vectorised_rounding import BITS

# The kernel takes some ten milliseconds to load, once in a process. torch's operations take half of one for a tensor of
# this many elements, and twenty where its threads wait for a core that other work has.
LEAST_ELEMENTS = 2**8


def filled_by_kernel(out: Tensor, scheme: Scheme, seed: int, first: int) -> bool:
    """Whether the kernel wrote the elements from `first` on into `out`. If not, it may have written some of them."""
    if out.dtype != torch.float32 or not _is_for_kernel(out) or not out.is_contiguous():
        return False
    if not isinstance(scheme, (Uniform, XavierUniform, KaimingUniform, Normal)):
        return False
    flat = out.view(-1)
    uncertain = kernel.fill_float32(flat, scheme, seed, first)
    if uncertain is None:
        return False
    redo(flat, uncertain, scheme, seed, first)
    return True


def sampler_for(out: Tensor, scheme: Scheme, seed: int, size: int, device: torch.device) -> Sampler:
    """The sampler for a tensor that the kernel has not filled, for up to `size` elements a call, on `device`."""
    sampler = sampler_of(scheme, seed, out.dtype, size, device)
    if out.dtype not in (torch.float16, torch.bfloat16) or not _is_for_kernel(out):
        return sampler
    if not isinstance(scheme, (Uniform, XavierUniform, KaimingUniform, Normal)):
        return sampler
    return KernelSampler(scheme, seed, size, sampler)


def _is_for_kernel(out: Tensor) -> bool:
    return out.device.type == "cpu" and out.numel() >= LEAST_ELEMENTS


class KernelSampler:
    """Elements in a 16-bit dtype by way of the kernel's float32; by another sampler where that does not go."""

    def __init__(self, scheme: KernelScheme, seed: int, size: int, other: Sampler) -> None:
        self._scheme = scheme
        self._seed = seed
        self._other = other
        self._values = torch.empty(size, dtype=torch.float32)

    def draw_into(self, out: Tensor, first: int) -> None:
        """See `Sampler`."""
        values = self._values[: out.numel()]
        uncertain = kernel.fill_float32(values, self._scheme, self._seed, first)
        if uncertain is not None:
            uncertain = torch.cat([uncertain, halfway_between(values, out.dtype)])
        # Many are uncertain only around a middle.
        if uncertain is None or len(uncertain) > MOST_UNCERTAIN:
            self._other.draw_into(out, first)
        else:
            out.copy_(values)
            redo(out, uncertain, self._scheme, self._seed, first)


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
