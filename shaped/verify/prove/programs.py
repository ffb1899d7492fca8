"""A forward and its backward run on symbolic inputs: their outputs, gradients and effects as spec tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.autograd import Function

from shaped.spec.calls import as_argument
from shaped.spec.tensor import Tensor
from shaped.verify.prove.cases import Case, Inputs, symbolic_inputs
from shaped.verify.prove.context import TracedContext
from shaped.verify.prove.detached import Detached
from shaped.verify.prove.intermediates import Intermediates
from shaped.verify.prove.parameters import symbolic_parameters
from shaped.verify.prove.tracing import Watch, tracing
from shaped.verify.prove.untraceable import Untraceable, explained
from shaped.verify.prove.variables import like
from shaped.verify.recording import backward_name, has_setup_context
from shaped.verify.signature import Signature


@dataclass(frozen=True)
class Traced:
    """What one run on symbolic inputs gave.

    Args:
        outputs: the outputs that have a gradient.
        upstreams: the upstream gradient of each of them.
        inputs: the inputs.
        gradients: what the backward returned for each input that has a gradient; None for zero.
        changed: what was written to in place, by name.
        detached: the values that gradients do not flow through.
        operations: the names of the operations that were called.
        upstream_names: the names of the upstream gradients.
        intermediates: the intermediate results of the forward.
        taken: the floats that are taken for numbers which they round.
    """

    outputs: tuple[Tensor, ...]
    upstreams: tuple[Tensor, ...]
    inputs: Inputs
    gradients: Mapping[str, Tensor | None]
    changed: tuple[str, ...]
    detached: Detached
    operations: frozenset[str]
    upstream_names: tuple[str, ...] = ()
    intermediates: Intermediates = field(default_factory=Intermediates)
    taken: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """A forward with its backward.

    Args:
        name: as the user calls it.
        signature: of the forward.
        forward: a function of the inputs; for a `torch.autograd.Function` its body.
        backward: a function of the upstream gradient and the inputs; None for a `torch.autograd.Function`.
        function: the class.
        surrogate: what the gradient is meant to be of, if not of the forward.
    """

    name: str
    signature: Signature
    forward: Callable[..., Any]
    backward: Callable[..., Any] | None = None
    function: type[Function] | None = None
    surrogate: Callable[..., Any] | None = None
    module: torch.nn.Module | None = field(default=None, repr=False)

    @staticmethod
    def of(
        forward: Callable[..., Any] | type[Function],
        backward: Callable[..., Any] | None,
        gradient_of: Callable[..., Any] | None = None,
        name: str = "",
    ) -> Program:
        """The program of a pair, a module with a backward, or a `torch.autograd.Function`.

        Raises:
            AnnotationError: an annotation cannot be read.
        """
        if isinstance(forward, type) and issubclass(forward, Function):
            skips = not has_setup_context(forward)
            signature = Signature.of(forward.forward, name=name or forward.__name__, skip_context=skips)
            return Program(signature.name, signature, forward.forward, None, forward, gradient_of)
        if isinstance(forward, torch.nn.Module):
            signature = Signature.of(forward.forward, name=name or type(forward).__name__)
            return Program(signature.name, signature, forward, backward, None, gradient_of, forward)
        signature = Signature.of(forward, name=name)
        return Program(signature.name, signature, forward, backward, None, gradient_of)

    @property
    def upstream_name(self) -> str:
        """What the backward calls the upstream gradient."""
        name = next(iter(self._backward_parameters()), "grad")
        names = {leaf.name for leaf in self.signature.leaves}
        return name if name not in names else f"upstream {name}"

    def _backward_parameters(self) -> list[str]:
        if self.function is not None:
            declared = list(inspect.signature(getattr(self.function, backward_name(self.function))).parameters)[1:]
        else:
            declared = list(inspect.signature(self.backward).parameters) if self.backward else []
        return declared


def trace(program: Program, case: Case, *, with_intermediates: bool = True) -> Traced:
    """Run the program on symbolic inputs.

    Args:
        program: what to run.
        case: the inputs.
        with_intermediates: whether intermediate results become tensors of their own.

    Raises:
        Untraceable: it does not run on them.
    """
    return _Run(program, case, with_intermediates).traced()


class _Run:
    """One run of a program."""

    def __init__(self, program: Program, case: Case, with_intermediates: bool) -> None:
        self.program = program
        self.case = case
        self.detached = Detached()
        self.intermediates = Intermediates()
        self.with_intermediates = with_intermediates
        self.operations: set[str] = set()
        self.changed: list[str] = []
        self.taken: list[str] = []
        self.several = False  # whether the forward returns a tuple

    def traced(self) -> Traced:
        program = self.program
        with explained("forward"):
            outputs = self._outputs(program.surrogate or program.forward)
        with explained("backward"):
            returned = self._backward(outputs)
            # What the backward wrote to is no variable any more.
            inputs, upstreams = symbolic_inputs(program.signature, self.case), self._upstreams(outputs)
            gradients = self._by_input(inputs, returned)
        kept = [number for number, upstream in enumerate(upstreams) if upstream is not None]
        return Traced(
            tuple(outputs[number] for number in kept),
            tuple(upstream for upstream in upstreams if upstream is not None),
            inputs,
            gradients,
            tuple(dict.fromkeys(self.changed)),
            self.detached,
            frozenset(self.operations),
            tuple(self._upstream_name(number, len(outputs)) for number in kept),
            self.intermediates,
            tuple(dict.fromkeys(self.taken)),
        )

    def _outputs(self, function: Callable[..., Any]) -> tuple[Any, ...]:
        """The outputs whose derivative is meant."""
        program, inputs = self.program, symbolic_inputs(self.program.signature, self.case)
        watch = Watch(self.operations.add, self._finished, self.taken.append)
        replaced = {"detach": self.detached.detach, **self._functions()}
        with tracing(function, replaced=replaced, watch=watch), self._module():
            if program.function is not None and program.surrogate is None:
                returned, _ = self._run_function(inputs)
            else:
                returned = function(*inputs.values)
                self._note_changes(inputs)
            self.several = isinstance(returned, (tuple, list))
            return tuple(as_argument(each) for each in flat(returned))

    def _finished(self, name: str, found: Any) -> Any:
        """The result of an operation of the forward."""
        found = self.detached.under_no_grad(name, found)
        return self.intermediates.of_result(name, found) if self.with_intermediates else found

    def _finished_of_backward(self, name: str, found: Any) -> Any:
        return self.intermediates.of_result(name, found) if self.with_intermediates else found

    def _functions(self) -> dict[str, Any]:
        return self.intermediates.replaced() if self.with_intermediates else {}

    @contextmanager
    def _module(self) -> Iterator[None]:
        module = self.program.module
        if module is None:
            yield
            return
        with symbolic_parameters(module):
            yield

    def _backward(self, outputs: tuple[Any, ...]) -> Any:
        """What the backward returns; what it writes to is noted."""
        program = self.program
        inputs = symbolic_inputs(program.signature, self.case)
        upstreams = self._upstreams(outputs)
        self.intermediates.may_define = False
        watch = Watch(self.operations.add, self._finished_of_backward, self.taken.append)
        replaced = {"detach": _same, **self._functions()}
        if program.function is not None:
            backward = getattr(program.function, backward_name(program.function))
            with tracing(program.forward, backward, replaced=replaced, watch=watch):
                own, context = self._run_function(inputs)
                if not context.dirty:
                    self._note_changes(inputs)
                given = _given_to(context, flat(own), upstreams)
                saved = [(each, each.version) for each in context.kept]
                returned = backward(context, *given)
            if any(each.version != version for each, version in saved):
                self.changed.append("a saved tensor")
        else:
            backward = program.backward
            assert backward is not None
            with tracing(backward, program.forward, replaced=replaced, watch=watch), self._module():
                returned = backward(*_arguments(program, inputs, upstreams, self.several))
            self._note_changes(inputs)
        if any(upstream is not None and upstream.version for upstream in upstreams):
            self.changed.append(program.upstream_name)
        return returned

    def _run_function(self, inputs: Inputs) -> tuple[Any, TracedContext]:
        """Run the forward of a `torch.autograd.Function`, and what it stores."""
        function, names = self.program.function, [parameter.name for parameter in self.program.signature.parameters]
        assert function is not None
        needs = [name in inputs.differentiable and self.case.needed in ("", name) for name in names]
        context = TracedContext(tuple(needs))
        if has_setup_context(function):
            returned = function.forward(*inputs.values)
            function.setup_context(context, inputs.values, returned)
        else:
            returned = function.forward(context, *inputs.values)
        return returned, context

    def _note_changes(self, inputs: Inputs) -> None:
        self.changed += [name for name, each in inputs.tensors.items() if each.version]

    def _upstream_name(self, number: int, count: int) -> str:
        return f"{self.program.upstream_name}[{number}]" if count > 1 else self.program.upstream_name

    def _upstreams(self, outputs: tuple[Any, ...]) -> tuple[Tensor | None, ...]:
        return tuple(
            like(self._upstream_name(number, len(outputs)), output)
            if isinstance(output, Tensor) and output.kind in ("float", "complex")
            else None
            for number, output in enumerate(outputs)
        )

    def _by_input(self, inputs: Inputs, returned: Any) -> dict[str, Tensor | None]:
        """The returned gradients by the names of the inputs."""
        parameters = self.program.signature.parameters
        leaves = self.program.signature.leaves
        found = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        if len(found) == len(parameters):
            pairs = [
                pair
                for parameter, each in zip(parameters, found)
                for pair in zip(parameter.leaves, _members(each, len(parameter.leaves)))
            ]
        else:
            tensors = [leaf for leaf in leaves if leaf.name in inputs.tensors]
            floats = [leaf for leaf in leaves if leaf.name in inputs.differentiable]
            chosen = next((each for each in (leaves, tensors, floats) if len(each) == len(found)), None)
            if chosen is None:
                wanted = f"{len(leaves)} input{'s' * (len(leaves) != 1)}"
                raise Untraceable(
                    f"the backward returns {len(found)} gradients for {wanted}", part="backward", is_wrong=True
                )
            pairs = list(zip(chosen, found))
        by_name = {leaf.name: as_argument(each) for leaf, each in pairs}
        gradients: dict[str, Tensor | None] = {}
        for name in inputs.differentiable:
            if self.case.needed not in ("", name):
                continue
            each = by_name.get(name)
            if each is not None and not isinstance(each, Tensor):
                raise Untraceable(
                    f"the gradient of {name} is a {type(each).__name__}, not a tensor", part="backward", is_wrong=True
                )
            gradients[name] = each
        return gradients


def _same(operand: Tensor) -> Tensor:
    """What detaching is in a backward, whose own derivative is not asked for."""
    return operand


def _members(value: Any, count: int) -> list[Any]:
    """The gradients of the elements of a tuple; None stands for all of them."""
    if count == 1:
        return [value]
    return [None] * count if value is None else list(value)


def _given_to(context: TracedContext, outputs: tuple[Any, ...], upstreams: tuple[Tensor | None, ...]) -> list[Any]:
    """What autograd gives to the backward: zeros, or None, for outputs without a gradient."""
    given: list[Any] = []
    for output, upstream in zip(outputs, upstreams):
        without = upstream is None or any(output is each for each in context.without_gradient)
        if not without:
            given.append(upstream)
        elif context.materializes and isinstance(output, Tensor):
            given.append(output * 0.0)
        else:
            given.append(None)
    return given


def _arguments(program: Program, inputs: Inputs, upstreams: tuple[Tensor | None, ...], several: bool) -> list[object]:
    """The upstream gradients, as one tuple or one by one, then the inputs that the backward asks for."""
    assert program.backward is not None
    declared = list(inspect.signature(program.backward).parameters.values())
    wanted = [each for each in declared if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    first: list[object] = [upstreams] if several else [upstreams[0]]
    values = inputs.values
    if any(each.kind is each.VAR_POSITIONAL for each in declared) or len(wanted) == 1 + len(values):
        return [*first, *values]
    if several and len(wanted) == len(upstreams) + len(values):
        return [*upstreams, *values]
    by_name = dict(zip((parameter.name for parameter in program.signature.parameters), values))
    rest = [each for each in wanted[1:] if each.name in by_name or each.default is each.empty]
    if all(each.name in by_name for each in rest):
        return [*first, *(by_name[each.name] for each in rest)]
    names = ", ".join(by_name)
    raise Untraceable(
        f"the backward takes {', '.join(each.name for each in wanted)}: write backward({wanted[0].name}, {names})",
        part="backward",
    )


def flat(value: Any) -> tuple[Any, ...]:
    """What a function returned, as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)
