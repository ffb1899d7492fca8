"""How the arguments of one call are drawn together, so that they agree on sizes and dtypes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from shaped.errors import AnnotationError
from shaped.testing.drawn_sizes import Limits, SizeDrawer
from shaped.testing.hints import node_of
from shaped.testing.nodes import LEFT_OUT, Drawing, Linked, Node, TensorNode
from shaped.testing.printing import print_tensors_as_literals
from shaped.verify.recording import has_setup_context
from shaped.verify.signature import MISSING, Signature

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from shaped.testing.wanted import Given

DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)


class Plan:
    """How the arguments of one function are drawn: a node for each parameter, and the sizes that they share."""

    def __init__(
        self,
        function: Callable[..., object],
        limits: Limits,
        dtypes: Sequence[torch.dtype],
        special: bool,
        minus_infinity: bool,
        given: Mapping[str, Given],
    ) -> None:
        print_tensors_as_literals()
        called, skip_context = function, False
        if isinstance(function, torch.nn.Module):
            called = function.forward
        elif isinstance(function, type) and issubclass(function, torch.autograd.Function):
            called, skip_context = function.forward, not has_setup_context(function)
        self.signature = Signature.of(called, skip_context=skip_context)
        self.owner = getattr(called, "__self__", None)
        self.limits, self.special, self.minus_infinity = limits, special, minus_infinity
        self.dtypes = tuple(dtypes) or DTYPES
        unused = dict(given)
        self.nodes: dict[str, Node] = {
            parameter.name: node_of(parameter, unused, self.signature.name) for parameter in self.signature.parameters
        }
        if unused:
            known = ", ".join(self.nodes) or "none"
            raise AnnotationError(
                self.signature.name, f"has no parameter {next(iter(unused))}", hint=f"the parameters are {known}"
            )
        leaves = tuple(leaf for node in self.nodes.values() for leaf in node.leaves())
        self.sizes = SizeDrawer(leaves, limits)
        self._link()

    def _link(self) -> None:
        """Let int parameters that have the name of an axis, or occur in a field, be drawn as sizes."""
        fields = {field for axis in self.sizes.computed for field in axis.fields}
        names = {*self.sizes.dims, *(name for axis in self.sizes.computed for name in axis.names)}
        for parameter in self.signature.parameters:
            node = self.nodes[parameter.name]
            is_plain = parameter.type is int and not node.is_given and parameter.default is MISSING
            in_field = any(re.search(rf"\b{parameter.name}\b", field) for field in fields)
            if is_plain and (parameter.name in names or in_field):
                self.nodes[parameter.name] = Linked(parameter.name, comes_first=in_field)
        self.linked = tuple(
            parameter.name
            for parameter in self.signature.parameters
            if parameter.name in names and not isinstance(self.nodes[parameter.name], TensorNode)
        )

    @property
    def drawn_by_annotation(self) -> tuple[str, ...]:
        """The parameters that `given_shapes` draws: those with tensors, those with a size's name, and given ones."""
        return tuple(name for name, node in self.nodes.items() if node.is_given or node.is_about_tensors)

    def require_all(self) -> None:
        """Check that every parameter can be drawn."""
        for name, node in self.nodes.items():
            if not node.is_known:
                raise AnnotationError(
                    self.signature.name,
                    f"parameter {name} has no annotation that says what to draw",
                    hint=f'write {name}: Float[Tensor, "b n"], or pass {name}=strategy',
                )

    def strategy(self, names: Sequence[str] | None = None) -> SearchStrategy[dict[str, Any]]:
        """The arguments of these names, of all if none are given."""
        wanted = tuple(self.nodes if names is None else names)
        return _arguments(self, wanted)

    def draw(self, draw: DrawFn, names: Sequence[str]) -> dict[str, Any]:
        """Draw the arguments: numbers first, as fields need them, then sizes, then tensors."""
        drawing = Drawing(draw, self.limits, self.dtypes, self.special, self.minus_infinity)
        values: dict[str, Any] = {}
        defaults = {one.name: one.default for one in self.signature.parameters if one.has_default}
        for name in names:
            node = self.nodes[name]
            if node.comes_first if isinstance(node, Linked) else not node.is_about_tensors:
                values[name] = node.draw(drawing)
        arguments = {**({} if self.owner is None else {"self": self.owner}), **defaults}
        arguments |= {name: value for name, value in values.items() if value is not LEFT_OUT}
        linked = {name: arguments[name] for name in self.linked if type(arguments.get(name)) is int}
        drawing.sizes = self.sizes.draw(draw, arguments, linked, {*linked} <= {*defaults})
        drawing.arguments = arguments
        for name in names:
            if name not in values:
                values[name] = self.nodes[name].draw(drawing)
        return {name: values[name] for name in names if values[name] is not LEFT_OUT}


@st.composite
def _arguments(draw: DrawFn, plan: Plan, names: tuple[str, ...]) -> dict[str, Any]:
    return plan.draw(draw, names)
