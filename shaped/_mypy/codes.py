"""mypy error codes for the checker's findings: `shape` with its sub-codes, `dtype` and the rest."""

from __future__ import annotations

from mypy.errorcodes import ErrorCode, error_codes

from shaped.codes import CODES

_CATEGORY = "Shapes"
SHAPE = ErrorCode("shape", CODES["shape"].description, _CATEGORY)


def error_code(name: str) -> ErrorCode:
    """mypy's code object for a diagnostic's code; a sub-code is silenced by its own name and by its parent's.

    >>> error_code("shape-squeeze").sub_code_of is SHAPE
    True
    """
    return _CODES.get(name) or _make(name)


def _make(name: str) -> ErrorCode:
    if name not in error_codes:
        parent = SHAPE if name.startswith("shape-") else None
        description = CODES[name].description if name in CODES else f"Check for {name} faults"
        ErrorCode(name, description, _CATEGORY, sub_code_of=parent)
    _CODES[name] = error_codes[name]
    return _CODES[name]


# Made before mypy reads its options, so that `--disable-error-code shape-squeeze` knows them.
_CODES = {"shape": SHAPE}
# mypy has a `syntax` of its own; `gradient` and `type` are said at run time only.
for _name in CODES.keys() - {"gradient", "syntax", "type"}:
    error_code(_name)
