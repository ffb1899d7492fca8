"""`reveal_shape`: the run-time twin of the note that the checker gives."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def reveal_shape(value: T) -> T:
    """Print the shape of `value` and return it; under mypy and `shaped check` a note says what is known of it.

    Anything with a `.shape` has one; tuples, lists and dicts show the shapes of what they hold.

    >>> class Image:
    ...     shape = (3, 32, 32)
    >>> image = reveal_shape(Image())
    Revealed shape is "3 32 32"
    >>> _ = reveal_shape([image, 7])
    Revealed shape is ["3 32 32", int]
    """
    print(f"Revealed shape is {_describe(value)}")
    return value


def _describe(value: object) -> str:
    """The shape as the checker writes it, or the name of a type that has none."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return '"' + " ".join(str(size) for size in shape) + '"'
    if isinstance(value, tuple):
        inner = ", ".join(map(_describe, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, list):
        return "[" + ", ".join(map(_describe, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_describe(item)}" for key, item in value.items()) + "}"
    return type(value).__name__
