"""What an op is: its forward and its backward, called with the checks that autograd and `torch.library` leave out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from shaped.runtime.custom_grad import autocast
from shaped.runtime.custom_grad.autocast import Autocast
from shaped.runtime.custom_grad.backward_call import BackwardCall
from shaped.runtime.custom_grad.faults import CustomGradError
from shaped.runtime.custom_grad.gradients import accepted
from shaped.runtime.custom_grad.layout import Layout, Layouts
from shaped.runtime.custom_grad.missing import MissingGradients
from shaped.runtime.custom_grad.signature import Signature

_is_alias_of: Callable[[Tensor, Tensor], bool] = torch._C._is_alias_of  # type: ignore[attr-defined]  # not in its stubs


class Definition:
    """A forward with its backward.

    Args:
        forward: the function of the inputs.
        gradient_of: the function whose gradient is meant, None for the forward.
    """

    def __init__(self, forward: Callable[..., Any], gradient_of: Callable[..., Any] | None) -> None:
        self.forward = forward
        self.gradient_of = gradient_of
        self.signature = Signature.of(forward)
        self.name = self.signature.name
        self.layouts = Layouts(self.signature)
        self.backward: BackwardCall | None = None
        self._is_settled = False
        self.missing = MissingGradients(gradient_of or forward)

    @property
    def kept(self) -> tuple[int, ...] | None:
        """The inputs to keep for the backward, None for all: all, until the first backward has been looked at."""
        return None if self.backward is None or not self._is_settled else self.backward.kept_or_all

    def run(self, layout: Layout, flat: Sequence[Any]) -> Any:
        """The forward, checked: it returns as many new tensors as it says, and leaves its inputs as they are.

        Raises:
            CustomGradError: it does not.
            TypeError: an input is no tensor where one is wanted.
        """
        tensors = flat if layout.is_tensors_only else [flat[place] for place in layout.tensors]
        try:
            before = versions(tensors)
        except AttributeError:
            raise self._wrong_type(layout, flat) from None
        result = self.forward(*(flat if not layout.has_lists else layout.nested(flat)))
        outputs = result if self.signature.returns_tuple else (result,)
        if not isinstance(outputs, tuple) or len(outputs) != self.signature.outputs:
            raise self._wrong_number(result)
        self._refuse_writes("forward", [layout.names[i] for i in layout.tensors], tensors, before)
        for output in outputs:
            if not isinstance(output, Tensor):
                raise self._wrong_number(result)
            for place, tensor in zip(layout.tensors, tensors):
                if tensor is not None and _is_alias_of(output, tensor):
                    name = layout.names[place]
                    raise CustomGradError(
                        self.name,
                        f"the forward returns {name} itself or a view of it: an op returns new tensors",
                        hint=f"return {name}.clone()" if output is tensor else "clone() what is returned",
                        input=name,
                    )
        return result

    def pull_back(
        self,
        layout: Layout,
        flat: Sequence[Any],
        needed: Sequence[bool],
        upstream: Sequence[Tensor | None],
        state: Autocast | None,
    ) -> list[Tensor | None]:
        """The gradients of a flat row of inputs by the backward, checked.

        Args:
            layout: how the inputs lie in the row.
            flat: the inputs; None for those that the backward does not take.
            needed: which of them need a gradient.
            upstream: one for each output; for an output of integers it is not looked at.
            state: the autocast of the forward.

        Raises:
            CustomGradError: the backward does not keep to its contract: which input, and why.
        """
        backward = self.backward
        if backward is None:
            hint = f"decorate one, of the upstream gradient and the inputs: @{self.name}.backward"
            raise CustomGradError(self.name, "has no backward", hint=hint)
        upstream = [one if one is not None and _has_gradient(one) else None for one in upstream]
        # Those that were not kept are no tensors now.
        watched = [one if isinstance(one := flat[place], Tensor) else None for place in layout.tensors]
        before, upstream_before = versions(watched), versions(upstream)
        with autocast.entered(state):
            returned = backward(upstream, layout.nested(flat))
        names = [layout.names[i] for i in layout.tensors]
        self._refuse_writes("backward", names, watched, before)
        self._refuse_writes("backward", backward.upstream_names, upstream, upstream_before)
        gradients = accepted(self.signature, layout, returned, flat, is_autocast=state is not None)
        for place, gradient in enumerate(gradients):
            if not needed[place]:
                gradients[place] = None
            elif gradient is None:
                self.missing.check(self.name, layout, flat, place, upstream)
        self._is_settled = True
        return gradients

    def _refuse_writes(
        self, where: str, names: Sequence[str], tensors: Sequence[Tensor | None], before: Sequence[int | None]
    ) -> None:
        if versions(tensors) == before:
            return
        name = next(name for name, now, then in zip(names, versions(tensors), before) if now != then)
        raise CustomGradError(
            self.name,
            f"the {where} writes to {name} in place, which others still use",
            hint=f"work on {name}.clone(), or use the operation that is not in place",
            input=name,
        )

    def _wrong_type(self, layout: Layout, flat: Sequence[Any]) -> TypeError:
        for place in layout.tensors:
            if flat[place] is not None and not isinstance(flat[place], Tensor):
                return TypeError(f"{self.name}() takes a tensor as {layout.names[place]}, not {flat[place]!r}")
        return TypeError(f"{self.name}() takes no such arguments")

    def _wrong_number(self, result: object) -> CustomGradError:
        parts = result if isinstance(result, tuple) else (result,)
        found = (
            " and ".join("a tensor" if isinstance(part, Tensor) else f"a {type(part).__name__}" for part in parts)
            or "nothing"
        )
        wanted = self.signature.outputs
        if self.signature.returns_tuple:
            said = f"a tuple of {wanted} tensor{'s' * (wanted != 1)}"
        else:
            said = "a tensor"
        if isinstance(result, tuple):
            found = f"a tuple of {found}"
        return CustomGradError(self.name, f"the forward returns {found}, its annotation says {said}")


def versions(tensors: Sequence[Tensor | None]) -> list[int | None]:
    """How often each tensor was written to; None for what does not say: tensors of `torch.inference_mode`."""
    try:
        return [None if one is None else one._version for one in tensors]
    except RuntimeError:
        return [None if one is None or one.is_inference() else one._version for one in tensors]


def _has_gradient(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()
