"""Operators on ints, floats, bools, strings, tuples and tensors."""

from __future__ import annotations

from tests.static.oracle import agree


def test_tuples() -> None:
    assert agree(
        """
        t = (1, 2) + (3,)
        u = t * 2
        reveal_shape(torch.zeros(*t, len(u), t[-1], t.index(2), u.count(1)))
        x = torch.zeros(2, 3)
        a, b = x.shape
        c, d = x.size()
        reveal_shape(torch.zeros(*x.shape[::-1], a, b, c, d))
        reveal_shape(torch.zeros(x.shape + (7,)))
        """
    )


def test_strings() -> None:
    assert agree(
        """
        s = "abc"
        reveal_shape(torch.zeros(len(s), len(s * 2), len(s + "d"), len(f"{s}{1}"), len("a b".split())))
        total = 0
        for c in "xyz":
            total += 1
        reveal_shape(torch.zeros(total, len("é")))
        """
    )


def test_float_division_and_rounding() -> None:
    assert agree(
        """
        import math
        reveal_shape(torch.zeros(int(7 / 2), math.ceil(7 / 2), math.floor(-1 / 2) + 3, round(7 / 2)))
        reveal_shape(torch.zeros(7 // 2, int(2 ** 0.5), round(2.5)))
        reveal_shape(torch.zeros(int(-7 / 2) + 9, 2 ** 3, 1 << 2, 7 & 3, 5 | 2, 6 ^ 1, ~-3, 10 % -3 + 5, -7 // 2 + 9))
        reveal_shape(torch.zeros(int(1e2), int("12"), int(True), math.isqrt(17)))
        reveal_shape(torch.zeros(math.gcd(12, 18), math.prod([2, 3]), int(math.log2(8))))
        """
    )


def test_booleans_as_ints() -> None:
    shapes = agree(
        """
        reveal_shape(torch.zeros(True + 1, sum([True, False, True]), 3 * (2 > 1), [4, 5][3 > 2]))
        flag = True
        n = 4 + flag
        reveal_shape(torch.zeros(n, 2 - (not flag)))
        """
    )
    assert shapes == ["2 2 3 5", "5 2"]


def test_augmented_assignment_of_tensors_ints_and_lists() -> None:
    shapes = agree(
        """
        x = torch.zeros(2, 3)
        x += torch.zeros(3)
        n = 4
        n *= 2
        n //= 3
        n -= 1
        n **= 3
        xs = [1]
        xs += (2, 3)
        xs *= 2
        reveal_shape(x)
        reveal_shape(torch.zeros(n, len(xs)))
        """
    )
    assert shapes == ["2 3", "1 6"]
