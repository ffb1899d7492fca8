"""Tests that take `check` run twice: decorated by the reference, `jaxtyped(typechecker=beartype)`, and by `checked`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.checked.agreement import DECORATORS


@pytest.fixture(params=DECORATORS)
def check(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """A decorator that checks calls."""
    decorator: Callable[[Any], Any] = DECORATORS[request.param]
    return decorator
