"""Images and the number that each shows, as a dataset whose two tensors can be taken whole."""

from __future__ import annotations

from jaxtyping import Float32, Int64
from torch import Tensor
from torch.utils.data import TensorDataset

from shaped.runtime.arguments import require_tensor


class LabelledImages(TensorDataset):
    """Images with one label each.

    Example `i` is `(images[i], labels[i])`, as a `DataLoader` takes it; `images` and `labels` are all of them.

    Args:
        images: pixels from 0 to 1.
        labels: classes from 0.

    Raises:
        ValueError: the counts differ.
        TypeError: they are no tensors.
    """

    tensors: tuple[Tensor, Tensor]

    def __init__(self, images: Float32[Tensor, "n channels height width"], labels: Int64[Tensor, "n"]) -> None:
        for name, given in {"images": images, "labels": labels}.items():
            require_tensor(name, given)
        if len(images) != len(labels):
            raise ValueError(f"there are {len(images)} images, but {len(labels)} labels")
        super().__init__(images, labels)

    @property
    def images(self) -> Float32[Tensor, "n channels height width"]:
        """All images."""
        return self.tensors[0]

    @property
    def labels(self) -> Int64[Tensor, "n"]:
        """All labels."""
        return self.tensors[1]


class MnistImages(LabelledImages):
    """Images as MNIST has them: one channel of 28 x 28 pixels."""

    @property
    def images(self) -> Float32[Tensor, "n 1 28 28"]:
        """All images."""
        return self.tensors[0]


class DigitImages(LabelledImages):
    """Images as scikit-learn's digits are: one channel of 8 x 8 pixels."""

    @property
    def images(self) -> Float32[Tensor, "n 1 8 8"]:
        """All images."""
        return self.tensors[0]
