"""Calls checked against their annotations, at almost no cost.

`lowering` reduces type hints to `hints`, `plan` collects those of a function, `checks` and `generation` write the code
that checks its calls, `reference` says what the code has to mean, `failure` what is wrong with a call, and `fixes` what
may have been meant.
"""

from __future__ import annotations

from shaped.runtime.checked.decorator import checked
from shaped.runtime.checked.switch import is_checking, set_checking

__all__ = ["checked", "is_checking", "set_checking"]
