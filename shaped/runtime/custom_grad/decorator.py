"""`custom_grad`: an op with a backward of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

import torch
from torch.autograd import forward_ad as _forward_mode

from shaped.runtime.custom_grad import autocast, operator
from shaped.runtime.custom_grad.backward_call import BackwardCall
from shaped.runtime.custom_grad.definition import Definition
from shaped.runtime.custom_grad.function import eager_function, functorch_function

P = ParamSpec("P")
R = TypeVar("R")
B = TypeVar("B", bound=Callable[..., Any])


class CustomGrad(Generic[P, R]):
    """A function with its own backward: what `custom_grad` makes of a forward.

    It is called as the function is. `op.backward` takes its backward. It is pickled and copied by its name, as
    functions are.
    """

    def __init__(
        self, forward: Callable[P, R], *, name: str | None = None, gradient_of: Callable[..., Any] | None = None
    ) -> None:
        if gradient_of is not None and not callable(gradient_of):
            raise TypeError(f"gradient_of is {gradient_of!r}, no function: pass one of the same inputs")
        functools.update_wrapper(self, forward)
        self._definition = Definition(forward, gradient_of)
        self._count = len(self._definition.signature.parameters)
        self._layouts = self._definition.layouts
        self._name = operator.name_of(forward, name)
        self._eager = eager_function(self._definition)
        self._functorch = functorch_function(self._definition)
        self._registered: Any = operator.register(self._name, self._definition)
        self._overload: Any = self._registered._opoverload
        before = operator.take(self._name, self)
        if before is not None:
            before._overload = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the forward returns, with the backward as its gradient."""
        values: Any = args
        if kwargs or len(args) != self._count:
            values = self._definition.signature.bound(args, kwargs)
        result: R
        if torch.compiler.is_compiling():
            result = self._in_graph(values)
            return result
        layout = self._layouts.of(values)
        flat = layout.flat(values)
        if torch.overrides.has_torch_function(flat) and _has_stand_ins(flat):
            result = self._definition.forward(*values)
            return result
        if not torch.is_grad_enabled() and _forward_mode._current_level < 0:
            result = self._definition.run(layout, flat)
            return result
        function = self._functorch if torch._C._are_functorch_transforms_active() else self._eager
        result = function.apply(layout, *flat)  # type: ignore[no-untyped-call]  # as torch declares it
        return result

    def _in_graph(self, values: tuple[Any, ...]) -> Any:
        """The call as a node of a graph."""
        if self._overload is None:
            raise RuntimeError(
                f"{self._definition.name} was defined again, and graphs hold the later one: import it again, or call "
                "this one outside of torch.compile and torch.export"
            )
        device = autocast.device_of(values)
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
        result = self._overload(*values, dtype)
        return (result,) if self._definition.signature.is_single_tuple else result

    def backward(self, function: B, /) -> B:
        """Take the backward; decorates it, and gives it back as it is.

        Args:
            function: of the upstream gradient, or a tuple of them for an op that returns one, and the inputs; it
                returns one gradient for each input, None for those without.

        Raises:
            TypeError: it does not take these.
            ValueError: there is a backward already, and this is another one.
        """
        definition = self._definition
        taken = BackwardCall(function, definition.signature)
        if definition.backward is not None and not _is_run_again(definition.backward.function, function):
            raise ValueError(
                f"{definition.name} has a backward already, {_described(definition.backward.function)}: "
                f"{_described(function)} would be a second one"
            )
        definition.backward = taken
        return function

    @property
    def forward(self) -> Callable[P, R]:
        """The function that was decorated."""
        return self._definition.forward

    @property
    def backward_function(self) -> Callable[..., Any] | None:
        """The backward, None if there is none yet."""
        return None if self._definition.backward is None else self._definition.backward.function

    @property
    def gradient_of(self) -> Callable[..., Any] | None:
        """The function whose gradient is meant, None if it is the forward's."""
        return self._definition.gradient_of

    @property
    def operator(self) -> torch._ops.OpOverload:
        """The op as torch's dispatcher and graphs have it."""
        overload: torch._ops.OpOverload = self._registered._opoverload
        return overload

    def __repr__(self) -> str:
        return f"<custom_grad {self._definition.name}, {self._name}>"

    def __reduce__(self) -> str:
        return str(self.__qualname__)  # type: ignore[attr-defined]  # set by update_wrapper


@overload
def custom_grad(forward: Callable[P, R], /) -> CustomGrad[P, R]: ...


@overload
def custom_grad(
    *, name: str | None = None, gradient_of: Callable[..., Any] | None = None
) -> Callable[[Callable[P, R]], CustomGrad[P, R]]: ...


def custom_grad(
    forward: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    gradient_of: Callable[..., Any] | None = None,
) -> Any:
    """Give a function of tensors a backward of its own.

    Eager code runs it as an autograd Function; `torch.compile` and `torch.export` keep it as one node of the graph, an
    op of `torch.library`. The gradient may be differentiated again: the second derivative is that of the backward as
    it is written.

    Args:
        forward: plain torch code with annotated parameters: tensors, numbers, texts, dtypes, None, lists of these. It
            returns one new tensor, or a tuple of them.
        name: the op's name in graphs, `"mylib::swish"`; else made of the module's and the function's.
        gradient_of: the function whose gradient is meant, if it is not the forward's: that of the identity, for a
            straight-through estimator.

    Returns:
        The op. Decorate its backward with `op.backward`.

    Raises:
        AnnotationError: an annotation is missing, or is nothing that an op can take.
        CustomGradError: when it runs: an input was written to or returned; a gradient of another number, shape, dtype
            or device; None where the gradient is not zero. It is named.

    >>> import torch
    >>> from jaxtyping import Float
    >>> from torch import Tensor
    >>> @custom_grad
    ... def cube(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    ...     return x**3
    >>> @cube.backward
    ... def cube_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    ...     return grad * 3 * x**2
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> cube(x).sum().backward()
    >>> x.grad
    tensor([12.])
    """
    if forward is None:
        return functools.partial(CustomGrad, name=name, gradient_of=gradient_of)
    return CustomGrad(forward)


def _has_stand_ins(flat: tuple[Any, ...]) -> bool:
    """Whether a value takes part in torch's functions without being a tensor, as the symbols of a proof do."""
    return any(
        hasattr(type(value), "__torch_function__") and not issubclass(type(value), torch.Tensor) for value in flat
    )


def _is_run_again(before: Any, now: Any) -> bool:
    """Whether a function is another run of the same definition: the same name, and not a second one in the file."""
    if (before.__module__, before.__qualname__) != (now.__module__, now.__qualname__):
        return False
    was, code = getattr(before, "__code__", None), getattr(now, "__code__", None)
    if was is None or code is None:
        return False
    return bool(was.co_filename != code.co_filename or was.co_firstlineno == code.co_firstlineno)


def _described(function: Any) -> str:
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", repr(function))
    return f"{name} (line {code.co_firstlineno} of {code.co_filename.rpartition('/')[2]})" if code else name
