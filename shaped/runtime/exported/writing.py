"""A model written as a program, by torch.export, with the signature that its annotations declare."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram
from torch.utils import _pytree as pytree  # torch.export's own, which has no other name

from shaped.runtime.arguments import require_module
from shaped.runtime.atomic import replacing
from shaped.runtime.checked.hints import Anything, Array
from shaped.runtime.checked.reference import Bound, facing
from shaped.runtime.exported.annotations import Annotations, annotations_of, arrays_of, check, leaves_of
from shaped.runtime.exported.axes import AxisNames, symbol_of
from shaped.runtime.exported.loading import SIGNATURE_FILE, ExportedModel, load_exported
from shaped.runtime.exported.program import inputs_of, signature_of
from shaped.runtime.exported.signature import Signature
from shaped.runtime.model_state import kind_of, same_bits
from shaped.spec.annotation import Anonymous, AnonymousPack, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Computed


class ExportError(ValueError):
    """A model that cannot be exported as it was asked for."""


def export(
    path: str | os.PathLike[str],
    model: nn.Module,
    *example_inputs: object,
    keywords: Mapping[str, object] | None = None,
    dynamic: Collection[str] | None = None,
    signature: Annotations | None = None,
) -> Signature:
    """Write a model as a program that runs without its Python code; gives the signature that is kept with it.

    The sizes that may vary are the axes that the annotations of `forward` name. What was written is read again and has
    to give the numbers of the model, bit for bit on the CPU, before it takes the place of an older file.

    Args:
        path: ends in `.pt2`.
        model: in evaluation mode; of what `torch.compile` gives, the model in it.
        example_inputs: arguments of `forward`, the size of each axis that may vary being 2 or more.
        keywords: arguments of `forward` by name.
        dynamic: the names of the axes that have to vary; all others stay as in the example. None for each that can.
        signature: annotations for those that `forward` lacks: a function that has them, or a dict by parameters.

    Raises:
        ExportError: the program would not be the model, or an axis cannot vary; says which.
        ShapeError, DtypeError: an example is not what its annotation says; it is a `TypeError` too.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(export(f"{folder}/model.pt2", nn.Linear(4, 2).eval(), torch.ones(3, 4)))
    Linear(input: Float32[Tensor, "3 4"]) -> Float32[Tensor, "3 2"]
    """
    if Path(path).suffix != ".pt2":
        raise ExportError(f"{os.fspath(path)} ends in {Path(path).suffix!r}, not in .pt2")
    # What torch.compile gives calls the model, whose own forward has the names and annotations.
    model = getattr(require_module("model", model), "_orig_mod", model)
    if training := [name for name, module in model.named_modules() if module.training]:
        inner = f" (its {training[0]})" if training[0] else ""
        raise ExportError(
            f"{type(model).__name__} is in training mode{inner}, and would stay in it: call model.eval() first"
        )
    given = dict(keywords or {})
    example = Example(model, example_inputs, given, signature)
    example.require_dynamic(dynamic)
    program = torch.export.export(model, example_inputs, given, dynamic_shapes=example.dynamic_shapes(dynamic))
    names = example.names(program)
    for name in dynamic or ():
        if names.written(name).isdigit():
            raise ExportError(f"{name} is always {names.written(name)} in this model: leave it out of dynamic")
    with replacing(path) as new:
        made = example.signature(program, names)
        torch.export.save(program, new, extra_files={SIGNATURE_FILE: made.to_json()})
        written = load_exported(new)
        assert isinstance(written, ExportedModel)
        _require_equal(model, written, example_inputs, given)
        at_one = [name for name, (least, _) in made.ranges.items() if least == 2]
        at_one = [name for name in at_one if _is_equal_at_one(model, written, example, name)]
        if at_one:
            made = replace(made, ranges={**made.ranges, **{name: (1, made.ranges[name][1]) for name in at_one}})
            torch.export.save(program, new, extra_files={SIGNATURE_FILE: made.to_json()})
    return made


class Example:
    """The arguments that a model is exported with, and the annotation of each tensor in them."""

    def __init__(
        self,
        model: nn.Module,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        signature: Annotations | None,
    ) -> None:
        self.operation = type(model).__name__
        try:
            bound = inspect.signature(model.forward).bind(*args, **kwargs)
        except TypeError as error:
            raise ExportError(f"the example inputs of {self.operation}: {error}") from None
        self.arguments = bound.arguments
        self.keywords = tuple(kwargs)
        for parameter in inspect.signature(model.forward).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                raise ExportError(
                    f"forward of {self.operation} takes **{parameter.name}, whose sizes torch.export cannot be told "
                    "of: name the parameters"
                )
        self.positional = _names_of_positions(model, len(args))
        self.tree = (tuple(args), dict(kwargs))
        hints = annotations_of(model.forward if signature is None else signature)
        if unknown := [name for name in hints if name not in (*inspect.signature(model.forward).parameters, "return")]:
            raise ExportError(f"the signature names {unknown[0]}, which forward of {self.operation} does not take")
        self.bound = Bound(arguments={"self": model, **self.arguments})
        self.arrays: dict[int, Array] = {}
        for name, value in self.arguments.items():
            check(hints.get(name, Anything()), value, f"argument {name}", self.bound, self.operation)
            self.arrays |= arrays_of(hints.get(name, Anything()), value)

    def axes(self, tensor: object) -> list[str | None]:
        """The name of each axis that may vary (empty for one without a name), None for one that may not."""
        array = self.arrays.get(id(tensor))
        if not isinstance(tensor, Tensor):
            return []
        if array is None:
            return [None] * tensor.dim()
        found: list[str | None] = [""] * tensor.dim()
        pairs, pack, middle = facing(array, tuple(tensor.shape))
        for number, axis, _ in pairs:
            match axis:
                case Named(name=name, broadcastable=False):
                    found[number] = name
                case Fixed() | Named():
                    found[number] = None
                case Anonymous():
                    found[number] = ""
        if isinstance(pack, (NamedPack, AnonymousPack)):
            start = array.pack_index or 0
            name = pack.name if isinstance(pack, NamedPack) and not pack.broadcastable else ""
            found[start : start + len(middle)] = [f"{name}_{i}" if name else "" for i in range(len(middle))]
        return found

    def _named_axes(self) -> Iterator[tuple[str, int]]:
        """Each axis of a name with its size in the example."""
        for _, leaf in leaves_of(self.tree):
            if isinstance(leaf, Tensor):
                yield from ((name, size) for name, size in zip(self.axes(leaf), leaf.shape) if name)

    def require_dynamic(self, dynamic: Collection[str] | None) -> None:
        """Refuse names that no axis has, and examples of sizes that torch takes for constants."""
        sizes = dict(self._named_axes())
        if isinstance(dynamic, str):
            raise ExportError(f"dynamic is a text: give the names of axes as a list: [{dynamic!r}]")
        if unknown := [name for name in dynamic or () if name not in sizes]:
            known = f"the axes with names are {', '.join(sizes)}" if sizes else "no axis of forward has a name"
            raise ExportError(f"dynamic has {unknown[0]!r}, which is the name of no axis: {known}")
        wanted = sizes if dynamic is None else {name: sizes[name] for name in dynamic}
        for name, size in wanted.items():
            if size < 2:
                others = [other for other in sizes if sizes[other] >= 2]
                raise ExportError(
                    f"{name} is {size} in the example inputs, which torch.export takes for a constant: give an example "
                    f"where it is 2 or more, or say that it is one by dynamic={others}"
                )

    def dynamic_shapes(self, dynamic: Collection[str] | None) -> dict[str, Any]:
        """What torch.export is told of each axis: that it may vary, if the program lets it, or that it may not."""

        def of(leaf: object) -> tuple[object, ...] | None:
            if not isinstance(leaf, Tensor):
                return None
            return tuple(
                Dim.AUTO if name is not None and (dynamic is None or name in dynamic) else Dim.STATIC
                for name in self.axes(leaf)
            )

        return {name: pytree.tree_map(of, value) for name, value in self.arguments.items()}

    def at_one(self, name: str) -> tuple[tuple[object, ...], dict[str, object]] | None:
        """The arguments with the axes of a name cut to 1; None if the size of another axis depends on it."""
        arrays = self.arrays.values()
        if any(isinstance(axis, Computed) and name in axis.names for array in arrays for axis in array.axes):
            return None

        def cut(leaf: object) -> object:
            if isinstance(leaf, Tensor):
                for number, own in enumerate(self.axes(leaf)):
                    leaf = leaf.narrow(number, 0, 1) if own == name else leaf
            return leaf

        args, kwargs = self.tree
        return tuple(pytree.tree_map(cut, args)), dict(pytree.tree_map(cut, kwargs))

    def names(self, program: ExportedProgram) -> AxisNames:
        """The names of the annotations for the symbols of the program."""
        names = AxisNames()
        for (_, leaf), value in zip(leaves_of(self.tree), inputs_of(program), strict=True):
            if isinstance(leaf, Tensor) and isinstance(value, Tensor):
                for name, size in zip(self.axes(leaf), value.shape):
                    symbol = symbol_of(size)
                    if name and symbol is not None:
                        names.join(name, symbol)
        return names

    def signature(self, program: ExportedProgram, names: AxisNames) -> Signature:
        """What the program takes and gives."""
        return signature_of(program, self.operation, self.positional, self.keywords, names)


def _names_of_positions(model: nn.Module, count: int) -> tuple[str, ...]:
    """The names of the first parameters of forward; those of `*xs` are `xs_0`, `xs_1`."""
    names: list[str] = []
    for parameter in inspect.signature(model.forward).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}_{i}" for i in range(count - len(names))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return tuple(names[:count])


def _run(program: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]) -> list[object]:
    """What a call gives, its arguments and the random generators left as they are."""
    args, kwargs = copy.deepcopy((tuple(args), dict(kwargs)))
    # With gradients as the caller has them: torch's own layers take another path without (nn.TransformerEncoderLayer).
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return pytree.tree_leaves(program(*args, **kwargs))


def _of_model(model: nn.Module) -> Callable[..., object]:
    """A call of a model that leaves its buffers as they are."""
    buffers = {name: buffer.detach().clone() for name, buffer in model.named_buffers()}
    return lambda *args, **kwargs: torch.func.functional_call(model, buffers, args, kwargs)


def _difference(ours: Sequence[object], theirs: Sequence[object]) -> str:
    """What differs between results of the same structure; empty if nothing does."""
    if len(ours) != len(theirs):
        return f"it gives {len(theirs)} values, not {len(ours)}"
    for i, (one, other) in enumerate(zip(ours, theirs)):
        if not isinstance(one, Tensor) or not isinstance(other, Tensor):
            if one != other:
                return f"value {i} of its result is {other!r}, not {one!r}"
        elif (ours_is := kind_of(one)) != (theirs_is := kind_of(other)):
            return f"value {i} of its result is {theirs_is}, not {ours_is}"
        # Kernels of other devices may add in another order from call to call.
        elif one.device.type == "cpu" and not same_bits(one, other):
            return f"value {i} of its result has other numbers"
    return ""


def _require_equal(
    model: nn.Module, written: ExportedModel, args: Sequence[object], kwargs: Mapping[str, object]
) -> None:
    if problem := _difference(_run(_of_model(model), args, kwargs), _run(written, args, kwargs)):
        raise ExportError(f"the program is not {type(model).__name__}: {problem} for the example inputs")


def _is_equal_at_one(
    model: nn.Module,
    written: ExportedModel,
    example: Example,
    name: str,
) -> bool:
    """Whether the program is the model where an axis is 1, which torch.export took to be 2 or more.

    A model may ask for this size, and broadcasting treats it in its own way, so that it is tried.
    """
    found = example.at_one(name)
    if found is None:
        return False
    args, kwargs = found
    try:
        return not _difference(_run(_of_model(model), args, kwargs), _run(written.program, args, kwargs))
    except Exception:  # the model itself does not take it
        return False
