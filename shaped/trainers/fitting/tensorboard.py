"""A run in TensorBoard: its values, epoch by epoch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shaped.trainers.fitting.extras import require_extra

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

    from shaped.trainers.fitting.history import Epoch


def require_tensorboard() -> None:
    """Have tensorboard, or say how to get it."""
    require_extra("torch.utils.tensorboard", "a log for TensorBoard", "tensorboard")


class TensorBoardLog:
    """A log in a folder: `loss/training`, `loss/validation`, the same for each metric, and the learning rate.

    Args:
        folder: where; runs side by side are compared.
        first_epoch: what an earlier run logged from this epoch on (it was killed and is resumed) is hidden.

    Raises:
        ImportError: tensorboard is not installed.
    """

    def __init__(self, folder: str | os.PathLike[str], first_epoch: int = 1) -> None:
        require_tensorboard()
        from torch.utils.tensorboard import SummaryWriter

        purge = first_epoch if first_epoch > 1 else None
        self._writer: SummaryWriter = SummaryWriter(os.fspath(folder), purge_step=purge)

    def add(self, epoch: Epoch) -> None:
        """Log an epoch, so that it can be seen at once."""
        for part, measured in (("training", epoch.training), ("validation", epoch.validation)):
            for name, value in measured.items():
                self._writer.add_scalar(f"{name}/{part}", value, epoch.number)
        self._writer.add_scalar("learning rate", epoch.learning_rate, epoch.number)
        self._writer.flush()

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()
