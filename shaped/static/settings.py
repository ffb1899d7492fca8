"""What a program sets for all of its tensors, as its source says."""

from __future__ import annotations

import re

from shaped.spec.dtypes import FLOATS
from shaped.spec.settings import CAST_BY_AUTOCAST, Settings

# Text is searched, since it takes a hundredth of the time that a search of the tree takes. Where a comment has one of
# these words, less is known than could be.
_OTHER_DTYPE = re.compile(r"\bset_default_(?:dtype|tensor_type)\b")
_OTHER_DEVICE = re.compile(r"\bset_default_(?:device|tensor_type)\b|\bwith\s+[\w.]*device\b|\bDeviceContext\b")
_AUTOCAST = re.compile(r"autocast|\bmixed_precision\b|\bGradScaler\b")
_WRITES_PARAMETERS = re.compile(r"\.data\s*=[^=]|\bassign\s*=\s*True\b|\._apply\(|\bget_submodule\(")
_OVER_MODULES = re.compile(r"\bfor\s+[^\n:]*?(\w+)\s+in\s[^\n]*\b(?:named_)?(?:modules|children)\(")


def settings_of(source: str) -> Settings:
    """The settings of a program with this source. What is set anywhere in it is not known anywhere in it.

    >>> settings_of("torch.set_default_device('cuda')").default_device is None
    True
    """
    alike: frozenset[str] = frozenset()
    if _AUTOCAST.search(source):
        alike = CAST_BY_AUTOCAST
    if _OTHER_DTYPE.search(source):
        alike = FLOATS
    return Settings(
        default_device=None if _OTHER_DEVICE.search(source) else Settings.default_device,
        alike=alike,
        follows_parameters=not _WRITES_PARAMETERS.search(source) and not _casts_in_loops(source),
    )


def _casts_in_loops(source: str) -> bool:
    """Whether a loop over the modules in another casts or moves them."""
    names = set(_OVER_MODULES.findall(source))
    cast = rf"\b(?:{'|'.join(names)})\.(?:half|float|double|bfloat16|to|type|cuda|cpu)\("
    return bool(names) and re.search(cast, source) is not None


def joined(a: Settings, b: Settings) -> Settings:
    """What holds where either of two sources is run."""
    return Settings(
        a.default_device if a.default_device == b.default_device else None,
        a.alike | b.alike,
        a.follows_parameters and b.follows_parameters,
    )
