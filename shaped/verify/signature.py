"""What the annotations of a function say of its tensors: shapes as dims, kinds of numbers, defaults.

The annotations are jaxtyping's own objects (`Float[Tensor, "b t d"]`), also as strings. A tuple of tensors, as a
backward takes it for a forward with several outputs, has one leaf each: `grad[0]`, `grad[1]`.
"""

from __future__ import annotations

import inspect
import types
import typing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import torch

from shaped.errors import AnnotationError
from shaped.spec.annotation import (
    AnnotatedAxis,
    Anonymous,
    AnonymousPack,
    ArrayAnnotation,
    Fixed,
    Named,
    NamedPack,
    is_dtype_word,
    parse,
)
from shaped.spec.axis_arithmetic import Computed
from shaped.spec.dims import Dim
from shaped.spec.dtypes import ANY, BOOL, COMPLEX, FLOATS, INTEGERS, DType

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

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


@dataclass(frozen=True)
class Signature:
    """A function's parameters and what it returns, as its annotations say.

    Args:
        name: the function, as the user calls it.
        parameters: those passed by position, in order, without the `ctx` of a `torch.autograd.Function`.
        returns: what it returns; its leaves are the outputs.

    >>> from jaxtyping import Float
    >>> from torch import Tensor
    >>> def scores(q: Float[Tensor, "b t d"], k: Float[Tensor, "b s d"]) -> Float[Tensor, "b t s"]: ...
    >>> signature = Signature.of(scores)
    >>> signature.dims
    ('b', 't', 'd', 's')
    >>> signature.shapes({"b": 2, "t": 3, "d": 5, "s": 7})
    {'q': (2, 3, 5), 'k': (2, 7, 5)}
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: Parameter

    @staticmethod
    def of(function: Callable[..., object], *, name: str = "", skip_context: bool = False) -> Signature:
        """Read the annotations of a function.

        Args:
            function: any function; parameters without an annotation are kept and listed in `unannotated`.
            name: the name for messages, else the function's own.
            skip_context: the first parameter is the `ctx` of a `torch.autograd.Function`.

        Raises:
            AnnotationError: an annotation cannot be read: which, and how to write it.
        """
        name = name or getattr(function, "__qualname__", "") or repr(function)
        name = name.rpartition("<locals>.")[2]
        try:
            declared = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            raise AnnotationError(name, "has no signature: pass a Python function with annotated parameters") from None
        hints = _Hints(name, function)
        parameters = []
        for parameter in declared[1 if skip_context else 0 :]:
            if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                continue  # inputs are passed by position
            read = hints.read(parameter.name, parameter.name)
            parameters.append(replace(read, default=parameter.default))
        return Signature(name, tuple(parameters), hints.read("return", "return"))

    @property
    def leaves(self) -> tuple[Parameter, ...]:
        """The parameters, each tuple as its elements."""
        return tuple(leaf for parameter in self.parameters for leaf in parameter.leaves)

    @property
    def tensors(self) -> tuple[Parameter, ...]:
        """The leaves that are tensors by their annotations."""
        return tuple(leaf for leaf in self.leaves if leaf.annotation is not None)

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """What is returned, each tuple as its elements."""
        return self.returns.leaves

    @property
    def unannotated(self) -> tuple[str, ...]:
        """The leaves without an annotation of a tensor, which are known by their default only or not at all."""
        return tuple(leaf.name for leaf in self.leaves if leaf.annotation is None and not leaf.is_none)

    @property
    def dims(self) -> tuple[str, ...]:
        """The sizes to choose, in order: names, and `x[0]` for an axis of `x` without a name."""
        return tuple(dict.fromkeys(name for leaf in self.tensors for name in _dims(leaf)))

    @property
    def packs(self) -> tuple[str, ...]:
        """The `*name`s to choose, in order, without the star; `x[...]` for the `...` of `x`."""
        return tuple(dict.fromkeys(name for leaf in self.tensors for name in _packs(leaf)))

    @property
    def stretched(self) -> tuple[str, ...]:
        """The leaves that have an axis which may also be 1 (`#b`)."""
        return tuple(leaf.name for leaf in self.tensors if _is_stretched(leaf))

    def shapes(
        self,
        sizes: Mapping[str, int],
        packs: Mapping[str, tuple[int, ...]] | None = None,
        *,
        ones: Collection[str] = (),
    ) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor, by name.

        Args:
            sizes: one for each of `dims`.
            packs: the sizes that each of `packs` stands for; none (a pack without axes) where it is not given.
            ones: the leaves whose `#` axes have size 1.

        Raises:
            AnnotationError: a size is missing, or arithmetic gives no size (`n-1` for `n = 0`).
        """
        return {leaf.name: self._shape(leaf, sizes, packs or {}, leaf.name in ones) for leaf in self.tensors}

    def _shape(
        self, leaf: Parameter, sizes: Mapping[str, int], packs: Mapping[str, tuple[int, ...]], ones: bool
    ) -> tuple[int, ...]:
        shape: list[int] = []
        for i, axis in enumerate(leaf.annotation.axes if leaf.annotation else ()):
            if ones and getattr(axis, "broadcastable", False):
                shape += [1] * (len(packs.get(axis.name, ())) if isinstance(axis, NamedPack) else 1)
            elif isinstance(axis, (NamedPack, AnonymousPack)):
                shape += packs.get(_key(leaf, i, axis), ())
            else:
                shape.append(self._size(leaf, i, axis, sizes))
        return tuple(shape)

    def _size(
        self, leaf: Parameter, index: int, axis: Named | Fixed | Anonymous | Computed, sizes: Mapping[str, int]
    ) -> int:
        if isinstance(axis, Fixed):
            return axis.size
        if not isinstance(axis, Computed):
            return self._chosen(_key(leaf, index, axis), sizes)
        known = {name: Dim.of(self._chosen(name, sizes)) for name in axis.names}
        computed = axis.size(known, self._field)
        size = None if computed is None else computed.constant
        if size is None or size < 0:
            given = ", ".join(f"{name} = {sizes[name]}" for name in axis.names)
            found = f"is {size}" if size is not None else "is no known size"
            raise AnnotationError(self.name, f'parameter {leaf.name}: "{axis}" {found}{given and f" for {given}"}')
        return size

    def _chosen(self, name: str, sizes: Mapping[str, int]) -> int:
        if name not in sizes:
            wanted = ", ".join(self.dims)
            raise AnnotationError(self.name, f"no size is given for {name}: give one for each of {wanted}")
        return sizes[name]

    def _field(self, text: str) -> Dim | None:
        """The size of a field `{n}`: the default of the parameter n."""
        for parameter in self.parameters:
            if parameter.name == text and isinstance(parameter.default, int):
                return Dim.of(parameter.default)
        return None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"


def _key(leaf: Parameter, index: int, axis: AnnotatedAxis) -> str:
    """The name of the size, or pack, to choose for an axis."""
    match axis:
        case Named(name=name) | NamedPack(name=name):
            return name
        case AnonymousPack():
            return f"{leaf.name}[...]"
    return f"{leaf.name}[{index}]"


def _dims(leaf: Parameter) -> Iterator[str]:
    for i, axis in enumerate(leaf.annotation.axes if leaf.annotation else ()):
        if isinstance(axis, Computed):
            yield from axis.names
        elif isinstance(axis, (Named, Anonymous)):
            yield _key(leaf, i, axis)


def _packs(leaf: Parameter) -> Iterator[str]:
    for i, axis in enumerate(leaf.annotation.axes if leaf.annotation else ()):
        if isinstance(axis, (NamedPack, AnonymousPack)):
            yield _key(leaf, i, axis)


def _is_stretched(leaf: Parameter) -> bool:
    return leaf.annotation is not None and any(getattr(axis, "broadcastable", False) for axis in leaf.annotation.axes)


class _Hints:
    """The annotations of one function, as objects."""

    def __init__(self, name: str, function: Callable[..., object]) -> None:
        self.name = name
        plain = inspect.unwrap(function)
        plain = getattr(plain, "__func__", plain)
        try:
            self.written: Mapping[str, object] = getattr(plain, "__annotations__", {})
        except NameError as problem:  # they are evaluated when they are first read, from Python 3.14 on
            raise AnnotationError(
                name, f"an annotation cannot be read: {problem}: import the name at the top level of the module"
            ) from None
        self.globals: dict[str, Any] = getattr(plain, "__globals__", {})
        self.locals: dict[str, Any] = {}
        code = getattr(plain, "__code__", None)
        for variable, cell in zip(code.co_freevars if code else (), getattr(plain, "__closure__", None) or ()):
            try:
                self.locals[variable] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue

    def read(self, key: str, name: str) -> Parameter:
        """The parameter that the annotation of `key` describes."""
        if key not in self.written:
            return Parameter(name)
        alone = types.SimpleNamespace(__annotations__={key: self.written[key]})
        try:
            hint = typing.get_type_hints(alone, self.globals, self.locals)[key]
        except Exception as problem:  # whatever evaluating the user's text raises
            raise AnnotationError(
                self.name,
                f"{_called(name)}: the annotation {self.written[key]!r} cannot be read: {problem}: "
                f'write {name}: Float[Tensor, "b n"], with every name imported at the top level of the module',
            ) from None
        return self.parameter(name, hint)

    def parameter(self, name: str, hint: Any) -> Parameter:
        if hint is None or hint is types.NoneType:
            return Parameter(name, is_none=True, type=types.NoneType)
        arguments = typing.get_args(hint)
        origin = typing.get_origin(hint)
        if origin in (typing.Union, types.UnionType):
            return self.union(name, arguments)
        if origin is tuple:
            if Ellipsis in arguments:
                return Parameter(name, type=hint)
            members = tuple(self.parameter(f"{name}[{i}]", argument) for i, argument in enumerate(arguments))
            return Parameter(name, members=members, type=hint)
        if not _is_jaxtyping(hint):
            return Parameter(name, type=hint)
        annotation = self.array(name, hint)
        return Parameter(name, annotation, kind_of(annotation.dtype), type=hint)

    def union(self, name: str, arguments: tuple[Any, ...]) -> Parameter:
        """`X | None`, or the first tensor of several kinds: `Float[Tensor | ndarray, "n"]` is a union as well."""
        read = [self.parameter(name, argument) for argument in arguments if argument is not types.NoneType]
        tensors = [one for one in read if one.annotation or one.members]
        return replace((tensors or read)[0], is_optional=len(read) < len(arguments))

    def array(self, name: str, hint: Any) -> ArrayAnnotation:
        word = hint.dtype.__name__
        dtypes = hint.dtypes if isinstance(hint.dtypes, (tuple, list)) else ()
        allowed = frozenset(str(dtype) for dtype in dtypes) & ANY
        try:
            annotation = parse(word if is_dtype_word(word) else "Shaped", hint.dim_str, hint.array_type.__name__)
        except AnnotationError as problem:
            hint_text = f": {problem.hint}" if problem.hint else ""
            raise AnnotationError(self.name, f"{_called(name)}: {problem}{hint_text}") from None
        if allowed and allowed != annotation.dtype.names:
            annotation = replace(annotation, dtype_word=word, dtype=DType(allowed))
        return annotation


def _called(name: str) -> str:
    return "what it returns" if name.startswith("return") else f"parameter {name}"


def _is_jaxtyping(hint: object) -> bool:
    """Whether an annotation is one of jaxtyping's, for a torch tensor."""
    if not (hasattr(hint, "dim_str") and hasattr(hint, "dtypes") and hasattr(hint, "dtype")):
        return False
    array = getattr(hint, "array_type", None)
    return array is Any or (isinstance(array, type) and issubclass(array, torch.Tensor))


def kind_of(dtype: DType) -> NumberKind | None:
    """What numbers a tensor of the dtypes has: floats, where they are among several kinds."""
    return next((kind for kind, names in _KINDS if dtype.may_be(names)), None)
