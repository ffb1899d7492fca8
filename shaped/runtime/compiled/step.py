"""`compile_step`: forward, backward and update of the optimiser as one program, for inputs of given shapes."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn
from torch.autograd.graph import increment_version
from torch.optim import Optimizer
from torch.utils import _pytree as pytree

from shaped.runtime.compiled.backends import wanted
from shaped.runtime.compiled.choosing import choose
from shaped.runtime.compiled.dispatch import Compiled, device_of, with_structure
from shaped.runtime.compiled.flat import FlatGroup
from shaped.runtime.compiled.guards import Conditions, require_optimizer, same_module, same_optimizer
from shaped.runtime.compiled.program import CannotCompile, Program, Run
from shaped.runtime.compiled.reference import Places, Reference, eager_step
from shaped.runtime.compiled.report import Report
from shaped.runtime.compiled.tracing import Structure, Traced, tensors_of, trace
from shaped.runtime.compiled.updates import refuses, update_of
from shaped.runtime.compiled.writing import Writer, aten


def compile_step(
    model: nn.Module,
    loss: Callable[..., Any],
    optimizer: Optimizer,
    example_inputs: Sequence[object],
    *,
    backend: str | Sequence[str] = "auto",
) -> CompiledStep:
    """Compile a training step for inputs of given shapes.

    A call does what these lines do, and gives the loss::

        optimizer.zero_grad()
        value = loss(model, *inputs)
        value.backward()
        optimizer.step()

    The parameters stay the model's own objects, and the moments the optimiser's: `state_dict()` of both, checkpoints
    and schedules see at every step what eager would have left. (`parameter.grad` is left alone; `gradients` has them.)
    Numbers are those of torch's single-tensor optimisers to the bit for the backends "python" and "script"; the others
    are held to the error that rounding explains, before they are used.

    Args:
        model: the model, in the mode in which it is to be trained.
        loss: `loss(model, *inputs)`, or `loss(model, inputs)`, gives a scalar, or a dict of it (`"loss"`) and metrics;
            or a module such as `nn.MSELoss()`, for inputs and, as the last one, the target.
        optimizer: SGD, Adam, AdamW, RMSprop or Adagrad.
        example_inputs: the inputs of one step, as lists, tuples and dicts of tensors.
        backend: "auto" measures those that are built in a second or so; or a name of `BACKENDS`, "eager", or several
            names to measure.

    Returns:
        What is called with the inputs of a step. Its results carry no gradients. `report` tells what came of it.

    Raises:
        CannotCompile: the step depends on the values of tensors, the optimiser has no compiled update, or the backend
            of this name cannot run it.
        ValueError: there is no such backend, or no scalar loss.

    >>> import torch
    >>> model = nn.Linear(3, 1)
    >>> adam = torch.optim.Adam(model.parameters(), lr=0.1)
    >>> x, y = torch.randn(8, 3), torch.zeros(8, 1)
    >>> step = compile_step(model, nn.MSELoss(), adam, (x, y))
    >>> first = step(x, y)
    >>> for _ in range(50):
    ...     last = step(x, y)
    >>> bool(last < first / 4), adam.state_dict()["state"][0]["step"]
    (True, tensor(51.))
    """
    inputs = tuple(example_inputs)
    made = CompiledStep(model, _applied(loss, inputs), optimizer, backend)
    made.add(inputs, made.report)
    return made


class CompiledStep(Compiled):
    """A training step that is compiled. See `compile_step`."""

    def __init__(
        self, model: nn.Module, loss: Callable[..., Any], optimizer: Optimizer, backend: str | Sequence[str]
    ) -> None:
        self.optimizer = optimizer
        self._loss = loss
        self._asked = backend
        self._update = update_of(optimizer)
        self._groups: list[FlatGroup] = []
        # What is read of each group at each call, and what decides the operations.
        self._read = operator.itemgetter(*self._update.settings)
        self._settings: list[tuple[object, ...]] = []
        self._structures: list[tuple[object, ...]] = []
        self._is_same_optimizer = same_optimizer(optimizer, {})
        self._has_begun = False
        super().__init__(model)

    @property
    def gradients(self) -> dict[str, Tensor]:
        """The gradients of the last step that a program made, by the names of the parameters; views, not copies."""
        return {name: view for group in self._groups for name, view in zip(group.names, group.views(group.gradient))}

    def eager(self, *inputs: Any) -> Any:
        return eager_step(self.model, self._loss, self.optimizer, inputs)

    def release(self) -> None:
        super().release()
        self._groups, self._settings, self._structures = [], [], []
        self._is_same_optimizer = same_optimizer(self.optimizer, {})

    def is_bound(self) -> bool:
        """Whether model and optimiser have the tensors, and the settings, that the programs were made for.

        `load_state_dict` gives the optimiser other moments. A learning rate may change at any time.
        """
        if not (self._is_same_module() and self._is_same_optimizer()):
            return False
        for group, settings in zip(self._groups, self._settings):
            if self._read(group.group) != settings and not self._takes(group):
                return False
        return True

    def require_bound(self, conditions: Conditions) -> None:
        super().require_bound(conditions)
        require_optimizer(conditions, self.optimizer, self._moments())
        read, settings = conditions.name(self._read), conditions.name(self._settings)
        for place, group in enumerate(self._groups):
            conditions.add(f"{read}({conditions.name(group.group)}) == {settings}[{place}]")

    def is_settled(self) -> bool:
        return self._has_begun

    def _takes(self, changed: FlatGroup) -> bool:
        """Whether the programs go on with other settings of a group, such as a new learning rate."""
        if refuses(changed.group) is not None:
            return False
        place = next(place for place, group in enumerate(self._groups) if group is changed)
        self._settings[place] = self._read(changed.group)
        return self._update.structure(changed.group) == self._structures[place]

    def prepare(self, inputs: tuple[Any, ...], report: Report) -> Callable[..., Any]:
        update_of(self.optimizer)  # which may have been set otherwise since, or been given hooks
        traced = trace(self.model, self._loss, inputs, differentiated=self._optimised())
        reference = Reference(self.model, self._loss, self.optimizer, inputs)
        if not self._groups:
            self._bind(traced)
        elif {name for group in self._groups for name in group.names} != set(traced.gradients):
            raise CannotCompile("for these inputs, other parameters have gradients")
        program, places = self._program(traced, inputs)
        scalars = self._scalars()
        trials = reference.trials(self._update, self._groups, places, scalars)
        device = device_of([one for one in pytree.tree_leaves(inputs) if isinstance(one, Tensor)])
        run = choose(program, wanted(self._asked, device), trials, reference.step_once, report)
        if run is None:
            return with_structure(inputs, self.eager)
        return self._call(run, scalars, traced.structure)

    # The program

    def _optimised(self) -> list[str]:
        """The names of the parameters that the optimiser has."""
        named = dict(self.model.named_parameters())
        name_of = {id(parameter): name for name, parameter in named.items()}
        own = [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
        if strange := [one for one in own if id(one) not in name_of]:
            raise ValueError(
                f"{len(strange)} of the optimizer's parameters are none of the model's: it was made of another model, "
                "or before the model's parameters were replaced; make it again from model.parameters()"
            )
        return [name_of[id(one)] for one in own if one.requires_grad]

    def _bind(self, traced: Traced) -> None:
        """Make the parameters and moments views of flat tensors."""
        named = dict(self.model.named_parameters())
        names = {named[name]: name for name in traced.gradients}
        groups = [
            FlatGroup.of(self.optimizer, group, self._update, names)
            for group in self.optimizer.param_groups
            if any(one in names for one in group["params"])
        ]
        for group in groups:
            group.adopt()
            if group.has_begun:
                group.register(self.optimizer)
        self._groups = groups
        self._settings = [self._read(group.group) for group in groups]
        self._structures = [self._update.structure(group.group) for group in groups]
        self._has_begun = False
        self._is_same_module = same_module(self.model)
        self._is_same_optimizer = same_optimizer(self.optimizer, self._moments())

    def _moments(self) -> dict[nn.Parameter, dict[str, Tensor]]:
        """What the state of each parameter has in the optimiser."""
        state = self.optimizer.state
        return {
            one: state[one] for group in self._groups if group.has_begun for one in group.parameters if one in state
        }

    def _begin(self) -> None:
        """Make the moments the optimiser's, after the first step."""
        for group in self._groups:
            group.register(self.optimizer)
        self._has_begun = True
        self.optimizer._opt_called = True  # type: ignore[attr-defined]  # schedulers ask whether a step was made
        self._is_same_optimizer = same_optimizer(self.optimizer, self._moments())

    def _program(self, traced: Traced, inputs: tuple[Any, ...]) -> tuple[Program, Places]:
        """The program of a step, and what its held tensors are."""
        writer = Writer(is_training=True)
        given = [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, Tensor)]
        trained = {name for group in self._groups for name in group.names}
        tensors = {name: one for name, one in tensors_of(self.model).items() if name not in trained}
        standing = writer.standing(traced, given, tensors)
        flats = [group.hold(writer, f"_{number}") for number, group in enumerate(self._groups)]
        scalars = [
            {name: writer.scalar(f"{name}_{number}") for name in self._update.names}
            for number in range(len(self._groups))
        ]
        fixed = {name: standing[traced.named[name]] for name in tensors}
        for group, flat in zip(self._groups, flats):
            for name, view in zip(group.names, group.parts(writer, flat.parameter)):
                standing[traced.named[name]] = view
        results = writer.insert(traced, standing)
        gradients = dict(zip(traced.gradients, results[traced.results :]))
        for group, flat in zip(self._groups, flats):
            for name, view in zip(group.names, group.parts(writer, flat.gradient)):
                writer(aten.copy_.default, view, gradients[name])
        for group, flat, own in zip(self._groups, flats, scalars):
            if flat.steps is not None:
                writer(aten.add_.Tensor, flat.steps, 1.0)
            self._update.write(writer, flat, own, group.group)
        return writer.program(results[: traced.results]), Places(flats, fixed)

    # Calls

    def _scalars(self) -> Callable[[int], tuple[float, ...]]:
        """Gives the scalars of the next step: the settings of each group as they are now, at its count of steps.

        Its argument is the number of the call among those that are tried out together.
        """
        update = self._update
        counts = [group.count() for group in self._groups]
        groups = list(zip(self._groups, counts))

        def scalars(number: int) -> tuple[float, ...]:
            found: tuple[float, ...] = ()
            for group, count in groups:
                # Of an optimiser that does not count, only the first step is another.
                step = int(count.value) + 1 if count is not None else number + group.has_begun
                found += update.scalars(group.group, step)
            return found

        return scalars

    def _call(self, run: Run, scalars: Callable[[int], tuple[float, ...]], structure: Structure) -> Callable[..., Any]:
        parameters = [one for group in self._groups for one in group.parameters]
        is_one = structure.is_one

        def call(*tensors: Tensor) -> Any:
            results = run(*tensors, *scalars(1))
            if not self._has_begun:
                self._begin()
            increment_version(parameters)  # a graph that was recorded before is known to be out of date
            return results[0] if is_one else structure.nested(results)

        return call


def _applied(loss: Callable[..., Any], inputs: tuple[Any, ...]) -> Callable[..., Any]:
    """The loss as a function of the model and the inputs, one after the other."""
    if isinstance(loss, nn.Module):
        if len(inputs) < 2:
            raise ValueError(f"{type(loss).__name__} wants an input and a target: example_inputs=(x, y)")
        return lambda model, *given: loss(model(*given[:-1]), given[-1])
    try:
        signature = inspect.signature(loss)
    except (TypeError, ValueError):  # a function of C's has none
        return loss
    try:
        signature.bind(None, *inputs)
    except TypeError:
        try:
            signature.bind(None, inputs)
        except TypeError:
            raise ValueError(
                f"loss{signature} takes neither (model, {', '.join(f'input {at}' for at in range(len(inputs)))}) nor "
                "(model, inputs)"
            ) from None
        return lambda model, *given: loss(model, given)
    return loss
