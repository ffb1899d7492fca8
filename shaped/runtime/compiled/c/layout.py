"""Where elements are: buffers of memory, and strided views of them, as torch has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch

Role: TypeAlias = Literal["input", "held", "output", "temporary"]

# The types of C that hold torch's elements.
C_TYPES = {
    torch.float32: "float",
    torch.float64: "double",
    torch.int64: "int64_t",
    torch.int32: "int32_t",
    torch.uint8: "uint8_t",
    torch.bool: "uint8_t",
}


@dataclass(eq=False)
class Buffer:
    """A piece of memory.

    Args:
        name: the name of its pointer in C.
        size: how many elements it has.
        role: whose it is. A temporary lies in the arena; an output is new at each call.
    """

    name: str
    dtype: torch.dtype
    size: int
    role: Role

    @property
    def c_type(self) -> str:
        """The type of its elements in C."""
        return C_TYPES[self.dtype]

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return self.size * self.dtype.itemsize


@dataclass(frozen=True)
class View:
    """Elements of a buffer: element `(i, j, ...)` is at `offset + i * strides[0] + j * strides[1] + ...`."""

    buffer: Buffer
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def dtype(self) -> torch.dtype:
        """The type of its elements."""
        return self.buffer.dtype

    @property
    def c_type(self) -> str:
        """The type of its elements in C."""
        return self.buffer.c_type

    @property
    def numel(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def span(self) -> tuple[int, int]:
        """The first place in the buffer, and the one after the last."""
        if not self.numel:
            return self.offset, self.offset
        reach = sum((size - 1) * stride for size, stride in zip(self.shape, self.strides))
        return self.offset, self.offset + reach + 1

    @property
    def is_whole(self) -> bool:
        """Whether it has each element of the buffer once."""
        return self.offset == 0 and self.numel == self.buffer.size and self.span[1] == self.numel

    def expand(self, shape: Sequence[int]) -> View:
        """The view stretched to a shape: stretched dims do not move."""
        missing = len(shape) - len(self.shape)
        own = tuple(0 if size == 1 else stride for size, stride in zip(self.shape, self.strides))
        return View(self.buffer, tuple(shape), (0,) * missing + own, self.offset)

    def squeeze(self) -> View:
        """The view without dims of size 1."""
        kept = [(size, stride) for size, stride in zip(self.shape, self.strides) if size != 1]
        return View(self.buffer, tuple(size for size, _ in kept), tuple(stride for _, stride in kept), self.offset)

    def select(self, dims: Sequence[int]) -> View:
        """The view of these dims alone, at the start of the others."""
        return View(self.buffer, tuple(self.shape[d] for d in dims), tuple(self.strides[d] for d in dims), self.offset)

    def narrow(self, dim: int, start: int, length: int) -> View:
        """The elements from `start` on along a dim."""
        shape = (*self.shape[:dim], length, *self.shape[dim + 1 :])
        return View(self.buffer, shape, self.strides, self.offset + start * self.strides[dim])

    def transpose(self) -> View:
        """The view with its last two dims exchanged."""
        order = [*range(len(self.shape) - 2), len(self.shape) - 1, len(self.shape) - 2]
        return self.select(order)

    def place(self, *indices: str) -> str:
        """The place of an element in the buffer, in C.

        >>> View(Buffer("x", torch.float32, 12, "input"), (3, 4), (4, 1)).place("i", "j")
        'i * 4 + j'
        """
        terms = [
            _times(index if index.isalnum() else f"({index})", stride)
            for index, stride in zip(indices, self.strides)
            if stride
        ]
        if self.offset or not terms:
            terms.append(str(self.offset))
        return " + ".join(terms)

    def at(self, *indices: str) -> str:
        """An element, in C."""
        return f"{self.buffer.name}[{self.place(*indices)}]"

    @property
    def pointer(self) -> str:
        """The address of the first element, in C."""
        return f"{self.buffer.name} + {self.offset}" if self.offset else self.buffer.name


def _times(index: str, stride: int) -> str:
    return index if stride == 1 else f"{index} * {stride}"


def conflict(one: View, other: View) -> bool:
    """Whether the views may have an element in common."""
    if one.buffer is not other.buffer:
        return False
    (start, end), (other_start, other_end) = one.span, other.span
    return start < other_end and other_start < end


def loop_order(shape: Sequence[int], views: Sequence[View]) -> tuple[list[int], list[list[int]]]:
    """Few and long loops over a shape, in which the elements of views come one after the other.

    Args:
        shape: sizes, none of them 1.
        views: views of this shape; the first says most about the order.

    Returns:
        The sizes of the loops, outermost first, and for each view its stride in each loop.
    """
    order = sorted(range(len(shape)), key=lambda d: tuple(-abs(view.strides[d]) for view in views))
    sizes: list[int] = []
    strides: list[list[int]] = [[] for _ in views]
    for dim in order:
        step = [view.strides[dim] for view in views]
        outer = [own[-1] for own in strides] if sizes else []
        if sizes and all(above == own * shape[dim] for above, own in zip(outer, step)):
            sizes[-1] *= shape[dim]
            for own, stride in zip(strides, step):
                own[-1] = stride
        else:
            sizes.append(shape[dim])
            for own, stride in zip(strides, step):
                own.append(stride)
    return sizes, strides
