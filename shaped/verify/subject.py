"""One way to run "forward and backward" at concrete inputs, whatever the user gave.

A subject is a pair of functions, `forward(*inputs)` and `backward(upstream, *inputs)`, or a `torch.autograd.Function`.
Its gradients are compared with those of a reference: autograd through the plain code of the forward, or through a
declared surrogate (`gradient_of`), as for straight-through estimators.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.leaves import copied, differentiable, leaves, pull_back
from shaped.verify.recording import Watched, backward_name, has_setup_context, run_body, same, writes_to_inputs
from shaped.verify.signature import Parameter, Signature

if TYPE_CHECKING:
    from collections.abc import Callable

Inputs = tuple[object, ...]
Tensors = tuple["Tensor | None", ...]


@dataclass
class SubjectError(Exception):
    """A subject that cannot be run: what is wrong with it, and what to pass instead."""

    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Outcome:
    """One run of forward and backward.

    Args:
        outputs: what the forward returned, each tuple as its elements.
        gradients: one for each input, in the order of the forward's parameters; None where none was returned.
        returned: the gradients before autograd sums or converts them (for a pair, the same).
        changed: what was written to in place, by name.
    """

    outputs: tuple[object, ...]
    gradients: Tensors
    returned: tuple[object, ...]
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """A forward with its hand-written backward.

    >>> import torch
    >>> from jaxtyping import Float
    >>> from torch import Tensor
    >>> def square(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    ...     return x * x
    >>> def square_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    ...     return (2 * grad * x,)
    >>> subject = Subject.of(square, square_backward)
    >>> x = (torch.tensor([3.0]),)
    >>> subject.run(x, (torch.ones(1),)).gradients, subject.reference(x, (torch.ones(1),))
    ((tensor([6.]),), (tensor([6.]),))
    """

    name: str
    signature: Signature
    forward: Callable[..., object] | None = None
    backward: Callable[..., object] | None = None
    function: type[torch.autograd.Function] | None = None
    surrogate: Callable[..., object] | None = None
    backward_parameters: tuple[inspect.Parameter, ...] = field(default=(), repr=False)

    @staticmethod
    def of(
        forward: Callable[..., object] | type[torch.autograd.Function],
        backward: Callable[..., object] | None = None,
        *,
        gradient_of: Callable[..., object] | None = None,
        name: str = "",
    ) -> Subject:
        """The subject of a pair, or of a `torch.autograd.Function`.

        Args:
            forward: a function of the inputs, or the class.
            backward: a function of the upstream gradient (a tuple of them for several outputs), then of the inputs;
                it returns one gradient for each input. None where `forward` is the class.
            gradient_of: a function of the same inputs whose gradient is meant, if that is not `forward`.
            name: the name for messages.

        Raises:
            SubjectError: these are no forward and backward.
            AnnotationError: an annotation cannot be read.
        """
        if gradient_of is not None and not callable(gradient_of):
            raise SubjectError(f"gradient_of is {gradient_of!r}, no function: pass one of the same inputs")
        if isinstance(forward, type) and issubclass(forward, torch.autograd.Function):
            if backward is not None:
                raise SubjectError(f"{forward.__name__} has its own backward: pass the class alone")
            signature = Signature.of(
                forward.forward, name=name or forward.__name__, skip_context=not has_setup_context(forward)
            )
            declared = inspect.signature(getattr(forward, backward_name(forward))).parameters.values()
            return Subject(
                signature.name,
                signature,
                function=forward,
                surrogate=gradient_of,
                backward_parameters=tuple(declared)[1:],
            )
        if not callable(forward):
            raise SubjectError(f"{forward!r} is no function: pass a forward, or a torch.autograd.Function class")
        signature = Signature.of(forward, name=name)
        if backward is None:
            raise SubjectError(f"{signature.name} has no backward: pass backward(upstream, *inputs) as well")
        if not callable(backward):
            raise SubjectError(
                f"the backward of {signature.name}, {backward!r}, is no function: pass backward(upstream, *inputs)"
                " before the inputs"
            )
        return Subject(
            signature.name,
            signature,
            forward,
            backward,
            surrogate=gradient_of,
            backward_parameters=tuple(inspect.signature(backward).parameters.values()),
        )

    @staticmethod
    def without_backward(forward: Callable[..., object], *, name: str = "") -> Subject:
        """A forward alone, to draw inputs for it; it cannot be `run`."""
        return Subject(name or Signature.of(forward).name, Signature.of(forward), forward)

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """The parameters of the forward."""
        return self.signature.parameters

    @property
    def upstream_name(self) -> str:
        """What the backward calls the upstream gradient."""
        return self.backward_parameters[0].name if self.backward_parameters else "grad"

    def named_upstream(self, upstream: Tensors) -> dict[str, object]:
        """The upstream gradients as the backward takes them: by its parameters, or as one tuple."""
        if len(upstream) == 1:
            return {self.upstream_name: upstream[0]}
        if self.function is not None and len(self.backward_parameters) == len(upstream):
            return dict(zip((parameter.name for parameter in self.backward_parameters), upstream))
        return {self.upstream_name: tuple(upstream)}

    @property
    def functions(self) -> tuple[Callable[..., object], ...]:
        """The code of the user: forward and backward, and the surrogate if there is one."""
        parts = [self.forward, self.backward, self.surrogate]
        if self.function is not None:
            parts += [self.function.forward, getattr(self.function, backward_name(self.function))]
        return tuple(part for part in parts if part is not None)

    def outputs(self, inputs: Inputs) -> tuple[object, ...]:
        """What the forward returns, each tuple as its elements; without a graph, on copies of the inputs."""
        with torch.no_grad():
            return flat(self._plain(copied(inputs)))

    def run(self, inputs: Inputs, upstream: Tensors) -> Outcome:
        """Forward and backward as the user wrote them, on copies of the inputs.

        Args:
            inputs: one value for each parameter of the forward.
            upstream: one gradient for each output, None for an output of integers.
        """
        if self.function is not None:
            return self._run_function(inputs, upstream)
        return self._run_pair(inputs, upstream)

    def _run_pair(self, inputs: Inputs, upstream: Tensors) -> Outcome:
        assert self.forward is not None
        assert self.backward is not None
        own, own_upstream = copied(inputs), copied(upstream)
        seed()
        outputs = self.forward(*own)
        changed = self._changed(own, inputs, own_upstream, upstream)
        several = isinstance(outputs, (tuple, list))
        own = copied(inputs)
        seed()
        returned = self.backward(*self._backward_arguments(own, own_upstream, several))
        changed += self._changed(own, inputs, own_upstream, upstream)
        if isinstance(returned, Tensor) and sum(isinstance(value, Tensor) for value in inputs) == 1:
            returned = (returned,)
        found = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
        return Outcome(flat(outputs), self._by_input(found, inputs), found, tuple(dict.fromkeys(changed)))

    def _backward_arguments(self, inputs: Inputs, upstream: Tensors, several: bool) -> list[object]:
        """The upstream gradients, as one tuple or one by one, then the inputs that the backward asks for."""
        declared = self.backward_parameters
        wanted = [p for p in declared if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        first: list[object] = [tuple(upstream)] if several else [upstream[0]]
        if any(p.kind is p.VAR_POSITIONAL for p in declared) or len(wanted) == 1 + len(inputs):
            return [*first, *inputs]
        if several and len(wanted) == len(upstream) + len(inputs):
            return [*upstream, *inputs]
        by_name = dict(zip((parameter.name for parameter in self.inputs), inputs))
        rest = [p for p in wanted[1:] if p.name in by_name or p.default is p.empty]
        if all(p.name in by_name for p in rest):
            return [*first, *(by_name[p.name] for p in rest)]
        names = ", ".join(by_name)
        raise SubjectError(
            f"the backward of {self.name} takes {', '.join(p.name for p in wanted)}: "
            f"write backward({self.upstream_name}, {names})"
        )

    def _by_input(self, returned: tuple[object, ...], inputs: Inputs) -> Tensors:
        """The gradients in the order of the inputs, None where there is none."""
        places = self.places_of_gradients(len(returned), inputs) or range(len(returned))
        by_place = {i: value for i, value in zip(places, returned) if isinstance(value, Tensor)}
        return tuple(by_place.get(i) for i in range(len(inputs)))

    def places_of_gradients(self, count: int, inputs: Inputs) -> tuple[int, ...] | None:
        """The inputs that `count` gradients belong to: all, those that may be tensors, or those that are.

        None if there are more or fewer.
        """
        every = range(len(inputs))
        tensors = [i for i in every if isinstance(inputs[i], Tensor)]
        annotated = [i for i in every if self.inputs[i].annotation is not None or i in tensors]
        return next((tuple(places) for places in (every, annotated, tensors) if len(places) == count), None)

    def _run_function(self, inputs: Inputs, upstream: Tensors) -> Outcome:
        assert self.function is not None
        own, own_upstream = leaves(inputs), copied(upstream)
        watched = Watched(self.function)
        seed()
        # A forward may write to its inputs, which leaves do not allow.
        passed = tuple(value.clone() if isinstance(value, Tensor) else value for value in own)
        outputs = flat(watched.apply(*passed))
        found = pull_back(outputs, own, own_upstream, differentiable(own))
        changed = self._changed(passed, inputs, own_upstream, upstream)
        if changed and writes_to_inputs(self.function, copied(inputs)):
            changed = [name for name in changed if name == self.upstream_name]
        if "upstream" in watched.handed.changed and not changed:
            changed.append(self.upstream_name)
        if "a saved tensor" in watched.handed.changed:
            changed.append("a saved tensor")
        return Outcome(outputs, found, watched.handed.returned, tuple(dict.fromkeys(changed)))

    def _changed(self, own: Inputs, inputs: Inputs, own_upstream: Tensors, upstream: Tensors) -> list[str]:
        names = [p.name for p in self.inputs if p.name] + [self.upstream_name] * len(upstream)
        pairs = zip(names, (*own, *own_upstream), (*inputs, *upstream))
        return [name for name, now, before in pairs if not same(now, before)]

    def apply(self, inputs: Inputs, *, copies: bool = True) -> tuple[object, ...]:
        """The outputs of a `torch.autograd.Function` as autograd knows them; each tuple as its elements.

        A forward may write to its inputs, which leaves do not allow: it gets copies of them.
        """
        assert self.function is not None
        call: Callable[..., object] = getattr(self.function, "apply")  # noqa: B009  # untyped in torch
        seed()
        return flat(call(*(value.clone() if copies and isinstance(value, Tensor) else value for value in inputs)))

    def reference(self, inputs: Inputs, upstream: Tensors, *, create_graph: bool = False) -> Tensors:
        """The gradients that are meant: autograd through the plain code of the forward, or of the surrogate.

        Zeros where nothing depends on an input; None for inputs without a gradient.
        """
        own = leaves(inputs) if not create_graph else inputs
        # A forward may write to its inputs, which leaves do not allow.
        outputs = flat(self._meant(tuple(v.clone() if isinstance(v, Tensor) else v for v in own)))
        return pull_back(outputs, own, upstream, differentiable(own), create_graph=create_graph, zeros=True)

    def value(self, inputs: Inputs, upstream: Tensors) -> float:
        """`sum(upstream * outputs)`, whose gradient is meant; its real part for complex outputs."""
        with torch.no_grad():
            outputs = flat(self._meant(copied(inputs)))
            total = 0.0
            for output, weight in zip(outputs, upstream):
                if isinstance(output, Tensor) and weight is not None:
                    total += float((weight.conj() * output).sum().real)
        return total

    def _plain(self, inputs: Inputs) -> object:
        seed()
        if self.function is not None:
            return run_body(self.function, inputs)
        assert self.forward is not None
        return self.forward(*inputs)

    def _meant(self, inputs: Inputs) -> object:
        if self.surrogate is None:
            return self._plain(inputs)
        seed()
        return self.surrogate(*inputs)


def flat(outputs: object) -> tuple[object, ...]:
    """What a function returned, as a tuple."""
    return tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)


def seed() -> None:
    """Draw the same random numbers in each run, so that a dropout drops the same elements."""
    torch.default_generator.manual_seed(0)
