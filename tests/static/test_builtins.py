"""Python's built-in functions on values that are known."""

from __future__ import annotations

from tests.static.oracle import agree


def test_other_collections() -> None:
    assert agree(
        """
        from collections import defaultdict, deque, OrderedDict, Counter
        d = defaultdict(list)
        d["a"].append(1)
        d["a"].append(2)
        q = deque([1, 2], maxlen=2)
        q.append(3)
        o = OrderedDict([("x", 3), ("y", 4)])
        reveal_shape(torch.zeros(len(d["a"]), len(q), o["y"], len(o), Counter("aab")["a"]))
        """
    )


def test_sorted_and_reversed() -> None:
    assert agree(
        """
        xs = sorted([3, 1, 2], reverse=True)
        ys = list(reversed([4, 5, 6]))
        zs = sorted([3, 1, 2])
        reveal_shape(torch.zeros(xs[0], ys[0], zs[0]))
        ws = sorted(["bb", "a"], key=len)
        reveal_shape(torch.zeros(len(ws[0])))
        """
    )


def test_min_max_sum_and_others() -> None:
    assert agree(
        """
        reveal_shape(torch.zeros(min(3, 4), max([1, 5]), sum([1, 2]), abs(-2), round(2.6), int(3.9)))
        a, b = divmod(17, 5)
        reveal_shape(torch.zeros(a, b, -(-7 // 2), -7 % 5, pow(2, 3)))
        reveal_shape(torch.zeros(max([1, 2], key=lambda v: -v), max([], default=6)))
        """
    )


def test_a_name_that_shadows_a_builtin() -> None:
    shapes = agree(
        """
        def len(x):
            return 7
        reveal_shape(torch.zeros(len([1])))
        range = 5
        reveal_shape(torch.zeros(range))
        """
    )
    assert shapes == ["7", "5"]


def test_torchs_pairs_of_sizes() -> None:
    shapes = agree(
        """
        from torch.nn.modules.utils import _pair, _single, _triple
        reveal_shape(torch.zeros(*_pair(3), *_single(2), *_triple((4, 5, 6)), *_pair([7, 8])))
        """
    )
    assert shapes == ["3 3 2 4 5 6 7 8"]


def test_string_formatting_picks_attributes() -> None:
    shapes = agree(
        """
        class Box:
            def __init__(self):
                for i in range(3):
                    setattr(self, f"w{i}", i + 2)
        b = Box()
        reveal_shape(torch.zeros(*[getattr(b, f"w{i}") for i in range(3)]))
        """
    )
    assert shapes == ["2 3 4"]
