"""One parameter of a function as its annotation describes it: a tensor with axes and a kind of numbers, or none."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from shaped.spec.dtypes import ANY, BOOL, COMPLEX, FLOATS, INTEGERS, DType

if TYPE_CHECKING:
    from shaped.spec.annotation import ArrayAnnotation

NumberKind = Literal["float", "int", "bool", "complex"]

MISSING: Any = inspect.Parameter.empty
"""The default of a parameter that has none."""

# The kind of an annotation that allows several (`Num`, `Shaped`): the first of these, as gradients are about floats.
_KINDS: tuple[tuple[NumberKind, frozenset[str]], ...] = (
    ("float", FLOATS),
    ("complex", COMPLEX),
    ("int", INTEGERS),
    ("bool", BOOL),
)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function, one element of a tuple parameter, or one returned value.

    Args:
        name: `x`; `grad[0]` for an element of a tuple; `return` for what is returned.
        annotation: the tensor it describes, None if it describes none or says nothing of the shape.
        kind: what numbers the tensor has; None without an annotation.
        default: the value if none is given, MISSING if there is none.
        is_optional: it may be None instead.
        is_none: it is always None, as the gradient of integers is.
        members: the elements of a tuple.
        type: the annotation as an object, None without one.
    """

    name: str
    annotation: ArrayAnnotation | None = None
    kind: NumberKind | None = None
    default: object = MISSING
    is_optional: bool = False
    is_none: bool = False
    members: tuple[Parameter, ...] = ()
    type: object = None

    @property
    def dtype_word(self) -> str:
        """jaxtyping's word for its dtypes (`Float`), empty without an annotation."""
        return self.annotation.dtype_word if self.annotation else ""

    @property
    def dtypes(self) -> DType:
        """The dtypes that it may have."""
        return self.annotation.dtype if self.annotation else DType(ANY)

    @property
    def is_differentiable(self) -> bool:
        """Whether it has a gradient."""
        return self.kind in ("float", "complex")

    @property
    def has_default(self) -> bool:
        """Whether it may be left out."""
        return self.default is not MISSING

    @property
    def leaves(self) -> tuple[Parameter, ...]:
        """The elements of a tuple, or itself."""
        return tuple(leaf for member in self.members for leaf in member.leaves) if self.members else (self,)

    def __str__(self) -> str:
        return f"{self.name}: {self.annotation}" if self.annotation else self.name


def kind_of(dtype: DType) -> NumberKind | None:
    """What numbers a tensor of the dtypes has: floats, where they are among several kinds."""
    return next((kind for kind, names in _KINDS if dtype.may_be(names)), None)
