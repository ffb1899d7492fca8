"""Training in 16 bits: operations that gain by it are computed in a shorter dtype, weights stay in float32."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from shaped.runtime.tensor_types import dtype_name

PrecisionName: TypeAlias = Literal["bfloat16", "float16"]
_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


class Precision:
    """How the forward pass and the loss are computed, and what becomes of small gradients.

    Args:
        name: "bfloat16", "float16", or None for the model's own dtype.
        model: whose weights are in float32.
        device: where it is computed; None: where the model is.

    Raises:
        ValueError: the device cannot, or the weights are of another dtype.

    >>> with Precision("bfloat16", nn.Linear(2, 2), torch.device("cpu")).computing():
    ...     nn.Linear(2, 2)(torch.ones(1, 2)).dtype
    torch.bfloat16
    """

    def __init__(self, name: PrecisionName | None, model: nn.Module, device: torch.device | None) -> None:
        if name is not None and name not in get_args(PrecisionName):
            raise ValueError(f"precision is {name!r}, not 'bfloat16' or 'float16', or None for the model's own dtype")
        self._dtype = None if name is None else _DTYPES[name]
        self._device_type = ""
        # Gradients in float16 that are smaller than 6e-8 are 0: the loss is scaled up for them. bfloat16 has the range
        # of float32.
        self._scaler: Any = None
        if name is None:
            return
        kinds = {parameter.device.type for parameter in model.parameters()} if device is None else {device.type}
        if len(kinds) != 1:
            raise ValueError(f"precision is {name!r}, but the model is on {' and '.join(sorted(kinds))}")
        (self._device_type,) = kinds
        if name == "float16" and self._device_type != "cuda":
            raise ValueError(
                f"precision is 'float16', which trains on CUDA alone, and the model is on {self._device_type}: "
                "'bfloat16' needs no scaled loss, and works there too"
            )
        if not torch.amp.is_autocast_available(self._device_type):
            raise ValueError(f"precision is {name!r}, but torch has no autocast on {self._device_type}")
        for parameter_name, parameter in model.named_parameters():
            if parameter.requires_grad and parameter.dtype != torch.float32:
                raise ValueError(
                    f"precision is {name!r}, but {parameter_name} is {dtype_name(parameter.dtype)}: small updates are "
                    "lost unless weights are float32 (model.float())"
                )
        if name == "float16":
            self._scaler = torch.amp.GradScaler(self._device_type)

    def computing(self) -> AbstractContextManager[object]:
        """Around the forward pass and the loss."""
        if self._dtype is None:
            return nullcontext()
        return torch.autocast(self._device_type, self._dtype)

    def whole_loss(self, loss: Tensor) -> Tensor:
        """The loss in float32, if it was computed in fewer bits."""
        return loss.float() if self._dtype is not None and loss.dtype in _DTYPES.values() else loss

    def backward(self, loss: Tensor) -> None:
        """Add the gradients of a loss to those that are there."""
        scaled = loss if self._scaler is None else self._scaler.scale(loss)
        scaled.backward()

    def unscale(self, optimizer: Optimizer) -> None:
        """Give the gradients their true size, once for each update."""
        if self._scaler is not None:
            self._scaler.unscale_(optimizer)

    @property
    def expects_overflow(self) -> bool:
        """Whether gradients that are not finite are usual: the scale is then made smaller, and the update left out."""
        return self._scaler is not None

    def step(self, optimizer: Optimizer) -> bool:
        """Update the weights; whether that was done, and not left out for gradients that are not finite."""
        if self._scaler is None:
            optimizer.step()
            return True
        before = self._scaler.get_scale()
        self._scaler.step(optimizer)
        self._scaler.update()
        return bool(self._scaler.get_scale() >= before)

    def state(self) -> dict[str, Any] | None:
        """As plain data, for a checkpoint; None where there is nothing that changes."""
        return None if self._scaler is None else dict(self._scaler.state_dict())

    def load(self, state: object) -> None:
        """Go on from a state; a run that was not in float16 before begins with a scale of its own."""
        if self._scaler is not None and state:
            self._scaler.load_state_dict(state)
