"""The updates of torch's optimisers, written as operations on flat tensors.

Each is what torch's own single-tensor step does (`torch.optim`, `foreach=False`, `fused=False`), operation by operation
and in its order, so that the numbers are the same to the bit; only that all parameters of a group are one tensor. What
changes between steps without changing the operations (a learning rate, a bias correction) is a scalar.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from torch import Tensor, fx
from torch.optim import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop

from shaped.runtime.compiled.program import CannotCompile
from shaped.runtime.compiled.writing import Writer, aten

Group: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Flat:
    """The nodes of one group: all its parameters, their gradients and their moments, each one tensor with one axis.

    Args:
        steps: the counts of steps, where the optimiser keeps them.
    """

    parameter: fx.Node
    gradient: fx.Node
    state: Mapping[str, fx.Node]
    steps: fx.Node | None


class Update(ABC):
    """The update of one class of optimisers."""

    settings: tuple[str, ...]
    """The settings of a group that the update depends on."""
    names: tuple[str, ...]
    """Of the scalars."""
    counts_steps = True
    """Whether the state of each parameter has a `step`."""

    @abstractmethod
    def states(self, group: Group) -> tuple[str, ...]:
        """The names of the moments that the state of each parameter has."""

    @abstractmethod
    def structure(self, group: Group) -> tuple[object, ...]:
        """The settings that decide which operations there are."""

    @abstractmethod
    def scalars(self, group: Group, step: int) -> tuple[float, ...]:
        """What changes from step to step, in the order of `names`.

        Args:
            step: the number of this step, from 1.
        """

    @abstractmethod
    def write(self, writer: Writer, flat: Flat, scalars: Mapping[str, fx.Node], group: Group) -> None:
        """Write the operations."""

    def initial(self, name: str, group: Group) -> float:
        """What a moment is before the first step."""
        return 0.0


class SgdUpdate(Update):
    """Gradient descent with momentum."""

    settings = ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")
    names = ("negative_lr", "weight_decay", "momentum", "undampened")
    counts_steps = False

    def states(self, group: Group) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def structure(self, group: Group) -> tuple[object, ...]:
        return group["weight_decay"] != 0, group["momentum"] != 0, group["nesterov"], group["maximize"]

    def scalars(self, group: Group, step: int) -> tuple[float, ...]:
        momentum, kept = group["momentum"], 1 - group["dampening"]
        if step == 1:  # torch begins with the gradient itself; the buffer is zeros here
            kept = 1.0
        return (
            -group["lr"],
            group["weight_decay"],
            momentum,
            kept,
        )

    def write(self, writer: Writer, flat: Flat, scalars: Mapping[str, fx.Node], group: Group) -> None:
        gradient = _decayed(writer, flat, scalars, group)
        if group["momentum"] != 0:
            buffer = flat.state["momentum_buffer"]
            writer(aten.mul_.Tensor, buffer, scalars["momentum"])
            writer(aten.add_.Tensor, buffer, gradient, alpha=scalars["undampened"])
            if group["nesterov"]:
                gradient = writer(aten.add.Tensor, gradient, buffer, alpha=scalars["momentum"])
            else:
                gradient = buffer
        writer(aten.add_.Tensor, flat.parameter, gradient, alpha=scalars["negative_lr"])


class AdamUpdate(Update):
    """Adam and AdamW."""

    settings = ("lr", "betas", "eps", "weight_decay", "decoupled_weight_decay", "amsgrad", "maximize")
    names = (
        "weight_decay",
        "decay",
        "one_minus_beta1",
        "beta2",
        "one_minus_beta2",
        "bias_correction2_sqrt",
        "eps",
        "negative_step_size",
    )

    def states(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ()))

    def structure(self, group: Group) -> tuple[object, ...]:
        return group["weight_decay"] != 0, group["decoupled_weight_decay"], group["amsgrad"], group["maximize"]

    def scalars(self, group: Group, step: int) -> tuple[float, ...]:
        beta1, beta2 = group["betas"]
        lr = group["lr"]
        return (
            group["weight_decay"],
            1 - lr * group["weight_decay"],
            1 - beta1,
            beta2,
            1 - beta2,
            (1 - beta2**step) ** 0.5,
            group["eps"],
            -(lr / (1 - beta1**step)),
        )

    def write(self, writer: Writer, flat: Flat, scalars: Mapping[str, fx.Node], group: Group) -> None:
        if group["decoupled_weight_decay"]:
            gradient = _ascended(writer, flat, group)
            if group["weight_decay"] != 0:
                writer(aten.mul_.Tensor, flat.parameter, scalars["decay"])
        else:
            gradient = _decayed(writer, flat, scalars, group)
        exp_avg, exp_avg_sq = flat.state["exp_avg"], flat.state["exp_avg_sq"]
        writer(aten.lerp_.Scalar, exp_avg, gradient, scalars["one_minus_beta1"])
        writer(aten.mul_.Tensor, exp_avg_sq, scalars["beta2"])
        writer(aten.addcmul_.default, exp_avg_sq, gradient, gradient, value=scalars["one_minus_beta2"])
        greatest = exp_avg_sq
        if group["amsgrad"]:
            greatest = flat.state["max_exp_avg_sq"]
            writer(aten.copy_.default, greatest, writer(aten.maximum.default, greatest, exp_avg_sq))
        root = writer(aten.sqrt.default, greatest)
        corrected = writer(aten.div.Tensor, root, scalars["bias_correction2_sqrt"])
        denominator = writer(aten.add.Tensor, corrected, scalars["eps"])
        writer(aten.addcdiv_.default, flat.parameter, exp_avg, denominator, value=scalars["negative_step_size"])


class RmsPropUpdate(Update):
    """RMSprop, centered and with momentum."""

    settings = ("lr", "alpha", "eps", "weight_decay", "momentum", "centered", "maximize")
    names = ("weight_decay", "alpha", "one_minus_alpha", "eps", "momentum", "negative_lr")

    def states(self, group: Group) -> tuple[str, ...]:
        more = [*(["momentum_buffer"] if group["momentum"] > 0 else []), *(["grad_avg"] if group["centered"] else [])]
        return ("square_avg", *more)

    def structure(self, group: Group) -> tuple[object, ...]:
        return group["weight_decay"] != 0, group["momentum"] > 0, group["centered"], group["maximize"]

    def scalars(self, group: Group, step: int) -> tuple[float, ...]:
        return (
            group["weight_decay"],
            group["alpha"],
            1 - group["alpha"],
            group["eps"],
            group["momentum"],
            -group["lr"],
        )

    def write(self, writer: Writer, flat: Flat, scalars: Mapping[str, fx.Node], group: Group) -> None:
        gradient = _decayed(writer, flat, scalars, group)
        square_avg = flat.state["square_avg"]
        writer(aten.mul_.Tensor, square_avg, scalars["alpha"])
        writer(aten.addcmul_.default, square_avg, gradient, gradient, value=scalars["one_minus_alpha"])
        spread = square_avg
        if group["centered"]:
            grad_avg = flat.state["grad_avg"]
            writer(aten.lerp_.Scalar, grad_avg, gradient, scalars["one_minus_alpha"])
            spread = writer(aten.addcmul.default, square_avg, grad_avg, grad_avg, value=-1)
        average = writer(aten.add.Tensor, writer(aten.sqrt.default, spread), scalars["eps"])
        if group["momentum"] > 0:
            buffer = flat.state["momentum_buffer"]
            writer(aten.mul_.Tensor, buffer, scalars["momentum"])
            writer(aten.addcdiv_.default, buffer, gradient, average)
            writer(aten.add_.Tensor, flat.parameter, buffer, alpha=scalars["negative_lr"])
        else:
            writer(aten.addcdiv_.default, flat.parameter, gradient, average, value=scalars["negative_lr"])


class AdagradUpdate(Update):
    """Adagrad."""

    settings = ("lr", "lr_decay", "weight_decay", "eps", "initial_accumulator_value", "maximize")
    names = ("weight_decay", "eps", "negative_clr")

    def states(self, group: Group) -> tuple[str, ...]:
        return ("sum",)

    def initial(self, name: str, group: Group) -> float:
        return float(group["initial_accumulator_value"])

    def structure(self, group: Group) -> tuple[object, ...]:
        return group["weight_decay"] != 0, group["maximize"]

    def scalars(self, group: Group, step: int) -> tuple[float, ...]:
        return (
            group["weight_decay"],
            group["eps"],
            -(group["lr"] / (1 + (step - 1) * group["lr_decay"])),
        )

    def write(self, writer: Writer, flat: Flat, scalars: Mapping[str, fx.Node], group: Group) -> None:
        gradient = _decayed(writer, flat, scalars, group)
        total = flat.state["sum"]
        writer(aten.addcmul_.default, total, gradient, gradient, value=1)
        deviation = writer(aten.add.Tensor, writer(aten.sqrt.default, total), scalars["eps"])
        writer(aten.addcdiv_.default, flat.parameter, gradient, deviation, value=scalars["negative_clr"])


_UPDATES: dict[type[Optimizer], Update] = {
    SGD: SgdUpdate(),
    Adam: AdamUpdate(),
    AdamW: AdamUpdate(),
    RMSprop: RmsPropUpdate(),
    Adagrad: AdagradUpdate(),
}
# What asks torch for another computation than its single-tensor one, or for one that can itself be differentiated.
_OTHER_WAYS = ("foreach", "fused", "capturable", "differentiable")


def update_of(optimizer: Optimizer) -> Update:
    """The update of an optimiser.

    Raises:
        CannotCompile: it has none here, or is set up so that it does something else.
    """
    update = _UPDATES.get(type(optimizer))
    if update is None:
        known = ", ".join(each.__name__ for each in _UPDATES)
        raise CannotCompile(f"{type(optimizer).__name__} has no compiled update: {known} have")
    for group in optimizer.param_groups:
        reason = refuses(group)
        if reason is not None:
            raise CannotCompile(reason)
    if optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks:
        raise CannotCompile("the optimizer has hooks on its steps")
    return update


def refuses(group: Group) -> str | None:
    """Why the settings of a group have no compiled update; None if they have."""
    for name in _OTHER_WAYS:
        if group.get(name):
            return f"the optimizer is set to {name}=True"
    variable = [name for name, value in group.items() if _has_tensor(value) and name != "params"]
    return f"the optimizer's {variable[0]} is a tensor: give a number" if variable else None


def _has_tensor(value: object) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, tuple) and any(isinstance(one, Tensor) for one in value))


def _ascended(writer: Writer, flat: Flat, group: Group) -> fx.Node:
    """The gradient, turned round where the loss is to be made great."""
    return writer(aten.neg.default, flat.gradient) if group["maximize"] else flat.gradient


def _decayed(writer: Writer, flat: Flat, scalars: Mapping[str, fx.Node], group: Group) -> fx.Node:
    """The gradient with the weight decay in it."""
    gradient = _ascended(writer, flat, group)
    if group["weight_decay"] == 0:
        return gradient
    return writer(aten.add.Tensor, gradient, flat.parameter, alpha=scalars["weight_decay"])
