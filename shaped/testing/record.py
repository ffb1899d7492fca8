"""What the tests of a run found, kept for the summary line. Imports nothing: the plugin is loaded in every run."""

from __future__ import annotations

PROPERTY_MARK = "__shaped_property_test__"
"""The attribute of a test made by `given_shapes`."""

# The levels of a verdict from the strongest, as in `shaped.verify.verdict`.
LEVELS = ("proved", "exact", "enclosed", "kink", "unsupported", "hazard", "refuted")
ACCEPTED = LEVELS[:3]


class Record:
    """The gradients of the test that runs, and what the run asks of them.

    Args:
        required: the weakest level that is accepted.
        subjects: the level of each function of the running test; of several the weakest, as a property test checks one
            function at many inputs.
    """

    def __init__(self) -> None:
        self.required = ACCEPTED[-1]
        self.subjects: dict[str, str] = {}

    def start(self) -> None:
        """Forget the test before."""
        self.subjects = {}

    def note(self, subject: str, level: str) -> None:
        """Keep the level of a function."""
        self.subjects[subject] = weakest(self.subjects.get(subject, LEVELS[0]), level)


def weakest(*levels: str) -> str:
    """The weakest of levels.

    >>> weakest("proved", "enclosed", "exact")
    'enclosed'
    """
    return max(levels, key=LEVELS.index)


RECORD = Record()
