"""Plain data: what `torch.load(..., weights_only=True)` reads again."""

from __future__ import annotations

from collections import Counter, OrderedDict

import torch
from torch import Tensor

_ATOMS = (bool, int, float, complex, str, bytes, torch.dtype, torch.device)


def require_plain(value: object, place: str) -> None:
    """Refuse what could not be read again, before anything is written: `place` is what it is called.

    >>> require_plain({"best": [0.5, None]}, "history")
    >>> require_plain({"best": [0.5, range(3)]}, "history")
    Traceback (most recent call last):
    TypeError: history['best'][1] is a builtins.range, which is loaded only by running its code: give plain data
    """
    if value is None or type(value) in _ATOMS or isinstance(value, Tensor):
        return
    # By the very type: a subclass (numpy.float64 of float, a named tuple) is written as a call of its class.
    if type(value) in (dict, OrderedDict, Counter):
        assert isinstance(value, dict)
        for key, inner in value.items():
            require_plain(key, f"the key {key!r} of {place}")
            require_plain(inner, f"{place}[{key!r}]")
    elif type(value) in (list, tuple, set, torch.Size):
        assert isinstance(value, (list, tuple, set))
        for position, inner in enumerate(value):
            require_plain(inner, f"{place}[{position}]")
    else:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise TypeError(f"{place} is a {kind}, which is loaded only by running its code: give plain data")
