"""MNIST is read whole and checked, from files under any of their names."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from shaped.runtime.data import DataError, mnist, write_idx

PIXELS = torch.arange(3 * 28 * 28).remainder(256).to(torch.uint8).reshape(3, 28, 28)
DIGITS = torch.tensor([5, 0, 4], dtype=torch.uint8)


def put(
    folder: Path, images: Tensor = PIXELS, labels: Tensor = DIGITS, style: str = "{}-idx", split: str = "train"
) -> None:
    """Write a set under the names of a style, such as `{}.idx` or `{}-idx` with `.gz`."""
    stem, _, suffix = style.partition("|")
    write_idx(folder / f"{stem.format(f'{split}-images')}3-ubyte{suffix}", images)
    write_idx(folder / f"{stem.format(f'{split}-labels')}1-ubyte{suffix}", labels)


@pytest.mark.parametrize("style", ["{}-idx", "{}.idx", "{}-idx|.gz", "{}.idx|.gz"])
@pytest.mark.parametrize("split", ["train", "t10k"])
def test_a_set_is_found_under_every_published_name(tmp_path: Path, style: str, split: str) -> None:
    put(tmp_path, style=style, split=split)
    found = mnist(tmp_path, train=split == "train", standard=False)
    assert found.images.shape == (3, 1, 28, 28)
    assert found.labels.tolist() == [5, 0, 4]


def test_pixels_are_float32_from_0_to_1_and_labels_int64(tmp_path: Path) -> None:
    put(tmp_path)
    found = mnist(tmp_path, standard=False)
    assert found.images.dtype == torch.float32
    assert found.labels.dtype == torch.int64
    assert found.images.min() == 0
    assert found.images.max() == 1
    # Exactly what a division by 255 gives, as in torchvision's ToTensor.
    assert torch.equal(found.images[:, 0], PIXELS / 255)


@pytest.mark.parametrize("train, rows", [(True, 60_000), (False, 10_000)])
def test_the_standard_set_has_all_its_rows(tmp_path: Path, train: bool, rows: int) -> None:
    split = "train" if train else "t10k"
    put(tmp_path, torch.zeros(rows, 28, 28, dtype=torch.uint8), torch.zeros(rows, dtype=torch.uint8), split=split)
    assert len(mnist(tmp_path, train=train)) == rows


@pytest.mark.parametrize("train, rows", [(True, 60_000), (False, 10_000)])
def test_another_number_of_rows_is_not_the_standard_set(tmp_path: Path, train: bool, rows: int) -> None:
    put(tmp_path, split="train" if train else "t10k")
    with pytest.raises(DataError, match=f"it has 3 images, the standard set {rows}: .* standard=False"):
        mnist(tmp_path, train=train)


def test_an_example_is_an_image_and_its_label(tmp_path: Path) -> None:
    put(tmp_path)
    images = mnist(tmp_path, standard=False)
    image, label = images[2]
    assert image.shape == (1, 28, 28)
    assert label == 4
    batches = list(DataLoader(images, batch_size=2))
    assert [(x.shape, y.tolist()) for x, y in batches] == [((2, 1, 28, 28), [5, 0]), ((1, 1, 28, 28), [4])]


def test_names_that_were_looked_for_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refused:
        mnist(tmp_path)
    assert refused.value.path == tmp_path
    assert refused.value.reason == (
        "none of train-images-idx3-ubyte, train-images.idx3-ubyte, train-images-idx3-ubyte.gz, "
        "train-images.idx3-ubyte.gz is there"
    )
    with pytest.raises(DataError, match="there is no such folder"):
        mnist(tmp_path / "elsewhere")


def test_missing_labels_are_told_too(tmp_path: Path) -> None:
    put(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").unlink()
    with pytest.raises(DataError, match="none of train-labels-idx1-ubyte, "):
        mnist(tmp_path)


@pytest.mark.parametrize(
    "images, labels, file, reason",
    [
        (PIXELS[:2], DIGITS, "labels-idx1", "it has 3 labels, but train-images-idx3-ubyte has 2 images"),
        (PIXELS[:, :27], DIGITS, "images-idx3", "its images are 27 x 28 pixels, not 28 x 28"),
        (
            PIXELS,
            DIGITS + torch.tensor([0, 10, 10], dtype=torch.uint8),
            "labels-idx1",
            "label 1 is 10, which is no digit",
        ),
        (DIGITS, DIGITS, "images-idx3", r"its magic number is 2049 \(labels\), not 2051 \(images\)"),
        (PIXELS, PIXELS, "labels-idx1", r"its magic number is 2051 \(images\), not 2049 \(labels\)"),
        (PIXELS.float(), DIGITS, "images-idx3", r"its magic number is 3331 \(0x00000d03\), not 2051"),
    ],
)
def test_files_that_do_not_fit_are_refused_by_name(
    tmp_path: Path, images: Tensor, labels: Tensor, file: str, reason: str
) -> None:
    put(tmp_path, images, labels)
    with pytest.raises(DataError, match=reason) as refused:
        mnist(tmp_path, standard=False)
    assert refused.value.path == tmp_path / f"train-{file}-ubyte"
