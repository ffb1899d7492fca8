"""What a plain torch function means at given inputs, as expressions that can be evaluated and differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from shaped.spec.evaluation import Evaluated, evaluate_where_defined
from shaped.spec.evaluation.adjoint import gradients
from shaped.spec.expr import Condition, Expr
from shaped.spec.tensor import NotExpressible, Tensor, variable
from shaped.verify.budget.enclosure import format_of, given

if TYPE_CHECKING:
    from shaped.spec.scalars.system import Scalars


class Reference:
    """A function at inputs: its results as expressions, and the inputs by name.

    Args:
        function: a function of torch tensors.
        inputs: its arguments; the tensors, also those in lists, become spec tensors of the same sizes.
        named: its keyword arguments, likewise.

    Raises:
        NotExpressible: the function does something that has no meaning in the table: what.
    """

    def __init__(self, function: Callable[..., Any], inputs: Sequence[Any], named: dict[str, Any]) -> None:
        self.inputs = inputs
        self.values: dict[str, torch.Tensor] = {}
        self._names: dict[int, str] = {}
        arguments = [self._argument(value, f"input[{number}]") for number, value in enumerate(inputs)]
        keywords = {name: self._argument(value, name) for name, value in named.items()}
        found = function(*arguments, **keywords)
        self.results: list[Tensor] = list(found) if isinstance(found, (tuple, list)) else [found]
        for result in self.results:
            if not isinstance(result, Tensor):
                raise NotExpressible(f"a result of type {type(result).__name__}")

    def _argument(self, value: Any, name: str) -> Any:
        if isinstance(value, (list, tuple)) and any(isinstance(each, torch.Tensor) for each in value):
            return type(value)(self._argument(each, f"{name}[{number}]") for number, each in enumerate(value))
        if not isinstance(value, torch.Tensor):
            return value
        if value.is_complex():
            raise NotExpressible("the error bound of complex numbers")
        if not (value.is_floating_point() or value.dtype == torch.bool) and bool((value < 0).any()):
            raise NotExpressible(f"negative integers in {name}: the table takes integers for places, counted from 0")
        # A tensor that is given twice is one variable, so its gradient is that of both places.
        name = self._names.setdefault(id(value), name)
        self.values[name] = value
        kind = "bool" if value.dtype == torch.bool else "float" if value.is_floating_point() else "int"
        return variable(name, tuple(value.shape), kind)

    def name_of(self, value: torch.Tensor) -> str:
        """The name of an input.

        Raises:
            ValueError: the tensor is none of the inputs.
        """
        name = self._names.get(id(value))
        if name is None:
            raise ValueError(
                f"a tensor of shape {tuple(value.shape)} in `of` is none of the inputs: pass the same object"
            )
        return name

    @property
    def float_inputs(self) -> list[torch.Tensor]:
        """The inputs that gradients are by unless others are named."""
        return [each for each in self.inputs if isinstance(each, torch.Tensor) and each.is_floating_point()]

    def only_result(self) -> Tensor:
        """The result, of a function that has one.

        Raises:
            ValueError: it has several.
        """
        if len(self.results) != 1:
            raise ValueError(f"the reference has {len(self.results)} results: take the gradients of one at a time")
        return self.results[0]

    def evaluated(self, result: Tensor, scalars: Scalars) -> Evaluated:
        """The true entries of a result, in its shape."""
        found = evaluate_where_defined(_number(result), result.indices, scalars, {}, self._given())
        shape = shape_of(result)
        return Evaluated(found.data.reshape(shape), found.reasons.reshape(shape))

    def gradients(
        self, result: Tensor, upstream: torch.Tensor, of: Sequence[torch.Tensor], scalars: Scalars
    ) -> list[Evaluated]:
        """The true gradients by some inputs."""
        if tuple(upstream.shape) != shape_of(result):
            raise ValueError(
                f"the upstream gradient has the shape {tuple(upstream.shape)}, but the result has {shape_of(result)}"
            )
        names = [self.name_of(each) for each in of]
        found = gradients(_number(result), result.indices, given(upstream), names, scalars, {}, self._given())
        return [found[name] for name in names]

    def computed_in(self, dtype: torch.dtype) -> torch.dtype:
        """The dtype that a kernel computes in: the widest of the inputs' and the result's, to which it rounds last."""
        floats = [value.dtype for value in self.values.values() if value.is_floating_point()]
        return min([dtype, *floats], key=lambda each: format_of(each).unit)

    def _given(self) -> dict[str, Any]:
        return {name: given(value) for name, value in self.values.items()}


def shape_of(result: Tensor) -> tuple[int, ...]:
    """The shape of a result.

    Raises:
        NotExpressible: it depends on the values of the inputs.
    """
    shape: list[int] = []
    for size in result.sizes:
        if size.constant is None:
            raise NotExpressible(f"the size {size}, which depends on the values of the inputs")
        shape.append(size.constant)
    return tuple(shape)


def _number(result: Tensor) -> Expr:
    if isinstance(result.body, Condition) or result.imaginary is not None:
        raise NotExpressible("the error bound of what is no float")
    return result.body
