"""Conditions: which side is taken, and what is read and changed on the way."""

from __future__ import annotations

from tests.static.oracle import agree


def test_the_rest_of_a_condition_is_only_read_where_the_first_part_holds() -> None:
    assert agree(
        """
        import random
        def f(x, y):
            if x.shape[0] == y.shape[0] and (x + y).sum() < 1:
                return torch.zeros(2)
            if x.shape[0] != y.shape[0] or (x + y).sum() < 1:
                return torch.zeros(3)
            return torch.zeros(4)
        reveal_shape(f(torch.zeros(2), torch.zeros(2)))
        reveal_shape(f(torch.zeros(2), torch.zeros(3)))
        n = random.choice([2, 2])
        ok = n == 3 and (torch.zeros(n) + torch.zeros(3)).sum() == 0
        assert n == 2 and (torch.zeros(n) + torch.zeros(2)).sum() == 0
        def g(a: int, b: int, k: bool):
            x, y = torch.zeros(a), torch.zeros(b)
            if k and a == b and (x + y).sum() == 0:
                return x
            ok = a == b and bool((x + y).sum() == 0)
            z = (x + y) if a == b else x
            return y
        reveal_shape(g(1, 2, True))
        """
    )


def test_a_condition_with_a_change() -> None:
    assert agree(
        """
        import random
        xs = []
        if random.random() < 2 or xs.append(1):
            pass
        reveal_shape(torch.zeros(len(xs)))
        """
    )


def test_a_walrus_in_a_while_loop() -> None:
    assert agree(
        """
        n = 10
        while (n := n - 3) > 2:
            pass
        reveal_shape(torch.zeros(n))
        k = 5
        xs = [1, 2, 3]
        while k > 1 and (last := xs.pop()) > 0:
            k -= 2
        reveal_shape(torch.zeros(len(xs), last))
        """
    )


def test_comparison_of_lists_tuples_and_strings() -> None:
    assert agree(
        """
        n = 1 if [1, 2] == [1, 2] else 2
        m = 1 if (1, 2) < (1, 3) else 2
        k = 1 if "a" < "b" else 2
        j = 1 if [1] == (1,) else 2
        i = 1 if "a" in ["a", "b"] and 3 not in (1, 2) else 2
        reveal_shape(torch.zeros(n, m, k, j, i))
        a = []
        b = []
        p = 1 if a is b else 2
        q = 1 if a == b else 2
        r = 1 if None == None else 2
        s = 1 if 1 == 1.0 else 2
        t = 1 if True == 1 else 2
        u = 1 if 0.5 else 2
        reveal_shape(torch.zeros(p, q, r, s, t, u))
        """
    )


def test_truth_of_values() -> None:
    assert agree(
        """
        vals = [0, 1, "", "a", [], [0], (), (0,), None, 0.0, 0.1, {}, {1: 2}, False, True]
        reveal_shape(torch.zeros(sum(1 for v in vals if v), *[1 if v else 2 for v in vals]))
        x = torch.zeros(1)
        n = 1 if x else 2
        m = 5 if x.sum() > 0 else 6
        reveal_shape(torch.zeros(n, m))
        """
    )


def test_or_and_give_their_operands() -> None:
    shapes = agree(
        """
        a = 0 or 3
        b = None or 4
        c = 2 and 5
        d = [] or [1, 2]
        e = "" or "ab"
        reveal_shape(torch.zeros(a, b, c, len(d), len(e)))
        """
    )
    assert shapes == ["3 4 5 2 2"]


def test_a_condition_that_changes_something_is_run_once() -> None:
    assert agree(
        """
        xs = [1, 2, 3, 4, 5]
        if xs.pop() == 5:
            reveal_shape(torch.zeros(len(xs)))
        import random
        k = random.choice([3])
        if xs.pop() == k:
            reveal_shape(torch.zeros(len(xs)))
        else:
            reveal_shape(torch.zeros(len(xs)))
        y = xs.pop() == k
        reveal_shape(torch.zeros(len(xs)))
        z = xs.pop() == k and xs.pop() == 1
        w = k == 3 and xs.pop() == 1
        reveal_shape(torch.zeros(len(xs)))
        """
    )


def test_a_walrus_in_an_and() -> None:
    shapes = agree(
        """
        import random
        x = torch.zeros(2, 3) if random.random() < 2 else None
        if x is not None and (n := x.shape[1]) > 2 and (m := n + 1):
            reveal_shape(torch.zeros(n, m))
        """
    )
    assert shapes == ["3 4"]


def test_isinstance_of_classes_and_builtins() -> None:
    assert agree(
        """
        class A: pass
        class B(A): pass
        def f(x):
            if isinstance(x, B): return 1
            if isinstance(x, A): return 2
            if isinstance(x, (int, float)): return 3
            if isinstance(x, (list, tuple)): return 4
            if isinstance(x, str): return 5
            return 6
        reveal_shape(torch.zeros(f(B()), f(A()), f(1), f([]), f(()), f("")))
        reveal_shape(torch.zeros(f(None), f(True), f(2.0), f(torch.zeros(1))))
        """
    )


def test_a_conditional_expression_whose_condition_is_known() -> None:
    shapes = agree(
        """
        n = 3 if 2 > 1 else 4
        m = 3 if not n else 7
        reveal_shape(torch.zeros(n, m))
        """
    )
    assert shapes == ["3 7"]


def test_a_walrus_that_may_not_be_reached() -> None:
    assert agree(
        """
        import random
        n = 2
        if random.random() < 2 or (n := 9):
            pass
        reveal_shape(torch.zeros(n))
        """
    )


def test_a_walrus_that_short_circuiting_skips() -> None:
    shapes = agree(
        """
        n = 2
        x = False and (n := 9)
        y = True or (n := 8)
        reveal_shape(torch.zeros(n))
        """
    )
    assert shapes == ["2"]


def test_a_walrus_in_a_conditional_expression() -> None:
    assert agree(
        """
        import random
        n = 2
        m = 1 if random.random() < 2 else (n := 9)
        reveal_shape(torch.zeros(n, m))
        """
    )


def test_chained_comparisons() -> None:
    shapes = agree(
        """
        n = 5
        x = torch.zeros(2) if 1 < n < 9 else torch.zeros(3)
        y = torch.zeros(2) if 1 < n < 4 else torch.zeros(3)
        reveal_shape(x)
        reveal_shape(y)
        """
    )
    assert shapes == ["2", "3"]


def test_an_assert_that_holds() -> None:
    shapes = agree(
        """
        x = torch.zeros(2, 3)
        assert x.shape == (2, 3) and x.ndim == 2
        reveal_shape(x)
        """
    )
    assert shapes == ["2 3"]
