"""Reading annotations as objects: jaxtyping's own, as strings, optional ones, unions and tuples of them."""

from __future__ import annotations

import inspect
import types
import typing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shaped.errors import AnnotationError
from shaped.runtime.checked.scope import closure_of
from shaped.runtime.tensor_types import array_annotation, is_array_annotation
from shaped.verify.parameters import Parameter, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shaped.spec.annotation import ArrayAnnotation


class Hints:
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
        self.locals = closure_of(plain)

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
        if not is_array_annotation(hint):
            return Parameter(name, type=hint)
        annotation = self.array(name, hint)
        return Parameter(name, annotation, kind_of(annotation.dtype), type=hint)

    def union(self, name: str, arguments: tuple[Any, ...]) -> Parameter:
        """`X | None`, or the first tensor of several kinds: `Float[Tensor | ndarray, "n"]` is a union as well."""
        read = [self.parameter(name, argument) for argument in arguments if argument is not types.NoneType]
        tensors = [one for one in read if one.annotation or one.members]
        return replace((tensors or read)[0], is_optional=len(read) < len(arguments))

    def array(self, name: str, hint: Any) -> ArrayAnnotation:
        try:
            return array_annotation(hint)
        except AnnotationError as problem:
            hint_text = f": {problem.hint}" if problem.hint else ""
            raise AnnotationError(self.name, f"{_called(name)}: {problem}{hint_text}") from None


def _called(name: str) -> str:
    return "what it returns" if name.startswith("return") else f"parameter {name}"
