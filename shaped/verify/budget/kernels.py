"""Plain torch functions as references: what they mean is computed exactly, and kernels are held to it.

The reference runs on spec tensors of the inputs' sizes, so its meaning is an expression; this is evaluated at the given
floats. A hand-written kernel is held to the plain function that it stands for, and torch's own kernels to the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from shaped.spec.evaluation import Evaluated
from shaped.spec.evaluation.adjoint import gradients
from shaped.spec.expr import Condition
from shaped.spec.scalars.running_error import RunningErrors
from shaped.spec.tensor import NotExpressible, Tensor, variable
from shaped.verify.budget.budget import Budget, compare
from shaped.verify.budget.enclosure import format_of, given, with_error_bounds

if TYPE_CHECKING:
    from shaped.spec.expr import Expr


class Meaning:
    """What a function means at inputs: its results as expressions, and the inputs by name.

    Args:
        function: a function of torch tensors.
        inputs: its arguments; the tensors, also those in lists, become spec tensors of the same sizes.
        named: its keyword arguments, likewise.

    Raises:
        NotExpressible: the function does something that has no meaning in the table: what.
    """

    def __init__(self, function: Callable[..., Any], inputs: Sequence[Any], named: dict[str, Any]) -> None:
        self.values: dict[str, torch.Tensor] = {}
        self._names: dict[int, str] = {}
        arguments = [self._argument(value, f"input[{number}]") for number, value in enumerate(inputs)]
        keywords = {name: self._argument(value, name) for name, value in named.items()}
        found = function(*arguments, **keywords)
        self.results: list[Tensor] = list(found) if isinstance(found, (tuple, list)) else [found]
        for result in self.results:
            if not isinstance(result, Tensor):
                raise NotExpressible(f"a result of type {type(result).__name__}")

    def _argument(self, value: Any, name: str) -> Any:
        if isinstance(value, (list, tuple)) and any(isinstance(each, torch.Tensor) for each in value):
            return type(value)(self._argument(each, f"{name}[{number}]") for number, each in enumerate(value))
        if not isinstance(value, torch.Tensor):
            return value
        if value.is_complex():
            raise NotExpressible("the error bound of complex numbers")
        self.values[name] = value
        self._names[id(value)] = name
        kind = "bool" if value.dtype == torch.bool else "float" if value.is_floating_point() else "int"
        return variable(name, tuple(value.shape), kind)

    def name_of(self, value: torch.Tensor) -> str:
        """The name of an input."""
        return self._names[id(value)]

    def evaluated(self, result: Tensor, actual: torch.Tensor) -> Evaluated:
        """The true entries of a result, with the error bounds of a kernel of the dtype of `actual`."""
        body = result.body
        if isinstance(body, Condition) or result.imaginary is not None:
            raise NotExpressible("the error bound of what is no float")
        return with_error_bounds(body, result.indices, {}, self.values, self.computed_in(actual.dtype))

    def computed_in(self, dtype: torch.dtype) -> torch.dtype:
        """The dtype that a kernel computes in: the widest of the inputs' and the result's, to which it rounds last."""
        floats = [value.dtype for value in self.values.values() if value.is_floating_point()]
        return min([dtype, *floats], key=lambda each: format_of(each).unit)


def within_budget(
    actual: torch.Tensor | Sequence[torch.Tensor], reference: Callable[..., Any], *inputs: Any, **named: Any
) -> Budget:
    """Hold what a kernel returned to the exact meaning of a plain torch function at the same inputs.

    Args:
        actual: what the kernel returned; several tensors for a reference with several results.
        reference: the plain function.
        inputs: the inputs of both.
        named: keyword arguments of the reference.

    Returns:
        The budget of the result that is farthest off. There is no tolerance to choose: `rho` is at most 1 for every
        order of summation that a sound kernel may take (`spec.scalars.running_error` derives the bound).

    >>> x = torch.linspace(-3, 3, 5)
    >>> within_budget(torch.sigmoid(x), torch.sigmoid, x).ok
    True
    >>> print(within_budget(torch.sigmoid(x) * (1 + 1e-5), torch.sigmoid, x))
    output[1] is 0.18242736160755157, and exactly 0.18242552380635635: 1.8e-06 off, where rounding explains 7.6e-08

    Raises:
        NotExpressible: the reference does something that has no meaning in the table.
        TypeError: the dtype of a result has no error bound.
        ValueError: the result has another shape than the reference says.
    """
    meaning = Meaning(reference, inputs, named)
    returned = [actual] if isinstance(actual, torch.Tensor) else list(actual)
    if len(returned) != len(meaning.results):
        raise ValueError(f"{len(returned)} results are given, but the reference has {len(meaning.results)}")
    budgets = []
    for number, (each, result) in enumerate(zip(returned, meaning.results)):
        name = "output" if len(returned) == 1 else f"output[{number}]"
        _check_shape(each, result, name)
        budgets.append(compare(each, meaning.evaluated(result, each), name=name))
    return _worst(budgets)


def gradients_within_budget(
    actual: Sequence[torch.Tensor | None],
    reference: Callable[..., Any],
    upstream: torch.Tensor,
    *inputs: Any,
    of: Sequence[torch.Tensor] | None = None,
    **named: Any,
) -> Budget:
    """Hold gradients that a backward pass returned to the true ones of a plain torch function at the same inputs.

    Args:
        actual: the gradient by each tensor of `of`; None is taken for zeros.
        reference: the plain function, with one result.
        upstream: the gradient of its result.
        inputs: its inputs.
        of: the inputs, or tensors in them, that the gradients are by; the float tensors among `inputs` if not given.
        named: keyword arguments of the reference.

    Returns:
        The budget of the gradient that is farthest off; see `within_budget`.

    >>> x = torch.linspace(-2, 2, 4, requires_grad=True)
    >>> upstream = torch.tensor([1.0, 2, 3, 4])
    >>> (gradient,) = torch.autograd.grad(torch.tanh(x), x, upstream)
    >>> gradients_within_budget([gradient], torch.tanh, upstream, x).ok
    True
    >>> gradients_within_budget([upstream * (1 - x.detach() ** 2)], torch.tanh, upstream, x).ok
    False
    """
    meaning = Meaning(reference, inputs, named)
    (result,) = meaning.results
    body = result.body
    if isinstance(body, Condition) or result.imaginary is not None:
        raise NotExpressible("the gradient of what is no float")
    if of is None:
        of = [each for each in inputs if isinstance(each, torch.Tensor) and each.is_floating_point()]
    _check_shape(upstream, result, "the upstream gradient")
    true = _gradients(body, result, upstream, [meaning.name_of(each) for each in of], meaning)
    budgets = []
    for each, gradient in zip(of, actual, strict=True):
        name = meaning.name_of(each)
        returned = torch.zeros_like(each) if gradient is None else gradient
        if returned.shape != each.shape:
            raise ValueError(f"the gradient of {name} has the shape {tuple(returned.shape)}, not {tuple(each.shape)}")
        budgets.append(compare(returned, true[name], name=f"the gradient of {name}"))
    return _worst(budgets)


def _gradients(
    body: Expr, result: Tensor, upstream: torch.Tensor, of: list[str], meaning: Meaning
) -> dict[str, Evaluated]:
    numbers = {name: given(value) for name, value in meaning.values.items()}
    scalars = RunningErrors(format_of(upstream.dtype))
    return gradients(body, result.indices, given(upstream), of, scalars, {}, numbers)


def _check_shape(actual: torch.Tensor, result: Tensor, name: str) -> None:
    shape = tuple(size.constant for size in result.sizes)
    if tuple(actual.shape) != shape:
        raise ValueError(f"{name} has the shape {tuple(actual.shape)}, but the reference gives {shape}")


def _worst(budgets: list[Budget]) -> Budget:
    """The budget that is farthest from being kept; one in which nothing was compared, only if there is no other."""
    return max(budgets, key=lambda budget: (budget.compared > 0, np.nan_to_num(budget.rho, posinf=np.inf)))
