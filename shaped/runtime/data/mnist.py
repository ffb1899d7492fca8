"""MNIST, and what is kept in the same files: Fashion-MNIST, KMNIST, a set of one's own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import torch

from shaped.runtime.data.idx import DataError, only_file, read_idx
from shaped.runtime.data.images import MnistImages

IMAGES_MAGIC, LABELS_MAGIC = 2051, 2049  # uint8 of 3 dims, uint8 of 1 dim


class _Split(NamedTuple):
    name: str  # that its files begin with
    rows: int  # of the standard set


_TRAINING, _TEST = _Split("train", 60_000), _Split("t10k", 10_000)


def mnist(folder: str | os.PathLike[str], train: bool = True, standard: bool = True) -> MnistImages:
    """Read MNIST's training or test images from the files in a folder. Nothing is downloaded.

    Args:
        folder: where the files are, under the names that they are published with (`train-images-idx3-ubyte`,
            `t10k-labels-idx1-ubyte`; also with a dot before `idx`), in gzip (`.gz`) or not. torchvision keeps them in
            `MNIST/raw` below its root.
        train: the 60,000 training images, or else the 10,000 test images.
        standard: whether it has to be the whole set; else there may be any number of images.

    Returns:
        The images, float32 of `(n, 1, 28, 28)` from 0 to 1, and their labels, int64 of `(n,)` from 0 to 9.

    Raises:
        DataError: a file is not there, not whole, or not what it should be; says which, and what is wrong with it.
    """
    folder = Path(folder)
    split = _TRAINING if train else _TEST
    images_file = only_file(folder, _names(split, "images-idx3-ubyte"))
    labels_file = only_file(folder, _names(split, "labels-idx1-ubyte"))
    images = read_idx(images_file, magic=IMAGES_MAGIC)
    labels = read_idx(labels_file, magic=LABELS_MAGIC)
    if images.shape[1:] != (28, 28):
        raise DataError(images_file, f"its images are {images.shape[1]} x {images.shape[2]} pixels, not 28 x 28")
    if len(images) != len(labels):
        raise DataError(labels_file, f"it has {len(labels)} labels, but {images_file.name} has {len(images)} images")
    if standard and len(images) != split.rows:
        raise DataError(
            images_file,
            f"it has {len(images)} images, the standard set {split.rows}: for a set of your own, standard=False",
        )
    if wrong := (labels > 9).nonzero()[:1].flatten().tolist():
        raise DataError(labels_file, f"label {wrong[0]} is {labels[wrong[0]]}, which is no digit from 0 to 9")
    return MnistImages(images.unsqueeze(1).to(torch.float32) / 255, labels.to(torch.int64))


def _names(split: _Split, rest: str) -> list[str]:
    """The names that a file is found under."""
    names = [f"{split.name}-{rest}", f"{split.name}-{rest.replace('-idx', '.idx')}"]
    return names + [f"{name}.gz" for name in names]
