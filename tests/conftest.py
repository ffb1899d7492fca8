"""Settings of all tests."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from hypothesis import HealthCheck, settings

# Tests run in as many processes as there are cores. If torch had as many threads in each, small operations would wait
# for threads that have no core: a test of a second took ten. Before torch is imported, and for the processes that
# tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No test leaves or finds reports among those of whoever runs it.
os.environ["SHAPED_CACHE_DIR"] = tempfile.mkdtemp(prefix="shaped-tests-cache-")
atexit.register(shutil.rmtree, os.environ["SHAPED_CACHE_DIR"], ignore_errors=True)

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
