"""The full text of what users read: message, notes and hint, for one small program each.

The programs and their texts stand in `messages.txt`. Line 1 of each program are the imports below, so that it starts
on line 2. After a message was improved, `python -m tests.static.test_messages` writes all texts anew, to be read as a
diff.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shaped.static.check import Checker

GOLDEN = Path(__file__).with_name("messages.txt")
IMPORTS = (
    "import torch, torch.nn.functional as F; from einops import rearrange; from torch import Tensor, nn; "
    "from jaxtyping import Bool, Float, Int"
)
_ENTRY = re.compile(r"^=== (?P<title>.+)\n(?P<program>(?:(?!---$).*\n)+)---\n(?P<text>(?:(?!=== ).*\n)*)", re.MULTILINE)


def entries() -> list[tuple[str, str, str]]:
    """Title, program and expected text of each entry."""
    return [
        (entry["title"], entry["program"], entry["text"].rstrip() + "\n")
        for entry in _ENTRY.finditer(GOLDEN.read_text(encoding="utf-8"))
    ]


def text_of(program: str) -> str:
    """What the checker says of a program."""
    lines = []
    for found in Checker().check(Path("model.py"), f"{IMPORTS}\n{program}").diagnostics:
        lines.append(f"line {found.span.line}: {found.message}  [{found.code}]")
        lines += [f"    {note}" for note in found.notes]
        if found.hint:
            lines.append(f"    hint: {found.hint}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("program, expected", [pytest.param(p, t, id=title) for title, p, t in entries()])
def test_a_fault_is_told_in_these_words(program: str, expected: str) -> None:
    assert text_of(program) == expected


def test_there_are_at_least_ninety_texts_with_notes_and_hints() -> None:
    texts = [text for _, _, text in entries()]
    assert len(texts) >= 90
    assert sum("hint:" in text for text in texts) >= 35


if __name__ == "__main__":
    GOLDEN.write_text(
        "\n".join(f"=== {title}\n{program}---\n{text_of(program)}" for title, program, _ in entries()),
        encoding="utf-8",
    )
