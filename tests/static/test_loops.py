"""Loops: what a name holds behind them, whichever rounds were run."""

from __future__ import annotations

from tests.static.oracle import agree


def test_a_break_leaves_the_shape_of_the_round_that_broke() -> None:
    shapes = agree(
        """
        x = torch.zeros(2)
        for i in range(5):
            x = torch.zeros(i + 1)
            if i == 2:
                break
        reveal_shape(x)
        """
    )
    assert shapes == ["3"]


def test_a_loop_that_may_break_leaves_either_shape() -> None:
    assert agree(
        """
        import random
        random.seed(3)
        x = torch.zeros(9)
        for i in range(3):
            if random.random() < 0.5:
                x = torch.zeros(4)
                break
        else:
            x = torch.zeros(5)
        reveal_shape(x)
        """
    )


def test_else_of_a_loop_runs_when_nothing_broke_out() -> None:
    shapes = agree(
        """
        for i in range(3):
            x = torch.zeros(i + 1, 2)
            if i == 7:
                break
        else:
            x = torch.zeros(8)
        reveal_shape(x)
        """
    )
    assert shapes == ["8"]


def test_continue_skips_the_rest_of_a_round() -> None:
    shapes = agree(
        """
        xs = []
        for i in range(4):
            if i % 2 == 0:
                continue
            xs.append(torch.zeros(1, i))
        reveal_shape(torch.cat(xs, 1))
        reveal_shape(torch.zeros(len(xs)))
        """
    )
    assert shapes == ["1 4", "2"]


def test_a_while_loop_with_a_counter_gives_any_size() -> None:
    assert agree(
        """
        n = 1
        while n < 40:
            n = n * 3
        reveal_shape(torch.zeros(n, 4))
        """
    )


def test_a_while_loop_that_is_never_entered_changes_nothing() -> None:
    shapes = agree(
        """
        n = 4
        while n < 4:
            n += 1
        else:
            m = 7
        reveal_shape(torch.zeros(n, m))
        """
    )
    assert shapes == ["4 7"]


def test_an_endless_loop_ends_at_its_break() -> None:
    assert agree(
        """
        n = 0
        while True:
            n += 1
            x = torch.zeros(n, 3)
            if n > 4:
                break
        reveal_shape(x)
        """
    )


def test_nested_loops_follow_both_counters() -> None:
    shapes = agree(
        """
        sizes = []
        for i in range(3):
            for j in range(2):
                if j > i:
                    break
                sizes.append(i * 10 + j)
        reveal_shape(torch.zeros(len(sizes), sizes[-1]))
        """
    )
    assert shapes == ["5 21"]


def test_a_long_loop_that_grows_an_axis_gives_any_size_of_it() -> None:
    assert agree(
        """
        x = torch.zeros(1, 3)
        for i in range(100):
            x = torch.cat([x, torch.zeros(1, 3)])
        reveal_shape(x)
        """
    )


def test_a_long_loop_that_halves_an_axis_gives_any_size_of_it() -> None:
    assert agree(
        """
        n = 1 << 20
        for i in range(18):
            n = n // 2
        reveal_shape(torch.zeros(n, 2))
        """
    )


def test_a_list_grown_in_a_long_loop_is_as_long_as_the_loop() -> None:
    shapes = agree(
        """
        xs = []
        for i in range(30):
            xs.append(torch.zeros(2, 3))
        reveal_shape(torch.stack(xs))
        """
    )
    assert shapes == ["30 2 3"]


def test_a_list_grown_twice_in_each_round_of_a_long_loop() -> None:
    shapes = agree(
        """
        xs = [torch.zeros(2)]
        for i in range(30):
            xs.append(torch.zeros(2))
            xs += [torch.zeros(2)]
        reveal_shape(torch.stack(xs))
        """
    )
    assert shapes == ["61 2"]


def test_a_list_that_grows_only_in_some_rounds_has_any_length() -> None:
    assert agree(
        """
        xs = []
        for i in range(30):
            if i % 3 == 0:
                xs.append(torch.zeros(2))
        reveal_shape(torch.stack(xs))
        """
    )


def test_a_list_that_a_loop_empties() -> None:
    assert agree(
        """
        xs = [1, 2, 3, 4]
        while xs:
            last = xs.pop()
        reveal_shape(torch.zeros(len(xs), last))
        """
    )


def test_a_name_that_a_loop_rotates() -> None:
    assert agree(
        """
        a, b = 1, 2
        for _ in range(20):
            a, b = b, a + b
        reveal_shape(torch.zeros(3, a % 7 + 1, b % 5 + 1))
        """
    )


def test_the_target_of_a_loop_stays_behind_it() -> None:
    assert agree(
        """
        for i in range(3):
            pass
        reveal_shape(torch.zeros(i + 1))
        for k in range(100):
            pass
        reveal_shape(torch.zeros(k + 1))
        """
    )


def test_a_loop_over_a_changing_list_runs_on() -> None:
    assert agree(
        """
        xs = [1, 2]
        total = 0
        for item in xs:
            total += 1
            if len(xs) < 5:
                xs.append(item)
        reveal_shape(torch.zeros(total, len(xs)))
        """
    )


def test_a_flag_that_a_loop_sets() -> None:
    assert agree(
        """
        found = False
        for i in range(50):
            if i == 30:
                found = True
        n = 3 if found else 4
        reveal_shape(torch.zeros(n))
        """
    )


def test_a_name_first_set_in_a_long_loop_holds_its_last_value() -> None:
    assert agree(
        """
        for i in range(40):
            width = i + 2
        reveal_shape(torch.zeros(width))
        """
    )


def test_a_list_whose_items_change_in_a_loop() -> None:
    assert agree(
        """
        xs = [torch.zeros(2), torch.zeros(2)]
        for i in range(20):
            xs[0] = torch.zeros(i)
        reveal_shape(xs[0])
        reveal_shape(xs[1])
        """
    )


def test_a_loop_in_which_a_branch_continues_after_a_change() -> None:
    shapes = agree(
        """
        n = 2
        for i in range(3):
            n += 1
            if i == 1:
                n = 10
                continue
            n += 1
        reveal_shape(torch.zeros(n))
        """
    )
    assert shapes == ["12"]


def test_a_return_in_a_loop() -> None:
    shapes = agree(
        """
        def first_above(limit):
            for i in range(5):
                if i > limit:
                    return torch.zeros(i)
            return torch.zeros(9)
        reveal_shape(first_above(2))
        reveal_shape(first_above(7))
        """
    )
    assert shapes == ["3", "9"]


def test_a_dict_filled_in_a_long_loop() -> None:
    assert agree(
        """
        sizes = {"a": 1}
        for i in range(40):
            sizes["a"] = sizes["a"] + 1
            sizes["b"] = 5
        reveal_shape(torch.zeros(sizes["a"], sizes["b"]))
        """
    )


def test_an_attribute_changed_in_a_long_loop() -> None:
    assert agree(
        """
        class Counter:
            def __init__(self):
                self.n = 0
            def step(self):
                self.n += 1
        c = Counter()
        for i in range(40):
            c.step()
        reveal_shape(torch.zeros(c.n))
        """
    )


def test_a_break_out_of_the_inner_loop_only() -> None:
    shapes = agree(
        """
        n = 0
        for i in range(3):
            for j in range(3):
                if j == 1:
                    break
                n += 1
            n += 10
        reveal_shape(torch.zeros(n))
        """
    )
    assert shapes == ["33"]


def test_a_try_in_a_loop() -> None:
    assert agree(
        """
        n = 0
        for text in ["1", "x", "3"]:
            try:
                n += int(text)
            except ValueError:
                continue
            finally:
                n += 100
        reveal_shape(torch.zeros(n))
        """
    )


def test_a_list_that_grows_only_in_the_first_rounds() -> None:
    assert agree(
        """
        xs = []
        ys = [1]
        for i in range(30):
            if len(xs) < 5:
                xs.append(torch.zeros(2))
            if i < 3:
                ys.append(i)
            else:
                ys.append(i)
        reveal_shape(torch.stack(xs))
        reveal_shape(torch.zeros(len(ys)))
        """
    )
