"""A trainer of a scalar loss: parameters and inputs are lists with types, which are checked once."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, cast

import torch
from torch import Tensor, nn
from typing_extensions import TypeVar  # torch needs it; `default` is not in typing before Python 3.13

from shaped.runtime.devices import require_device
from shaped.runtime.tlist import TList
from shaped.spec.binding import Bindings
from shaped.trainers.declared import declare
from shaped.trainers.gradients import Compiled, Recorded, separate
from shaped.trainers.inputs import InputsOfTrainer, declare_inputs, shapes_of
from shaped.trainers.losses import FunctionLoss, ModuleLoss
from shaped.trainers.parameters import Seeds, chosen, given_parameters, load_parameters, new_parameters
from shaped.trainers.trial import Trial
from shaped.trainers.updates import GradientDescent, Optimised, require_rate

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from shaped.init.schemes import Scheme
    from shaped.trainers.declared import Declared, Shapes
    from shaped.trainers.gradients import Differentiated
    from shaped.trainers.inputs import Lists
    from shaped.trainers.losses import AnyList, Loss
    from shaped.trainers.updates import MakesOptimizer

Params = TypeVar("Params", bound="tuple[Any, ...]")
Inputs = TypeVar("Inputs", bound="tuple[Any, ...]")
NatInputs = TypeVar("NatInputs", bound="tuple[Any, ...]", default="TList[()]")


class ScalarTrainer(Generic[Params, Inputs, NatInputs]):
    """A scalar loss with its parameters: values, gradients and steps.

    The loss is written once, in plain torch; its parameters and inputs are `TList`s. Float inputs come first, then
    integer inputs (token ids, labels), which keep their dtype and get no gradient. The loss is tried out when the
    trainer is made, on tensors without data, so that a wrong shape is an error then, which names the parameter or
    input. A call compares the shapes of its inputs, and nothing more.

    An input may be a tensor, a NumPy array, a number or a nested list; float inputs are brought to the trainer's dtype
    and device, integer inputs to its device only. Numbers that are not finite pass through as torch has them. A
    parameter that is frozen, or that the loss does not depend on, has zeros for its gradient.

    Args:
        loss: `loss(params, inputs)` or `loss(params, inputs, nat_inputs)`, a tensor without axes.
        param_shapes: the shapes of the parameters: `[(8, 2), (8,)]`, or `TList[Float[Tensor, "8 2"], ...]`; by
            default what the loss is annotated with. So are the next two.
        input_shapes: the shapes of the float inputs. An axis may be a name, for any size.
        nat_input_shapes: the shapes of the integer inputs.
        params: the first parameters; they are copied.
        init: how to draw them if they are not given: a scheme of `shaped.init`, one for each, or some by name; by
            default `XavierUniform` for two or more axes and `Zeros` for fewer.
        seed: the seed to draw them by.
        seeds: how each parameter gets its seed: by its name (`names`), or by TorchLean's stream (`reference`).
        names: the names of the parameters, for messages, seeds and `state_dict`.
        input_names: the names of all inputs, for messages.
        trainable: which parameters are trained: a bool for each, or the names; by default all.
        optimizer: what makes an optimiser of `torch.optim` from the list of trained parameters; without one, `step`
            takes `lr` and does plain gradient descent.
        device: where parameters and inputs are.
        dtype: the dtype of parameters and float inputs.
        compile: compile the loss with its gradients: True, or the backend of `torch.compile`. Its numbers may differ
            from those of the eager loss in the order of sums and by fused operations, as those of any two sound
            kernels.

    >>> from jaxtyping import Float
    >>> Line = TList[Float[Tensor, "1 2"], Float[Tensor, "1"]]
    >>> Sample = TList[Float[Tensor, "2"], Float[Tensor, "1"]]
    >>> def loss(params: Line, inputs: Sample) -> Float[Tensor, ""]:
    ...     (weight, bias), (x, y) = params, inputs
    ...     return torch.nn.functional.mse_loss(weight @ x + bias, y)
    >>> trainer = ScalarTrainer(loss, names=("weight", "bias"), params=TList(torch.zeros(1, 2), torch.zeros(1)))
    >>> trainer.step_with_loss([1.0, 2.0], [4.0], lr=0.125)
    tensor(16.)
    >>> trainer.params[0].tolist(), trainer.params[1].tolist()
    ([[1.0, 2.0]], [1.0])
    >>> trainer.step([1.0, 2.0, 3.0], [4.0], lr=0.125)
    Traceback (most recent call last):
    shaped.errors.ShapeError: input 0: (3,) does not match "2": axis 0 is 3, not 2

    Raises:
        ShapeError: a parameter has another shape than declared, or the loss fails for the declared shapes or has axes.
        DtypeError: a parameter or input has a dtype that was not declared, or that the device does not have.
        AnnotationError: shapes are not given and the loss is not annotated.
        ValueError: names, schemes, `trainable` or the optimiser do not fit the parameters.
    """

    def __init__(
        self,
        loss: Callable[[Params, Inputs], Tensor] | Callable[[Params, Inputs, NatInputs], Tensor],
        param_shapes: Shapes | None = None,
        input_shapes: Shapes | None = None,
        nat_input_shapes: Shapes | None = None,
        *,
        params: Sequence[Any] | None = None,
        init: Scheme | Sequence[Scheme] | Mapping[str, Scheme] | None = None,
        seed: int = 0,
        seeds: Seeds = "names",
        names: Sequence[str] | None = None,
        input_names: Sequence[str] | None = None,
        trainable: Sequence[bool] | Sequence[str] | None = None,
        optimizer: MakesOptimizer | None = None,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        compile: bool | str = False,  # noqa: A002  (torch's own name for it)
    ) -> None:
        place = require_device(device, dtype)
        declared = declare(shapes_of(loss, 0, param_shapes, "param_shapes"), "parameter", names, "Float")
        bindings = Bindings()
        if params is not None:
            own = given_parameters(params, declared, dtype, place, bindings)
        else:
            own = new_parameters(init, declared, seed, seeds, dtype, place)
            for each, param in zip(declared, own):
                each.check(param, bindings)
        floats, nats = declare_inputs(loss, input_shapes, nat_input_shapes, input_names)
        self._inputs = InputsOfTrainer(floats, nats, bindings, dtype, place)
        self._set_up(FunctionLoss(loss, bool(nats)), declared, own, chosen(trainable, declared), optimizer, compile)

    @classmethod
    def for_module(
        cls,
        module: nn.Module,
        loss: Callable[[Any, Inputs], Tensor] | Callable[[Any, Inputs, NatInputs], Tensor],
        input_shapes: Shapes | None = None,
        nat_input_shapes: Shapes | None = None,
        *,
        input_names: Sequence[str] | None = None,
        trainable: Sequence[bool] | Sequence[str] | None = None,
        optimizer: Optimizer | MakesOptimizer | None = None,
        compile: bool | str = False,  # noqa: A002  (torch's own name for it)
    ) -> ScalarTrainer[TList[*tuple[Tensor, ...]], Inputs, NatInputs]:
        """A trainer of the parameters that a module has, under their names; tied ones are one parameter.

        They are the module's own, so that `module.state_dict()` is true at all times. By default those are trained that
        require a gradient.

        Args:
            module: the module; its parameters have one dtype and are on one device.
            loss: `loss(module, inputs)` or `loss(module, inputs, nat_inputs)`.
            input_shapes: the shapes of the float inputs, by default what the loss is annotated with.
            nat_input_shapes: the shapes of the integer inputs.
            input_names: the names of all inputs.
            trainable: which parameters are trained.
            optimizer: what makes an optimiser, or one of exactly the trained parameters.
            compile: compile the loss.

        >>> def loss(module, inputs):
        ...     return module(inputs[0]).square().sum()
        >>> trainer = ScalarTrainer.for_module(nn.Linear(2, 1), loss, [(2,)])
        >>> trainer.names
        ('weight', 'bias')

        Raises:
            ShapeError: the loss fails for the declared shapes or has axes.
            ValueError: the module has no parameters, or they are of several dtypes or devices.
        """
        named = dict(module.named_parameters())
        lazy = [name for name, param in named.items() if isinstance(param, nn.parameter.UninitializedParameter)]
        if lazy:
            raise ValueError(f"the parameters {', '.join(lazy)} have no shape yet: run the module once")
        kinds = sorted({f"{param.dtype} on {param.device}" for param in named.values()})
        if len(kinds) != 1:
            told = ", ".join(kinds) or "none"
            raise ValueError(f"the parameters of {type(module).__name__} are {told}: one dtype and device is needed")
        own = list(named.values())
        declared = declare([tuple(param.shape) for param in own], "parameter", list(named), "Float")
        floats, nats = declare_inputs(loss, input_shapes, nat_input_shapes, input_names)
        trainer = cast("ScalarTrainer[TList[*tuple[Tensor, ...]], Inputs, NatInputs]", cls.__new__(cls))
        trainer._inputs = InputsOfTrainer(floats, nats, Bindings(), own[0].dtype, own[0].device)
        is_trained = [param.requires_grad for param in own] if trainable is None else chosen(trainable, declared)
        trainer._set_up(ModuleLoss(module, loss, bool(nats)), declared, own, is_trained, optimizer, compile)
        return trainer

    def _set_up(
        self,
        loss: Loss,
        declared: Sequence[Declared],
        params: Sequence[Tensor],
        is_trained: Sequence[bool],
        optimizer: Optimizer | MakesOptimizer | None,
        compile: bool | str,  # noqa: A002  (torch's own name for it)
    ) -> None:
        self._loss = loss
        self._declared = tuple(declared)
        self._is_trained = tuple(is_trained)
        self._params: AnyList = TList(*params)
        for param, is_one in zip(params, is_trained):
            param.requires_grad_(is_one)
        trained = [param for param, is_one in zip(params, is_trained) if is_one]
        names = [each.name for each, is_one in zip(declared, is_trained) if is_one]
        self._optimised = None if optimizer is None else Optimised(optimizer, trained, names)
        self._descent = GradientDescent(trained)
        self._trial = Trial(loss, self._params, is_trained, (declared, self._inputs))
        learned = self._trial.run()
        self.unused: tuple[str, ...] = tuple(names[place] for place in learned.unused)
        """The trained parameters that the loss does not depend on: their gradients are zeros."""
        if self.unused:
            warnings.warn(
                f"the loss does not depend on the parameters {', '.join(self.unused)}: their gradients are zeros",
                stacklevel=3,
            )
        backend = compile if isinstance(compile, str) else "inductor"
        self._computing: Recorded | Compiled
        if compile and isinstance(loss, FunctionLoss):
            self._computing = Compiled(loss, self._params, is_trained, backend)
        else:
            run = loss.compiled(backend) if compile and isinstance(loss, ModuleLoss) else loss
            self._computing = Recorded(run, self._params, trained, learned)

    @property
    def params(self) -> Params:
        """The live parameters: the tensors that steps change."""
        return cast("Params", self._params)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(each.name for each in self._declared)

    @property
    def trainable(self) -> tuple[bool, ...]:
        """Which parameters are trained."""
        return self._is_trained

    @property
    def optimizer(self) -> Optimizer | None:
        """The optimiser, if there is one: its learning rate may be changed between steps, as schedulers do."""
        return None if self._optimised is None else self._optimised.optimizer

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the float inputs."""
        return self._inputs.dtype

    @property
    def device(self) -> torch.device:
        """Where the inputs are brought."""
        return self._inputs.device

    # With inputs one after the other.

    def forward(self, *inputs: Any) -> Tensor:
        """The loss; nothing changes.

        Args:
            inputs: the float inputs, then the integer inputs.

        Raises:
            ShapeError: a shape is not as declared.
            DtypeError: a dtype is not as declared.
            ValueError: there are more or fewer inputs than declared.
        """
        return self._forward(self._inputs.take(inputs))

    def loss_and_backward(self, *inputs: Any) -> tuple[Tensor, Params]:
        """The loss and its gradients by the parameters, from one tape; nothing changes. See `forward`."""
        return self._loss_and_backward(self._inputs.take(inputs))

    def backward(self, *inputs: Any) -> Params:
        """The gradients by the parameters; nothing changes. See `forward`."""
        return self._loss_and_backward(self._inputs.take(inputs))[1]

    def step(self, *inputs: Any, lr: float | None = None) -> None:
        """One step: `p -= lr*gradient` for each trained parameter, or a step of the optimiser.

        If the loss raises, the parameters and the optimiser stay as they are.

        Args:
            inputs: the float inputs, then the integer inputs.
            lr: the learning rate, if there is no optimiser.

        Raises:
            ValueError: `lr` is missing, or given beside an optimiser, or negative or not finite.
        """
        self._step(self._inputs.take(inputs), lr)

    def step_with_loss(self, *inputs: Any, lr: float | None = None) -> Tensor:
        """One step. See `step`.

        Returns:
            The loss before the step.
        """
        return self._step(self._inputs.take(inputs), lr).detach()

    # With inputs in two lists.

    def forward_t(self, inputs: Inputs, nats: NatInputs | TList[()] = TList()) -> Tensor:  # noqa: B008  (immutable)
        """`forward` of lists."""
        return self._forward(self._inputs.take_lists(inputs, nats))

    def loss_and_backward_t(
        self,
        inputs: Inputs,
        nats: NatInputs | TList[()] = TList(),  # noqa: B008  (immutable)
    ) -> tuple[Tensor, Params]:
        """`loss_and_backward` of lists."""
        return self._loss_and_backward(self._inputs.take_lists(inputs, nats))

    def backward_t(self, inputs: Inputs, nats: NatInputs | TList[()] = TList()) -> Params:  # noqa: B008  (immutable)
        """`backward` of lists."""
        return self._loss_and_backward(self._inputs.take_lists(inputs, nats))[1]

    def step_t(
        self,
        inputs: Inputs,
        nats: NatInputs | TList[()] = TList(),  # noqa: B008  (immutable)
        *,
        lr: float | None = None,
    ) -> None:
        """`step` of lists."""
        self._step(self._inputs.take_lists(inputs, nats), lr)

    def step_with_loss_t(
        self,
        inputs: Inputs,
        nats: NatInputs | TList[()] = TList(),  # noqa: B008  (immutable)
        *,
        lr: float | None = None,
    ) -> Tensor:
        """`step_with_loss` of lists."""
        return self._step(self._inputs.take_lists(inputs, nats), lr).detach()

    def state_dict(self) -> dict[str, Any]:
        """Copies of the parameters by name, and of the state of the optimiser."""
        params = {name: param.detach().clone() for name, param in zip(self.names, self._params)}
        of_optimizer = None if self.optimizer is None else copy.deepcopy(self.optimizer.state_dict())
        return {"params": params, "optimizer": of_optimizer}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Put back what `state_dict` gave; all of it or nothing.

        Raises:
            ShapeError: a parameter has another shape.
            ValueError: a parameter is missing or unknown, or the state of an optimiser is.
        """
        load_parameters(state, self._declared, self._params, self.optimizer)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Put back what losses that are computed inside change: buffers of the module, the states of random numbers."""
        buffers = [(buffer, buffer.clone()) for buffer in self._loss.buffers()]
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            try:
                yield
            finally:
                with torch.no_grad():
                    for buffer, before in buffers:
                        buffer.copy_(before)

    def __repr__(self) -> str:
        told = ", ".join(f"{each.name} {tuple(param.shape)}" for each, param in zip(self._declared, self._params))
        return f"ScalarTrainer({told})"

    # One call with two lists.

    def _forward(self, lists: Lists) -> Tensor:
        try:
            return self._computing.value(*lists).detach()
        except Exception as error:
            self._trial.explain(error, lists)
            raise

    def _differentiate(self, lists: Lists) -> Differentiated:
        try:
            return self._computing.differentiate(*lists)
        except Exception as error:
            self._trial.explain(error, lists)
            raise

    def _loss_and_backward(self, lists: Lists) -> tuple[Tensor, Params]:
        loss, gradients = self._differentiate(lists)
        found = iter(separate(gradients, self._descent.params))
        slots = [next(found) if is_one else None for is_one in self._is_trained]
        full = [torch.zeros_like(param) if slot is None else slot for slot, param in zip(slots, self._params)]
        return loss.detach(), cast("Params", TList(*full))

    def _step(self, lists: Lists, lr: float | None) -> Tensor:
        optimised = self._optimised
        if optimised is None:
            if lr is None:
                raise ValueError("step needs lr, since the trainer has no optimiser")
            lr = require_rate(lr)
            loss, gradients = self._differentiate(lists)
            self._descent.step(gradients, lr)
            return loss
        if lr is not None:
            name = type(optimised.optimizer).__name__
            raise ValueError(f"step has lr={lr}, but {name} has its own learning rate: leave lr out")
        step = optimised.step_by_closure if optimised.takes_closure else optimised.step
        try:
            return step(self._computing.backpropagate, lists)
        except Exception as error:
            self._trial.explain(error, lists)
            raise
