"""The handwritten digits that come with scikit-learn: a real set, small enough that nothing has to be downloaded."""

from __future__ import annotations

from importlib import import_module

import torch

from shaped.runtime.arguments import require_whole
from shaped.runtime.data.images import DigitImages
from shaped.runtime.data.shuffling import shuffled


def digits(seed: int = 0, held_out: int = 360) -> tuple[DigitImages, DigitImages]:
    """The 1,797 digits of scikit-learn, split at random: those to train on, and those held out.

    Source: E. Alpaydin, C. Kaynak, "Optical recognition of handwritten digits", UCI Machine Learning Repository
    (1998), its test set.

    Args:
        seed: chooses the split, the same one on every machine.
        held_out: how many are held out.

    Returns:
        For both, the images, float32 of `(n, 1, 8, 8)` from 0 to 1, and their labels, int64 of `(n,)` from 0 to 9.

    Raises:
        ImportError: scikit-learn is not installed (`pip install 'shaped[data]'`).
        ValueError: so many cannot be held out.
        TypeError: a number is no whole number.

    >>> training, held_out = digits(seed=0, held_out=300)
    >>> training.images.shape, held_out.labels.shape
    (torch.Size([1497, 1, 8, 8]), torch.Size([300]))
    """
    try:
        loaded = import_module("sklearn.datasets").load_digits()
    except ImportError as error:
        raise ImportError("digits come with scikit-learn: pip install 'shaped[data]'") from error
    images = torch.tensor(loaded.data, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    labels = torch.tensor(loaded.target, dtype=torch.int64)
    if not 0 < require_whole("held_out", held_out) < len(images):
        raise ValueError(f"held_out is {held_out!r}: a number of images from 1 to {len(images) - 1} is needed")
    order = shuffled(len(images), seed)
    kept, out = order[held_out:], order[:held_out]
    return DigitImages(images[kept], labels[kept]), DigitImages(images[out], labels[out])
