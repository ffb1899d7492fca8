"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# A machine that does other work makes any deadline fail now and then. The fast tier draws the same examples on every
# run, so that it fails only for what was changed; `make slow` (SHAPED_RANDOM=1) draws new ones.
settings.register_profile("shaped", deadline=None, derandomize="SHAPED_RANDOM" not in os.environ)
settings.load_profile("shaped")
