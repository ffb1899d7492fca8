"""A loss tried out on tensors without data: wrong shapes are found when a trainer is made, and are told by name.

torch's own errors say sizes; here the operation that failed is told with its operands, those that are parameters or
inputs by their names.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
    UnsupportedFakeTensorException,
)

from shaped.errors import Fault
from shaped.runtime.tlist import TList
from shaped.trainers.losses import require_scalar
from shaped.trainers.operations import Operations
from shaped.trainers.trial_shapes import choices, integer_dtype, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shaped.trainers.declared import Declared
    from shaped.trainers.inputs import InputsOfTrainer
    from shaped.trainers.losses import Loss

# A tensor without data was asked for a value, or does not know an operation.
_ASKS_FOR_VALUES = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    NotImplementedError,
)


@dataclass(frozen=True)
class Learned:
    """What trying out a loss told.

    Args:
        unused: the places of the parameters that the loss does not depend on, among those that are trained.
        is_closed: whether the loss depends on no tensor that requires a gradient but the trained parameters.
        needs_tape: whether it has to be recorded for its value too, as a loss that takes gradients itself.
    """

    unused: tuple[int, ...] = ()
    is_closed: bool = False
    needs_tape: bool = True


@dataclass(frozen=True)
class _Failure:
    """A loss that failed.

    Args:
        operations: what it called until then.
        error: why it failed.
        is_known: whether it fails for all numbers in tensors of these shapes.
    """

    operations: Operations
    error: Exception
    is_known: bool

    @property
    def is_of_torch(self) -> bool:
        """Whether an operation of torch failed, and it was no fault that tells all itself."""
        return self.operations.failed is self.error and not isinstance(self.error, Fault)

    def told(self) -> Exception:
        """The error, that of an operation of torch with the names of its operands."""
        return self.operations.by_name(self.error) if self.is_of_torch else self.error


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
        self._is_reliable = False  # until it ran once on tensors without data

    def run(self) -> Learned:
        """Compute the loss and its gradients for the declared shapes.

        A name of an axis of an input that no parameter fixes may be any size: several are tried, and it is an error
        only if the same operation fails for all of them. A loss that asks for values of its inputs cannot be tried out,
        and nothing is said of it.

        Raises:
            Fault: the loss fails for all tensors of these shapes, or is no scalar.
        """
        failures: list[tuple[_Failure, list[Tensor]]] = []
        for sizes in choices(self.inputs.declared, self.params, self.inputs.bindings):
            given = self._without_data(sizes)
            if given is None:
                continue
            outcome = self._attempt(given, is_fake=True)
            if not isinstance(outcome, _Failure):
                self._is_reliable = True
                without_tape = self._attempt(given, is_fake=True, is_recorded=False)
                return replace(outcome, needs_tape=isinstance(without_tape, _Failure))
            if not outcome.is_known:
                return Learned()
            failures.append((outcome, given))
        if len({failure.operations.count for failure, _ in failures}) == 1:
            failure, given = failures[0]
            self._confirm(failure, given)
        return Learned()

    def _confirm(self, failure: _Failure, given: Sequence[Tensor]) -> None:
        """Raise the error of zeros of the same shapes, if they fail too: tensors without data may refuse more.

        Raises:
            Fault: they fail in an operation of torch; else whatever the loss raises.
        """
        with torch.random.fork_rng(devices=[]):
            zeros = [torch.zeros_like(each, device=self.inputs.device) for each in given]
            outcome = self._attempt(zeros, is_fake=False)
        if isinstance(outcome, _Failure) and outcome.operations.count == failure.operations.count:
            raise outcome.told() from None

    def explain(self, error: Exception, lists: tuple[Sequence[Tensor], Sequence[Tensor]]) -> None:
        """Raise an error that names the operation and its operands, if the shapes or dtypes of a call are the reason.

        Raises:
            Fault: they are.
        """
        if isinstance(error, Fault) or not self._is_reliable:
            return
        given = [torch.empty_like(each, device="meta") for each in (*lists[0], *lists[1])]
        outcome = self._attempt(given, is_fake=True)
        if isinstance(outcome, _Failure) and outcome.is_known and outcome.is_of_torch:
            raise outcome.operations.by_name(error) from error

    def _without_data(self, sizes: Mapping[str, int]) -> list[Tensor] | None:
        """Inputs without data, for chosen sizes of names; None if these give no size for some axis."""
        given = []
        for place, each in enumerate(self.inputs.declared):
            shape = shape_of(each, sizes)
            if shape is None:
                return None
            dtype = self.inputs.dtype if place < self.inputs.count else integer_dtype(each)
            given.append(torch.empty(shape, dtype=dtype, device="meta"))
        return given

    def _attempt(self, given: Sequence[Tensor], *, is_fake: bool, is_recorded: bool = True) -> Learned | _Failure:
        """Run the loss and back once, on copies."""
        mode = FakeTensorMode(allow_non_fake_inputs=True) if is_fake else nullcontext()
        with _silent(), torch.inference_mode(False), torch.set_grad_enabled(is_recorded), mode:
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
                return _Failure(operations, error, is_known=not isinstance(error, _ASKS_FOR_VALUES))
            trained = [param for param, is_one in zip(own, self.is_trained) if is_one]
            leaves = leaves_of(loss)
            unused = tuple(place for place, param in enumerate(trained) if id(param) not in leaves)
            return Learned(unused, is_closed=leaves <= {id(param) for param in trained})


def leaves_of(result: Tensor) -> set[int]:
    """The identities of the tensors that a recorded result has gradients by.

    >>> x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    >>> leaves_of((x * 2).sum() + y.detach().sum()) == {id(x)}
    True
    """
    if result.grad_fn is None:
        return {id(result)} if result.requires_grad else set()
    found: set[int] = set()
    seen, waiting = {result.grad_fn}, [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            found.add(id(node.variable))
        for before, _ in node.next_functions:
            if before is not None and before not in seen:
                seen.add(before)
                waiting.append(before)
    return found


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
