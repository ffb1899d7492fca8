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
        folder: where; TensorBoard compares the folders that lie side by side.
        first_epoch: what is in the folder from this epoch on is hidden: another run, or what a run that was killed had
            logged after its last checkpoint.

    Raises:
        ImportError: tensorboard is not installed.
    """

    def __init__(self, folder: str | os.PathLike[str], first_epoch: int = 1) -> None:
        require_tensorboard()
        from torch.utils.tensorboard import SummaryWriter

        self._writer: SummaryWriter = SummaryWriter(os.fspath(folder), purge_step=first_epoch)

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
