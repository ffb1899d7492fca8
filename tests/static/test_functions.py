"""Functions: what they see, what they give back, and what they change."""

from __future__ import annotations

from tests.static.oracle import agree


def test_nonlocal_changes_the_outer_name() -> None:
    shapes = agree(
        """
        def outer():
            n = 2
            def grow():
                nonlocal n
                n = n + 1
            grow()
            grow()
            return torch.zeros(n)
        reveal_shape(outer())
        """
    )
    assert shapes == ["4"]


def test_global_changes_the_module() -> None:
    shapes = agree(
        """
        n = 2
        def grow():
            global n
            n += 5
        grow()
        reveal_shape(torch.zeros(n))
        """
    )
    assert shapes == ["7"]


def test_lambdas_in_a_loop_share_their_name() -> None:
    shapes = agree(
        """
        makers = []
        for i in range(3):
            makers.append(lambda: torch.zeros(i))
        reveal_shape(makers[0]())
        """
    )
    assert shapes == ["2"]


def test_a_function_that_changes_its_list() -> None:
    shapes = agree(
        """
        def fill(xs, n):
            for i in range(n):
                xs.append(i)
        xs = []
        fill(xs, 3)
        reveal_shape(torch.zeros(len(xs)))
        fill(xs, 2)
        reveal_shape(torch.zeros(len(xs)))
        """
    )
    assert shapes == ["3", "5"]


def test_a_function_that_is_not_followed_may_change_its_list() -> None:
    assert agree(
        """
        import random
        xs = [1, 2]
        random.shuffle(xs)
        reveal_shape(torch.zeros(xs[0], len(xs)))
        """
    )


def test_a_decorator_that_changes_the_result() -> None:
    assert agree(
        """
        import functools
        def doubled(f):
            @functools.wraps(f)
            def inner(*args):
                return torch.cat([f(*args), f(*args)])
            return inner
        @doubled
        def make(n):
            return torch.zeros(n)
        reveal_shape(make(3))
        """
    )


def test_global_constants() -> None:
    shapes = agree(
        """
        WIDTH, DEPTH = 4, 2
        SIZES = {"small": (WIDTH, DEPTH), "big": (WIDTH * 2, DEPTH * 2)}
        def make(kind):
            w, d = SIZES[kind]
            return torch.zeros(w, d)
        reveal_shape(make("big"))
        """
    )
    assert shapes == ["8 4"]


def test_a_function_that_returns_its_argument_list() -> None:
    shapes = agree(
        """
        def same(xs):
            return xs
        a = [1]
        b = same(a)
        b.append(2)
        reveal_shape(torch.zeros(len(a)))
        """
    )
    assert shapes == ["2"]


def test_a_function_that_returns_a_list_it_keeps() -> None:
    shapes = agree(
        """
        kept = []
        def get():
            return kept
        get().append(1)
        get().append(1)
        reveal_shape(torch.zeros(len(kept)))
        """
    )
    assert shapes == ["2"]


def test_a_function_that_returns_different_kinds() -> None:
    shapes = agree(
        """
        def f(n):
            if n > 2:
                return torch.zeros(n)
            return None
        x = f(3)
        if x is not None:
            reveal_shape(x)
        """
    )
    assert shapes == ["3"]


def test_async_functions() -> None:
    assert agree(
        """
        import asyncio
        async def make(n):
            await asyncio.sleep(0)
            return torch.zeros(n)
        reveal_shape(asyncio.run(make(3)))
        """
    )


def test_a_function_redefined() -> None:
    shapes = agree(
        """
        def f():
            return torch.zeros(2)
        a = f()
        def f():
            return torch.zeros(3)
        reveal_shape(a)
        reveal_shape(f())
        """
    )
    assert shapes == ["2", "3"]


def test_a_function_defined_in_a_branch() -> None:
    assert agree(
        """
        import random
        if random.random() < 2:
            def f():
                return torch.zeros(2)
        else:
            def f():
                return torch.zeros(3)
        reveal_shape(f())
        """
    )


def test_a_parameter_rebound_in_the_body() -> None:
    shapes = agree(
        """
        def f(x):
            x = x.flatten()
            return x[None]
        y = torch.zeros(2, 3)
        reveal_shape(f(y))
        reveal_shape(y)
        """
    )
    assert shapes == ["1 6", "2 3"]


def test_a_path_that_returns_early_keeps_its_changes() -> None:
    assert agree(
        """
        import random
        class Box:
            def __init__(self):
                self.n = 1
            def add(self, k):
                if random.random() < 2:
                    self.n += k
                    return self
                return self
        b = Box()
        b.add(3)
        reveal_shape(torch.zeros(b.n))
        xs = []
        def f(xs):
            if random.random() < 2:
                xs.append(1)
                return 1
            return 2
        f(xs)
        reveal_shape(torch.zeros(len(xs)))
        """
    )


def test_a_parameter_with_the_name_of_a_global() -> None:
    shapes = agree(
        """
        n = 2
        def f(n):
            n += 1
            return torch.zeros(n)
        reveal_shape(f(4))
        reveal_shape(torch.zeros(n))
        """
    )
    assert shapes == ["5", "2"]


def test_if_and_else_of_nested_functions() -> None:
    shapes = agree(
        """
        def outer(flag):
            if flag:
                def inner(): return torch.zeros(1)
            else:
                def inner(): return torch.zeros(2)
            return inner
        reveal_shape(outer(True)())
        reveal_shape(outer(False)())
        """
    )
    assert shapes == ["1", "2"]
