"""Holding a meaning against torch in three ways: values, the gradient that it implies, and the closed-form backward.

The gradient that it implies is computed by the chain rule over the evaluated expression, without a closed form, so it
also shows which convention holds at a kink.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from shaped.spec.dims import Dim
from shaped.spec.evaluation.adjoint import gradients
from shaped.spec.evaluation.evaluate import Evaluation
from shaped.spec.expr import Condition, Expr
from shaped.spec.meaning import Meaning, find_meaning
from shaped.spec.scalars.floats import Floats
from shaped.spec.tensor import Tensor, variable

# Relative to the greatest number of a result: some hundreds of roundings of 1.1e-16 on either side, in another order.
BOUND = 1e-12
SINGLE_BOUND = 1e-6  # torch computes functions of integers in float32: some roundings of 6e-8


class Fixed:
    """A tensor argument for which torch has no gradient."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


class _Argument:
    """A tensor of torch and the spec tensor that stands for it; sizes from 2 are named (`n3`) if `symbolic`."""

    def __init__(self, name: str, real: torch.Tensor, symbolic: bool) -> None:
        dims = [Dim.name(f"n{size}") if symbolic and size > 1 else Dim.of(size) for size in real.shape]
        self.sizes = {f"n{size}": size for size in real.shape}
        self.kind = "complex" if real.is_complex() else "float" if real.is_floating_point() else "int"
        self.kind = "bool" if real.dtype == torch.bool else self.kind
        self.name = name
        self.spec = variable(name, dims, self.kind)
        array = real.detach().numpy()
        self.values = {f"{name}.real": array.real, f"{name}.imag": array.imag} if real.is_complex() else {name: array}
        self.real = real.detach().clone().requires_grad_(self.kind in ("float", "complex"))


class Comparison:
    """One call of an operation, with torch's tensors and with spec tensors.

    Args:
        name: the torch name of the operation.
        args: its arguments, tensors of torch among them.
        symbolic: whether sizes are named.
        seed: of the upstream gradient.
    """

    def __init__(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], symbolic: bool, seed: int) -> None:
        found = find_meaning(name)
        assert found is not None, f"{name} has no meaning"
        self.meaning: Meaning = found
        self.arguments: list[_Argument] = []
        given = [self._argument(value, symbolic) for value in args]
        made = {key: self._argument(value, symbolic) for key, value in kwargs.items()}
        self.values = {key: value for each in self.arguments for key, value in each.values.items()}
        self.sizes = {key: value for each in self.arguments for key, value in each.sizes.items()}
        self.args, self.kwargs = given, made
        function: Any = torch
        for part in name.replace("Tensor.", "torch.Tensor.", 1 if name.startswith("Tensor.") else 0).split(".")[1:]:
            function = getattr(function, part)
        self.wanted = function(*(_real(each) for each in given), **{key: _real(each) for key, each in made.items()})
        self.found = found.entry(*(_spec(each) for each in given), **{key: _spec(each) for key, each in made.items()})
        self.generator = np.random.default_rng(seed)
        is_single = any(each.real.dtype == torch.float32 for each in self.arguments)
        self.bound = SINGLE_BOUND if is_single else BOUND

    def _argument(self, value: Any, symbolic: bool) -> Any:
        if isinstance(value, Fixed):
            argument = self._argument(value.tensor, symbolic)
            argument.real.requires_grad_(False)
            return argument
        if not isinstance(value, torch.Tensor):
            return value
        self.arguments.append(_Argument(f"x{len(self.arguments)}", value, symbolic))
        return self.arguments[-1]

    def values_agree(self) -> None:
        """The meaning has the values, kinds and shapes of torch's results."""
        for found, wanted in zip(_listed(self.found), _listed(self.wanted), strict=True):
            assert_equal(found, wanted, self.sizes, self.values, self.bound)

    def gradients_agree(self, *, closed_form: bool = True, implied: bool = True) -> None:
        """torch's gradients are those that the meaning implies, and those of its closed form, if it has one."""
        outputs = [each for each in _listed(self.wanted) if each.requires_grad]
        results = [found for found, each in zip(_listed(self.found), _listed(self.wanted)) if each.requires_grad]
        upstream = [_random_like(each, self.generator) for each in outputs]
        inputs = [each for each in self.arguments if each.real.requires_grad]
        grads = torch.autograd.grad(outputs, [each.real for each in inputs], upstream, allow_unused=True)
        wanted = [None if each is None else torch.tensor(each.resolve_conj().numpy(force=True)) for each in grads]
        if implied:
            for each, one in zip(inputs, wanted):
                if one is not None:
                    self._implied_agrees(each, one, results, upstream)
        if closed_form and self.meaning.backward is not None:
            self._closed_form_agrees(inputs, wanted, results, upstream)

    def _implied_agrees(
        self, argument: _Argument, wanted: torch.Tensor, results: list[Tensor], upstream: list[torch.Tensor]
    ) -> None:
        total: Any = np.zeros(wanted.shape, dtype=wanted.numpy().dtype)
        for result, grad in zip(results, upstream):
            parts = [(result.body, grad.real if grad.is_complex() else grad)]
            if result.imaginary is not None:
                parts.append((result.imaginary, grad.imag))
            for body, part in parts:
                names = list(argument.values)
                assert isinstance(body, Expr)
                shape = [_value(index.size, self.sizes) for index in result.indices]
                found = gradients(
                    body, result.indices, part.numpy().reshape(shape), names, Floats(), self.sizes, self.values
                )
                for name in names:
                    assert found[name].is_defined.all(), f"the gradient of {name} is not defined"
                    factor = 1j if name.endswith(".imag") else 1
                    total = total + factor * np.asarray(found[name].data, dtype=float).reshape(wanted.shape)
        _assert_close(total, wanted.numpy(), self.bound)

    def _closed_form_agrees(
        self, inputs: list[_Argument], wanted: Any, results: list[Tensor], upstream: list[torch.Tensor]
    ) -> None:
        assert self.meaning.backward is not None
        grads = [variable(f"g{number}", result.sizes, result.kind) for number, result in enumerate(results)]
        given = dict(self.values)
        for number, each in enumerate(upstream):
            array = each.numpy()
            if each.is_complex():
                given |= {f"g{number}.real": array.real, f"g{number}.imag": array.imag}
            else:
                given[f"g{number}"] = array
        found = self.meaning.backward(
            tuple(grads) if isinstance(self.found, (tuple, list)) else grads[0],
            *(_spec(each) for each in self.args),
            **{key: _spec(each) for key, each in self.kwargs.items()},
        )
        by_parameter = self._by_parameter(_listed(found))
        for argument, expected in zip(inputs, wanted):
            gradient = by_parameter[argument.name]
            if expected is None:
                continue
            assert gradient is not None, f"the closed form has no gradient for {argument.name}"
            assert_equal(gradient, expected, self.sizes, given, self.bound)

    def _by_parameter(self, gradients: list[Tensor | None]) -> dict[str, Tensor | None]:
        """The gradients of a closed form by the argument that each is of.

        There is one for each tensor that is given, or one for each parameter that may be a tensor.
        """
        signature = inspect.signature(self.meaning.entry)
        bound = signature.bind(*self.args, **self.kwargs).arguments
        given = {name: each for name, each in bound.items() if isinstance(each, _Argument)}
        names = list(given)
        if len(gradients) != len(names):
            names = [name for name, each in signature.parameters.items() if "Tensor" in str(each.annotation)]
        assert len(gradients) == len(names), f"{len(gradients)} gradients for the tensors {', '.join(names)}"
        return {given[name].name: gradient for name, gradient in zip(names, gradients) if name in given}


def compare(name: str, *args: Any, symbolic: bool = True, seed: int = 0, **kwargs: Any) -> Comparison:
    """The operation of this torch name, called with tensors of torch."""
    return Comparison(name, args, kwargs, symbolic, seed)


def agree(name: str, *args: Any, symbolic: bool = True, seed: int = 0, **kwargs: Any) -> None:
    """Values and all gradients agree."""
    comparison = compare(name, *args, symbolic=symbolic, seed=seed, **kwargs)
    comparison.values_agree()
    comparison.gradients_agree()


def values(*numbers: Any) -> torch.Tensor:
    """A tensor of float64."""
    return torch.tensor(numbers, dtype=torch.float64)


def random(*sizes: int, seed: int = 0, low: float = -2, high: float = 2) -> torch.Tensor:
    """A tensor of float64 of random numbers in a range."""
    return torch.tensor(np.random.default_rng(seed).uniform(low, high, size=sizes))


def _real(value: Any) -> Any:
    return value.real if isinstance(value, _Argument) else value


def _spec(value: Any) -> Any:
    return value.spec if isinstance(value, _Argument) else value


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (tuple, list)) else [found]


def _random_like(output: torch.Tensor, generator: np.random.Generator) -> torch.Tensor:
    parts = [torch.tensor(generator.normal(size=output.shape)) for _ in "ri"]
    return torch.complex(*parts) if output.is_complex() else parts[0]


def _value(size: Dim, sizes: Mapping[str, int]) -> int:
    return size.evaluate({symbol: sizes[symbol.name] for symbol in size.symbols()})


def assert_equal(
    found: Tensor, wanted: torch.Tensor, sizes: Mapping[str, int], given: Mapping[str, Any], bound: float = BOUND
) -> None:
    expected = wanted.detach().resolve_conj().numpy()
    kinds = {"b": "bool", "i": "int", "f": "float", "c": "complex"}
    assert found.kind == kinds[expected.dtype.kind], f"{found.kind} is not {expected.dtype}"
    shape = tuple(_value(size, sizes) for size in found.sizes)
    assert shape == expected.shape, f"{shape} is not {expected.shape}"
    evaluation = Evaluation(Floats(), sizes, given)
    parts = []
    for node in (found.body, found.imaginary):
        if node is not None:
            evaluated = evaluation(node, found.indices)
            assert evaluated.is_defined.all(), f"{node} has no value"
            parts.append(np.asarray(evaluated.data).astype(bool if isinstance(node, Condition) else float))
    array = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
    _assert_close(np.asarray(array).reshape(shape), expected, bound)


def _assert_close(found: Any, expected: Any, bound: float) -> None:
    finite = np.abs(expected[np.isfinite(expected)])
    greatest = finite.max() if finite.size else 0
    bound = SINGLE_BOUND if expected.dtype == np.float32 else bound
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound * max(1.0, float(greatest)))
