"""Proofs that a hand-written backward is the gradient of its forward, for every size and value."""

from __future__ import annotations

from shaped.verify.prove.judgement import judge
from shaped.verify.prove.proof import prove

__all__ = ["judge", "prove"]
