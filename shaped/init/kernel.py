"""The fast rendering of the uniform and normal schemes in float32 on CPUs: one loop of C, `kernel.c`, on all threads.

It has the bits of `shaped.init.sampling` or says where it does not know them. Where there is no C compiler, there is no
kernel, and the same bits come from the operations of libtorch.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeAlias, get_args

import torch
from torch import Tensor
from torch.autograd.graph import increment_version

from shaped.init.fans import interval
from shaped.init.rounding import FLOAT32, rounded
from shaped.init.sampling import sample_at
from shaped.init.schemes import KaimingUniform, Normal, NormalMode, Uniform, XavierUniform
from shaped.init.splitmix64 import MASK, rand01, splitmix64
from shaped.runtime import c_kernel

KernelScheme: TypeAlias = Uniform | XavierUniform | KaimingUniform | Normal
_MODES = {"mixed": 0, "clamped": 1, "unmixed": 2}
# Within these no float64 of the normal scheme overflows or loses digits before the mean is added; or std is 0.
_LEAST_STD, _GREATEST_STD = 2.0**-900, 2.0**1000
# Twice what the kernel takes its product to be off by, as a part of it: `ERROR` in `kernel.c`.
_ERROR = 2.0**-46
# Of a float32.
_BYTES = 4
# Elements that a thread fills at a time, and how many of them may be uncertain: one in two million is.
BLOCK = 1 << 20
_CAPACITY = 256


def fill_float32(out: Tensor, scheme: KernelScheme, seed: int, offset: int) -> Tensor | None:
    """Fill `out` with the elements of the flat positions `offset`, `offset + 1`, ..., rounded once to float32.

    Args:
        out: one contiguous axis of float32 on the CPU.
        scheme: with its fans, if it has any.
        seed: any int, modulo 2^64.
        offset: any int, modulo 2^64.

    Returns:
        The places in `out` (int64, few or none, in order) whose rounding is not certain: the caller puts `sample_at`
        there. None if no kernel is for this; `out` is unspecified then.
    """
    library = _library()
    if library is None or not _is_plain(out):
        return None
    try:
        address = out.data_ptr()
    except RuntimeError:
        return None  # a tensor that stands for others, as inside of vmap
    places = _fill(library, address, out.numel(), scheme, seed, offset)
    if places is None:
        return None
    if not out.is_inference():
        increment_version(out)  # so that autograd sees that what it may have saved has changed
    # A default device that the user has set is not meant.
    return torch.tensor(places, dtype=torch.int64, device="cpu")


def _is_plain(out: Tensor) -> bool:
    """Whether the memory of `out` is an array of float32 that C can write."""
    return (
        type(out) is Tensor
        and out.dtype == torch.float32
        and out.device.type == "cpu"
        and out.layout == torch.strided
        and out.dim() == 1
        and out.is_contiguous()
        and not out.is_neg()
    )


def _fill(
    library: ctypes.CDLL, address: int, count: int, scheme: KernelScheme, seed: int, offset: int
) -> list[int] | None:
    """Fill `count` float32 from `address` on by a library that need not be right, as `fill_float32` does."""
    key = splitmix64(seed)
    if not isinstance(scheme, Normal):
        low, width = interval(scheme)

        def fill_uniform(start: int) -> None:
            size = min(BLOCK, count - start)
            library.fill_uniform(address + start * _BYTES, size, key, (offset + start) & MASK, low, width)

        _on_all_threads(fill_uniform, range(0, count, BLOCK))
        return []
    mean, std, mode = float(scheme.mean), float(scheme.std), _MODES[scheme.mode]
    if std != 0 and not _LEAST_STD <= std <= _GREATEST_STD:
        return None
    uncertain: list[int] = []
    is_flooded = False

    def fill_normal(start: int) -> None:
        nonlocal is_flooded
        if is_flooded:
            return
        size, position = min(BLOCK, count - start), (offset + start) & MASK
        found = (ctypes.c_int64 * _CAPACITY)()
        length = library.fill_normal(mode, address + start * _BYTES, size, key, position, mean, std, found, _CAPACITY)
        if length < 0:
            is_flooded = True
        else:
            uncertain.extend(start + place for place in found[:length])

    _on_all_threads(fill_normal, range(0, count, BLOCK))
    return None if is_flooded else sorted(uncertain)


def _on_all_threads(work: Callable[[int], None], starts: range) -> None:
    """Call `work` for each start, on as many threads as torch uses."""
    threads = min(torch.get_num_threads(), len(starts))
    if threads <= 1:
        for start in starts:
            work(start)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, starts):
            pass


def _library() -> ctypes.CDLL | None:
    """The compiled kernel, if there is one and it was found to agree with the specification."""
    try:
        library = c_kernel.load(_source())
    except OSError as error:
        c_kernel.explain_missing(error)  # packed without its data files
        return None
    return library if library is not None and _declared_and_checked(library) else None


@functools.cache
def _source() -> str:
    return files("shaped.init").joinpath("kernel.c").read_text(encoding="utf-8")


@functools.cache
def _declared_and_checked(library: ctypes.CDLL) -> bool:
    declare(library)
    wrong = disagreement(library)
    if wrong:
        c_kernel.explain_missing(wrong)
    return not wrong


def declare(library: ctypes.CDLL) -> None:
    """Tell ctypes the types of the functions of `kernel.c`."""
    pointer, size, word, number = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64, ctypes.c_double
    library.fill_uniform.argtypes = [pointer, size, word, word, number, number]
    library.fill_uniform.restype = None
    library.fill_normal.argtypes = [ctypes.c_int, pointer, size, word, word, number, number, pointer, size]
    library.fill_normal.restype = ctypes.c_int64


# Elements of the normal scheme with seed 0 at which the kernel's formulas are strained.
_EDGES = (
    4599282455718648606,  # u1 is least
    5659834097528200730,  # u1 is greatest, its logarithm next to 0
    4161723730847675871,  # u1 is the greatest that is clamped
    653825967893281794,  # y is pi/2 rounded, its cosine 6e-17
    8378649987181876739,  # y is 3pi/2 rounded
    4243231967133507287,  # y is pi rounded
)
# Not a multiple of the elements in a vector register, so that a loop's rest is checked too.
_RUN = 77
_RUNS: tuple[tuple[KernelScheme, int, int], ...] = (
    (Uniform(-0.3, 0.7), 0, 0),
    (KaimingUniform(3), -1, 2**64 - 40),
    (Normal(), 1, 0),
    (Normal(0.5, 0.02, "clamped"), -1, 2**63 - 40),
    (Normal(mode="unmixed"), 2**64 - 1, 2**64 - 40),
)


@dataclass(frozen=True)
class _Check:
    """Some elements of a run from `offset` on: what they are.

    Args:
        due: by place in the run.
        interval: an element of which the kernel is not certain may be off by this.
    """

    scheme: KernelScheme
    seed: int
    offset: int
    due: dict[int, float]
    interval: float = math.inf


def _checks() -> Iterator[_Check]:
    for scheme, seed, offset in _RUNS:
        yield _Check(
            scheme, seed, offset, {i: rounded(sample_at(scheme, seed, offset + i), FLOAT32) for i in range(_RUN)}
        )
    # A float32 hides most of what is wrong in a float64, unless the mean cancels the product: the kernel is not certain
    # then, and what it gives is what is wrong. Each such element has another place in a vector register.
    elements = [(0, position) for position in _EDGES] + [(2, position) for position in range(100, 120)]
    for number, (seed, position) in enumerate(elements):
        place = number % _RUN
        for mode in get_args(NormalMode):
            product = sample_at(Normal(mode=mode), seed, position)
            yield _Check(Normal(-product, 1.0, mode), seed, position - place, {place: 0.0}, _ERROR * abs(product))
        # The same for a uniform element, which is 0 if its product is rounded before the sum.
        product = rand01(seed, position) * 0.7
        if interval(Uniform(-product, 0.7 - product)) == (-product, 0.7):
            yield _Check(Uniform(-product, 0.7 - product), seed, position - place, {place: 0.0})


def disagreement(library: ctypes.CDLL) -> str:
    """The first of some elements on which a kernel is wrong, as a sentence; empty if there is none.

    A compiler may have been told to compute loosely, or be wrong.
    """
    values = (ctypes.c_float * _RUN)()
    for check in _checks():
        uncertain = _fill(library, ctypes.addressof(values), _RUN, check.scheme, check.seed, check.offset)
        if uncertain is None or len(uncertain) > _RUN // 8:
            return f"{check.scheme}, seed {check.seed}: the kernel is certain of too little"
        for place, due in check.due.items():
            if abs(values[place] - due) > (check.interval if place in uncertain else 0):
                where = f"{check.scheme}, seed {check.seed}, element {check.offset + place}"
                return f"{where}: the kernel gives {values[place]!r}, not {due!r}"
    return ""
