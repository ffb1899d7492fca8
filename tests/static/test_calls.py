"""Calls: arguments find their parameters, of functions, lambdas, partials and objects."""

from __future__ import annotations

from tests.static.oracle import agree, revealed


def test_a_default_is_evaluated_once() -> None:
    shapes = agree(
        """
        n = 2
        def make(k=n):
            return torch.zeros(k)
        n = 5
        reveal_shape(make())
        """
    )
    assert shapes == ["2"]


def test_a_default_in_a_loop_keeps_its_round() -> None:
    shapes = agree(
        """
        makers = []
        for i in range(3):
            def make(k=i):
                return torch.zeros(k + 1)
            makers.append(make)
        reveal_shape(makers[0]())
        reveal_shape(makers[2]())
        """
    )
    assert shapes == ["1", "3"]


def test_a_mutable_default_is_shared_by_all_calls() -> None:
    shapes = agree(
        """
        def add(item, to=[]):
            to.append(item)
            return to
        add(1)
        reveal_shape(torch.zeros(len(add(2))))
        """
    )
    assert shapes == ["2"]


def test_star_arguments() -> None:
    shapes = agree(
        """
        def count(*args, **kwargs):
            return torch.zeros(len(args), len(kwargs), kwargs.get("n", 4))
        reveal_shape(count(1, 2, n=3, m=4))
        reveal_shape(count(*[1, 2, 3], **{"a": 1}))
        """
    )
    assert shapes == ["2 2 3", "3 1 4"]


def test_positional_and_keyword_only_parameters() -> None:
    shapes = agree(
        """
        def make(a, /, b, *, c=3):
            return torch.zeros(a, b, c)
        reveal_shape(make(1, 2))
        reveal_shape(make(1, b=4, c=5))
        """
    )
    assert shapes == ["1 2 3", "1 4 5"]


def test_recursion() -> None:
    assert agree(
        """
        def fold(x, depth):
            if depth == 0:
                return x
            return fold(torch.cat([x, x]), depth - 1)
        reveal_shape(fold(torch.zeros(1, 3), 3))
        def size(n):
            return 1 if n <= 1 else n * size(n - 1)
        reveal_shape(torch.zeros(size(4)))
        """
    )


def test_mutual_recursion() -> None:
    assert agree(
        """
        def even(n):
            return torch.zeros(2) if n == 0 else odd(n - 1)
        def odd(n):
            return torch.zeros(3) if n == 0 else even(n - 1)
        reveal_shape(even(4))
        reveal_shape(even(5))
        """
    )


def test_partial_functions() -> None:
    shapes = agree(
        """
        import functools
        make = functools.partial(torch.zeros, 2)
        reveal_shape(make(3))
        def f(a, b, c=1):
            return torch.zeros(a, b, c)
        g = functools.partial(f, 2, c=5)
        reveal_shape(g(3))
        reveal_shape(g(3, c=6))
        """
    )
    assert shapes == ["2 3", "2 3 5", "2 3 6"]


def test_a_lambda() -> None:
    shapes = agree(
        """
        f = lambda n, m=2: torch.zeros(n, m)
        reveal_shape(f(3))
        reveal_shape((lambda *s: torch.zeros(*s))(1, 2, 3))
        """
    )
    assert shapes == ["3 2", "1 2 3"]


def test_functions_in_functions_and_in_dicts() -> None:
    shapes = agree(
        """
        table = {"a": lambda n: torch.zeros(n), "b": lambda n: torch.zeros(n, n)}
        reveal_shape(table["b"](3))
        def apply(f, *args):
            return f(*args)
        reveal_shape(apply(torch.zeros, 2, 3))
        reveal_shape(apply(table["a"], 4))
        """
    )
    assert shapes == ["3 3", "2 3", "4"]


def test_keyword_arguments_that_override() -> None:
    shapes = agree(
        """
        def f(a, b=2, *rest, c=3, **kw):
            return torch.zeros(a, b, c, len(rest), len(kw))
        reveal_shape(f(1))
        reveal_shape(f(1, 5, 6, 7, c=8, d=9))
        args = (1, 4)
        kw = {"c": 9, "z": 1}
        reveal_shape(f(*args, 7, **kw))
        """
    )
    assert shapes == ["1 2 3 0 0", "1 5 8 2 1", "1 4 9 1 1"]


def test_special_methods() -> None:
    assert agree(
        """
        class Box:
            def __len__(self):
                return 3
            def __getitem__(self, i):
                return i + 1
            def __call__(self, n):
                return torch.zeros(n)
            def __add__(self, other):
                return 5
            def __contains__(self, item):
                return True
            def __bool__(self):
                return False
            def __eq__(self, other):
                return True
        b = Box()
        reveal_shape(torch.zeros(len(b), b[1]))
        reveal_shape(b(4))
        reveal_shape(torch.zeros(b + 1))
        n = 2 if b else 3
        m = 2 if b == 4 else 3
        k = 2 if 8 in b else 3
        reveal_shape(torch.zeros(n, m, k))
        """
    )


def test_an_argument_that_may_be_none_may_ask_for_something_else() -> None:
    assert revealed(
        """
        from jaxtyping import Float
        def f(x: Float[torch.Tensor, "a b"], dim: int | None = None):
            reveal_shape(x.sum(dim))
            reveal_shape(x.sum(dim=dim))
            if dim is not None:
                reveal_shape(x.sum(dim, keepdim=True))
        """
    ) == ["...", "...", "_ _"]
