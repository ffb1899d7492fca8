"""mypy error codes for the checker's findings: `shape` with its sub-codes, `dtype` and the rest."""

from __future__ import annotations

from mypy.errorcodes import ErrorCode, error_codes

_CATEGORY = "Shapes"
SHAPE = ErrorCode("shape", "Check the shapes of tensors", _CATEGORY)
_DESCRIPTIONS = {
    "shape-axes": "Check that views, repeats and arguments keep named axes in their order",
    "shape-broadcast": "Check that both operands of a loss are not stretched by broadcasting",
    "shape-squeeze": "Check that squeeze drops no axis by accident",
    "dtype": "Check the dtypes of tensors",
    "annotation": "Check that shape annotations are well formed",
    "internal": "Report where the shape checker itself fails",
}


def error_code(name: str) -> ErrorCode:
    """mypy's code object for a diagnostic's code; a sub-code is silenced by its own name and by its parent's.

    >>> error_code("shape-squeeze").sub_code_of is SHAPE
    True
    """
    return _CODES.get(name) or _make(name)


def _make(name: str) -> ErrorCode:
    if name not in error_codes:
        parent = SHAPE if name.startswith("shape-") else None
        description = _DESCRIPTIONS.get(name, f"Check for {name} faults")
        ErrorCode(name, description, _CATEGORY, sub_code_of=parent)
    _CODES[name] = error_codes[name]
    return _CODES[name]


# Made before mypy reads its options, so that `--disable-error-code shape-squeeze` knows them.
_CODES = {"shape": SHAPE}
for _name in _DESCRIPTIONS:
    _make(_name)
