"""What an annotation says about a value, as far as shapes are concerned: the forms that `annotations.read` gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shaped.spec.annotation import ArrayAnnotation


@dataclass(frozen=True)
class TensorForm:
    """`Float[Tensor, "b d"]`."""

    annotation: ArrayAnnotation


@dataclass(frozen=True)
class PlainTensorForm:
    """`torch.Tensor`, `nn.Parameter`, `torch.LongTensor`: any axes, of any dtype."""


@dataclass(frozen=True)
class UnionForm:
    """`A | B`, `Optional[A]`: two or more options, none of them a union."""

    options: tuple[TypeForm, ...]


@dataclass(frozen=True)
class TupleForm:
    """`tuple[A, B]`; `is_tlist`: `TList[A, B]`."""

    elements: tuple[TypeForm, ...]
    is_tlist: bool = False


@dataclass(frozen=True)
class VariadicTupleForm:
    """`tuple[A, ...]`, `torch.Size`."""

    element: TypeForm


@dataclass(frozen=True)
class ListForm:
    """`list[A]` and other collections and iterables of one kind of element."""

    element: TypeForm


@dataclass(frozen=True)
class DictForm:
    """`dict[K, V]` and other mappings."""

    key: TypeForm
    value: TypeForm


@dataclass(frozen=True)
class ClassForm:
    """An instance of a class."""

    qualified_name: str


@dataclass(frozen=True)
class IntForm:
    """`int`."""


@dataclass(frozen=True)
class FloatForm:
    """`float`."""


@dataclass(frozen=True)
class BoolForm:
    """`bool`."""


@dataclass(frozen=True)
class StrForm:
    """`str`."""


@dataclass(frozen=True)
class NoneForm:
    """`None`."""


@dataclass(frozen=True)
class CallableForm:
    """`Callable[..., R]`."""

    result: TypeForm


@dataclass(frozen=True)
class LiteralForm:
    """`Literal["mean", 2]`; only of constants."""

    values: tuple[int | str | bool | None, ...]


@dataclass(frozen=True)
class UnknownForm:
    """An annotation that says nothing about shapes, or was not understood."""


TypeForm = (
    TensorForm
    | PlainTensorForm
    | UnionForm
    | TupleForm
    | VariadicTupleForm
    | ListForm
    | DictForm
    | ClassForm
    | IntForm
    | FloatForm
    | BoolForm
    | StrForm
    | NoneForm
    | CallableForm
    | LiteralForm
    | UnknownForm
)
UNKNOWN_FORM = UnknownForm()


def union(forms: Sequence[TypeForm]) -> TypeForm:
    """The union of forms: nested unions opened, equal options once."""
    options: dict[TypeForm, None] = {}
    for form in forms:
        options |= dict.fromkeys(options_of(form))
    return next(iter(options)) if len(options) == 1 else UnionForm(tuple(options))


def options_of(form: TypeForm) -> tuple[TypeForm, ...]:
    """The options of a union; any other form is its only one."""
    return form.options if isinstance(form, UnionForm) else (form,)
