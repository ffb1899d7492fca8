"""The parameters of a trainer: given ones, checked and copied, or new ones from a scheme and a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import torch

from shaped.errors import ShapeError
from shaped.init.schemes import Scheme, XavierUniform, Zeros
from shaped.init.seeds import parameter_seed, reference_stream
from shaped.runtime.optimizer_state import load_optimizer_state
from shaped.spec.binding import Bindings
from shaped.trainers.conversion import float_tensor
from shaped.trainers.declared import Declared, require_sizes

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

Seeds = Literal["names", "reference"]


def given_parameters(
    given: Sequence[Any], declared: Sequence[Declared], dtype: torch.dtype, device: torch.device, bindings: Bindings
) -> list[Tensor]:
    """Copies of given parameters, which stay as they are when the trainer steps.

    Raises:
        ValueError: there are more or fewer than declared.
        ShapeError: the shape of one differs.
        DtypeError: one is no tensor of floats.
    """
    if len(given) != len(declared):
        raise ValueError(f"{len(given)} parameters are given, {len(declared)} are declared")
    params = []
    for value, each in zip(given, declared):
        tensor = float_tensor(value, each.called, dtype, device)
        each.check(tensor, bindings)
        params.append(tensor.detach().clone(memory_format=torch.contiguous_format))
    return params


def new_parameters(
    init: Scheme | Sequence[Scheme] | Mapping[str, Scheme] | None,
    declared: Sequence[Declared],
    seed: int,
    seeds: Seeds,
    dtype: torch.dtype,
    device: torch.device,
) -> list[Tensor]:
    """Parameters drawn by `shaped.init`: the same bits for a seed, whatever the device.

    Args:
        init: one scheme for all, one for each, or some by name; without one, a parameter of two or more axes is
            `XavierUniform` and any other `Zeros`.
        declared: the parameters.
        seed: the seed of the model.
        seeds: `names` folds the name of each parameter into the seed, `reference` gives number i the i-th seed of
            TorchLean's stream.
        dtype: the dtype.
        device: the device.

    Raises:
        ShapeError: an axis has no size.
        ValueError: there are more or fewer schemes than parameters, or one by a name that no parameter has.
    """
    from shaped.init.tensors import tensor

    if seeds not in ("names", "reference"):
        raise ValueError(f"seeds is {seeds!r}: names or reference is needed")
    shapes = require_sizes(declared)
    schemes: list[Scheme] = [XavierUniform() if len(shape) >= 2 else Zeros() for shape in shapes]
    names = [each.name for each in declared]
    if isinstance(init, Mapping):
        unknown = sorted(set(init) - set(names))
        if unknown:
            raise ValueError(f"init has {', '.join(unknown)}: the parameters are {', '.join(names)}")
        schemes = [init.get(name, scheme) for name, scheme in zip(names, schemes)]
    elif isinstance(init, (list, tuple)):
        if len(init) != len(declared):
            raise ValueError(f"init has {len(init)} schemes for {len(declared)} parameters: give one for each")
        schemes = list(init)
    elif init is not None:
        schemes = [cast("Scheme", init)] * len(declared)
    stream = reference_stream(seed)
    drawn = [next(stream) if seeds == "reference" else parameter_seed(seed, name) for name in names]
    return [tensor(scheme, shape, of, dtype=dtype, device=device) for scheme, shape, of in zip(schemes, shapes, drawn)]


def chosen(trainable: Sequence[bool] | Sequence[str] | None, declared: Sequence[Declared]) -> list[bool]:
    """Which parameters are trained.

    Raises:
        ValueError: there are more or fewer bools than parameters, or a name that no parameter has.
    """
    names = [each.name for each in declared]
    if trainable is None:
        return [True] * len(names)
    if isinstance(trainable, str) or not all(isinstance(each, (bool, str)) for each in trainable):
        raise ValueError(f"trainable is {trainable!r}: a bool for each parameter or a list of names is needed")
    if any(isinstance(each, str) for each in trainable):
        unknown = sorted({str(each) for each in trainable} - set(names))
        if unknown:
            raise ValueError(f"trainable has {', '.join(unknown)}: the parameters are {', '.join(names)}")
        return [name in trainable for name in names]
    if len(trainable) != len(names):
        raise ValueError(f"trainable has {len(trainable)} bools for {len(names)} parameters: give one for each")
    return [bool(each) for each in trainable]


def load_parameters(
    state: Mapping[str, Any], declared: Sequence[Declared], params: Sequence[Tensor], optimizer: Optimizer | None
) -> None:
    """Put a state into parameters and an optimiser; all of it or nothing.

    Raises:
        ShapeError: a parameter has another shape.
        DtypeError: a parameter has no float dtype.
        ValueError: a parameter is missing or unknown, or the state of an optimiser is or does not fit.
    """
    saved = state["params"]
    names = [each.name for each in declared]
    if set(saved) != set(names):
        raise ValueError(
            f"the state has the parameters {', '.join(saved)}; those of the trainer are {', '.join(names)}"
        )
    values = []
    for each, param in zip(declared, params):
        value = float_tensor(saved[each.name], each.called, param.dtype, param.device)
        if value.shape != param.shape:
            reason = f"does not match {tuple(param.shape)}"
            raise ShapeError(each.called, f"{tuple(value.shape)} {reason}")
        values.append(value)
    of_optimizer = state.get("optimizer")
    if (of_optimizer is None) != (optimizer is None):
        raise ValueError("the state has " + ("no optimiser, but the trainer has one" if optimizer else "an optimiser"))
    if optimizer is not None and of_optimizer is not None:
        load_optimizer_state(optimizer, of_optimizer, dict(zip(params, names)))
    with torch.no_grad():
        for param, value in zip(params, values):
            param.copy_(value)
