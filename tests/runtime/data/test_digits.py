"""The digits that come with scikit-learn, split by a seed."""

from __future__ import annotations

import pickle
import sys

import pytest
import torch
from sklearn.datasets import load_digits

from shaped.runtime.data import LabelledImages, digits


def as_rows(images: LabelledImages) -> list[tuple[float, ...]]:
    """Each image with its label, to be compared as a whole."""
    return [(*image, label) for image, label in zip(images.images.flatten(1).tolist(), images.labels.tolist())]


def test_both_parts_together_are_the_whole_set() -> None:
    training, held_out = digits(seed=3, held_out=300)
    assert (len(training), len(held_out)) == (1497, 300)
    pixels, labels = load_digits(return_X_y=True)
    whole = [(*(row / 16).tolist(), int(label)) for row, label in zip(pixels, labels)]
    assert sorted(as_rows(training) + as_rows(held_out)) == sorted(whole)


def test_images_are_float32_from_0_to_1_and_labels_int64() -> None:
    for part in digits():
        assert part.images.shape == (len(part), 1, 8, 8)
        assert part.images.dtype == torch.float32
        assert (part.images.min(), part.images.max()) == (0, 1)
        assert part.labels.dtype == torch.int64
        assert part.labels.unique().tolist() == list(range(10))


def test_the_split_is_that_of_the_seed() -> None:
    same, again, other = (digits(seed=seed)[1].labels for seed in (0, 0, 1))
    assert torch.equal(same, again)
    assert not torch.equal(same, other)
    assert same[:10].tolist() == [2, 5, 6, 7, 7, 6, 7, 4, 4, 6]  # on every machine


def test_a_part_can_be_sent_to_another_process() -> None:
    part = digits()[1]
    copied = pickle.loads(pickle.dumps(part))
    assert type(copied) is type(part)
    assert torch.equal(copied.images, part.images)


def test_images_and_labels_are_of_one_count() -> None:
    with pytest.raises(ValueError, match="there are 2 images, but 3 labels"):
        LabelledImages(torch.zeros(2, 1, 8, 8), torch.zeros(3).long())


def test_arrays_are_no_images() -> None:
    with pytest.raises(TypeError, match=r"images is a ndarray: a tensor is needed: torch.from_numpy"):
        LabelledImages(torch.zeros(2, 1, 8, 8).numpy(), torch.zeros(2).long())  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("held_out", [0, 1797, -1])
def test_what_cannot_be_held_out_is_refused(held_out: int) -> None:
    with pytest.raises(ValueError, match=f"held_out is {held_out!r}: a number of images from 1 to 1796 is needed"):
        digits(held_out=held_out)


@pytest.mark.parametrize("held_out", [0.2, True])
def test_a_share_is_no_number_of_images(held_out: int) -> None:
    with pytest.raises(TypeError, match=f"held_out is {held_out!r}: a whole number is needed"):
        digits(held_out=held_out)


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match=r"pip install 'shaped\[data\]'"):
        digits()
