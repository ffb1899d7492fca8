"""What is minimised: a function of the model and a batch that gives the loss, and metrics beside it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.loss import _Loss

from shaped.errors import DtypeError, ShapeError
from shaped.runtime.data.sequences import IGNORE_INDEX
from shaped.trainers.fitting.ranks import Ranks

Measured: TypeAlias = Tensor | Mapping[str, Tensor | float]
Criterion: TypeAlias = Callable[[Any, Any], Tensor]
Metric: TypeAlias = Callable[[Any, Any], Tensor | float]

# Losses of pairs of elements: torch broadcasts operands of different shapes and goes on with a loss of all pairs.
_ELEMENTWISE = (
    *(nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.BCELoss, nn.BCEWithLogitsLoss),
    *(nn.SoftMarginLoss, nn.PoissonNLLLoss, nn.KLDivLoss),
)
_ELEMENTWISE_FUNCTIONS = (
    *(F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy),
    *(F.binary_cross_entropy_with_logits, F.soft_margin_loss, F.poisson_nll_loss, F.kl_div),
)


class Supervised:
    """The loss of a model's output against the target of its batch; made by `supervised`."""

    def __init__(self, criterion: Criterion, metrics: Mapping[str, Metric]) -> None:
        self.criterion = criterion
        self.metrics = dict(metrics)

    def __call__(self, model: nn.Module, batch: Any) -> Measured:
        if not isinstance(batch, (tuple, list)) or len(batch) < 2:
            kind = (
                f"{type(batch).__name__} of {len(batch)}" if isinstance(batch, (tuple, list)) else type(batch).__name__
            )
            raise TypeError(
                f"supervised: a batch is a {kind}, not (input, target): give fit a function of the model and the batch"
            )
        *inputs, target = batch
        output = model(*inputs)
        self._require_pairs(output, target)
        loss = self.criterion(output, target)
        if not self.metrics:
            return loss
        with torch.no_grad():
            seen = output.detach() if isinstance(output, Tensor) else output
            return {"loss": loss, **{name: metric(seen, target) for name, metric in self.metrics.items()}}

    def _require_pairs(self, output: object, target: object) -> None:
        """Refuse a loss of pairs of elements over operands that would be broadcast."""
        if not isinstance(output, Tensor) or not isinstance(target, Tensor) or output.shape == target.shape:
            return
        if isinstance(self.criterion, _ELEMENTWISE):
            name = type(self.criterion).__name__
        elif any(self.criterion is function for function in _ELEMENTWISE_FUNCTIONS):
            name = self.criterion.__name__
        else:
            return
        operands = f"{tuple(output.shape)} and {tuple(target.shape)}"
        raise ShapeError(name, "output and target have to be of one shape, element by element", operands)


def supervised(criterion: Criterion, **metrics: Metric) -> Supervised:
    """The loss of (input, target) batches from a criterion such as `nn.CrossEntropyLoss()`, for `fit`.

    The last entry of a batch is the target, those before it are the model's arguments.

    Args:
        criterion: `criterion(output, target)` gives the scalar that is minimised.
        metrics: `accuracy=accuracy`: functions of output and target whose mean over the examples is told as well.

    >>> loss = supervised(nn.MSELoss())
    >>> loss(nn.Identity(), (torch.zeros(4, 1), torch.zeros(4)))
    Traceback (most recent call last):
    shaped.errors.ShapeError: MSELoss: (4, 1) and (4,): output and target have to be of one shape, element by element
    """
    for name, function in {"criterion": criterion, **metrics}.items():
        _require_function(f"supervised: {name}", function)
    if "loss" in metrics:
        raise ValueError("supervised: a metric is called 'loss', which is the name of the criterion's value")
    return Supervised(criterion, metrics)


def _require_function(name: str, function: object) -> None:
    """Refuse what is no function of an output and a target; a class of `torch.nn` is one of its settings."""
    if isinstance(function, type) and issubclass(function, nn.Module):
        raise TypeError(f"{name} is the class {function.__name__}: write {function.__name__}()")
    if not callable(function):
        raise TypeError(f"{name} is {function!r}: a function of an output and a target is wanted")


def accuracy(output: Tensor, target: Tensor, *, ignore_index: int = IGNORE_INDEX) -> Tensor:
    """The share of targets whose class has the largest score, a metric for `supervised`.

    Args:
        output: scores, classes on dim 1: `(n, classes, ...)`.
        target: the classes, `(n, ...)`.
        ignore_index: the class that is left out, as the loss leaves it out: what `pad_targets` fills up with. Where all
            are left out the share is NaN.

    >>> scores = torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.8, 0.2]])
    >>> accuracy(scores, torch.tensor([1, 1, -100])).item()
    0.5
    """
    if target.is_floating_point() or target.is_complex():
        raise DtypeError("accuracy", f"target is {target.dtype}, but classes are integers")
    if output.dim() < 2 or output.shape[:1] + output.shape[2:] != target.shape:
        operands = f"{tuple(output.shape)} and {tuple(target.shape)}"
        raise ShapeError("accuracy", "scores (n, classes, ...) and classes (n, ...) are wanted", operands)
    return (output.argmax(dim=1) == target)[target != ignore_index].double().mean()


def require_loss(loss: object) -> None:
    """Refuse what is not a function of the model and a batch, as far as that can be told before it is called.

    Raises:
        TypeError: it takes something else; says what to write.
    """
    if not callable(loss):
        raise TypeError(f"loss is a {type(loss).__name__}: a function of the model and a batch is wanted")
    is_function = getattr(loss, "__module__", "") == "torch.nn.functional"
    if isinstance(loss, _Loss) or is_function:
        name = f"F.{getattr(loss, '__name__', '')}" if is_function else f"nn.{type(loss).__name__}()"
        raise TypeError(f"loss is {name}, which takes an output and a target: write supervised({name})")
    try:
        signature = inspect.signature(loss)
    except ValueError:  # of what is not written in Python it may be unknown
        pass
    else:
        try:
            signature.bind("model", "batch")
        except TypeError as error:
            raise TypeError(f"loss is called with the model and a batch, but takes {signature}: {error}") from None
    for module in modules_of(loss):
        if names := [name for name, one in module.named_parameters() if one.requires_grad]:
            raise TypeError(
                f"loss has parameters to train ({', '.join(names)}), which no checkpoint would hold: "
                "make it a part of the model"
            )


def modules_of(loss: object) -> list[nn.Module]:
    """The modules in a loss: their buffers (class weights) go to the device, their modes are kept."""
    candidates = (loss, loss.criterion) if isinstance(loss, Supervised) else (loss,)
    return [one for one in candidates if isinstance(one, nn.Module)]


def scalar_of(measured: object, place: str) -> tuple[Tensor, dict[str, Tensor | float]]:
    """The loss and the metrics that a loss function gave, checked.

    Args:
        place: where, for messages (`epoch 1, batch 3`).

    Raises:
        TypeError: it is no tensor and no dict with a `loss`.
        ShapeError: a value is not a scalar.
    """
    if isinstance(measured, Mapping):
        if "loss" not in measured:
            raise TypeError(f"{place}: the loss function gave a dict without 'loss': {', '.join(map(repr, measured))}")
        loss, metrics = measured["loss"], {str(name): value for name, value in measured.items() if name != "loss"}
    else:
        loss, metrics = measured, {}
    if not isinstance(loss, Tensor):
        raise TypeError(f"{place}: the loss is a {type(loss).__name__}: a tensor is wanted, or a dict with 'loss'")
    for name, value in {"loss": loss, **metrics}.items():
        if isinstance(value, Tensor) and value.dim() > 0:
            raise ShapeError(f"{place}: {name}", f"a scalar is wanted: {name}.mean()?", f"{tuple(value.shape)}")
        if isinstance(value, Tensor) and value.is_complex():
            raise DtypeError(f"{place}: {name}", f"{value.dtype} has no order: nothing complex can be made small")
        if not isinstance(value, (Tensor, float, int)):
            raise TypeError(f"{place}: {name} is a {type(value).__name__}: a number is wanted")
    return loss, metrics


class Mean:
    """Means over examples, from means over batches."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._sizes: dict[str, int] = {}

    def add(self, values: Mapping[str, float], size: int) -> None:
        """Count in the means over a batch of `size` examples."""
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + value * size
            self._sizes[name] = self._sizes.get(name, 0) + size

    def __getitem__(self, name: str) -> float:
        return self._sums[name] / self._sizes[name]

    def over(self, ranks: Ranks) -> Mean:
        """The means over the examples of all processes, the same on each."""
        if ranks.size == 1:
            return self
        ranks.agree()
        total = Mean()
        for sums, sizes in ranks.gather((self._sums, self._sizes)):
            for name, value in sums.items():
                total._sums[name] = total._sums.get(name, 0.0) + value
                total._sizes[name] = total._sizes.get(name, 0) + sizes[name]
        return total

    def values(self) -> dict[str, float]:
        """Each mean; none where nothing was counted."""
        return {name: self[name] for name in self._sums if self._sizes[name]}
