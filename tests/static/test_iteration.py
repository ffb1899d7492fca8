"""Going through values: what comes out, and how often."""

from __future__ import annotations

from tests.static.oracle import agree


def test_a_tensor_is_iterated_row_by_row() -> None:
    shapes = agree(
        """
        n = 0
        for row in torch.zeros(3, 4):
            n += 1
            reveal_shape(row)
        reveal_shape(torch.zeros(n))
        reveal_shape(torch.stack([r * 2 for r in torch.zeros(100, 4)]))
        """
    )
    assert shapes == ["4", "3", "100 4"]


def test_a_generator() -> None:
    assert agree(
        """
        def sizes():
            yield 1
            yield 4
        for n in sizes():
            x = torch.zeros(n)
        reveal_shape(x)
        reveal_shape(torch.zeros(len(list(sizes()))))
        """
    )


def test_a_generator_expression_is_used_up() -> None:
    assert agree(
        """
        g = (i for i in range(3))
        a = len(list(g))
        b = len(list(g))
        reveal_shape(torch.zeros(a, b))
        """
    )


def test_next_takes_the_items_in_order() -> None:
    assert agree(
        """
        g = iter([2, 3])
        a = next(g)
        b = next(g)
        reveal_shape(torch.zeros(a, b))
        """
    )


def test_zip_enumerate_and_map() -> None:
    shapes = agree(
        """
        total = 0
        for i, (a, b) in enumerate(zip([1, 2, 3], (4, 5)), start=2):
            total += i * a * b
        reveal_shape(torch.zeros(total, i, len(list(map(abs, [1, -2])))))
        """
    )
    assert shapes == ["38 3 2"]


def test_a_generator_function_changes_when_it_is_run() -> None:
    assert agree(
        """
        xs = []
        def gen():
            xs.append(1)
            yield 1
        g = gen()
        reveal_shape(torch.zeros(len(xs)))
        """
    )


def test_unpacking_errors_are_caught() -> None:
    assert agree(
        """
        try:
            a, b = (1, 2, 3)
        except ValueError:
            a = 4
        reveal_shape(torch.zeros(a))
        """
    )


def test_an_object_that_is_iterated() -> None:
    assert agree(
        """
        class Box:
            def __iter__(self):
                return iter([1, 2, 3])
        total = 0
        for n in Box():
            total += n
        reveal_shape(torch.zeros(total))
        a, b, c = Box()
        reveal_shape(torch.zeros(a, b, c))
        """
    )


def test_unpacking_with_a_star() -> None:
    shapes = agree(
        """
        a, *b, c = (1, 2, 3, 4)
        (d, e), f = [5, 6], 7
        first, *rest = torch.zeros(3, 2)
        reveal_shape(torch.zeros(a, len(b), c, b[1]))
        reveal_shape(torch.zeros(d, e, f))
        reveal_shape(first)
        reveal_shape(torch.zeros(len(rest)))
        """
    )
    assert shapes == ["1 2 4 3", "5 6 7", "2", "2"]
