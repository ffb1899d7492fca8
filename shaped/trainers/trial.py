"""A loss tried out on tensors without data: wrong shapes are found when a trainer is made, and are told by name.

torch's own errors say sizes; here the operation that failed is told with its operands, those that are parameters or
inputs by their names.
"""

from __future__ import annotations

import itertools
import logging
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode

from shaped.errors import DtypeError, Fault, ShapeError
from shaped.runtime.tlist import TList
from shaped.spec.annotation import AnonymousPack, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Computed
from shaped.spec.dims import Dim
from shaped.trainers.losses import require_scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from shaped.spec.annotation import AnnotatedAxis
    from shaped.spec.binding import Bindings
    from shaped.trainers.declared import Declared
    from shaped.trainers.inputs import InputsOfTrainer
    from shaped.trainers.losses import Loss

# For names of axes that nothing fixes: few and many, odd and even, and some that images and texts often have.
_SIZES = (2, 1, 3, 4, 8, 16, 32, 64, 224)
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)
# What is wrong whatever the numbers in the tensors are.
_CERTAIN = (Fault, TypeError, AttributeError, NameError)


class Operations(TorchFunctionMode):
    """Notes the operation of torch that fails, and the names of its operands."""

    def __init__(self, names: Mapping[int, str]) -> None:
        super().__init__()
        self.names = names
        self.count = 0
        self.failed: tuple[str, str, Exception] | None = None

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.count += 1
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            if self.failed is None:
                operands = [self._operand(each) for each in (*args, *(kwargs or {}).values())]
                told = ", ".join(operand for operand in operands if operand)
                self.failed = (getattr(func, "__name__", str(func)).strip("_"), told, error)
            raise

    def _operand(self, value: object) -> str:
        if isinstance(value, (list, tuple)):
            return ", ".join(operand for each in value if (operand := self._operand(each)))
        if not isinstance(value, Tensor):
            return ""
        shape = f"({', '.join(map(str, value.shape))}{',' * (value.ndim == 1)})"
        name = self.names.get(id(value))
        return f"{name} {shape}" if name else shape


class Trial:
    """A loss that is tried out on tensors without data.

    Args:
        loss: the loss.
        params: the parameters.
        is_trained: which of them are trained.
        declared: what is said of the parameters, and of the inputs.
    """

    def __init__(
        self,
        loss: Loss,
        params: Sequence[Tensor],
        is_trained: Sequence[bool],
        declared: tuple[Sequence[Declared], InputsOfTrainer],
    ) -> None:
        self.loss = loss
        self.params = params
        self.is_trained = is_trained
        self.declared, self.inputs = declared

    def run(self) -> tuple[int, ...]:
        """Compute the loss and its gradients for the declared shapes.

        A name of an axis of an input that no parameter fixes may be any size: several are tried, and it is an error
        only if the same operation fails for all of them. A loss that asks for values of its inputs cannot be tried out,
        and nothing is said of it.

        Returns:
            The places of the trained parameters that the loss does not depend on, among those that are trained.

        Raises:
            Fault: the loss fails for all tensors of these shapes, or is no scalar.
        """
        failures: list[tuple[_Failure, list[Tensor]]] = []
        for sizes in _choices(self.inputs.declared, self.params, self.inputs.bindings):
            given = self._zeros(sizes)
            if given is None:
                continue
            outcome = self._attempt(given, is_fake=True)
            if not isinstance(outcome, _Failure):
                return outcome
            if outcome.error is None:
                return ()
            failures.append((outcome, given))
        if not failures or len({failure.operation for failure, _ in failures}) > 1:
            return ()
        failure, given = failures[0]
        with torch.random.fork_rng(devices=[]):
            # Tensors without data may refuse what those with data do not.
            if isinstance(
                self._attempt([torch.zeros_like(each, device=self.inputs.device) for each in given], is_fake=False),
                _Failure,
            ):
                assert failure.error is not None
                raise failure.error
        return ()

    def explain(self, error: Exception, lists: tuple[Sequence[Tensor], Sequence[Tensor]]) -> None:
        """Raise an error that names the operation and its operands, if the shapes or dtypes of a call are the reason.

        Raises:
            Fault: they are.
        """
        if isinstance(error, Fault):
            return
        outcome = self._attempt(
            [torch.empty_like(each, device="meta") for each in (*lists[0], *lists[1])], is_fake=True
        )
        if isinstance(outcome, _Failure) and isinstance(outcome.error, Fault):
            raise outcome.error from error

    def _zeros(self, sizes: Mapping[str, int]) -> list[Tensor] | None:
        """Inputs without data, for chosen sizes of names; None if these give no size for some axis."""
        given = []
        for place, each in enumerate(self.inputs.declared):
            shape = _shape(each, sizes)
            if shape is None:
                return None
            dtype = self.inputs.dtype if place < self.inputs.count else _integer_dtype(each)
            given.append(torch.empty(shape, dtype=dtype, device="meta"))
        return given

    def _attempt(self, given: Sequence[Tensor], *, is_fake: bool) -> tuple[int, ...] | _Failure:
        """Run the loss and back once, on copies."""
        mode = FakeTensorMode(allow_non_fake_inputs=True) if is_fake else nullcontext()
        with _silent(), torch.inference_mode(False), torch.enable_grad(), mode:
            own = [
                torch.empty(param.shape, dtype=param.dtype, device=param.device) if is_fake else param.detach().clone()
                for param in self.params
            ]
            for param, is_one in zip(own, self.is_trained):
                param.requires_grad_(is_one)
            device = self.inputs.device
            tensors = [torch.empty(each.shape, dtype=each.dtype, device=device) if is_fake else each for each in given]
            declared = (*self.declared, *self.inputs.declared)
            operations = Operations({id(tensor): each.called for tensor, each in zip((*own, *tensors), declared)})
            count = self.inputs.count
            try:
                with operations:
                    loss = require_scalar(self.loss.of(own, TList(*tensors[:count]), TList(*tensors[count:])))
            except Exception as error:
                return _Failure(operations.count, _told(error, operations))
            trained = [param for param, is_one in zip(own, self.is_trained) if is_one]
            if not loss.requires_grad or not trained:
                return tuple(range(len(trained)))
            try:
                gradients: Sequence[Tensor | None] = torch.autograd.grad(loss, trained, allow_unused=True)
            except Exception:  # what has no backward says so itself when it is called
                return ()
            return tuple(place for place, gradient in enumerate(gradients) if gradient is None)


@contextmanager
def _silent() -> Iterator[None]:
    """Without warnings of the loss, and without what torch logs of an operation that fails on tensors without data."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    was_disabled, log.disabled = log.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.disabled = was_disabled


@dataclass(frozen=True)
class _Failure:
    """A loss that failed: at which operation, and the error if it would be one for other numbers too."""

    operation: int
    error: Exception | None


def _told(error: Exception, operations: Operations) -> Exception | None:
    """An error that names the operation and its operands; None if other numbers in the tensors might make none."""
    if isinstance(error, _CERTAIN):
        is_of_torch = operations.failed is not None and operations.failed[2] is error and not isinstance(error, Fault)
        return error if not is_of_torch else _by_name(error, operations)
    if operations.failed is None or operations.failed[2] is not error or _asks_for_values(error):
        return None
    return _by_name(error, operations)


def _by_name(error: Exception, operations: Operations) -> Fault:
    assert operations.failed is not None
    name, operands, _ = operations.failed
    text = str(error).strip().split("\n", 1)[0]
    kind = DtypeError if "dtype" in text or "scalar type" in text else ShapeError
    return kind(f"{name} in the loss", text, operands)


def _asks_for_values(error: Exception) -> bool:
    """Whether a tensor without data was asked for a value, or does not know the operation."""
    from torch._subclasses.fake_tensor import (
        DataDependentOutputException,
        DynamicOutputShapeException,
        UnsupportedFakeTensorException,
    )

    kinds = (
        DataDependentOutputException,
        DynamicOutputShapeException,
        UnsupportedFakeTensorException,
        NotImplementedError,
    )
    return isinstance(error, kinds) or "GuardOnDataDependent" in type(error).__name__


def _integer_dtype(declared: Declared) -> torch.dtype:
    names = declared.annotation.dtype.names
    name = next((each for each in ("int64", "int32", "uint8", "bool") if each in names), None)
    return getattr(torch, name or min(names))  # type: ignore[no-any-return]  # a dtype by its name


def _choices(declared: Sequence[Declared], params: Sequence[Tensor], bindings: Bindings) -> Iterator[dict[str, int]]:
    """Sizes for all names of axes that are not bound, in several ways; once if there are none."""
    fixed = {name: dim.constant for name, dim in bindings.dims.items() if dim.constant is not None}
    free = sorted({name for each in declared for axis in each.annotation.axes for name in _names(axis)} - set(fixed))
    has_unnamed = any(not isinstance(axis, Fixed) for each in declared for axis in each.annotation.axes)
    if not free and not has_unnamed:
        yield fixed
        return
    constants = {size for param in params for size in param.shape}
    constants |= {axis.size for each in declared for axis in each.annotation.axes if isinstance(axis, Fixed)}
    for size in dict.fromkeys((*_SIZES, *sorted(constants))):
        yield {**dict.fromkeys(free, size), **fixed, "": size}
    yield {**dict(zip(free, itertools.cycle(_PRIMES))), **fixed, "": 29}


def _names(axis: AnnotatedAxis) -> tuple[str, ...]:
    if isinstance(axis, Computed):
        return tuple(axis.names)
    return (axis.name,) if isinstance(axis, (Named, NamedPack)) else ()


def _shape(declared: Declared, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
    """The shape of an input for chosen sizes, one axis for what may be several; None if there is none."""
    shape: list[int] = []
    for axis in declared.annotation.axes:
        if isinstance(axis, Fixed):
            shape.append(axis.size)
        elif isinstance(axis, (Named, NamedPack)):
            shape.append(sizes[axis.name])
        elif isinstance(axis, Computed):
            size = axis.size({name: Dim.of(value) for name, value in sizes.items() if name}, None)
            if size is None or size.constant is None or size.constant < 0:
                return None
            shape.append(size.constant)
        elif not isinstance(axis, AnonymousPack):
            shape.append(sizes[""])
    return tuple(shape)
