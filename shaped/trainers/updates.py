"""What a step does with gradients: gradient descent by a learning rate, or an optimiser of torch."""

from __future__ import annotations

import copy
import inspect
import math
from typing import TYPE_CHECKING

import torch
from torch.optim import Optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from shaped.trainers.gradients import Gradients
    from shaped.trainers.inputs import Lists

    MakesOptimizer = Callable[[list[Tensor]], Optimizer]


_SUCH_AS = "lambda params: torch.optim.Adam(params, lr=1e-3)"


class GradientDescent:
    """`p -= lr * gradient`, the numbers that `torch.optim.SGD` gives without momentum."""

    def __init__(self, params: Sequence[Tensor]) -> None:
        self.params = list(params)

    def step(self, gradients: Gradients, lr: float) -> None:
        """Update the parameters in place; one without a gradient stays as it is."""
        params = self.params
        found = [gradient for gradient in gradients if gradient is not None]
        if len(found) < len(params):
            params = [param for param, gradient in zip(params, gradients) if gradient is not None]
        if params:
            with torch.no_grad():
                # One call for all of them; rounds as `add_(gradient, alpha=-lr)` of each.
                torch._foreach_add_(params, found, alpha=-lr)


class Optimised:
    """A step of an optimiser of torch.

    Args:
        optimizer: an optimiser of exactly these parameters, or what makes one from the list of them.
        params: the parameters that are trained.
        names: their names.

    Raises:
        TypeError: this is no optimiser.
        ValueError: it has other tensors than these parameters, or lacks one.
    """

    def __init__(self, optimizer: Optimizer | MakesOptimizer, params: Sequence[Tensor], names: Sequence[str]) -> None:
        self.params = list(params)
        if not isinstance(optimizer, Optimizer) and not callable(optimizer):
            raise TypeError(f"optimizer is {optimizer!r}: a function that makes one is needed, such as {_SUCH_AS}")
        made = optimizer if isinstance(optimizer, Optimizer) else optimizer(list(params))
        if not isinstance(made, Optimizer):
            raise TypeError(f"optimizer makes a {type(made).__name__}: a torch.optim.Optimizer is needed")
        self.optimizer = made
        own = {id(param) for param in params}
        held = {id(param) for group in made.param_groups for param in group["params"]}
        if held - own:
            raise ValueError(
                f"{type(made).__name__} has {len(held - own)} tensors that are no trained parameters of this trainer:"
                f" give a function that makes it from the list of them: {_SUCH_AS}"
            )
        missing = [name for name, param in zip(names, params) if id(param) not in held]
        if missing:
            raise ValueError(
                f"{type(made).__name__} lacks the parameters {', '.join(missing)}, which would never change: freeze"
                " them by trainable, or give them to it"
            )
        closure = inspect.signature(type(made).step).parameters.get("closure")
        self.takes_closure = closure is not None and closure.default is inspect.Parameter.empty

    def step(self, backpropagate: Callable[..., Tensor], lists: Lists) -> Tensor:
        """Compute gradients and update the parameters in place; no gradient is kept, so that memory does not grow.

        Args:
            backpropagate: puts the gradients into the parameters' `grad` and gives the loss.
            lists: its arguments.

        Returns:
            The loss before the step.
        """
        self.release()
        try:
            loss = backpropagate(*lists)
            self.optimizer.step()
        finally:
            self.release()
        return loss

    def step_by_closure(self, backpropagate: Callable[..., Tensor], lists: Lists) -> Tensor:
        """A step of an optimiser that computes the loss as often as it wants, as LBFGS does.

        If the loss raises, the parameters and the optimiser are as they were before.
        """
        before = [param.detach().clone() for param in self.params]
        state = copy.deepcopy(self.optimizer.state_dict())
        losses: list[Tensor] = []

        def closure() -> Tensor:
            self.release()
            losses.append(backpropagate(*lists))
            return losses[-1]

        try:
            self.optimizer.step(closure)  # type: ignore[arg-type]  # torch says float, its own take and give tensors
        except BaseException:
            with torch.no_grad():
                for param, value in zip(self.params, before):
                    param.copy_(value)
            self.optimizer.load_state_dict(state)
            raise
        finally:
            self.release()
        return losses[0]

    def release(self) -> None:
        """Keep no gradient."""
        for param in self.params:
            param.grad = None


def require_rate(lr: float) -> float:
    """The learning rate.

    Raises:
        ValueError: it is negative, infinite or no number.

    >>> require_rate(-0.1)
    Traceback (most recent call last):
    ValueError: lr is -0.1: a finite number of 0 or more is needed
    """
    try:
        is_rate = not isinstance(lr, bool) and 0 <= lr < math.inf
    except TypeError:  # what is no number
        is_rate = False
    if not is_rate:
        raise ValueError(f"lr is {lr!r}: a finite number of 0 or more is needed")
    return lr
