"""Whether what a program was made for is still so: the shapes of the inputs, the tensors of the module, its modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn


def same_inputs(examples: Sequence[Tensor]) -> Callable[..., bool]:
    """A test of whether tensors have the shapes, dtypes and devices of these, and are as many different ones.

    >>> is_same = same_inputs([torch.zeros(2, 3)])
    >>> is_same(torch.ones(2, 3)), is_same(torch.ones(3, 2)), is_same(torch.ones(2, 3).double())
    (True, False, False)
    """
    values: dict[str, Any] = {"Tensor": Tensor}
    conditions = []
    for number, one in enumerate(examples):
        given = f"x{number}"
        values |= {f"shape{number}": one.shape, f"dtype{number}": one.dtype, f"device{number}": one.device}
        conditions.append(f"isinstance({given}, Tensor) and {given}.shape == shape{number}")
        conditions.append(f"{given}.dtype is dtype{number} and {given}.device == device{number}")
    for first, second in combinations(range(len(examples)), 2):
        conditions.append(f"x{first} {'is' if examples[first] is examples[second] else 'is not'} x{second}")
    parameters = ", ".join(f"x{number}" for number in range(len(examples)))
    return _test(parameters, conditions, values)


def same_module(model: nn.Module) -> Callable[[], bool]:
    """A test of whether a model has the parameters and buffers that it has now, at the same places, and its modes.

    Their contents may change. So is whether autocast is on. One comparison each: a step of a small model takes
    microseconds.
    """
    values: dict[str, Any] = {"is_autocast": torch.is_autocast_enabled}
    conditions = [f"is_autocast({kind!r}) is {torch.is_autocast_enabled(kind)}" for kind in ("cpu", "cuda")]
    for number, module in enumerate(model.modules()):
        values[f"module{number}"] = module
        conditions.append(f"module{number}.training is {module.training}")
        for kind in ("_parameters", "_buffers"):
            held = getattr(module, kind)
            values[f"held{number}{kind}"] = held
            for name, tensor in held.items():
                if tensor is None:
                    conditions.append(f"held{number}{kind}[{name!r}] is None")
                    continue
                own = f"tensor{len(values)}"
                values[own] = tensor
                conditions.append(f"held{number}{kind}.get({name!r}) is {own}")
                conditions.append(f"{own}.data_ptr() == {tensor.data_ptr()}")
    return _test("", conditions, values)


def _test(parameters: str, conditions: Sequence[str], values: dict[str, Any]) -> Callable[..., bool]:
    # In parts: Python's parser has a limit for one expression.
    lines = [
        f"    if not ({' and '.join(conditions[at : at + 50])}): return False" for at in range(0, len(conditions), 50)
    ]
    exec("\n".join([f"def test({parameters}):", *lines, "    return True"]), values)
    test: Callable[..., bool] = values["test"]
    return test
