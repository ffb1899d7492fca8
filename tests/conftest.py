"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# A machine that does other work makes any deadline fail now and then.
settings.register_profile("shaped", deadline=None)
settings.load_profile("shaped")
