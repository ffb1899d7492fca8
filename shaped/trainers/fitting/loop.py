"""`fit`: train a model for some epochs over batches, and what people want to see and keep while it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import torch
from torch import nn

from shaped.runtime.arguments import require_module, require_whole
from shaped.runtime.atomic import require_writable
from shaped.runtime.devices import find_device
from shaped.runtime.distributed import is_spread
from shaped.trainers.fitting import batches, objective
from shaped.trainers.fitting.activations import Which, activations_recomputed
from shaped.trainers.fitting.curve import Curve, require_drawable
from shaped.trainers.fitting.early_stop import EarlyStop, Watch
from shaped.trainers.fitting.history import Epoch, History
from shaped.trainers.fitting.modes import modes_kept, train_unless_frozen
from shaped.trainers.fitting.objective import Measured
from shaped.trainers.fitting.parallel import Parallel, parallel_of
from shaped.trainers.fitting.passes import NotFinite, Trainer, measure
from shaped.trainers.fitting.precision import Precision, PrecisionName
from shaped.trainers.fitting.progress import choose
from shaped.trainers.fitting.ranks import Ranks
from shaped.trainers.fitting.resume import Run, generators
from shaped.trainers.fitting.seeds import seed_all
from shaped.trainers.fitting.shares import Feed
from shaped.trainers.fitting.tensorboard import TensorBoardLog, require_tensorboard
from shaped.trainers.fitting.updates import Every, OptimizerLike, Schedule, SchedulerLike, optimizer_of

Model = TypeVar("Model", bound=nn.Module)
Batch = TypeVar("Batch")
PathLike = str | os.PathLike[str]


def fit(
    model: Model,
    loss: Callable[[Model, Batch], Measured],
    train: Iterable[Batch],
    *,
    epochs: int,
    optimizer: OptimizerLike,
    validation: Iterable[Batch] | None = None,
    scheduler: SchedulerLike | None = None,
    scheduler_every: Every = "epoch",
    clip_norm: float | None = None,
    accumulate: int = 1,
    precision: PrecisionName | None = None,
    checkpoint_activations: Which | None = None,
    early_stop: EarlyStop | None = None,
    device: torch.device | str | None = None,
    seed: int | None = None,
    not_finite: NotFinite = "stop",
    progress: bool = True,
    curve: PathLike | None = None,
    tensorboard: PathLike | None = None,
    checkpoint: PathLike | None = None,
    resume: bool = True,
    on_epoch: Callable[[Epoch], object] | None = None,
) -> History:
    """Train a model: each epoch goes once through `train`, then measures `validation`.

    Args:
        model: the model; it is changed in place. Under torchrun it is wrapped by `DistributedDataParallel`, or
            `torch.distributed.fsdp.fully_shard` was called on it: see docs/training-at-scale.md.
        loss: `loss(model, batch)` gives the scalar to minimise, a mean over the batch, or a dict of it (`"loss"`) and
            metrics beside it. `supervised(nn.CrossEntropyLoss(), accuracy=accuracy)` makes one for batches
            (input, target).
        train: the batches of an epoch: a `DataLoader`, or anything that can be gone through once an epoch.
        epochs: how many epochs the run has, those before it was resumed counted in.
        optimizer: an optimizer, or a function from the trainable parameters to one.
        validation: batches to measure after each epoch, in evaluation mode and without gradients.
        scheduler: a learning-rate scheduler, or a function from the optimizer to one. One that watches a value
            (`ReduceLROnPlateau`) is given the validation loss, without validation the training loss.
        scheduler_every: whether the scheduler steps after each "epoch" or each "batch"; with `accumulate`, each update.
        clip_norm: the largest norm of all gradients together; larger ones are scaled down.
        accumulate: how many batches make one update, by the mean over their examples. The rest of an epoch makes the
            last one.
        precision: "bfloat16" (or, on CUDA, "float16"): forward and loss are computed in it where that is safe
            (`torch.autocast`), weights and updates stay in float32. None: all in the model's own dtype.
        checkpoint_activations: submodules whose activations are computed again in the backward pass instead of being
            kept: names, classes, or a function of a submodule.
        early_stop: when to stop before the last epoch.
        device: where to train; the model and each batch are moved there. None: where the model is.
        seed: seeds the global random generators (torch, Python, numpy) at the start of the run.
        not_finite: what to do where the loss of a batch is NaN or infinite: "stop" with an error, or "skip" the batch.
        progress: whether to show the epochs on the standard error stream: a bar in a terminal, else lines.
        curve: a picture of the history (PNG, PDF, SVG), drawn anew after each epoch; where epochs are short, now and
            then and in the end.
        tensorboard: the folder of a log for TensorBoard.
        checkpoint: a file that holds the run as it was after the last finished epoch.
        resume: whether a run goes on from the checkpoint, if the file is there. On the CPU the result is that of a run
            that was never stopped, to the bit; see below.
        on_epoch: called with each finished epoch, before its checkpoint is written.

    Returns:
        The means of loss and metrics over the examples, epoch by epoch. The training means are taken while the model
        learns, in training mode.

    Raises:
        NotFiniteError: the loss, or with `clip_norm` the gradients' norm, is not finite.
        ValueError: an argument does not fit the others; says which and what to do.
        ImportError: the curve or the log needs a package that is not installed (`pip install 'shaped[fit]'`).
        shaped.runtime.checkpoint.CheckpointError: the checkpoint is of something else; lists all differences.
        KeyboardInterrupt: as always; what was shown is closed, modes are put back, the checkpoint is that of the last
            finished epoch, and the same call goes on from there.

    A part of the model that is in evaluation mode while the model is in training mode stays in it. All modes are put
    back in the end.

    Resuming puts back the weights, the optimizer, the schedule, the early stop, the history, the global random
    generators and those of the loaders. What fit cannot see it cannot put back: generators that the data keep for
    themselves, workers that live longer than an epoch (`persistent_workers`).

    >>> _ = torch.manual_seed(0)
    >>> x = torch.randn(64, 3)
    >>> data = [(x, x @ torch.tensor([[1.0], [-2.0], [0.5]]))]
    >>> model = nn.Linear(3, 1)
    >>> sgd = lambda parameters: torch.optim.SGD(parameters, lr=0.1)
    >>> history = fit(model, objective.supervised(nn.MSELoss()), data, epochs=50, optimizer=sgd, progress=False)
    >>> history[0].training["loss"] > 1, history[-1].training["loss"] < 1e-3
    (True, True)
    """
    _require_settings(model, epochs, clip_norm, accumulate, early_stop, seed, not_finite, on_epoch)
    parallel = parallel_of(model)
    ranks = parallel.ranks
    with ExitStack() as stack:
        stack.enter_context(ranks.together())
        objective.require_loss(loss)
        batches.require_batches(train, "train", epochs)
        if validation is not None:
            batches.require_batches(validation, "validation", epochs)
        elif early_stop is not None and early_stop.monitor.startswith("validation "):
            raise ValueError(f"EarlyStop watches {early_stop.monitor!r}, but fit was given no validation")
        if not ranks.is_first:
            curve = tensorboard = None
        # Said now, not after the first epoch.
        if curve is not None:
            require_drawable(curve)
        if tensorboard is not None:
            require_tensorboard()
        if checkpoint is not None and ranks.is_first:
            require_writable(checkpoint, "checkpoint")
        modules: list[nn.Module] = [model, *objective.modules_of(loss)]
        place = _place(parallel, device)
        if place is not None:
            for module in modules[parallel.kind != "alone" :]:
                module.to(place)
        computed = Precision(precision, model, place)
        made = optimizer_of(optimizer, parallel.inner)
        length = batches.length(train)
        updates = None if length is None else -(-length // accumulate)
        schedule = Schedule(scheduler, made, scheduler_every, epochs, updates)
        watch = None if early_stop is None else Watch(early_stop)
        run = Run(parallel.inner, made, schedule.scheduler, watch, generators(train, validation), computed, ranks)
        if checkpoint is not None and resume and _exists(checkpoint, ranks):
            run.resume(checkpoint)
        elif seed is not None:
            seed_all(int(seed) + ranks.rank)
        feed = Feed(train, "train", ranks, is_training=True)
        validated = None if validation is None else Feed(validation, "validation", ranks, is_training=False)
        trainer = Trainer(parallel, loss, made, schedule, place, computed, accumulate, clip_norm, not_finite)
        stack.enter_context(modes_kept(modules))
        stack.enter_context(activations_recomputed(parallel.inner, checkpoint_activations))
        shown = choose(progress and ranks.is_first)
        stack.callback(shown.close)
        tell: list[Callable[[Epoch], object]] = [] if on_epoch is None else [on_epoch]
        if checkpoint is not None:
            # After what the caller does, which may draw random numbers too; before what only shows the epoch.
            tell.append(lambda epoch: run.save(checkpoint))
        if tensorboard is not None:
            log = TensorBoardLog(tensorboard, first_epoch=len(run.history) + 1)
            stack.callback(log.close)
            tell.append(log.add)
        if curve is not None:
            picture = Curve(curve, run.history)
            stack.callback(picture.close)
            tell.append(lambda epoch: picture.update())
        tell.append(lambda epoch: shown.end(epoch, epochs))
        train_unless_frozen(modules)
        try:
            while len(run.history) < epochs and not run.is_stopped:
                number, began = len(run.history) + 1, time.perf_counter()
                batches.announce_epoch(train, number - 1)  # torch counts them from 0
                shown.begin(number, epochs, updates)
                trained = trainer.run(feed, number, run.step, shown)
                parallel.share_buffers()
                measured: dict[str, float] = {}
                if validated is not None:
                    with modes_kept(modules):
                        for module in modules:
                            module.eval()
                        measured = measure(model, loss, validated, place, computed, number, ranks)
                schedule.after_epoch((measured or trained.means)["loss"])
                epoch = Epoch(
                    number=number,
                    step=trained.step,
                    learning_rate=trained.learning_rate,
                    training=trained.means,
                    validation=measured,
                    skipped=trained.skipped,
                    seconds=ranks.broadcast(time.perf_counter() - began),
                )
                run.finish(epoch)
                for one in tell:
                    one(epoch)
        except KeyboardInterrupt as interrupt:
            kept = "" if checkpoint is None else f"; the same call goes on from there with {os.fspath(checkpoint)}"
            interrupt.add_note(f"fit was broken off after {len(run.history)} of {epochs} epochs{kept}")
            raise
    run.end()
    return run.history


def _require_settings(
    model: object,
    epochs: int,
    clip_norm: object,
    accumulate: object,
    early_stop: object,
    seed: object,
    not_finite: str,
    on_epoch: object,
) -> None:
    """Refuse what means nothing."""
    require_module("model", model)
    if type(epochs) is not int or epochs < 1:
        raise ValueError(f"epochs is {epochs!r}: a whole number, 1 or more, is needed")
    if clip_norm is not None and not (type(clip_norm) in (int, float) and clip_norm > 0):  # type: ignore[operator]
        raise ValueError(f"clip_norm is {clip_norm!r}: a number above 0 is needed, or None for no limit")
    if require_whole("accumulate", accumulate) < 1:
        raise ValueError(f"accumulate is {accumulate}: 1 batch an update, or more, is needed")
    if early_stop is not None and not isinstance(early_stop, EarlyStop):
        raise TypeError(f"early_stop is {early_stop!r}: an EarlyStop is needed, such as EarlyStop(patience=5)")
    if seed is not None:
        require_whole("seed", seed)
    if on_epoch is not None and not callable(on_epoch):
        raise TypeError(f"on_epoch is {on_epoch!r}: a function of an epoch is needed")
    if not_finite not in ("stop", "skip"):
        raise ValueError(f"not_finite is {not_finite!r}, not 'stop' or 'skip'")


def _place(parallel: Parallel, device: torch.device | str | None) -> torch.device | None:
    """Where batches go. None leaves them where they are: a model over several devices moves its inputs itself."""
    devices = {parameter.device for parameter in parallel.model.parameters()}
    if parallel.kind == "FSDP" and device is None and "cpu" in {one.type for one in devices}:
        # Parameters that wait on the CPU are computed with on the device of the mesh.
        mesh = next(one.device_mesh for one in parallel.model.parameters() if is_spread(one))
        devices = {torch.empty(0, device=mesh.device_type).device}
    if device is None:
        return devices.pop() if len(devices) == 1 else None
    place = find_device(device)
    if parallel.kind != "alone" and {one.type for one in devices} != {place.type}:
        raise ValueError(
            f"device is {place}, but the model was wrapped on {' and '.join(sorted(map(str, devices)))}: move it before"
        )
    return place


def _exists(path: PathLike, ranks: Ranks) -> bool:
    """Whether there is a file, as all processes see it.

    Raises:
        ValueError: some see it and some do not.
    """
    seen = [bool(one) for one, _ in ranks.agree(float(Path(path).exists()))]
    if any(seen) and not all(seen):
        raise ValueError(
            f"checkpoint: rank {seen.index(True)} sees {os.fspath(path)}, rank {seen.index(False)} does not: it has to "
            "be in a folder that all processes share"
        )
    return all(seen)
