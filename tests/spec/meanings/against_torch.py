"""Comparing the meaning of an operation with what torch computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from shaped.spec.dims import Dim
from shaped.spec.evaluation.evaluate import Evaluation
from shaped.spec.expr import Condition
from shaped.spec.meaning import MEANINGS, load
from shaped.spec.scalars.floats import Floats
from shaped.spec.tensor import Tensor, tensor, variable

# Float64 sums of some tens of products of numbers of size 1, in another order: some tens of roundings of 1.1e-16.
SUM_BOUND = 1e-13


class Given:
    """A tensor argument: its axes as text, `int: b t < v` for integers below v, `bool: b t`, `complex: n`."""

    def __init__(self, text: str, sizes: Mapping[str, int], generator: np.random.Generator, name: str) -> None:
        kind, _, axes = text.rpartition(":")
        self.kind = kind.strip() or "float"
        axes, _, bound = axes.partition("<")
        dims = [_dim(axis) for axis in axes.split()]
        shape = tuple(_value(axis, sizes) for axis in axes.split())
        most = _dim(bound.strip()) if bound else None
        self.symbolic = variable(name, dims, self.kind, most)
        self.values: dict[str, Any]
        if self.kind == "complex":
            parts = [generator.normal(size=shape) for _ in "ri"]
            self.values = {f"{name}.real": parts[0], f"{name}.imag": parts[1]}
            self.real = torch.complex(*(torch.tensor(part) for part in parts))
            return
        if self.kind == "int":
            array = generator.integers(0, _value(bound.strip(), sizes) if bound else 5, size=shape)
        elif self.kind == "bool":
            array = generator.integers(0, 2, size=shape).astype(bool)
        else:
            array = generator.normal(size=shape)
        self.values = {name: array}
        self.real = torch.tensor(array)


def _dim(text: str) -> Dim:
    parts = [Dim.of(int(part)) if part.isdigit() else Dim.name(part) for part in text.split("*")]
    return parts[0] if len(parts) == 1 else parts[0] * _dim("*".join(text.split("*")[1:]))


def _value(text: str, sizes: Mapping[str, int]) -> int:
    return int(np.prod([int(part) if part.isdigit() else sizes[part] for part in text.split("*")]))


def values_of(result: Tensor, sizes: Mapping[str, int], values: Mapping[str, Any]) -> np.ndarray:
    """The entries of a spec tensor as an array."""
    evaluation = Evaluation(Floats(), sizes, values)
    shape = tuple(_size(size, sizes) for size in result.sizes)
    parts = []
    for node in (result.body, result.imaginary):
        if node is not None:
            evaluated = evaluation(node, result.indices)
            assert evaluated.is_defined.all(), f"{node} has no value somewhere"
            parts.append(np.asarray(evaluated.data).astype(bool if isinstance(node, Condition) else float))
    array = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
    return np.asarray(array).reshape(shape)


def _size(size: Dim, sizes: Mapping[str, int]) -> int:
    return size.evaluate({symbol: sizes[symbol.name] for symbol in size.symbols()})


def assert_as_torch(program: Callable[..., Any], *texts: str, bound: float = 0, seed: int = 0, **sizes: int) -> None:
    """Assert that a program means, of the given tensors, what torch computes, entries within `bound` of each other.

    The program is called with tensors, then with one int or `Size` for each of `sizes` that it names as a parameter.
    """
    generator = np.random.default_rng(seed)
    given = [Given(text, sizes, generator, f"x{number}") for number, text in enumerate(texts)]
    wanted = program(*(each.real for each in given), **_own(program, len(given), sizes))
    from shaped.spec.size import Size

    names = {name: Size.of(Dim.name(name)) for name in sizes}
    found = program(*(each.symbolic for each in given), **_own(program, len(given), names))
    values = {name: value for each in given for name, value in each.values.items()}
    _compare(found, wanted, sizes, values, bound)


def _own(program: Callable[..., Any], given: int, named: Mapping[str, Any]) -> dict[str, Any]:
    code = program.__code__
    parameters = code.co_varnames[given : code.co_argcount + code.co_kwonlyargcount]
    return {name: value for name, value in named.items() if name in parameters}


def _compare(found: Any, wanted: Any, sizes: Mapping[str, int], values: Mapping[str, Any], bound: float) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            _compare(one, other, sizes, values, bound)
        return
    if wanted is None:
        assert found is None
        return
    expected = wanted.detach().resolve_conj().numpy() if isinstance(wanted, torch.Tensor) else np.asarray(wanted)
    found = tensor(found)
    kinds = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
    assert found.kind == kinds[expected.dtype.kind], f"{found.kind} is not {expected.dtype}"
    array = values_of(found, sizes, values)
    assert array.shape == expected.shape
    np.testing.assert_allclose(array.astype(expected.dtype), expected, rtol=0, atol=bound)


def assert_backward(
    name: str,
    *arguments: Any,
    bound: float = SUM_BOUND,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    **sizes: int,
) -> None:
    """Assert that the closed form of an operation's backward gives what `torch.autograd` does.

    A string is a tensor argument, in the grammar of `Given`; a tuple or list of strings a sequence of them.
    """
    load()
    generator, given = np.random.default_rng(seed), list[Given]()

    def read(value: Any) -> Any:
        if isinstance(value, str) and not value.startswith("="):
            given.append(Given(value, sizes, generator, f"x{len(given)}"))
            return given[-1]
        if isinstance(value, (tuple, list)) and value and all(isinstance(each, str) for each in value):
            return tuple(read(each) for each in value)
        return value.removeprefix("=") if isinstance(value, str) else value

    def chosen(value: Any, what: str) -> Any:
        if isinstance(value, Given):
            return getattr(value, what)
        return tuple(chosen(each, what) for each in value) if isinstance(value, tuple) else value

    from shaped.spec.calls import as_argument
    from shaped.spec.op import OPS

    args = [read(value) for value in arguments]
    options = dict(options or {})
    for each in given:
        if each.kind in ("float", "complex"):
            each.real.requires_grad_()
    function = _torch_function(OPS[name].torch[0])
    wanted = function(*(chosen(value, "real") for value in args), **options)
    outputs = list(wanted) if isinstance(wanted, (tuple, list)) else [wanted]
    upstreams = []
    for number, output in enumerate(outputs):
        axes = " ".join(map(str, output.shape))
        upstreams.append(Given(f"{'complex' if output.is_complex() else 'float'}: {axes}", {}, generator, f"g{number}"))
    floats = [each for each in given if each.real.requires_grad]
    grads = torch.autograd.grad(outputs, [each.real for each in floats], [each.real for each in upstreams])
    symbolic = MEANINGS[name].entry(
        *(chosen(as_argument(value), "symbolic") for value in args),
        **options,
    )
    results = list(symbolic) if isinstance(symbolic, (tuple, list)) else [symbolic]
    for upstream, result, number in zip(upstreams, results, range(len(results))):
        upstream.symbolic = variable(f"g{number}", result.sizes, upstream.kind)
    up: Any = [each.symbolic for each in upstreams]
    formula = MEANINGS[name].backward
    assert formula is not None, f"{name} has no closed form"
    found = formula(
        tuple(up) if isinstance(wanted, (tuple, list)) else up[0],
        *(chosen(value, "symbolic") for value in args),
        **options,
    )
    values = {key: value for each in [*given, *upstreams] for key, value in each.values.items()}
    flat = [each for each in _flat(found) if each is not None]
    assert len(flat) == len(floats)
    for one, other in zip(flat, grads):
        _compare(one, other, sizes, values, bound)


def _flat(found: Any) -> Sequence[Any]:
    if isinstance(found, (tuple, list)):
        return [one for each in found for one in _flat(each)]
    return [found]


def _torch_function(name: str) -> Callable[..., Any]:
    found: Any = torch
    for part in (f"torch.{name}" if name.startswith("Tensor.") else name).split(".")[1:]:
        found = getattr(found, part)
    if not callable(found):  # a property
        return lambda self: getattr(self, name.rpartition(".")[2])
    return found  # type: ignore[no-any-return]
