"""Lazy modules: those that take their first size from their first input."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from shaped.spec.op import Module, module
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.context import Context


class Lazy(Module):
    """A module whose first size is not known: as the other, of an unknown size."""

    inner: Module

    def forward(self, context: Context, input: TensorType) -> Value:
        """As the module's, for any first size."""
        return self.inner.forward(context, input)


def declare_lazy(kind: type[Module], **defaults: Value) -> None:
    """Declare `Lazy{kind}`, whose constructor has no first parameter and these other defaults."""
    make: Callable[..., Module] = kind
    own, context, _, *rest = inspect.signature(kind.__init__).parameters.values()
    rest = [each.replace(default=defaults.get(each.name, each.default)) for each in rest]
    signature = inspect.Signature([own, context, *rest])

    def initialize(self: Lazy, context: Context, *args: Value, **kwargs: Value) -> None:
        bound = signature.bind(self, context, *args, **kwargs)
        bound.apply_defaults()
        _, _, *options = bound.args
        self.inner = make(context, UNKNOWN, *options, **bound.kwargs)
        # Its sizes and parameters are read as the other's.
        vars(self).update(vars(self.inner))

    initialize.__signature__ = signature  # type: ignore[attr-defined]  # read by inspect
    name = f"Lazy{kind.__name__}"
    text = f"A `{kind.__name__}` that takes its first size from the first input."
    body = {"__init__": initialize, "__doc__": text, "dtypes": kind.dtypes}
    module(f"torch.nn.{name}")(type(name, (Lazy,), body))
