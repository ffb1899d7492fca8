"""What is the same object and what is a copy of it."""

from __future__ import annotations

from tests.static.oracle import agree


def test_lists_are_shared_by_their_names() -> None:
    shapes = agree(
        """
        a = [1]
        b = a
        b.append(2)
        c = list(a)
        c.append(3)
        d = a[:]
        d.append(4)
        d.append(5)
        e = a.copy()
        reveal_shape(torch.zeros(len(a), len(b), len(c), len(d), len(e)))
        """
    )
    assert shapes == ["2 2 3 4 2"]


def test_a_list_in_a_list_is_shared() -> None:
    shapes = agree(
        """
        a = [[1]] * 2
        a[0].append(2)
        reveal_shape(torch.zeros(len(a[1])))
        b = [[1] for _ in range(2)]
        b[0].append(2)
        reveal_shape(torch.zeros(len(b[1])))
        row = [0]
        grid = [row, row]
        row.append(1)
        reveal_shape(torch.zeros(len(grid[1])))
        """
    )
    assert shapes == ["2", "1", "2"]


def test_a_list_shared_across_a_branch() -> None:
    shapes = agree(
        """
        import random
        a = [1]
        b = a
        if random.random() < 2:
            a.append(2)
        else:
            b.append(3)
        b.append(4)
        reveal_shape(torch.zeros(len(a), len(b)))
        """
    )
    assert shapes == ["3 3"]


def test_a_list_of_lists_joined_in_a_branch() -> None:
    assert agree(
        """
        import random
        a = [[1], [2]]
        first = a[0]
        if random.random() < 2:
            a[0] = [7, 7]
        a[0].append(3)
        reveal_shape(torch.zeros(len(first), len(a[0])))
        """
    )


def test_copies() -> None:
    shapes = agree(
        """
        import copy
        a = [[1], 2]
        b = copy.copy(a)
        c = copy.deepcopy(a)
        a[0].append(5)
        b.append(6)
        reveal_shape(torch.zeros(len(b[0]), len(c[0]), len(a), len(b), len(c)))
        class Box:
            def __init__(self):
                self.n = 1
        x = Box()
        y = copy.copy(x)
        y.n = 5
        reveal_shape(torch.zeros(x.n))
        """
    )
    assert shapes == ["2 1 2 3 2", "1"]


def test_a_comprehension_that_repeats_one_object() -> None:
    shapes = agree(
        """
        shared = []
        xs = [shared for _ in range(4)]
        ys = [(shared, []) for _ in range(4)]
        xs[0].append(1)
        ys[3][1].append(1)
        reveal_shape(torch.zeros(len(xs[3]), len(ys[3][0]), len(ys[3][1]), len(ys[2][1]) + 1))
        """
    )
    assert shapes == ["1 1 1 1"]


def test_two_calls_give_two_lists() -> None:
    shapes = agree(
        """
        def make():
            return [1]
        a = make()
        b = make()
        a.append(2)
        reveal_shape(torch.zeros(len(a), len(b)))
        """
    )
    assert shapes == ["2 1"]


def test_objects_are_shared_by_their_names() -> None:
    shapes = agree(
        """
        class Box:
            def __init__(self):
                self.n = 1
        a = Box()
        b = a
        b.n = 4
        reveal_shape(torch.zeros(a.n))
        boxes = [Box() for _ in range(3)]
        boxes[0].n = 7
        reveal_shape(torch.zeros(boxes[0].n, boxes[1].n))
        same = [Box()] * 2
        same[0].n = 9
        reveal_shape(torch.zeros(same[1].n))
        """
    )
    assert shapes == ["4", "7 1", "9"]


def test_several_targets_get_one_value() -> None:
    shapes = agree(
        """
        a = b = [1]
        a.append(2)
        reveal_shape(torch.zeros(len(b)))
        i = xs = 0
        xs = [0, 0]
        i = xs[i] = 1
        reveal_shape(torch.zeros(xs[0] + 1, xs[1] + 1))
        """
    )
    assert shapes == ["2", "1 2"]
