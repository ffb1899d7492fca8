"""jaxtyping's own tests, with `checked` in the place of `jaxtyped(typechecker=beartype)`.

    git clone --branch v0.3.11 https://github.com/patrick-kidger/jaxtyping
    python -m benchmarks.jaxtyping_tests jaxtyping

runs them twice, as they are and with `checked`, and prints which tests agree and which do not. They need jax, equinox,
typeguard 2.13.3, cloudpickle and, for a few, pytest-asyncio. Only tests that decorate by
`jaxtyped(typechecker=beartype)` or use the import hook with beartype reach `checked`; the others are counted apart.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


@dataclass(eq=False)
class Recorder:
    """A pytest plugin that records what each test did, and whether `checked` took part in it."""

    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)
    decorated: int = 0

    def pytest_runtest_setup(self) -> None:
        """Start to count the functions that `checked` decorates."""
        self.decorated = 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Record one phase of a test; the first that does not pass counts."""
        outcome = self.outcomes.setdefault(report.nodeid, {"outcome": "passed", "says": "", "decorated": 0})
        outcome["decorated"] = max(outcome["decorated"], self.decorated)
        if report.outcome != "passed" and outcome["outcome"] == "passed":
            outcome["outcome"] = report.outcome
            outcome["says"] = first_line(report.longrepr)

    def pytest_collectreport(self, report: Any) -> None:
        """Record a file that cannot be imported."""
        if report.failed:
            says = first_line(report.longrepr)
            self.outcomes[report.nodeid] = {"outcome": "not collected", "says": says, "decorated": 0}


def first_line(said: Any) -> str:
    """What a failed test or a file that cannot be imported says, in a line."""
    crash = getattr(said, "reprcrash", None)
    text = crash.message if crash is not None else str(said or "").strip().rpartition("\n")[2]
    return str(text.partition("\n")[0])


@contextlib.contextmanager
def checked_in_place(recorder: Recorder) -> Iterator[None]:
    """Replace `jaxtyped(typechecker=beartype)`, and the import hook with beartype, by those of this package."""
    import beartype
    import jaxtyping
    from jaxtyping import _import_hook

    import shaped
    from shaped.runtime.checked import checked

    jaxtyped, install_import_hook = jaxtyping.jaxtyped, jaxtyping.install_import_hook
    unset = object()
    is_decorating = False

    def counted(fn: Any) -> Any:
        nonlocal is_decorating
        recorder.decorated += 1
        is_decorating = True
        try:
            return checked(fn)
        finally:
            is_decorating = False

    def decorate(fn: Any = unset, *, typechecker: Any = unset) -> Any:
        # What `checked` itself leaves to jaxtyping is for jaxtyping.
        if typechecker is beartype.beartype and not is_decorating:
            return counted if fn is unset else counted(fn)
        given = {} if typechecker is unset else {"typechecker": typechecker}
        return jaxtyped(**given) if fn is unset else jaxtyped(fn, **given)

    def install(modules: Any, typechecker: Any) -> Any:
        name = ".".join(typechecker) if isinstance(typechecker, tuple) else typechecker
        if isinstance(name, str) and name.startswith("beartype"):
            recorder.decorated += 1
            return shaped.install_import_hook(modules)
        return install_import_hook(modules, typechecker)

    jaxtyping.jaxtyped, jaxtyping.install_import_hook = decorate, install
    _import_hook.install_import_hook = install
    yield


def run(folder: Path, use_checked: bool, out: Path) -> None:
    """Run the tests in this process and write what they did."""
    import pytest

    os.chdir(folder)
    sys.path.insert(0, str(folder))
    recorder = Recorder()
    arguments = ["test", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    if importlib.util.find_spec("pytest_asyncio"):
        arguments += ["-p", "pytest_asyncio.plugin"]
    with checked_in_place(recorder) if use_checked else contextlib.nullcontext():
        pytest.main(arguments, plugins=[recorder])
    out.write_text(json.dumps(recorder.outcomes), encoding="utf-8")


def outcomes(folder: Path, use_checked: bool) -> dict[str, dict[str, Any]]:
    """What each test did, run in a process of its own."""
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary) / "outcomes.json"
        command = [sys.executable, "-m", "benchmarks.jaxtyping_tests", str(folder), "--out", str(out)]
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
        subprocess.run(
            command + ["--checked"] * use_checked, env=environment, check=True, stdout=subprocess.DEVNULL, cwd=ROOT
        )
        found: dict[str, dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))
        return found


def compare(wanted: dict[str, dict[str, Any]], got: dict[str, dict[str, Any]]) -> str:
    """What there is to say of the two runs."""
    reached = {name for name, outcome in got.items() if outcome["decorated"]}
    counts = Counter(
        (wanted.get(name, {}).get("outcome", "absent"), outcome["outcome"]) for name, outcome in got.items()
    )
    lines = [f"{len(got)} tests; as they are, and with checked:"]
    lines += [f"  {count:4} {before}, {after}" for (before, after), count in sorted(counts.items())]
    agree = [name for name in reached if wanted.get(name, {}).get("outcome") == got[name]["outcome"]]
    passing = [name for name in agree if got[name]["outcome"] == "passed"]
    lines.append(f"{len(reached)} of them reach checked: {len(agree)} agree, {len(passing)} of these pass")
    for name in sorted(set(got) | set(wanted)):
        before, after = wanted.get(name, {"outcome": "absent"}), got.get(name, {"outcome": "absent"})
        if before["outcome"] != after["outcome"]:
            lines.append(f"{name}: {before['outcome']}, with checked {after['outcome']}: {after.get('says', '')}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a checkout of jaxtyping, with its folder test")
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--checked", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not (folder / "test" / "test_array.py").exists():
        parser.error(f"{folder} is no checkout of jaxtyping: it has no test/test_array.py")
    if options.out:
        run(folder, options.checked, options.out)
    else:
        print(compare(outcomes(folder, use_checked=False), outcomes(folder, use_checked=True)))


if __name__ == "__main__":
    main()
