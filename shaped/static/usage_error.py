"""The fault of whoever asks, not of the checked program."""

from __future__ import annotations


class UsageError(Exception):
    """What was asked for is not there, or means nothing; the message says what and where."""
