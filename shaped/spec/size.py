"""A size that is not known as an int, used like one: what programs compute with `x.shape[0]`.

Arithmetic is exact. Comparisons are decided where they hold, or fail, for all sizes. A size never becomes an int: where
a program needs one (`range(n)`), or goes two ways for two sizes (`if n > 1`), `SizeNeeded` names it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shaped.spec.dims import Dim, product
from shaped.spec.facts import Facts, Status
from shaped.spec.tensor import NotExpressible, constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shaped.spec.tensor import Tensor

_NOTHING_KNOWN = Facts()


class SizeNeeded(NotExpressible):
    """A program needs a size as a number, or goes another way for other sizes."""


class Size:
    """A symbolic size.

    >>> n = Size.of(Dim.name("n"))
    >>> print(n * n // n + 1, n % 1, n >= 1)
    n+1 0 True
    """

    __slots__ = ("dim",)

    def __init__(self, dim: Dim) -> None:
        self.dim = dim

    @staticmethod
    def of(dim: Dim) -> int | Size:
        """A size as programs see it: an int where it is one for all sizes."""
        value = dim.constant
        return Size(dim) if value is None else value

    def number(self) -> Tensor:
        """The size as a number, for arithmetic that leaves the integers."""
        return constant(self.dim)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., object], types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        from shaped.spec.calls import call_torch

        return call_torch(func, args, kwargs or {})

    def __index__(self) -> int:
        raise SizeNeeded(f"the size {self} as a number")

    __int__ = __index__

    def __float__(self) -> float:
        raise SizeNeeded(f"the size {self} as a float")

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __hash__(self) -> int:
        return hash(self.dim)

    def __str__(self) -> str:
        return str(self.dim)

    __repr__ = __str__

    def __neg__(self) -> int | Size:
        return Size.of(-self.dim)

    def __pos__(self) -> Size:
        return self

    def __abs__(self) -> int | Size:
        return self if self >= 0 else -self

    def __add__(self, other: object) -> Any:
        return self._with(other, lambda a, b: a + b)

    def __radd__(self, other: object) -> Any:
        return self._with(other, lambda a, b: b + a)

    def __sub__(self, other: object) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: object) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: object) -> Any:
        if isinstance(other, (list, tuple)):
            raise SizeNeeded(f"a sequence of {self} elements")
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> Any:
        return self._with(other, lambda a, b: a // b)

    def __rfloordiv__(self, other: object) -> Any:
        return self._with(other, lambda a, b: b // a)

    def __mod__(self, other: object) -> Any:
        return self._with(other, lambda a, b: a % b)

    def __rmod__(self, other: object) -> Any:
        return self._with(other, lambda a, b: b % a)

    def __divmod__(self, other: object) -> tuple[Any, Any]:
        return self // other, self % other

    def __truediv__(self, other: object) -> Any:
        return NotImplemented if is_tensor(other) else self.number() / _real(other)

    def __rtruediv__(self, other: object) -> Any:
        return NotImplemented if is_tensor(other) else _real(other) / self.number()

    def __pow__(self, exponent: object) -> Any:
        if isinstance(exponent, int) and exponent >= 0:
            return Size.of(self.dim**exponent)
        return NotImplemented if is_tensor(exponent) else self.number() ** _real(exponent)

    def __rpow__(self, base: object) -> Any:
        return NotImplemented if is_tensor(base) else constant_of(base) ** self.number()

    def _with(self, other: object, operate: Callable[[Any, Any], Any]) -> Any:
        """The outcome with an int or a size; with a float it is a number."""
        dim = as_dim(other)
        if dim is not None:
            return Size.of(operate(self.dim, dim))
        return operate(self.number(), other) if isinstance(other, (float, Fraction)) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        dim = as_dim(other)
        if dim is None:
            return NotImplemented
        status = _NOTHING_KNOWN.compare(self.dim, dim).status
        if status is Status.PROVED:
            return True
        if status is Status.NEVER:
            return False
        raise SizeNeeded(f"whether {self} = {dim}")

    def __ne__(self, other: object) -> bool:
        return not bool(self == other)

    def __ge__(self, other: Any) -> Any:
        return self._is_at_least(other, 0, f"whether {self} >= {other}")

    def __gt__(self, other: Any) -> Any:
        return self._is_at_least(other, 1, f"whether {self} > {other}")

    def __lt__(self, other: Any) -> Any:
        above = self._is_at_least(other, 0, f"whether {self} < {other}")
        return above if above is NotImplemented else not above

    def __le__(self, other: Any) -> Any:
        above = self._is_at_least(other, 1, f"whether {self} <= {other}")
        return above if above is NotImplemented else not above

    def _is_at_least(self, other: object, margin: int, question: str) -> Any:
        """Whether this is at least `other + margin`."""
        if isinstance(other, float) and math.isfinite(other):
            other = math.floor(other) if margin else math.ceil(other)
        dim = as_dim(other)
        if dim is None:
            return NotImplemented
        if _NOTHING_KNOWN.at_least(self.dim, dim + margin).status is Status.PROVED:
            return True
        if _NOTHING_KNOWN.at_least(dim + margin - 1, self.dim).status is Status.PROVED:
            return False
        raise SizeNeeded(question)


class Sizes(tuple[Any, ...]):
    """The shape of a tensor as programs see it, like `torch.Size`."""

    __slots__ = ()

    def numel(self) -> int | Size:
        """The number of elements."""
        return Size.of(product([size.dim if isinstance(size, Size) else Dim.of(size) for size in self]))

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Sizes(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> Sizes:
        return Sizes((*self, *other))


def as_dim(value: object) -> Dim | None:
    """An int, a size or a dim as a Dim; None for anything else."""
    if isinstance(value, Size):
        return value.dim
    if isinstance(value, Dim):
        return value
    return Dim.of(value) if isinstance(value, int) and not isinstance(value, bool) else None


def is_tensor(value: object) -> bool:
    """Whether a value is a spec tensor, whose own operators then decide."""
    from shaped.spec.tensor import Tensor

    return isinstance(value, Tensor)


def constant_of(value: Any) -> Tensor:
    """A number or a size as a tensor without axes."""
    return value.number() if isinstance(value, Size) else constant(value)


def _real(value: Any) -> Any:
    return value.number() if isinstance(value, Size) else value
