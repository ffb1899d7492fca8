"""The five numbers that TorchLean prints for `quickstart_mlp`, seed 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from shaped.init import XavierUniform, next_seed, xavier_w
from shaped.runtime.tlist import TList
from shaped.trainers import ScalarTrainer, mean_loss, train_cycle
from tests.trainers.quickstart import NAMES, SAMPLES, Adam32, adam, loss, predict

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor
    from torch.optim import Optimizer


PRINTED_BY_THE_REFERENCE = ["1.349908", "2.328068", "1.247884", "0.095897", "0.002521"]


def five_numbers(optimizer: Callable[[list[Tensor]], Optimizer]) -> list[str]:
    trainer = ScalarTrainer(loss, names=NAMES, seeds="reference", optimizer=optimizer)
    lines: list[str] = []
    numbers = [mean_loss(trainer, SAMPLES)]
    train_cycle(trainer, 10, SAMPLES, log_every=10, log=lines.append)
    numbers += [mean_loss(trainer, SAMPLES), predict(trainer.params, torch.tensor([0.25, -0.75])).item()]
    for step in range(10, 200):
        trainer.step(*SAMPLES[step % len(SAMPLES)])
    before, *after = (f"{number:.6f}" for number in (*numbers, mean_loss(trainer, SAMPLES)))
    return [before, *(line.removeprefix("step 0: loss=") for line in lines), *after]


def test_the_trainer_gives_the_numbers_of_the_reference() -> None:
    assert five_numbers(Adam32) == PRINTED_BY_THE_REFERENCE


def test_the_adam_of_torch_gives_them_up_to_its_own_rounding() -> None:
    printed = [float(number) for number in PRINTED_BY_THE_REFERENCE]
    numbers = [float(number) for number in five_numbers(adam)]
    assert numbers[:2] == printed[:2]
    # A step divides by the root of the squares, which `1 - 0.999` in float32 makes 0.7e-5 of itself longer: ten steps
    # of 0.03 so differ by 2e-6. Both numbers are printed with half a unit of the last digit.
    assert numbers == pytest.approx(printed, rel=0, abs=2e-6 + 2 * 5e-7)


def test_the_seeds_of_the_reference_are_those_of_its_stream() -> None:
    trainer = ScalarTrainer(loss, init=None, seeds="reference")
    weights = xavier_w(8, 2, next_seed(0, 0)), xavier_w(1, 8, next_seed(0, 2))
    assert trainer.params == TList(weights[0], torch.zeros(8), weights[1], torch.zeros(1))


def test_each_parameter_gets_its_seed_by_its_name() -> None:
    of = [ScalarTrainer(loss, names=names, init=XavierUniform(2, 2)) for names in (NAMES, ("w1", "b1", "other", "b2"))]
    assert torch.equal(of[0].params[0], of[1].params[0])
    assert not torch.equal(of[0].params[2], of[1].params[2])
    assert not torch.equal(of[0].params[0].flatten()[:8], of[0].params[2].flatten())
