"""What is checked: a function of floating tensors, made from a function or a module and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from shaped.verify.exact.aten.registry import UnsupportedError
from shaped.verify.exact.samples import normal_like
from shaped.verify.exact.trace import Function, differentiable, floating, joint


@dataclass(frozen=True)
class Problem:
    """A function of floating tensors.

    Args:
        function: of the floating inputs.
        backward: written by hand, giving the gradients of them; None for autograd.
        inputs: the floating inputs.
        names: how a message calls them.
        subject: how it calls the function.
    """

    function: Function
    backward: Function | None
    inputs: tuple[Tensor, ...]
    names: tuple[str, ...]
    subject: str

    def results(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The results whose gradient is checked."""
        if self.backward is not None:
            with torch.no_grad():
                return floating(self.function(*inputs))
        leaves = [one.detach().requires_grad_() for one in inputs]
        with torch.enable_grad():
            return [one.detach() for one in differentiable(self.function(*leaves))]

    @property
    def both(self) -> Callable[[Sequence[Tensor], Sequence[Tensor]], list[Any]]:
        """The results and the gradients, of the upstream gradients and the inputs."""
        return joint(self.function, self.backward)


def problem_of(fn: Any, inputs: Sequence[Any], backward: Any) -> Problem:
    """Sort the arguments of a function: what is differentiated, and what is held fixed.

    Args:
        fn: a function or a module.
        inputs: its arguments.
        backward: written by hand, or None.
    """
    for position, one in enumerate(inputs):
        if isinstance(one, Tensor) and one.layout != torch.strided:
            raise UnsupportedError(f"input {position} is sparse")
    places = [k for k, one in enumerate(inputs) if isinstance(one, Tensor) and is_continuous(one)]

    def filled(tensors: Sequence[Tensor]) -> list[Any]:
        arguments = list(inputs)
        for place, tensor in zip(places, tensors):
            arguments[place] = torch.view_as_complex(tensor) if inputs[place].is_complex() else tensor
        return arguments

    def hand_written(upstream: Any, *tensors: Tensor) -> list[Any]:
        upstreams = [upstream] if isinstance(upstream, Tensor) else list(upstream)
        results = [one for one in tree_leaves(fn(*inputs)) if isinstance(one, Tensor) and is_continuous(one)]
        parts = [torch.view_as_complex(one) if of.is_complex() else one for one, of in zip(upstreams, results)]
        given = backward(parts[0] if isinstance(upstream, Tensor) else tuple(parts), *filled(tensors))
        gradients = [given] if given is None or isinstance(given, Tensor) else list(given)
        # As autograd allows: None for what a Function takes besides.
        while len(gradients) > len(inputs) and gradients[-1] is None:
            gradients.pop()
        if len(gradients) != len(inputs):
            raise ValueError(
                f"backward returned {len(gradients)} gradients for {len(inputs)} inputs; "
                "return one for each input, None for what is held fixed"
            )
        return [_as_parts(gradients[place], inputs[place]) for place in places]

    values = [_as_parts(inputs[place].detach(), inputs[place]) for place in places]
    names = ["input" if len(inputs) == 1 else f"inputs[{place}]" for place in places]
    if not isinstance(fn, nn.Module):
        written = None if backward is None else hand_written
        return Problem(lambda *tensors: fn(*filled(tensors)), written, tuple(values), tuple(names), name_of(fn))
    if backward is not None:
        raise ValueError("exact_gradcheck: a module's backward is autograd's; pass a function to check one by hand")
    module = fn
    parameters = {name: one for name, one in module.named_parameters() if one.requires_grad}
    buffers = dict(module.named_buffers())

    def of_module(*tensors: Tensor) -> Any:
        state = dict(zip(parameters, tensors[len(places) :]))
        # Copies: a forward may write to its buffers.
        copies = {name: buffer.clone() for name, buffer in buffers.items()}
        return torch.func.functional_call(module, {**state, **copies}, tuple(filled(tensors[: len(places)])))

    values += [one.detach() for one in parameters.values()]
    names += list(parameters)
    return Problem(of_module, None, tuple(values), tuple(names), name_of(fn))


def is_continuous(value: Tensor) -> bool:
    """Whether a tensor has derivatives: it is floating or complex."""
    return value.is_floating_point() or value.is_complex()


def _as_parts(value: Any, like: Tensor) -> Any:
    """A complex tensor as its real and imaginary parts, along a last dim of size 2."""
    if not like.is_complex() or not isinstance(value, Tensor):
        return value
    return torch.view_as_real(value.to(like.dtype).resolve_conj())


def name_of(fn: Any) -> str:
    """How a message calls a function."""
    return getattr(fn, "__name__", None) or type(fn).__name__


def second(problem: Problem, generator: torch.Generator) -> Problem:
    """The backward of a problem as a function of the upstream gradients and the inputs.

    Args:
        problem: whose backward is autograd's.
        generator: draws upstream gradients.
    """
    results = problem.results(problem.inputs)
    count = len(results)

    def gradients(*tensors: Tensor) -> list[Tensor]:
        upstreams, inputs = tensors[:count], tensors[count:]
        derived = differentiable(problem.function(*inputs))
        wanted = [one for one in inputs if one.requires_grad]
        if not wanted:
            wanted = [one.detach().requires_grad_() for one in inputs]
            derived = differentiable(problem.function(*wanted))
        with torch.enable_grad():
            found = torch.autograd.grad(derived, wanted, list(upstreams), allow_unused=True, create_graph=True)
        # torch annotates `found` without None, which unused inputs have.
        return list(filter(lambda one: one is not None, found))

    names = tuple(f"upstream[{k}]" for k in range(count)) + problem.names
    upstreams = [normal_like(one, generator) for one in results]
    return Problem(gradients, None, (*upstreams, *problem.inputs), names, f"the backward of {problem.subject}")
