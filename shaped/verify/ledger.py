"""The theorems of a folder: checking them, their certificates, and the ledger of what is known how."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shaped.spec.meaning import MEANINGS, load
from shaped.verify.certificate import Certificate
from shaped.verify.checking import Checked, check
from shaped.verify.files import FileError, load_module
from shaped.verify.theorem import AnyTheorem, Theorem
from shaped.verify.verdict import Level

LEDGER, CERTIFICATES = "LEDGER.md", "certificates"


@dataclass(frozen=True)
class Entry:
    """A line of the ledger.

    Args:
        family: the file that states the theorem.
        theorem: what is stated.
        checked: what was found.
    """

    family: str
    theorem: AnyTheorem
    checked: Checked


def stated(folder: Path) -> Iterator[tuple[str, AnyTheorem]]:
    """The theorems of a folder, with the file that states each: those in its `THEOREMS`.

    Raises:
        FileError: the folder has none, a file cannot be run, or a file states nothing.
    """
    files = [path for path in sorted(folder.glob("*.py")) if not path.name.startswith("_")]
    if not files:
        raise FileError(f"{folder} has no theorems: pass a folder with files that have a list THEOREMS")
    for path in files:
        found = getattr(load_module(path), "THEOREMS", None)
        if found is None:
            raise FileError(f"{path} states nothing: give it THEOREMS, a list of shaped.verify.theorem.Theorem")
        for theorem in found:
            yield path.stem, theorem


def entries(folder: Path) -> Iterator[Entry]:
    """The entries of the ledger, each as soon as it is found."""
    for family, theorem in stated(folder):
        yield Entry(family, theorem, check(theorem))


def write(folder: Path, found: Sequence[Entry]) -> None:
    """Write the ledger and the certificates of a folder, replacing what was there."""
    certificates = folder / CERTIFICATES
    certificates.mkdir(exist_ok=True)
    families = dict.fromkeys(entry.family for entry in found)
    for old in certificates.glob("*.jsonl"):
        if old.stem not in families:
            old.unlink()
    for family in families:
        lines = [
            json.dumps(certificate.to_data(), separators=(",", ":"))
            for entry in found
            if entry.family == family
            for certificate in entry.checked.certificates
        ]
        (certificates / f"{family}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / LEDGER).write_text(page(found), encoding="utf-8")


def read_certificates(folder: Path) -> Iterator[Certificate]:
    """The certificates that were written for a folder.

    Raises:
        FileError: there are none, or one cannot be read.
    """
    files = sorted((folder / CERTIFICATES).glob("*.jsonl"))
    if not files:
        raise FileError(f"{folder} has no certificates: run `shaped prove {folder}` first")
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                yield Certificate.from_data(json.loads(line))
            except ValueError as error:
                raise FileError(f"{path}, line {number}: {error}") from error


def counts(found: Sequence[Entry]) -> str:
    """How many theorems are known at which level."""
    levels = [entry.checked.verdict.level for entry in found]
    return ", ".join(f"{levels.count(level)} {level.value}" for level in Level if level in levels)


def page(found: Sequence[Entry]) -> str:
    """The ledger as a page: what is stated, how it is known, and under which conditions."""
    load()
    lines = [
        "# Ledger",
        "",
        "What is known of the table's gradients, and how. Written by `shaped prove proofs/`; do not edit.",
        "",
        f"{len(found)} theorems: {counts(found)}.",
        "",
        "- proved: for every size, and every value in the domain; a second checker agreed at random points.",
        "- exact: for the sizes named, and every value; no tolerance.",
        "- tested: no theorem; the meaning is compared with torch at generated inputs.",
        "",
    ]
    for family in dict.fromkeys(entry.family for entry in found):
        lines += [f"## {family}", "", "| statement | known | conditions |", "|---|---|---|"]
        lines += [_row(entry) for entry in found if entry.family == family]
        lines.append("")
    with_theorem = {entry.theorem.op for entry in found if isinstance(entry.theorem, Theorem)}
    tested = sorted(name for name in MEANINGS if name not in with_theorem)
    lines += [
        "## Tested",
        "",
        "Operations whose gradient is derived from their meaning, so that there is no second formula to prove:",
        "",
        ", ".join(f"`{name}`" for name in tested) + ".",
        "",
    ]
    return "\n".join(lines)


def _row(entry: Entry) -> str:
    verdict = entry.checked.verdict
    reason = () if verdict.ok else (str(verdict.reason),)
    conditions = "; ".join((*reason, *verdict.domain, *(f"kink: {kink}" for kink in verdict.kinks)))
    note = f" ({entry.theorem.note})" if entry.theorem.note else ""
    return f"| `{entry.theorem.statement}`{note} | {verdict.level.value} | {_cell(conditions)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
