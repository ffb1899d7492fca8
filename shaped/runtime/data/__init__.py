"""Data for training: files and sets, seeded batches, padded sequences and masks. All of it goes into a `DataLoader`."""

from __future__ import annotations

from shaped.runtime.data.batches import Batches as Batches
from shaped.runtime.data.batches import BatchSampler as BatchSampler
from shaped.runtime.data.digits import digits as digits
from shaped.runtime.data.idx import DataError as DataError
from shaped.runtime.data.idx import read_idx as read_idx
from shaped.runtime.data.idx import write_idx as write_idx
from shaped.runtime.data.images import DigitImages as DigitImages
from shaped.runtime.data.images import LabelledImages as LabelledImages
from shaped.runtime.data.images import MnistImages as MnistImages
from shaped.runtime.data.masks import NothingToAttendError as NothingToAttendError
from shaped.runtime.data.masks import causal_mask as causal_mask
from shaped.runtime.data.masks import combine_masks as combine_masks
from shaped.runtime.data.masks import padding_mask as padding_mask
from shaped.runtime.data.masks import require_attendable as require_attendable
from shaped.runtime.data.mnist import mnist as mnist
from shaped.runtime.data.sequences import PadCollate as PadCollate
from shaped.runtime.data.sequences import PaddedBatch as PaddedBatch
from shaped.runtime.data.sequences import pad_sequence as pad_sequence
from shaped.runtime.data.sequences import pad_targets as pad_targets
