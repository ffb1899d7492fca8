"""Displays, comprehensions and assignments within expressions."""

from __future__ import annotations

from tests.static.oracle import agree, check, errors


def test_dicts_with_int_and_bool_keys() -> None:
    assert agree(
        """
        d = {1: 2, True: 3, 1.0: 4}
        reveal_shape(torch.zeros(len(d), d[1]))
        e = {0: 5, False: 6}
        reveal_shape(torch.zeros(e[0], len(e)))
        n = 2 if 1 in d else 3
        reveal_shape(torch.zeros(n))
        total = 0
        for key in {2: "a", 3: "b"}:
            total += key
        reveal_shape(torch.zeros(total))
        """
    )


def test_nested_dicts() -> None:
    shapes = agree(
        """
        config = {"model": {"width": 3, "layers": [4, 5]}}
        config["model"]["width"] += 1
        config["model"]["layers"].append(6)
        reveal_shape(torch.zeros(config["model"]["width"], *config["model"]["layers"]))
        merged = {**config["model"], "width": 9}
        reveal_shape(torch.zeros(merged["width"], config["model"]["width"]))
        """
    )
    assert shapes == ["4 4 5 6", "9 4"]


def test_comprehension_scopes() -> None:
    shapes = agree(
        """
        i = 7
        xs = [torch.zeros(i) for i in range(1, 4)]
        reveal_shape(torch.zeros(i))
        reveal_shape(xs[2])
        pairs = [(a, b) for a in range(3) for b in range(a)]
        reveal_shape(torch.zeros(len(pairs), *pairs[-1]))
        """
    )
    assert shapes == ["7", "3", "3 2 1"]


def test_comprehension_with_conditions() -> None:
    shapes = agree(
        """
        xs = [i for i in range(10) if i % 3 == 0 if i > 2]
        reveal_shape(torch.zeros(len(xs), xs[0]))
        """
    )
    assert shapes == ["3 3"]


def test_sets_hold_each_item_once() -> None:
    shapes = agree(
        """
        s = {1, 1, 2}
        t = {i % 2 for i in range(5)}
        u = set([3, 3])
        reveal_shape(torch.zeros(len(s), len(t), len(u)))
        """
    )
    assert shapes == ["2 2 1"]


def test_a_dict_comprehension() -> None:
    shapes = agree(
        """
        d = {f"k{i}": i + 1 for i in range(3)}
        reveal_shape(torch.zeros(d["k2"], len(d)))
        e = {i % 2: i for i in range(4)}
        reveal_shape(torch.zeros(len(e), e[1]))
        """
    )
    assert shapes == ["3 3", "2 3"]


def test_a_walrus_in_a_comprehension_changes_an_outer_name() -> None:
    assert agree(
        """
        n = 1
        xs = [n := i + 2 for i in range(4)]
        reveal_shape(torch.zeros(n))
        m = 1
        any((m := i) > 2 for i in range(9))
        reveal_shape(torch.zeros(m))
        """
    )


def test_a_walrus_binds_where_it_stands() -> None:
    shapes = agree(
        """
        if (n := 3) > 2 and (m := n + 1):
            reveal_shape(torch.zeros(n, m))
        xs = [k := 5, k + 1]
        reveal_shape(torch.zeros(xs[1], k))
        """
    )
    assert shapes == ["3 4", "6 5"]


def test_a_walrus_in_a_comprehension_binds_outside() -> None:
    assert agree(
        """
        xs = [n := i for i in range(4)]
        reveal_shape(torch.zeros(n))
        """
    )


def test_a_fault_in_a_formatted_string_is_reported_behind_what_is_not_followed() -> None:
    source = """
        def log(step):
            net = nn.Linear(3, 2)
            print(f"step {step}: {net(torch.zeros(5, %s)).sum().item():.3f}")
    """
    assert errors(check(source % 3)) == []
    (fault,) = errors(check(source % 4))
    assert "(5, 4)" in fault
