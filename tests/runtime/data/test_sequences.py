"""Sequences of different lengths become one tensor, and the loss leaves out what was filled up."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.utils import rnn
from torch.utils.data import DataLoader

from shaped.errors import DeviceError, DtypeError, ShapeError
from shaped.runtime.data import PadCollate, PaddedBatch, pad_sequence, pad_targets

LONG = 9007199254740993  # 2^53 + 1, which no float64 holds


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.integers(0, 2), st.floats(-5, 5, width=32))
def test_padding_is_that_of_torch(lengths: list[int], more_dims: int, padding: float) -> None:
    generator = torch.Generator().manual_seed(len(lengths))
    sequences = [torch.randn(length, *[2, 3][:more_dims], generator=generator) for length in lengths]
    padded, found = pad_sequence(sequences, padding=padding)
    assert torch.equal(padded, rnn.pad_sequence(sequences, batch_first=True, padding_value=padding))
    assert padded.dtype == torch.float32
    assert found.tolist() == lengths
    assert found.dtype == torch.int64


def test_integers_never_pass_through_a_float() -> None:
    sequences = [torch.tensor([LONG, 1]), torch.tensor([LONG])]
    padded, _ = pad_sequence(sequences, padding=LONG)
    assert padded.tolist() == [[LONG, 1], [LONG, LONG]]
    rounded = rnn.pad_sequence(sequences, batch_first=True, padding_value=LONG)
    assert rounded[1, 1] == LONG - 1  # torch's, which is why it is not used


def test_gradients_reach_each_sequence() -> None:
    sequences = [torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)]
    padded, _ = pad_sequence(sequences, padding=0)
    (padded * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert [one.grad.tolist() for one in sequences if one.grad is not None] == [[1, 2], [3]]


def test_padded_targets_leave_the_sum_and_the_denominator_of_the_loss() -> None:
    targets = [torch.tensor([2, 0, 1]), torch.tensor([1])]
    scores = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    padded = pad_targets(targets)
    loss = F.cross_entropy(scores.transpose(1, 2), padded)
    kept = torch.cat([scores[0], scores[1, :1]])
    # A sum of 4 terms in another order: a few roundings of 2^-53.
    assert loss.item() == pytest.approx(F.cross_entropy(kept, torch.cat(targets)).item(), rel=1e-14)
    loss.backward()
    assert scores.grad is not None
    assert not scores.grad[1, 1:].any()
    assert scores.grad[1, :1].all()


def test_the_index_that_is_ignored_is_that_of_torchs_losses() -> None:
    default = torch.nn.CrossEntropyLoss().ignore_index
    assert pad_targets([torch.tensor([1, 2]), torch.tensor([3])]).tolist() == [[1, 2], [3, default]]
    assert pad_targets([torch.tensor([1, 2]), torch.tensor([3])], ignore_index=0).tolist() == [[1, 2], [3, 0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.bool])
def test_targets_that_are_no_classes_have_no_index_to_ignore(dtype: torch.dtype) -> None:
    with pytest.raises(DtypeError, match=r"target 1 is .*: ignore_index is for classes, which are int64"):
        pad_targets([torch.tensor([1]), torch.tensor([1], dtype=dtype)])


def test_a_padding_is_always_said() -> None:
    with pytest.raises(TypeError, match="padding"):
        pad_sequence([torch.tensor([1])])  # type: ignore[call-arg]  # on purpose
    with pytest.raises(TypeError, match="padding"):
        PadCollate()  # type: ignore[call-arg]  # on purpose


@pytest.mark.parametrize("padding", [0, -1.5, float("inf"), -float("inf"), 65504])
def test_floats_hold_any_number_of_their_range(padding: float) -> None:
    padded, _ = pad_sequence([torch.zeros(1).half(), torch.zeros(2).half()], padding=padding)
    assert padded[0, 1] == padding


def test_nan_is_a_padding() -> None:
    padded, _ = pad_sequence([torch.zeros(1), torch.zeros(2)], padding=float("nan"))
    assert padded[0, 1].isnan()


@pytest.mark.parametrize(
    "dtype, padding",
    [
        (torch.uint8, -100),
        (torch.uint8, 256),
        (torch.int64, 2**63),
        (torch.int64, 0.5),
        (torch.int64, float("nan")),
        (torch.bool, -100),
        (torch.float16, 1e6),
    ],
)
def test_a_padding_that_the_dtype_cannot_hold_is_refused(dtype: torch.dtype, padding: float) -> None:
    with pytest.raises(DtypeError, match="the sequences cannot hold the padding"):
        pad_sequence([torch.zeros(1, dtype=dtype)], padding=padding)


@pytest.mark.parametrize(
    "sequences, error, message",
    [
        (
            [torch.zeros(2, 3), torch.zeros(2, 4)],
            ShapeError,
            r"\(2, 3\) and \(2, 4\): sequences 0 and 1 differ in more",
        ),
        ([torch.zeros(2), torch.zeros(2, 4)], ShapeError, r"\(2,\) and \(2, 4\): sequences 0 and 1 differ in more"),
        ([torch.zeros(2), torch.zeros(2), torch.tensor(1.0)], ShapeError, "sequence 2 has no dims"),
        ([torch.zeros(2), torch.zeros(2).long()], DtypeError, "float32 and int64: sequences 0 and 1 differ in dtype"),
        ([torch.zeros(2), torch.zeros(2, device="meta")], DeviceError, "cpu, meta: sequences 0 and 1 are not on one"),
        ([], ValueError, "pad_sequence: there is no sequence"),
        ([torch.ones(1), [1, 2]], TypeError, r"sequence 1 is a list: a tensor is needed: torch.tensor"),
        ([torch.ones(1).numpy()], TypeError, r"sequence 0 is a ndarray: a tensor is needed: torch.from_numpy"),
    ],
)
def test_sequences_that_make_no_tensor_are_refused_by_number(
    sequences: list[Tensor], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pad_sequence(sequences, padding=0)


@pytest.mark.parametrize("padding", [7, 7.0, np.int64(7), np.float32(7), torch.tensor(7)])
def test_a_whole_number_of_any_kind_is_a_padding(padding: Any) -> None:
    assert pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], padding=padding)[0].tolist() == [[1, 2], [3, 7]]


def test_what_is_no_number_is_no_padding() -> None:
    for sequence in (torch.ones(1), torch.ones(1).long()):
        with pytest.raises(TypeError, match="padding is None: a"):
            pad_sequence([sequence], padding=None)  # type: ignore[arg-type]  # on purpose


def test_sequences_may_come_from_a_generator() -> None:
    rows = [torch.tensor([1, 2]), torch.tensor([3])]
    assert pad_sequence((row for row in rows), padding=0)[1].tolist() == [2, 1]
    assert pad_targets(row for row in rows).tolist() == [[1, 2], [3, -100]]


@pytest.mark.parametrize(
    "targets, error, message",
    [
        ([[1, 2]], TypeError, "pad_targets: target 0 is a list: a tensor is needed"),
        ([torch.ones(2)], DtypeError, "target 0 is float32: ignore_index is for classes"),
    ],
)
def test_what_are_no_classes_are_refused(targets: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pad_targets(targets)


def pairs() -> list[tuple[Tensor, Tensor]]:
    return [(torch.arange(1, n + 1), torch.arange(2, n + 2)) for n in (3, 1, 2, 2)]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_pads_each_batch_for_itself(workers: int) -> None:
    loader = DataLoader(pairs(), batch_size=2, collate_fn=PadCollate(padding=0), num_workers=workers)  # type: ignore[arg-type]  # a list is data
    first, second = loader
    assert isinstance(first, PaddedBatch)
    assert first.inputs.tolist() == [[1, 2, 3], [1, 0, 0]]
    assert first.lengths.tolist() == [3, 1]
    assert first.targets.tolist() == [[2, 3, 4], [2, -100, -100]]
    assert second.inputs.shape == second.targets.shape == (2, 2)


def test_the_collate_function_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(PadCollate(padding=3, ignore_index=-1))) == PadCollate(padding=3, ignore_index=-1)


def test_one_class_for_each_sequence_is_stacked() -> None:
    examples = [(torch.zeros(3, 2), torch.tensor(4)), (torch.zeros(1, 2), torch.tensor(5))]
    inputs, lengths, targets = PadCollate(padding=0)(examples)
    assert inputs.shape == (2, 3, 2)
    assert lengths.tolist() == [3, 1]
    assert targets.tolist() == [4, 5]


def test_plain_numbers_are_stacked_as_torch_stacks_them() -> None:
    classes = PadCollate(padding=0)([(torch.zeros(3), 4), (torch.zeros(1), 5)]).targets
    assert torch.equal(classes, torch.tensor([4, 5]))
    values = PadCollate(padding=0)([(torch.zeros(3), 0.5)]).targets
    assert (values.dtype, values.tolist()) == (torch.float32, [0.5])


@pytest.mark.parametrize(
    "example, message",
    [
        ({"x": torch.zeros(2)}, r"example 0 is a dict, not \(input, target\)"),
        (torch.zeros(2), r"example 0 is a Tensor, not \(input, target\)"),
        ((torch.zeros(2),) * 3, r"example 0 is a tuple of 3, not \(input, target\)"),
        ((torch.zeros(2), None), "target 0 is a NoneType: a tensor is needed"),
    ],
)
def test_what_is_no_pair_of_input_and_target_is_refused(example: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        PadCollate(padding=0)([example])


def test_the_class_in_place_of_a_collate_function_is_refused() -> None:
    loader = DataLoader(pairs(), batch_size=2, collate_fn=PadCollate)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match=r"write collate_fn=PadCollate\(padding=0\), not the class"):
        next(iter(loader))


def test_inputs_and_targets_may_have_different_lengths() -> None:
    examples: list[Any] = [(torch.zeros(3), torch.tensor([1])), (torch.zeros(1), torch.tensor([1, 2]))]
    batch = PadCollate(padding=0, ignore_index=-1)(examples)
    assert batch.targets.tolist() == [[1, -1], [1, 2]]
