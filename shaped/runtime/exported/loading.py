"""A program that was exported or scripted, run again with its signature checked."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree  # torch.export's own, which has no other name

from shaped.runtime.checked.failure import ShapeRefusal, TypeRefusal
from shaped.runtime.checked.hints import Anything, Hint
from shaped.runtime.checked.reference import Bound
from shaped.runtime.exported.annotations import Annotations, annotations_of, check, structure
from shaped.runtime.exported.archive import ExportedError, require_program
from shaped.runtime.exported.axes import AxisNames
from shaped.runtime.exported.program import inputs_of, names_of_parameters, signature_of
from shaped.runtime.exported.script import ScriptSignature
from shaped.runtime.exported.signature import Signature

SIGNATURE_FILE = "shaped_signature.json"


class ExportedModel:
    """A program of torch.export. It is called as the model was.

    Args:
        program: the module that runs it.
        signature: what it takes and gives.
        spec: how its arguments hold their tensors.
        device: where they have to be, None if that is not one place.
        annotations: what else is known of its parameters.
    """

    def __init__(
        self,
        program: nn.Module,
        signature: Signature,
        spec: pytree.TreeSpec,
        device: torch.device | None,
        annotations: dict[str, Hint],
    ) -> None:
        self.program = program
        self.signature = signature
        self._spec = spec
        self._device = device
        self._annotations = annotations

    def __repr__(self) -> str:
        return f"<exported {self.signature}>"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Check the arguments and run the program, whose result follows from them.

        Raises:
            ShapeError, DtypeError, DeviceError, Fault: names the argument; it is a `TypeError` too. Nothing has run.
        """
        positional, keywords = self.signature.bind(args, kwargs)
        leaves, spec = pytree.tree_flatten((positional, keywords))
        if spec != self._spec:
            self._refuse_structure(positional, keywords)
        self.signature.check_inputs(leaves, self._device)
        if not self._annotations:
            return self._run(positional, keywords)
        bound, operation = Bound(), self.signature.operation
        for name, value in zip((*self.signature.positional, *keywords), (*positional, *keywords.values())):
            check(self._annotations.get(name, Anything()), value, f"argument {name}", bound, operation)
        result = self._run(positional, keywords)
        check(self._annotations.get("return", Anything()), result, "return", bound, operation)
        return result

    def _run(self, positional: tuple[object, ...], keywords: dict[str, object]) -> Any:
        try:
            return self.program(*positional, **keywords)
        except AssertionError as error:  # torch's own check of what it assumed of sizes, before the first operation
            if not str(error).startswith("Guard failed: "):
                raise
            condition = str(error).removeprefix("Guard failed: ")
            raise ShapeRefusal(self.signature.operation, f"it was exported for sizes with {condition}") from error

    def _refuse_structure(self, positional: tuple[object, ...], keywords: dict[str, object]) -> None:
        wanted_args, wanted_kwargs = pytree.tree_unflatten([_Tensor()] * self._spec.num_leaves, self._spec)
        wanted = dict(zip(self.signature.positional, wanted_args)) | wanted_kwargs
        for name, value in {**dict(zip(self.signature.positional, positional)), **keywords}.items():
            if pytree.tree_structure(value) != pytree.tree_structure(wanted[name]):
                raise TypeRefusal(
                    f"argument {name} of {self.signature.operation}",
                    f"it is {structure(value)}, not made as {structure(wanted[name])}",
                )


class _Tensor:
    """A place for a tensor or a constant in the arguments."""


class ScriptedModel:
    """A model of `torch.jit.script` or `torch.jit.trace`. It is called as the model was.

    Args:
        program: the module that runs it.
        signature: what it takes and gives.
        device: where its tensors have to be, None if that is not one place.
    """

    def __init__(
        self, program: torch.jit.ScriptModule, signature: ScriptSignature, device: torch.device | None
    ) -> None:
        self.program = program
        self.signature = signature
        self._device = device

    def __repr__(self) -> str:
        return f"<scripted {self.signature}>"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Check the arguments, run the program, check what it gives.

        Raises:
            ShapeError, DtypeError, DeviceError, Fault: names the argument; it is a `TypeError` too. Nothing has run.
        """
        bound = self.signature.check_inputs(args, kwargs, self._device)
        result = self.program(*args, **kwargs)
        self.signature.check_outputs(result, bound)
        return result


def load_exported(path: str | os.PathLike[str], signature: Annotations | None = None) -> ExportedModel | ScriptedModel:
    """Load a program: of `export`, of `torch.export.save`, or of `torch.jit.save`, told by what is in the file.

    Each call is checked against the signature in the file before anything runs. A scripted model has the names and
    types of its parameters there, no shapes: these may be given.

    A program is code. Pickles in the file are never run, but load programs only from those that you trust.

    Args:
        signature: annotations beyond what is in the file: a function that has them, or a dict by parameters, `return`
            for the result.

    Raises:
        ExportedError: the file is no program, damaged, or would be loaded only by running pickles.
        ValueError: the signature names what is no parameter.
        TypeError: an annotation in it cannot be checked.
        FileNotFoundError: there is no such file.
    """
    annotations = {} if signature is None else annotations_of(signature)
    if require_program(path) == "script":
        return _scripted(path, annotations)
    program, made = _exported(path)
    if unknown := [name for name in annotations if name not in (*made.positional, *made.keywords, "return")]:
        raise ValueError(f"the signature names {unknown[0]}, which {made.operation} does not take: {made}")
    spec = program.call_spec.in_spec
    assert spec is not None, "every exported program has it"
    device = _place(value for value in inputs_of(program) if isinstance(value, Tensor))
    return ExportedModel(program.module(), made, spec, device, annotations)


def _exported(path: str | os.PathLike[str]) -> tuple[ExportedProgram, Signature]:
    """The program in a file, and the signature beside it, or the one that torch.export found out."""
    extra: dict[str, Any] = {SIGNATURE_FILE: ""}
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # a path of any kind
            program = torch.export.load(file, extra_files=extra)
    except Exception as error:  # whatever torch says of a program of a newer torch, or without its custom operations
        raise ExportedError(path, [f"torch cannot load the program: {error}"]) from error
    try:
        made = _without_assumed(signature_of(program, "the program", *names_of_parameters(program), AxisNames()))
        stored = Signature.from_json(extra[SIGNATURE_FILE]) if extra[SIGNATURE_FILE] else made
    except Exception as error:  # whatever a signature of a newer version has
        raise ExportedError(path, [f"its signature cannot be read: {error}"]) from error
    if (len(stored.inputs), len(stored.outputs)) != (len(made.inputs), len(made.outputs)):
        raise ExportedError(path, ["its signature is that of another program"])
    return program, stored


def _without_assumed(signature: Signature) -> Signature:
    """The signature without least sizes of 2: torch.export assumes them of each size that varies, and asks for none."""
    ranges = {name: (0 if least == 2 else least, most) for name, (least, most) in signature.ranges.items()}
    return replace(signature, ranges=ranges)


def _scripted(path: str | os.PathLike[str], annotations: dict[str, Hint]) -> ScriptedModel:
    try:
        with warnings.catch_warnings():  # who loads an old file cannot do anything about its format being deprecated
            warnings.simplefilter("ignore", DeprecationWarning)
            program = torch.jit.load(os.fspath(path))  # type: ignore[no-untyped-call]  # torch's own
    except Exception as error:  # whatever TorchScript says of an operation that it does not know
        raise ExportedError(path, [f"torch cannot load the program: {error}"]) from error
    tensors = [*program.parameters(), *program.buffers()]
    return ScriptedModel(program, ScriptSignature(program, annotations), _place(tensors))


def _place(tensors: Iterable[Tensor]) -> torch.device | None:
    """The one device of tensors, None for none or several."""
    devices = {tensor.device for tensor in tensors}
    return devices.pop() if len(devices) == 1 else None
