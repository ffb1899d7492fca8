"""Batches whose targets are all left out of the loss: torch gives NaN, the mean over no target."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from shaped.trainers.fitting.objective import Supervised

_IGNORE_INDEX = -100  # of cross_entropy and nll_loss, unless they are told another


def why_not_finite(loss: object, batch: object) -> str:
    """Why the loss of a batch is NaN, as far as its targets tell: an addition to a message; empty if they do not.

    The mean of `nn.CrossEntropyLoss` and `nn.NLLLoss` is divided by the number of targets that are not `ignore_index`,
    which is 0 where none is left.

    Args:
        loss: the loss function, looked into if `supervised` made it.
        batch: its batch.

    >>> import torch
    >>> from shaped.trainers import supervised
    >>> why_not_finite(supervised(nn.CrossEntropyLoss()), (None, torch.tensor([-100, -100])))
    ' (every target is ignore_index, -100, so that it is the mean over no target)'
    """
    if not isinstance(loss, Supervised) or not isinstance(batch, (tuple, list)) or not batch:
        return ""
    criterion, target = loss.criterion, batch[-1]
    if isinstance(criterion, (nn.CrossEntropyLoss, nn.NLLLoss)):
        ignored = criterion.ignore_index if criterion.reduction == "mean" else None
    else:
        ignored = _IGNORE_INDEX if criterion in (F.cross_entropy, F.nll_loss) else None
    if ignored is None or not isinstance(target, Tensor) or target.is_floating_point() or target.is_complex():
        return ""
    if not bool((target == ignored).all()):
        return ""
    return f" (every target is ignore_index, {ignored}, so that it is the mean over no target)"
