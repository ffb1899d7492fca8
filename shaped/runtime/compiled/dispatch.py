"""Which program a call runs: one for each kind of inputs, made when they first come."""

from __future__ import annotations

import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from shaped.runtime.compiled.guards import Conditions, require_inputs, require_module, same_inputs, same_module
from shaped.runtime.compiled.program import first_line
from shaped.runtime.compiled.recordable import is_plain, require_traceable
from shaped.runtime.compiled.report import Report

# More shapes than these are no small set, and each costs a program.
_MOST_SHAPES = 16
_OTHER = object()  # "these inputs are not for this program"


@dataclass
class Prepared:
    """A program for inputs of one kind.

    Args:
        is_same: whether tensors have the shapes, dtypes and devices that it is for.
        call: runs it on them.
        rest: what the inputs are beside tensors: their structure, and plain values.
        examples: tensors of this kind.
        direct: all comparisons and the call in one function, made when it is first wanted.
    """

    is_same: Callable[..., bool]
    call: Callable[..., Any]
    rest: object
    examples: Sequence[Tensor]
    direct: Callable[..., Any] | None = None


class Compiled(ABC):
    """A callable that runs a program for inputs of known shapes, and eager for others.

    Threads take turns: a call waits for the one before.

    Args:
        model: the model whose tensors the programs hold.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.report = Report()
        """What compiling came to, for the shapes of the example."""
        require_traceable(model, ())
        self._is_same_module = same_module(model)
        self._prepared: list[Prepared] = []
        self._failed: list[tuple[Callable[..., bool], object]] = []
        self._has_warned = False
        self._lock = threading.RLock()
        self._direct: Callable[..., Any] | None = None  # that of the program that ran last, and its number of inputs
        self._count = 0

    @abstractmethod
    def prepare(self, inputs: tuple[Any, ...], report: Report) -> Callable[..., Any]:
        """A function of the inputs' tensors that runs a program made for them.

        Raises:
            CannotCompile: there is none.
        """

    @abstractmethod
    def eager(self, *inputs: Any) -> Any:
        """What a call does without a program."""

    def is_bound(self) -> bool:
        """Whether the programs hold the tensors that the model has now."""
        return self._is_same_module()

    def release(self) -> None:
        """Forget the tensors that the programs hold: the model or the optimiser has others now."""
        self._prepared, self._failed = [], []
        self._direct = None

    def require_bound(self, conditions: Conditions) -> None:
        """Add the comparisons of `is_bound`."""
        require_module(conditions, self.model)

    def is_settled(self) -> bool:
        """Whether what `require_bound` compares with stays as it is from here on."""
        return True

    def _take_direct(self, prepared: Prepared) -> None:
        """Let the next calls go to a program directly."""
        if prepared.rest is not None or not self.is_settled():
            return
        if prepared.direct is None:
            conditions = Conditions()
            names = require_inputs(conditions, prepared.examples)
            self.require_bound(conditions)
            call = f"{conditions.name(prepared.call)}({', '.join(names)})"
            prepared.direct = conditions.function(names, call, otherwise=_OTHER)
        self._direct, self._count = prepared.direct, len(prepared.examples)

    @property
    def backend(self) -> str:
        """What runs inputs of the shapes of the example."""
        return self.report.backend

    def __call__(self, *inputs: Any) -> Any:
        with self._lock:  # the buffers are those of one call
            if self._direct is not None and len(inputs) == self._count:
                results = self._direct(*inputs)
                if results is not _OTHER:
                    return results
            tensors, rest = _parts(inputs)
            if not self.is_bound():
                self._begin_anew()
            for prepared in self._prepared:
                if prepared.rest == rest and prepared.is_same(*tensors):
                    results = prepared.call(*tensors)
                    self._take_direct(prepared)
                    return results
            return self._other(inputs, tensors, rest)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} holds the memory of its model, and cannot be copied or pickled: copy the model "
            "(and the optimizer), and compile the copy"
        )

    def add(self, inputs: tuple[Any, ...], report: Report) -> Prepared:
        """Make a program for inputs.

        Raises:
            CannotCompile: there is none.
        """
        tensors, rest = _parts(inputs)
        with torch.inference_mode(False):  # what is made in it cannot be written to outside
            prepared = Prepared(same_inputs(tensors), self.prepare(inputs, report), rest, tensors)
        self._prepared.append(prepared)
        return prepared

    def _begin_anew(self) -> None:
        self.release()
        self._is_same_module = same_module(self.model)

    def _other(self, inputs: tuple[Any, ...], tensors: Sequence[Tensor], rest: object) -> Any:
        """A call with inputs that there is no program for yet."""
        if not all(is_plain(one) for one in tensors):
            return self.eager(*inputs)  # another compiler is recording this call, for one
        if any(one == rest and is_same(*tensors) for is_same, one in self._failed):
            return self.eager(*inputs)
        if len(self._prepared) + len(self._failed) >= _MOST_SHAPES:
            self._warn(f"inputs came in more than {_MOST_SHAPES} shapes; others run in eager")
            return self.eager(*inputs)
        try:
            call = self.add(inputs, Report()).call
        except Exception as error:
            results = self.eager(*inputs)  # which raises itself if the fault is the inputs'
            self._failed.append((same_inputs(tensors), rest))
            shapes = ", ".join(str(tuple(one.shape)) for one in tensors)
            self._warn(f"inputs of the shapes {shapes} run in eager: {first_line(error)}")
            return results
        return call(*tensors)

    def _warn(self, text: str) -> None:
        """Say it once: a training loop calls a thousand times a second."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(f"{type(self).__name__}: {text}", stacklevel=4)


def _parts(inputs: tuple[Any, ...]) -> tuple[Sequence[Tensor], object]:
    """The tensors in the inputs, and all else; None where they are tensors only."""
    for one in inputs:
        if type(one) is not Tensor:
            break
    else:
        return inputs, None
    leaves, structure = pytree.tree_flatten(inputs)
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    plain = tuple((type(leaf), leaf) for leaf in leaves if not isinstance(leaf, Tensor))
    return tensors, (structure, plain)


def device_of(tensors: Sequence[Tensor]) -> torch.device:
    """The device of the first tensor."""
    return tensors[0].device if tensors else torch.device("cpu")


def with_structure(inputs: tuple[Any, ...], function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of inputs as one of their tensors; what they are beside tensors is as here."""
    leaves, structure = pytree.tree_flatten(inputs)
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]

    def call(*tensors: Tensor) -> Any:
        values = list(leaves)
        for place, value in zip(places, tensors):
            values[place] = value
        return function(*pytree.tree_unflatten(values, structure))

    return call
