"""Plain torch functions as references: what they mean is computed exactly, and kernels are held to it.

The reference runs on spec tensors of the inputs' sizes, so its meaning is an expression; this is evaluated at the given
floats. A hand-written kernel is held to the plain function that it stands for, and torch's own kernels to the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from shaped.spec.scalars.balls import Balls
from shaped.spec.scalars.running_error import RunningErrors
from shaped.spec.scalars.system import Reason, Undecided, Undefined
from shaped.verify.budget.budget import Budget, compare
from shaped.verify.budget.enclosure import format_of
from shaped.verify.budget.reference import Reference, shape_of

if TYPE_CHECKING:
    from shaped.spec.evaluation import Evaluated
    from shaped.spec.scalars.system import Array


def within_budget(
    actual: torch.Tensor | Sequence[torch.Tensor], function: Callable[..., Any], /, *inputs: Any, **named: Any
) -> Budget:
    """Hold what a kernel returned to the exact meaning of a plain torch function at the same inputs.

    Args:
        actual: what the kernel returned; several tensors for a function with several results.
        function: the plain function.
        inputs: the inputs of both.
        named: keyword arguments of the function.

    Returns:
        The budget of the result that is farthest off. There is no tolerance to choose: `rho` is at most 1 for every
        order of summation that a sound kernel may take (`spec.scalars.running_error` derives the bound).

    >>> x = torch.linspace(-3, 3, 5)
    >>> within_budget(torch.sigmoid(x), torch.sigmoid, x).ok
    True
    >>> print(within_budget(torch.sigmoid(x) * (1 + 1e-5), torch.sigmoid, x))
    output[1] is 0.18242736160755157, and exactly 0.18242552380635635: 1.8e-06 off, where rounding explains 7.6e-08

    Raises:
        NotExpressible: the function does something that has no meaning in the table.
        TypeError: the dtype of a result has no error bound, or these are no tensor and function.
        ValueError: the result has another shape than the function says.
    """
    returned = [actual] if isinstance(actual, torch.Tensor) else actual
    if not isinstance(returned, (list, tuple)) or not all(isinstance(each, torch.Tensor) for each in returned):
        raise TypeError(
            f"what the kernel returned is a {type(actual).__name__}: give the tensor, or several for several results, "
            "then the plain function and the inputs of both"
        )
    if not callable(function):
        raise TypeError(f"the reference is {function!r}, no function: give within_budget(actual, function, *inputs)")
    reference = Reference(function, inputs, named)
    if len(returned) != len(reference.results):
        raise ValueError(f"{len(returned)} results are given, but the reference has {len(reference.results)}")
    budgets = []
    for number, (each, result) in enumerate(zip(returned, reference.results)):
        name = "output" if len(returned) == 1 else f"output[{number}]"
        if tuple(each.shape) != shape_of(result):
            raise ValueError(f"{name} has the shape {tuple(each.shape)}, but the reference gives {shape_of(result)}")
        scalars = RunningErrors(format_of(reference.computed_in(each.dtype)))
        budgets.append(compare(each, reference.evaluated(result, scalars), name=name))
    return _worst(budgets)


def gradients_within_budget(
    actual: Sequence[torch.Tensor | None],
    function: Callable[..., Any],
    upstream: torch.Tensor,
    /,
    *inputs: Any,
    of: Sequence[torch.Tensor] | None = None,
    **named: Any,
) -> Budget:
    """Hold gradients that a backward pass returned to the true ones of a plain torch function at the same inputs.

    Args:
        actual: the gradient by each tensor of `of`; None is taken for zeros.
        function: the plain function, with one result.
        upstream: the gradient of its result.
        inputs: its inputs.
        of: the inputs, or tensors in them, that the gradients are by; the float tensors among `inputs` if not given.
        named: keyword arguments of the function.

    Returns:
        The budget of the gradient that is farthest off; see `within_budget`.

    >>> x = torch.linspace(-2, 2, 4, requires_grad=True)
    >>> upstream = torch.tensor([1.0, 2, 3, 4])
    >>> (gradient,) = torch.autograd.grad(torch.tanh(x), x, upstream)
    >>> gradients_within_budget([gradient], torch.tanh, upstream, x).ok
    True
    >>> gradients_within_budget([upstream * (1 - x.detach() ** 2)], torch.tanh, upstream, x).ok
    False

    Raises:
        NotExpressible: the function does something that has no meaning in the table.
        Undefined: the function has no value at the inputs.
        ValueError: a gradient has another shape than its input, or there are more or fewer than tensors.
    """
    reference = Reference(function, inputs, named)
    result = reference.only_result()
    of = reference.float_inputs if of is None else of
    if len(of) != len(actual):
        raise ValueError(f"{len(actual)} gradients are given, by {len(of)} tensors")
    true = reference.gradients(result, upstream, of, RunningErrors(format_of(upstream.dtype)))
    budgets = []
    for each, gradient, exact in zip(of, actual, true):
        name = reference.name_of(each)
        returned = torch.zeros_like(each) if gradient is None else gradient
        if returned.shape != each.shape:
            raise ValueError(f"the gradient of {name} has the shape {tuple(returned.shape)}, not {tuple(each.shape)}")
        budgets.append(compare(returned, exact, name=f"the gradient of {name}"))
    return _worst(budgets)


def enclosed(function: Callable[..., Any], /, *inputs: Any, precision: int = 128, **named: Any) -> list[Array]:
    """Balls in which the true results of a torch function at the given floats lie, one array for each result.

    Args:
        function: the function.
        inputs: its inputs; floats are taken as exact.
        precision: the bits that the balls are computed with.
        named: keyword arguments of the function.

    >>> (roots,) = enclosed(torch.sqrt, torch.tensor([4.0, 2.0]))
    >>> roots[1].overlaps(roots[0] / 2)
    False

    Raises:
        NotExpressible: the function does something that has no meaning in the table.
        Undefined: there is no value at some entry, or it cannot be told at this precision.
    """
    reference = Reference(function, inputs, named)
    return [_defined(reference.evaluated(result, Balls(precision))) for result in reference.results]


def enclosed_gradients(
    function: Callable[..., Any],
    upstream: torch.Tensor,
    /,
    *inputs: Any,
    of: Sequence[torch.Tensor] | None = None,
    precision: int = 128,
    **named: Any,
) -> list[Array]:
    """Balls in which the true gradients of a torch function at the given floats lie, one array for each tensor.

    Args:
        function: the function, with one result.
        upstream: the gradient of its result.
        inputs: its inputs; floats are taken as exact.
        of: the tensors that the gradients are by; the float tensors among `inputs` if not given.
        precision: the bits that the balls are computed with.
        named: keyword arguments of the function.

    >>> (slope,) = enclosed_gradients(torch.exp, torch.tensor([2.0]), torch.tensor([0.0]))
    >>> print(slope[0])
    2.00000000000000

    Raises:
        NotExpressible: the function does something that has no meaning in the table.
        Undefined: there is no gradient at some entry, or it cannot be told at this precision.
    """
    reference = Reference(function, inputs, named)
    of = reference.float_inputs if of is None else of
    found = reference.gradients(reference.only_result(), upstream, of, Balls(precision))
    return [_defined(each) for each in found]


def _defined(found: Evaluated) -> Array:
    if found.reasons.any():
        reason = Reason(int(found.reasons.max()))
        raise (Undecided if reason is Reason.UNDECIDED else Undefined)(reason)
    return found.data


def _worst(budgets: list[Budget]) -> Budget:
    """The budget that is farthest from being kept; one in which nothing was compared, only if there is no other."""
    return max(budgets, key=lambda budget: (budget.compared > 0, budget.rho))
