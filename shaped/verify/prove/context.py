"""The `ctx` of a traced `torch.autograd.Function`: what its forward stores for its backward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shaped.spec.tensor import NotExpressible, Tensor


@dataclass(frozen=True)
class _Saved:
    """A saved value, with its version when it was saved."""

    value: Any
    version: int = 0


class TracedContext:
    """Takes what a forward stores; any attribute may be set, as on torch's `ctx`."""

    needs_input_grad: tuple[bool, ...]

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.materializes = True
        self.dirty: tuple[Any, ...] = ()
        self.without_gradient: tuple[Any, ...] = ()
        self._saved: tuple[_Saved, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors, as they are now."""
        self._saved = tuple(_Saved(each, getattr(each, "version", 0)) for each in tensors)

    def save_for_forward(self, *tensors: Any) -> None:
        """Tensors for forward mode, which is not looked at."""

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The kept tensors.

        Raises:
            NotExpressible: one was written to since, for which torch raises.
        """
        for saved in self._saved:
            if isinstance(saved.value, Tensor) and saved.value.version != saved.version:
                raise NotExpressible("a saved tensor that was written to after it was saved, for which torch raises")
        return tuple(saved.value for saved in self._saved)

    @property
    def kept(self) -> tuple[Tensor, ...]:
        """All tensors that the forward stored, those in attributes too."""
        attributes = [value for name, value in vars(self).items() if not name.startswith("_")]
        stored = [*(saved.value for saved in self._saved), *attributes]
        return tuple(each for each in stored if isinstance(each, Tensor))

    def mark_dirty(self, *tensors: Any) -> None:
        """Inputs that the forward changes, and says so."""
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Outputs without a gradient."""
        self.without_gradient = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether the backward gets zeros, and not None, for outputs without a gradient."""
        self.materializes = value
