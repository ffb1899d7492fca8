"""The loss of a trainer, the same function, computed exactly: its value, its gradients, and gradient descent.

The loss runs on spec tensors, so what it means is an expression; this is evaluated in a number system of
`spec.scalars`: fractions, enclosures, floats of 64 bits, or exact values with a bound on what a kernel makes of them
(`RunningErrors`). The parameters that `exact_sgd_step` gives are numbers of that system, so steps may follow one
another, and bounds grow as the errors of the kernel do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from shaped.runtime.tlist import TList
from shaped.spec.evaluation import Evaluated, evaluate_where_defined
from shaped.spec.evaluation.adjoint import gradients
from shaped.spec.expr import Condition
from shaped.spec.scalars.fractions import Fractions
from shaped.spec.scalars.system import Array, Reason, Undecided, Undefined
from shaped.spec.tensor import NotExpressible, variable
from shaped.spec.tensor import Tensor as SpecTensor
from shaped.trainers.losses import takes_nats

if TYPE_CHECKING:
    from shaped.spec.scalars.system import Scalars


@dataclass(frozen=True)
class ExactLoss:
    """A loss and its gradients in a number system.

    Args:
        loss: the value.
        gradients: for each parameter the derivatives by its entries; zeros where the loss does not depend on one.
    """

    loss: Any
    gradients: tuple[Evaluated, ...]

    def defined(self) -> tuple[Array, ...]:
        """The gradients, which have values at all entries.

        Raises:
            Undefined: one has none.
        """
        for gradient in self.gradients:
            _require_defined(gradient)
        return tuple(gradient.data for gradient in self.gradients)


def exact_loss_and_gradients(
    loss: Callable[..., Any],
    params: Sequence[Any],
    inputs: Sequence[Any],
    nat_inputs: Sequence[Any] = (),
    scalars: Scalars | None = None,
) -> ExactLoss:
    """The loss and its gradients by the parameters, at given numbers.

    Args:
        loss: the loss, as for `ScalarTrainer`.
        params: the parameters: tensors, whose floats are taken as exact, or arrays of numbers of the system.
        inputs: the float inputs, likewise.
        nat_inputs: the integer inputs.
        scalars: the number system, by default fractions.

    >>> def loss(params, inputs):
    ...     return ((params[0] * inputs[0]).sum() - inputs[1]) ** 2
    >>> found = exact_loss_and_gradients(loss, [[1, 2]], [[3, 5], 12])
    >>> print(found.loss, *found.gradients[0].data)
    1 6 10

    Raises:
        NotExpressible: the loss does something that has no meaning in the table.
        Undefined: the loss has no value at the inputs, or none that the number system can tell.
        ValueError: the loss is no scalar of floats.
    """
    scalars = Fractions() if scalars is None else scalars
    given = {
        **{f"params[{place}]": _numbers(value) for place, value in enumerate(params)},
        **{f"inputs[{place}]": _numbers(value) for place, value in enumerate(inputs)},
        **{f"nat_inputs[{place}]": _integers(value, f"nat_inputs[{place}]") for place, value in enumerate(nat_inputs)},
    }
    lists = [
        TList(*(_variable(name, value) for name, value in given.items() if name.startswith(f"{kind}[")))
        for kind in ("params", "inputs", "nat_inputs")
    ]
    found = loss(*lists) if takes_nats(loss, bool(nat_inputs), "params") else loss(*lists[:2])
    if type(found) is not SpecTensor:
        raise NotExpressible(f"a loss of type {type(found).__name__}")
    if found.rank or found.kind != "float" or isinstance(found.body, Condition):
        raise ValueError(f"the loss has {found.rank} axes and is of kind {found.kind}: a scalar of floats is needed")
    value = evaluate_where_defined(found.body, [], scalars, {}, given)
    _require_defined(value)
    names = [name for name in given if name.startswith("params[")]
    one = gradients(found.body, [], [1], names, scalars, {}, given)
    return ExactLoss(value.data[()], tuple(one[name] for name in names))


def exact_sgd_step(
    loss: Callable[..., Any],
    params: Sequence[Any],
    inputs: Sequence[Any],
    nat_inputs: Sequence[Any] = (),
    *,
    lr: float | Fraction,
    trainable: Sequence[bool] | None = None,
    scalars: Scalars | None = None,
) -> tuple[Array, ...]:
    """The parameters after one step of gradient descent, `p - lr*gradient`, in a number system.

    Args:
        loss: see `exact_loss_and_gradients`; so are the next three.
        params: the parameters.
        inputs: the float inputs.
        nat_inputs: the integer inputs.
        lr: the learning rate, a float or a Fraction; a kernel of a float format may have to round it.
        trainable: which parameters are trained, by default all.
        scalars: the number system.

    >>> def loss(params, inputs):
    ...     return (params[0] - inputs[0]) ** 2
    >>> (after,) = exact_sgd_step(loss, [1], [4], lr=Fraction(1, 3))
    >>> print(after)
    3

    Raises:
        NotExpressible: see `exact_loss_and_gradients`.
        Undefined: the loss or a gradient has no value.
    """
    scalars = Fractions() if scalars is None else scalars
    found = exact_loss_and_gradients(loss, params, inputs, nat_inputs, scalars).defined()
    with scalars.computing():
        rate = scalars.full((), scalars.constant(Fraction(-lr)))
        kept = [scalars.array(_numbers(param)) for param in params]
        is_trained = [True] * len(kept) if trainable is None else trainable
        return tuple(
            scalars.add(param, scalars.multiply(rate, gradient)) if is_one else param
            for param, gradient, is_one in zip(kept, found, is_trained)
        )


def _numbers(value: Any) -> Array:
    """Numbers as they are: the floats of a tensor, exactly, or numbers of a system."""
    if isinstance(value, Tensor):
        return np.asarray(value.detach().cpu().double().numpy())
    array = np.asarray(value)
    return array if array.dtype.kind == "f" else np.asarray(value, dtype=object)


def _integers(value: Any, name: str) -> Array:
    array = value.detach().cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
    if array.dtype.kind not in "iub":
        raise ValueError(f"{name} has numbers of dtype {array.dtype}: integers are needed")
    return np.asarray(array)


def _variable(name: str, value: Array) -> SpecTensor:
    kind = "float" if not name.startswith("nat") else "bool" if value.dtype.kind == "b" else "int"
    return variable(name, value.shape, kind)


def _require_defined(found: Evaluated) -> None:
    if found.reasons.any():
        reason = Reason(int(found.reasons.max()))
        raise (Undecided if reason is Reason.UNDECIDED else Undefined)(reason)
