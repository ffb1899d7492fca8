"""Statements: which paths go on behind them, and with what."""

from __future__ import annotations

from tests.static.oracle import agree


def test_a_raise_in_a_branch_of_a_try() -> None:
    assert agree(
        """
        import random
        n = 1
        try:
            if random.random() < 2:
                n = 2
                raise ValueError
        except ValueError:
            pass
        reveal_shape(torch.zeros(n))
        """
    )


def test_a_call_that_raises_after_a_change() -> None:
    assert agree(
        """
        xs = []
        def f():
            xs.append(1)
            raise ValueError
        try:
            f()
        except ValueError:
            pass
        reveal_shape(torch.zeros(len(xs)))
        """
    )


def test_expected_faults_are_no_errors() -> None:
    shapes = agree(
        """
        import contextlib
        with contextlib.suppress(RuntimeError):
            torch.zeros(2) @ torch.zeros(3)
        try:
            torch.zeros(2) @ torch.zeros(3)
        except RuntimeError:
            reveal_shape(torch.zeros(2))
        """
    )
    assert shapes == ["2"]


def test_finally_changes_after_a_return() -> None:
    assert agree(
        """
        class Box:
            n = 1
        b = Box()
        def f():
            try:
                return 1
            finally:
                b.n = 5
        f()
        reveal_shape(torch.zeros(b.n))
        """
    )


def test_a_handler_sees_the_state_in_which_the_body_raised() -> None:
    assert agree(
        """
        n = 1
        try:
            n = 2
            raise ValueError
            n = 3
        except ValueError:
            pass
        reveal_shape(torch.zeros(n))
        """
    )


def test_finally_has_the_last_word() -> None:
    assert agree(
        """
        def f():
            try:
                return torch.zeros(2)
            finally:
                return torch.zeros(3)
        reveal_shape(f())
        """
    )


def test_else_of_a_try_runs_when_nothing_was_raised() -> None:
    assert agree(
        """
        try:
            n = int("3")
        except ValueError:
            n = 1
        else:
            n = 5
        reveal_shape(torch.zeros(n))
        """
    )


def test_a_handler_that_returns() -> None:
    assert agree(
        """
        def f(text):
            try:
                n = int(text)
            except ValueError:
                return torch.zeros(7)
            return torch.zeros(4)
        reveal_shape(f("x"))
        reveal_shape(f("2"))
        """
    )


def test_a_context_manager_may_swallow_the_rest_of_its_body() -> None:
    assert agree(
        """
        import contextlib
        n = 1
        with contextlib.suppress(ValueError):
            n = 2
            int("x")
            n = 3
        reveal_shape(torch.zeros(n))
        """
    )


def test_with_torch_no_grad_changes_no_shape() -> None:
    shapes = agree(
        """
        with torch.no_grad(), torch.autograd.set_detect_anomaly(False):
            x = torch.zeros(2, 3)
        reveal_shape(x)
        """
    )
    assert shapes == ["2 3"]


def test_match_on_ints_and_strings() -> None:
    assert agree(
        """
        def f(kind):
            match kind:
                case 1:
                    return torch.zeros(1)
                case 2 | 3:
                    return torch.zeros(2)
                case "wide":
                    return torch.zeros(30)
                case _:
                    return torch.zeros(4)
        for kind in (1, 2, 3, "wide", None):
            reveal_shape(f(kind))
        """
    )


def test_match_captures_and_guards() -> None:
    assert agree(
        """
        def f(value):
            match value:
                case [a, b]:
                    return torch.zeros(a, b)
                case {"n": n}:
                    return torch.zeros(n)
                case int(k) if k > 5:
                    return torch.zeros(k, 1)
                case other:
                    return torch.zeros(2, 2, other)
        for value in ((2, 3), {"n": 4}, 6, 1):
            reveal_shape(f(value))
        """
    )


def test_an_early_return() -> None:
    shapes = agree(
        """
        def f(x, deep=False):
            if deep:
                return x.unsqueeze(0)
            return x
        reveal_shape(f(torch.zeros(2)))
        reveal_shape(f(torch.zeros(2), True))
        """
    )
    assert shapes == ["2", "1 2"]


def test_a_raise_in_a_branch() -> None:
    shapes = agree(
        """
        def f(n):
            if n < 2:
                raise ValueError
            elif n == 2:
                n = 5
            return torch.zeros(n)
        reveal_shape(f(2))
        reveal_shape(f(3))
        """
    )
    assert shapes == ["5", "3"]


def test_an_exception_as_the_way_on() -> None:
    assert agree(
        """
        def pick(d, key):
            try:
                return d[key]
            except KeyError:
                return 9
        reveal_shape(torch.zeros(pick({"a": 2}, "a"), pick({"a": 2}, "b")))
        """
    )


def test_an_assert_of_a_flag_in_a_branch() -> None:
    assert agree(
        """
        import random
        n = 3
        if random.random() < 2:
            n = 4
            m = 1
        else:
            m = 2
        reveal_shape(torch.zeros(n, m, 5))
        """
    )


def test_try_finally_without_handlers() -> None:
    shapes = agree(
        """
        n = 1
        try:
            n = 2
        finally:
            n += 1
        reveal_shape(torch.zeros(n))
        """
    )
    assert shapes == ["3"]


def test_a_nested_try() -> None:
    assert agree(
        """
        n = 1
        try:
            try:
                n = 2
                int("x")
                n = 3
            finally:
                n = n * 10
        except ValueError:
            n = n + 1
        reveal_shape(torch.zeros(n))
        """
    )
