"""Functions with annotations that no code is generated for: jaxtyping and beartype check them as ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jaxtyping


def by_jaxtyping(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function checked by jaxtyping and beartype."""
    try:
        import beartype
    except ImportError:
        return function
    made: Callable[..., Any] = jaxtyping.jaxtyped(function, typechecker=beartype.beartype)
    return made
