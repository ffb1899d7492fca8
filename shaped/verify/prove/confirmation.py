"""Whether the expressions of a program say what torch computes: the check of the tracing and of the meanings.

A proof is about expressions. Here the program is run by torch in float64 at small random inputs, and its gradients, as
returned and as autograd derives them, are compared with the expressions at these inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from shaped.spec.atoms import Symbol
from shaped.spec.evaluation import evaluate_where_defined
from shaped.spec.scalars.floats import Floats
from shaped.spec.size import Size
from shaped.spec.tensor import Tensor
from shaped.verify.prove.variables import bound_of, own_sizes, shape_at
from shaped.verify.subject import flat

if TYPE_CHECKING:
    from shaped.spec.expr import Expr
    from shaped.spec.index import Index
    from shaped.verify.prove.programs import Traced
    from shaped.verify.subject import Subject

# Both sides compute a few dozen float64 operations on numbers near 1: they agree to 1e-12, a wrong meaning is off by
# far more than this.
_TOLERANCE = 1e-6
_SIZES = ((2, 3, 4, 5), (3, 2, 5, 4), (1, 2, 1, 3), (4, 4, 4, 4), (8, 8, 8, 8))
_ENOUGH = 2  # points that were compared


@dataclass(frozen=True)
class Gradient:
    """The expressions of one gradient.

    Args:
        indices: the place in the input.
        derived: the adjoint of the derivative, the real part first for a complex input.
        returned: what the backward says.
    """

    indices: tuple[Index, ...]
    derived: tuple[Expr, ...]
    returned: tuple[Expr, ...]


@dataclass(frozen=True)
class Confirmation:
    """What came of running the program.

    Args:
        points: at how many inputs something was compared.
        fault: what disagrees, empty if nothing does.
    """

    points: int = 0
    fault: str = ""


def confirm(
    subject: Subject, traced: Traced, gradients: Mapping[str, Gradient], parameters: Mapping[str, torch.Tensor]
) -> Confirmation:
    """Compare the expressions of gradients with what torch computes; `parameters` are those of a module."""
    points = 0
    given = {name: value.numpy() for name, value in parameters.items()}
    for number, sizes in enumerate(_sizes_of(traced)):
        for style in ("any", "positive"):
            generator = np.random.default_rng(number)
            fault = _fault_at(subject, traced, gradients, sizes, style, generator, given)
            if fault:
                return Confirmation(points, fault)
            points += fault is not None
            if fault is not None:
                break
        if points == _ENOUGH:
            break
    return Confirmation(points)


def _sizes_of(traced: Traced) -> Iterator[dict[Symbol, int]]:
    symbols: dict[Symbol, None] = {}
    values = [value for value in traced.inputs.values if isinstance(value, Size)]
    dims = [size for tensor in traced.inputs.tensors.values() for size in tensor.sizes]
    for dim in [*dims, *(value.dim for value in values)]:
        symbols.update(dict.fromkeys(sorted(dim.symbols(), key=lambda symbol: symbol.sort_key)))
    for chosen in _SIZES if symbols else _SIZES[:2]:
        yield {symbol: chosen[number % len(chosen)] for number, symbol in enumerate(symbols)}


def _fault_at(
    subject: Subject,
    traced: Traced,
    gradients: Mapping[str, Gradient],
    sizes: dict[Symbol, int],
    style: str,
    generator: np.random.Generator,
    parameters: Mapping[str, Any],
) -> str | None:
    """What disagrees at one point, empty if nothing does; None if nothing could be compared."""
    values = {name: _drawn(tensor, sizes, style, generator) for name, tensor in traced.inputs.tensors.items()}
    inputs = tuple(_given(name, value, values, sizes) for name, value in _named_values(subject, traced))
    try:
        outputs = flat(subject.outputs(inputs))
        upstream = _upstream(traced, outputs, generator)
        reference, outcome = subject.reference(inputs, upstream), subject.run(inputs, upstream)
    except Exception:  # whatever the program raises for these sizes
        return None
    own = {**_as_arrays(values, traced, upstream, sizes), **parameters}
    compared = False
    by_name = _leaves(subject, reference), _leaves(subject, outcome.gradients)
    for name, gradient in gradients.items():
        for torchs, expressions, what in zip(by_name, (gradient.derived, gradient.returned), ("derived", "returned")):
            found = torchs.get(name)
            if found is None:
                continue
            outcome_here = _compared(found, gradient.indices, expressions, sizes, own)
            if outcome_here is None:
                continue
            compared = True
            if outcome_here:
                return f"the {what} gradient of {name} is {outcome_here} by torch"
    return "" if compared else None


def _compared(
    found: torch.Tensor, indices: Sequence[Index], expressions: Sequence[Expr], sizes: Any, values: Any
) -> str | None:
    parts = [found.real, found.imag] if found.is_complex() else [found]
    compared = False
    for part, expression in zip(parts, expressions):
        try:
            result = evaluate_where_defined(expression, indices, Floats(), sizes, values)
        except ValueError:
            return None
        theirs = part.detach().numpy().reshape(result.data.shape)
        ours = np.asarray(result.data, dtype=float)
        counts = result.is_defined & np.isfinite(theirs) & np.isfinite(ours)
        scale = np.maximum(1.0, np.maximum(np.abs(theirs), np.abs(ours)))
        with np.errstate(invalid="ignore"):
            wrong = counts & (np.abs(theirs - ours) > _TOLERANCE * scale)
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0])
            return f"{ours[at]:.6g} by its expression and {theirs[at]:.6g}"
        compared = compared or bool(counts.any())
    return "" if compared else None


def _named_values(subject: Subject, traced: Traced) -> list[tuple[str, object]]:
    return [(parameter.name, value) for parameter, value in zip(subject.inputs, traced.inputs.values)]


def _given(name: str, value: object, drawn: Mapping[str, torch.Tensor], sizes: Mapping[Symbol, int]) -> object:
    if isinstance(value, Tensor):
        return drawn[name]
    if isinstance(value, Size):
        return value.dim.evaluate(sizes)
    if isinstance(value, tuple):
        return tuple(_given(f"{name}[{number}]", each, drawn, sizes) for number, each in enumerate(value))
    return value


def _drawn(tensor: Tensor, sizes: Mapping[Symbol, int], style: str, generator: np.random.Generator) -> torch.Tensor:
    shape = shape_at(tensor.sizes, sizes)
    if tensor.kind == "bool":
        return torch.from_numpy(np.asarray(generator.random(shape) < 0.6))
    if tensor.kind == "int":
        bound = bound_of(tensor)
        high = 2 if bound is None else bound.evaluate(sizes)
        return torch.from_numpy(np.asarray(generator.integers(0, max(1, high), shape)))
    numbers = generator.normal(size=shape)
    made = torch.from_numpy(np.asarray(np.abs(numbers) + 0.1 if style == "positive" else numbers))
    if tensor.kind == "complex":
        return torch.complex(made, torch.from_numpy(np.asarray(generator.normal(size=shape))))
    return made


def _upstream(
    traced: Traced, outputs: Sequence[object], generator: np.random.Generator
) -> tuple[torch.Tensor | None, ...]:
    return tuple(_like(output, generator) for output in outputs)


def _like(output: object, generator: np.random.Generator) -> torch.Tensor | None:
    if not isinstance(output, torch.Tensor) or not (output.is_floating_point() or output.is_complex()):
        return None
    real = torch.from_numpy(np.asarray(generator.normal(size=tuple(output.shape))))
    if output.is_complex():
        return torch.complex(real, torch.from_numpy(np.asarray(generator.normal(size=tuple(output.shape)))))
    return real


def _as_arrays(
    values: Mapping[str, torch.Tensor],
    traced: Traced,
    upstream: tuple[torch.Tensor | None, ...],
    sizes: Mapping[Symbol, int],
) -> dict[str, Any]:
    """All tensors by the names of their variables, in the shapes of these."""
    kept = [each for each in upstream if each is not None]
    given = [(name, traced.inputs.tensors[name], value) for name, value in values.items()]
    given += zip(traced.upstream_names, traced.upstreams, kept)
    arrays: dict[str, Any] = {}
    for name, tensor, value in given:
        own = value.reshape(shape_at(own_sizes(tensor), sizes))
        if value.is_complex():
            arrays[f"{name}.real"], arrays[f"{name}.imag"] = own.real.numpy(), own.imag.numpy()
        else:
            arrays[name] = own.numpy()
    return arrays


def _leaves(subject: Subject, gradients: Sequence[Any]) -> dict[str, torch.Tensor]:
    """Gradients by the names of the inputs."""
    found: dict[str, torch.Tensor] = {}
    for parameter, each in zip(subject.inputs, gradients):
        if isinstance(each, torch.Tensor):
            found[parameter.name] = each
    return found
