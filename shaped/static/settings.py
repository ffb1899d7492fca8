"""What a program sets for all of its tensors, as its source says."""

from __future__ import annotations

import re

from shaped.spec.dtypes import FLOATS
from shaped.spec.settings import CAST_BY_AUTOCAST, Settings


# Text is searched, since it takes a hundredth of the time that a search of the tree takes. Where a comment has one of
# these words, less is known than could be.
class _Sign:
    """A pattern that is sought only in text with one of some words, which are found far faster.

    Args:
        pattern: what is sought.
        words: one of them is in all that it matches.
    """

    def __init__(self, pattern: str, *words: str) -> None:
        self.pattern, self.words = re.compile(pattern), words

    def __call__(self, source: str) -> bool:
        return any(word in source for word in self.words) and self.pattern.search(source) is not None

    def all_in(self, source: str) -> list[str]:
        """What of `source` it matches."""
        return self.pattern.findall(source) if any(word in source for word in self.words) else []


_sets_dtype = _Sign(r"\bset_default_(?:dtype|tensor_type)\b", "set_default_")
_sets_device = _Sign(r"\bset_default_(?:device|tensor_type)\b|\bDeviceContext\b", "set_default_", "DeviceContext")
_enters_device = _Sign(r"with\s+[\w.]*device\b", "device")
_casts_itself = _Sign(r"autocast|\bmixed_precision\b|\bGradScaler\b", "autocast", "mixed_precision", "GradScaler")
_writes_parameters = _Sign(
    r"\.data\s*=[^=]|\bassign\s*=\s*True\b|\._apply\(|\bget_submodule\(",
    *(".data", "assign", "._apply(", "get_submodule("),
)
_over_modules = _Sign(r"\bfor\s+[^\n:]*?(\w+)\s+in\s[^\n]*\b(?:named_)?(?:modules|children)\(", "modules(", "children(")


def settings_of(source: str) -> Settings:
    """The settings of a program with this source. What is set anywhere in it is not known anywhere in it.

    >>> settings_of("torch.set_default_device('cuda')").default_device is None
    True
    """
    alike: frozenset[str] = frozenset()
    if _casts_itself(source):
        alike = CAST_BY_AUTOCAST
    if _sets_dtype(source):
        alike = FLOATS
    return Settings(
        default_device=None if _sets_device(source) or _enters_device(source) else Settings.default_device,
        alike=alike,
        follows_parameters=not _writes_parameters(source) and not _casts_in_loops(source),
    )


def _casts_in_loops(source: str) -> bool:
    """Whether a loop over the modules in another casts or moves them."""
    names = set(_over_modules.all_in(source))
    cast = rf"\b(?:{'|'.join(names)})\.(?:half|float|double|bfloat16|to|type|cuda|cpu)\("
    return bool(names) and re.search(cast, source) is not None


def joined(a: Settings, b: Settings) -> Settings:
    """What holds where either of two sources is run."""
    return Settings(
        a.default_device if a.default_device == b.default_device else None,
        a.alike | b.alike,
        a.follows_parameters and b.follows_parameters,
    )
