"""`python -m shaped`: the same as the `shaped` command."""

from __future__ import annotations

from shaped.cli import run

if __name__ == "__main__":
    run()
