"""Items and slices of lists, tuples and shapes."""

from __future__ import annotations

from tests.static.oracle import agree


def test_slices_of_lists() -> None:
    assert agree(
        """
        xs = [1, 2, 3, 4, 5]
        reveal_shape(torch.zeros(*xs[1:3], xs[-1], len(xs[::2]), *xs[::-1][:2]))
        xs[1:3] = [9]
        reveal_shape(torch.zeros(len(xs), xs[1], xs[2]))
        xs[len(xs):] = [7, 7]
        reveal_shape(torch.zeros(len(xs)))
        """
    )
