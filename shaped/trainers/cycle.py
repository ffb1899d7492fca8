"""Training over samples one at a time, in order, round and round; and the mean loss over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from shaped.trainers.updates import require_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shaped.trainers.scalar import ScalarTrainer


def train_cycle_sgd(
    trainer: ScalarTrainer[Any, Any, Any],
    lr: float,
    steps: int,
    samples: Iterable[Sequence[Any]],
    log_every: int = 1,
    log: Callable[[str], object] = print,
) -> None:
    """Steps of gradient descent: step k takes the sample `k % n` of n.

    Args:
        trainer: the trainer, without an optimiser.
        lr: the learning rate.
        steps: how many.
        samples: each the inputs of one step, float inputs first.
        log_every: log each step whose number this divides; 0 logs none.
        log: takes `step k: loss=v`, v the loss before that step, with six digits.

    >>> from shaped.trainers.scalar import ScalarTrainer
    >>> trainer = ScalarTrainer(lambda params, inputs: (params[0] - inputs[0]) ** 2, [()], [()], params=[0.0])
    >>> train_cycle_sgd(trainer, 0.25, 4, [[1.0], [2.0]], log_every=2)
    step 0: loss=1.000000
    step 2: loss=0.062500

    Raises:
        ValueError: there are no samples, `steps` or `log_every` is negative, or `lr` is negative or not finite.
    """
    _train_cycle(trainer, require_rate(lr), steps, samples, log_every, log)


def train_cycle(
    trainer: ScalarTrainer[Any, Any, Any],
    steps: int,
    samples: Iterable[Sequence[Any]],
    log_every: int = 1,
    log: Callable[[str], object] = print,
) -> None:
    """As `train_cycle_sgd`, by the steps of the trainer's optimiser."""
    _train_cycle(trainer, None, steps, samples, log_every, log)


def _train_cycle(
    trainer: ScalarTrainer[Any, Any, Any],
    lr: float | None,
    steps: int,
    samples: Iterable[Sequence[Any]],
    log_every: int,
    log: Callable[[str], object],
) -> None:
    _require_trainer(trainer)
    _require_count("steps", steps)
    _require_count("log_every", log_every)
    data = _listed(samples)
    for step in range(steps):
        sample = data[step % len(data)]
        if log_every and step % log_every == 0:
            loss = trainer.step_with_loss(*sample, lr=lr)
            log(f"step {step}: loss={loss.item():.6f}")
        else:
            trainer.step(*sample, lr=lr)


def mean_loss(trainer: ScalarTrainer[Any, Any, Any], samples: Iterable[Sequence[Any]]) -> float:
    """The losses of all samples added in order, divided by their number; nothing changes.

    Added in double precision, whatever the dtype of the trainer.

    Args:
        trainer: the trainer.
        samples: each the inputs of one loss, float inputs first.

    >>> from shaped.trainers.scalar import ScalarTrainer
    >>> trainer = ScalarTrainer(lambda params, inputs: (params[0] - inputs[0]) ** 2, [()], [()], params=[0.0])
    >>> mean_loss(trainer, [[1.0], [2.0]])
    2.5

    Raises:
        ValueError: there are no samples.
    """
    _require_trainer(trainer)
    data = _listed(samples)
    total = 0.0
    with trainer.unchanged():
        for place in range(len(data)):
            total += trainer.forward(*data[place]).item()
    return total / len(data)


def _require_trainer(trainer: object) -> None:
    from shaped.trainers.scalar import ScalarTrainer

    if not isinstance(trainer, ScalarTrainer):
        raise TypeError(f"trainer is a {type(trainer).__name__}: a ScalarTrainer is needed")


def _require_count(name: str, count: object) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ValueError(f"{name} is {count!r}: an int of 0 or more is needed")


def _listed(samples: Iterable[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """The samples, to be taken by their place.

    Raises:
        ValueError: there are none.
    """
    has_places = hasattr(samples, "__len__") and hasattr(samples, "__getitem__")
    data: Sequence[Sequence[Any]] = samples if has_places else list(samples)  # type: ignore[assignment]  # has places
    if not len(data):
        raise ValueError("the dataset has no samples: at least one is needed")
    return data
