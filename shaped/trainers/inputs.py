"""The inputs of one call of a trainer: checked against what is declared, in the trainer's dtype, on its device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

from shaped.errors import AnnotationError, DtypeError
from shaped.runtime.tensor_types import dtype_name
from shaped.runtime.tlist import TList
from shaped.spec.binding import Bindings
from shaped.trainers.conversion import float_tensor, integer_tensor
from shaped.trainers.declared import Declared, Shapes, annotated_shapes, declare, members_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from shaped.trainers.losses import AnyList

_MOST_REMEMBERED = 4096  # combinations of shapes
Lists: TypeAlias = "tuple[AnyList, AnyList]"
"""The float inputs and the integer inputs."""


class InputsOfTrainer:
    """Takes the inputs of each call: float inputs, then integer inputs.

    Shapes that were found right once are remembered, so that a call compares and nothing more.

    Args:
        floats: what the float inputs are declared to be.
        nats: what the integer inputs are declared to be.
        bindings: the sizes that the parameters give to names of axes.
        dtype: the dtype of the float inputs.
        device: the device of all.

    Raises:
        DtypeError: a float input is declared with another dtype than the trainer's.
    """

    def __init__(
        self,
        floats: Sequence[Declared],
        nats: Sequence[Declared],
        bindings: Bindings,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self.declared = (*floats, *nats)
        self.count = len(floats)
        self.bindings = bindings
        self.dtype = dtype
        self.device = device
        self._right: set[tuple[Any, ...]] = set()
        self._no_nats = None if nats else TList()
        for each in floats:
            name = dtype_name(dtype)
            if name not in each.annotation.dtype.names:
                raise DtypeError(each.called, f"dtype {name} of the trainer does not match {each.annotation}")

    def take(self, given: Sequence[Any]) -> Lists:
        """The inputs of a call as two lists.

        Raises:
            ShapeError: a shape is not as declared, or a nested list is ragged.
            DtypeError: a dtype is not as declared.
            ValueError: there are more or fewer inputs than declared.
        """
        try:
            is_right = tuple([(each.shape, each.dtype, each.device) for each in given]) in self._right
        except (AttributeError, TypeError):  # a number, a list, an array
            is_right = False
        if not is_right:
            given = self._checked(given)
        if self._no_nats is not None:
            return _list(given), self._no_nats
        return _list(given[: self.count]), _list(given[self.count :])

    def take_lists(self, inputs: Sequence[Any], nats: Sequence[Any]) -> Lists:
        """The inputs of a call that gives two lists, checked as well."""
        if len(inputs) != self.count:
            raise ValueError(f"{self._counted(inputs, 'float input')}: {self._expected()}")
        return self.take((*inputs, *nats))

    def _checked(self, given: Sequence[Any]) -> Sequence[Tensor]:
        if len(given) != len(self.declared):
            raise ValueError(f"{self._counted(given, 'input')}: {self._expected()}")
        taken = [
            float_tensor(value, each.called, self.dtype, self.device)
            if place < self.count
            else integer_tensor(value, each.called, self.device)
            for place, (value, each) in enumerate(zip(given, self.declared))
        ]
        key = tuple([(each.shape, each.dtype, each.device) for each in taken])
        if key not in self._right:
            bindings = self.bindings.copy()
            for value, each in zip(taken, self.declared):
                each.check(value, bindings)
            if len(self._right) >= _MOST_REMEMBERED:
                self._right.clear()
            self._right.add(key)
        return taken

    @staticmethod
    def _counted(given: Sequence[Any], what: str) -> str:
        return f"{len(given)} {what}{'s' * (len(given) != 1)} {'are' if len(given) != 1 else 'is'} given"

    def _expected(self) -> str:
        told = [f"{each.called} {each.annotation}" for each in self.declared]
        return f"the trainer takes {', '.join(told) or 'none'}"


def _list(tensors: Iterable[Tensor]) -> AnyList:
    """A list of what is known to be tensors."""
    return tuple.__new__(TList, tensors)


def declare_inputs(
    loss: Callable[..., Any], inputs: Shapes | None, nats: Shapes | None, names: Sequence[str] | None
) -> tuple[tuple[Declared, ...], tuple[Declared, ...]]:
    """What the inputs of a trainer are to be, float inputs and integer inputs.

    Args:
        loss: the loss, whose annotations say it where shapes are not given.
        inputs: the shapes of the float inputs.
        nats: the shapes of the integer inputs.
        names: the names of all inputs.

    Raises:
        AnnotationError: the shapes are neither given nor annotated.
        ValueError: there are more or fewer names than inputs, or two are equal.
    """
    inputs = shapes_of(loss, 1, inputs, "input_shapes")
    if nats is None:
        nats = annotated_shapes(loss, 2)
        if members_of(nats) is None:
            nats = ()
    if names is None:
        return declare(inputs, "input", None, "Float"), declare(nats, "integer input", None, "Integer")
    count = len(members_of(inputs) or ())
    if len(set(names)) < len(names):
        raise ValueError(f"two inputs have one name in {', '.join(names)}: give each its own")
    floats = declare(inputs, "input", names[:count], "Float")
    return floats, declare(nats, "integer input", names[count:], "Integer")


def shapes_of(loss: Callable[..., Any], place: int, given: Shapes | None, called: str) -> Shapes:
    """Shapes that are given, or else those that the loss is annotated with.

    Raises:
        AnnotationError: there are none.
    """
    if not callable(loss):
        raise TypeError(f"loss is {loss!r}: a function loss(params, inputs) is needed")
    if given is not None:
        return given
    found = annotated_shapes(loss, place)
    if members_of(found) is None:
        written = "is not annotated" if found is None else f"is annotated with {found}"
        raise AnnotationError(
            f"{called} are not given",
            f"parameter {place} of the loss {written}",
            hint=f'{called}=[(8, 2), (8,)], or the annotation TList[Float[Tensor, "8 2"], Float[Tensor, "8"]]',
        )
    return found
