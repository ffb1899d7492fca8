"""Items and slices of lists, tuples and shapes."""

from __future__ import annotations

from tests.static.oracle import agree, check, errors


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


def test_an_index_of_a_shape_has_to_be_an_axis() -> None:
    report = check(
        """
        from jaxtyping import Float
        from torch import Tensor

        def f(x: Float[Tensor, "b"], y: Float[Tensor, "b c"]) -> int:
            return y.shape[-2] + x.shape[1]
        """
    )
    (error,) = errors(report)
    assert error.endswith("shape: (b,): dim 1 is out of range for 1 axis")


def test_an_axis_that_is_asked_for_behind_a_question_for_the_rank_is_no_fault() -> None:
    report = check(
        """
        from jaxtyping import Float
        from torch import Tensor

        def shape_of(x):
            return x.shape[1] if x.ndim > 1 else 0

        def f(x: Float[Tensor, "b"], deep: bool) -> int:
            y = x[:, None] if deep else x
            total = y.shape[1] if deep else 0
            for i in range(4):
                if i < len(x.shape):
                    total += x.shape[i]
            try:
                total += x.shape[2]
            except IndexError:
                pass
            return total + shape_of(x) + (x.dim() == 2 and x.shape[1])
        """
    )
    assert errors(report) == []


def test_an_index_beyond_another_tuple_is_not_the_shape_checkers_business() -> None:
    report = check(
        """
        from jaxtyping import Float
        from torch import Tensor

        class Plan:
            def __init__(self) -> None:
                self.shape = (3,)

            def last(self, x: Float[Tensor, "b"]) -> int:
                return self.shape[1]
        """
    )
    assert errors(report) == []


def test_an_item_that_is_none() -> None:
    assert agree(
        """
        xs = [None, 3]
        reveal_shape(torch.zeros(2 if xs[0] is None else 1, xs[1]))
        """
    )
