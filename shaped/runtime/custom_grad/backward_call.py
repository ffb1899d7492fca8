"""How a backward takes its arguments: the upstream gradients first, then the inputs, or those that it names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from shaped.runtime.custom_grad.signature import Signature


class BackwardCall:
    """A backward, called with upstream gradients and inputs.

    Args:
        function: `backward(upstream, *inputs)`, where `upstream` is a tuple for an op that returns one; or one
            upstream gradient for each output, then the inputs; or the upstream and some of the inputs, by their names.
        signature: what its op takes and returns.

    Raises:
        TypeError: it takes something else.
    """

    def __init__(self, function: Callable[..., Any], signature: Signature) -> None:
        if not callable(function):
            raise TypeError(f"the backward of {signature.name}, {function!r}, is no function")
        self.function = function
        names = signature.names
        declared = list(inspect.signature(function).parameters.values())
        positional = [one for one in declared if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        taken = [one.name for one in positional]
        inputs = taken[len(taken) - len(names) :]
        if len(taken) > len(names) and set(inputs) == set(names) and inputs != [*names]:
            raise TypeError(
                f"the backward of {signature.name} takes {', '.join(inputs)}, "
                f"{signature.name} takes {', '.join(names)}: take them in the same order"
            )
        self._takes_each_upstream = False
        self.kept = tuple(range(len(names)))
        if any(one.kind is one.VAR_POSITIONAL for one in declared) or len(taken) == 1 + len(names):
            pass
        elif signature.returns_tuple and len(taken) == signature.outputs + len(names):
            self._takes_each_upstream = True
        else:
            wanted = [one.name for one in positional[1:] if one.name in names or one.default is one.empty]
            if not taken or not set(wanted) <= set(names):
                raise TypeError(
                    f"the backward of {signature.name} takes ({', '.join(taken)}): "
                    f"write {signature.name}_backward(grad, {', '.join(names)})"
                )
            self.kept = tuple(names.index(name) for name in wanted)
        self._takes_all = self.kept == tuple(range(len(names)))
        self.kept_or_all = None if self._takes_all else self.kept
        first = taken[0] if taken else "grad"
        self._takes_tuple = signature.returns_tuple and not self._takes_each_upstream
        if self._takes_each_upstream:
            self.upstream_names = taken[: signature.outputs]
        elif self._takes_tuple:
            self.upstream_names = [f"{first}[{i}]" for i in range(signature.outputs)]
        else:
            self.upstream_names = [first]

    def __call__(self, upstream: Sequence[Tensor | None], inputs: Sequence[Any]) -> Any:
        """What the backward returns."""
        first = (tuple(upstream),) if self._takes_tuple else upstream
        if self._takes_all:
            return self.function(*first, *inputs)
        return self.function(*first, *(inputs[place] for place in self.kept))
