"""The commands `shaped verify` and `shaped prove`: what they print, and whether all is well."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from shaped.verify.files import Declared, FileError, declared, load_module
from shaped.verify.ledger import LEDGER, Entry, counts, entries, read_certificates, write
from shaped.verify.verdict import Level, Verdict


def verify(paths: Sequence[Path], *, as_json: bool = False, explain: bool = False) -> bool:
    """Print a verdict for each gradient that files declare.

    Returns:
        Whether no gradient is wrong. One that is not decided is no fault.

    Raises:
        FileError: a file cannot be run, or declares no gradient.
    """
    is_well = True
    for path in paths:
        found = list(declared(load_module(path)))
        if not found:
            raise FileError(
                f"{path} declares no gradient: it needs a torch.autograd.Function, an op of custom_grad, or functions "
                "forward and backward"
            )
        for each in found:
            verdict = each.verdict()
            is_well &= verdict.ok or verdict.level in (Level.UNSUPPORTED, Level.KINK)
            print(_json(path, each, verdict) if as_json else _text(path, each, verdict, explain), flush=True)
    return is_well


def _text(path: Path, each: Declared, verdict: Verdict, explain: bool) -> str:
    text = verdict.explain() if explain or not verdict.ok else str(verdict)
    subject = f"{verdict.subject}: " if text.startswith(f"{verdict.subject}: ") else ""
    return f"{path}:{each.line}: {each.name}: {text.removeprefix(subject)}"


def _json(path: Path, each: Declared, verdict: Verdict) -> str:
    return json.dumps(
        {
            "file": str(path),
            "line": each.line,
            "name": each.name,
            "level": verdict.level.value,
            "ok": verdict.ok,
            "reason": verdict.reason,
            "domain": verdict.domain,
            "kinks": verdict.kinks,
            "notes": verdict.notes,
            "witness": None if verdict.witness is None else asdict(verdict.witness),
        },
        default=str,
    )


def prove(folder: Path, *, quiet: bool = False) -> bool:
    """Check the theorems of a folder, and write its ledger and its certificates.

    Returns:
        Whether every theorem is proved or exact.

    Raises:
        FileError: the folder states no theorem, or a file cannot be run.
    """
    found: list[Entry] = []
    start = time.perf_counter()
    for entry, seconds in _timed(entries(folder)):
        found.append(entry)
        verdict = entry.checked.verdict
        if not quiet or not verdict.ok:
            print(f"{1000 * seconds:7.0f} ms  {verdict}", flush=True)
    write(folder, found)
    took = time.perf_counter() - start
    print(f"{len(found)} theorems in {took:.1f} s: {counts(found)}. Written: {folder / LEDGER} and the certificates.")
    return all(entry.checked.verdict.ok for entry in found)


def check_certificates(folder: Path) -> bool:
    """Check the certificates of a folder again, at points that were never used, without a prover.

    Returns:
        Whether each holds.

    Raises:
        FileError: there are none, or one cannot be read.
    """
    seed = int.from_bytes(os.urandom(4), "little")
    total = compared = 0
    is_well = True
    for certificate in read_certificates(folder):
        agreement = certificate.check(seed=seed)
        total += 1
        compared += agreement.entries
        if not agreement.holds:
            is_well = False
            print(f"{certificate.statement}: {agreement}")
    print(f"{total} certificates, compared at {compared} entries of random points (seed {seed}).")
    return is_well


def _timed(found: Iterator[Entry]) -> Iterator[tuple[Entry, float]]:
    """Each entry with the seconds that it took."""
    while True:
        start = time.perf_counter()
        entry = next(found, None)
        if entry is None:
            return
        yield entry, time.perf_counter() - start
