"""The diagnostic codes: what each checks, and whether it is reported unless it is asked for.

`docs/codes` has a page for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Code:
    """A diagnostic code.

    Args:
        description: what is checked, in one line.
        is_default: whether it is reported unless `[tool.shaped]` in pyproject.toml disables it; others have to be
            enabled there.
    """

    description: str
    is_default: bool = True


CODES: Final[dict[str, Code]] = {
    "shape": Code("Check the shapes of tensors"),
    "shape-axes": Code("Check that views, repeats and arguments keep named axes in their order"),
    "shape-broadcast": Code("Check that no operation meets all pairs, or one row all places, by broadcasting"),
    "shape-layout": Code("Check that the axes of sequences and images stand where a layer takes them to be"),
    "shape-promotion": Code("Check that no tensor is repeated along named axes that it lacks", is_default=False),
    "shape-reduce": Code(
        "Check that softmax, norms, running sums and einsum do not go along an axis that is not meant"
    ),
    "shape-squeeze": Code("Check that squeeze drops no axis by accident"),
    "dtype": Code("Check the dtypes of tensors"),
    "device": Code("Check the devices of tensors"),
    "unregistered": Code("Check that no list hides modules or parameters from torch"),
    "annotation": Code("Check that shape annotations are well formed"),
    "gradient": Code("Check that ops keep to what a backward of their own needs; at run time only"),
    "type": Code("Check that values are of the types that their annotations say; at run time only"),
    "syntax": Code("Report files that are no Python"),
    "internal": Code("Report where the shape checker itself fails"),
}

# What is reported where nothing is configured.
DEFAULT_CODES: Final = frozenset(code for code, meaning in CODES.items() if meaning.is_default)


def parent_of(code: str) -> str:
    """The code that stands for this one too; a code without a parent is its own.

    >>> parent_of("shape-squeeze"), parent_of("dtype")
    ('shape', 'dtype')
    """
    return code.partition("-")[0]
