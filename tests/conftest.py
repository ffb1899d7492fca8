"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A machine that does other work makes any deadline fail now and then. The fast tier draws the same examples on every
# run, so that it fails only for what was changed; `make slow` (SHAPED_RANDOM=1) draws new ones.
settings.register_profile(
    "shaped",
    deadline=None,
    derandomize="SHAPED_RANDOM" not in os.environ,
    # The first draw of a run reads all modules of the package for their constants.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("shaped")
