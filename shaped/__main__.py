"""`python -m shaped`: the same as the `shaped` command."""

from __future__ import annotations

import sys

from shaped.cli import main

if __name__ == "__main__":
    sys.exit(main())
