"""The signature of a scripted or traced model, by the schema that TorchScript keeps."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from shaped.runtime.checked.failure import TypeRefusal
from shaped.runtime.checked.hints import Anything, Either, Every, EveryPair, Hint, Instance, Row
from shaped.runtime.checked.reference import Bound
from shaped.runtime.exported.annotations import check, require_device_of

_CLASSES: Mapping[str, tuple[type, ...]] = {
    "TensorType": (Tensor,),
    "IntType": (int,),
    "FloatType": (float, int),
    "BoolType": (bool,),
    "StringType": (str,),
    "NoneType": (type(None),),
}


class ScriptSignature:
    """What a scripted model takes and gives: the names and types of its parameters, and annotations beside them.

    Args:
        program: the model.
        annotations: what is known of its parameters beyond that, by name; that of `return` for its result.

    Raises:
        ValueError: an annotation is of no parameter.
    """

    def __init__(self, program: torch.jit.ScriptModule, annotations: Mapping[str, Hint]) -> None:
        forward: Any = program.forward
        schema = forward.schema
        arguments = schema.arguments[1:]  # without self
        self.operation = str(getattr(program, "original_name", type(program).__name__))
        self.text = str(schema)
        self.types = {argument.name: _hint(argument.type) for argument in arguments}
        if unknown := [name for name in annotations if name not in (*self.types, "return")]:
            raise ValueError(
                f"the signature names {unknown[0]}, which {self.operation} does not take: it takes "
                f"({', '.join(self.types)})"
            )
        self.annotations = annotations
        self._parameters = inspect.Signature(
            [
                inspect.Parameter(
                    argument.name,
                    inspect.Parameter.KEYWORD_ONLY if argument.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=argument.default_value if argument.has_default_value() else inspect.Parameter.empty,
                )
                for argument in arguments
            ]
        )

    def __str__(self) -> str:
        taken = (f"{name}: {self.annotations.get(name, hint)}" for name, hint in self.types.items())
        result = f" -> {self.annotations['return']}" if "return" in self.annotations else ""
        return f"{self.operation}({', '.join(taken)}){result}"

    def check_inputs(
        self, args: tuple[object, ...], kwargs: Mapping[str, object], device: torch.device | None
    ) -> Bound:
        """Check the arguments of a call, before anything runs; gives what names stand for.

        Raises:
            ShapeError, DtypeError, DeviceError, Fault: names the argument; it is a `TypeError` too.
        """
        try:
            arguments = self._parameters.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeRefusal(self.operation, f"{error}; it takes ({', '.join(self.types)})") from None
        bound = Bound(arguments=dict(arguments))
        for name, value in arguments.items():
            path = f"argument {name}"
            check(self.types[name], value, path, bound, self.operation)
            check(self.annotations.get(name, Anything()), value, path, bound, self.operation)
            require_device_of(value, name, device, self.operation)
        return bound

    def check_outputs(self, result: object, bound: Bound) -> None:
        """Check the result of a call against its annotation.

        Raises:
            ShapeError, DtypeError, Fault: it is another.
        """
        check(self.annotations.get("return", Anything()), result, "return", bound, self.operation)


def _hint(kind: Any) -> Hint:
    """A type of TorchScript as a check; what is not known here TorchScript itself checks."""
    match kind.kind():
        case "OptionalType":
            return Either((Instance(type(None)), _hint(kind.getElementType())))
        case "ListType":
            return Every(list, _hint(kind.getElementType()))
        case "DictType":
            return EveryPair(dict, _hint(kind.getKeyType()), _hint(kind.getValueType()))
        case "TupleType":
            return Row(tuple, tuple(map(_hint, kind.elements())))
        case name if name in _CLASSES:
            options = tuple(map(Instance, _CLASSES[name]))
            return options[0] if len(options) == 1 else Either(options)
    return Anything()
