"""How many tensor expressions have a known shape, and which calls have no rule."""

from __future__ import annotations

from shaped.static.report import Statistics
from tests.static.oracle import check


def statistics(source: str) -> Statistics:
    """What is counted of a program."""
    return check(source).statistics


def test_each_tensor_expression_counts_once() -> None:
    counted = statistics("x = torch.zeros(2, 3)\ny = x + 1\nfor _ in range(3): y = y + x\n")
    # zeros, x, x + 1, and in the loop y, x and their sum
    assert (counted.shape_known, counted.rank_known, counted.unknown) == (6, 0, 0)
    assert counted.tensors == 6


def test_an_unknown_size_leaves_the_rank_known() -> None:
    counted = statistics("x = torch.zeros(len(input()), 3)\n")
    assert (counted.shape_known, counted.rank_known, counted.unknown) == (0, 1, 0)


def test_an_unknown_rank_is_counted_as_unknown() -> None:
    counted = statistics("x = torch.zeros(*input())\ny = x.relu()\n")
    assert counted.shape_known == counted.rank_known == 0
    assert counted.unknown > 0


def test_the_axes_of_a_name_in_an_annotation_are_as_known_as_its_sizes() -> None:
    annotated = """
    from jaxtyping import Float
    def f(x: Float[torch.Tensor, "*batch d"], y: Float[torch.Tensor, "... d"]):
        return x.relu(), y.relu()
    """
    counted = statistics(annotated)
    assert (counted.shape_known, counted.unknown) == (2, 2)


def test_calls_without_a_rule_are_counted_by_name() -> None:
    counted = statistics("x = torch.zeros(2)\nfor _ in range(3): torch.no_such_function(x)\nx.no_such_method()\n")
    assert counted.without_rule["Tensor.no_such_method"] == 1
    assert counted.without_rule["torch.no_such_function"] >= 1


def test_what_is_not_about_tensors_is_not_counted() -> None:
    counted = statistics("x = [1, 2]\ny = len(x) + unknown(x)\n")
    assert counted.tensors == 0
    assert not counted.without_rule


def test_statistics_add_up() -> None:
    one, other = statistics("x = torch.zeros(2)\ntorch.nope()\n"), statistics("y = torch.zeros(3)\ntorch.nope()\n")
    one.add(other)
    assert one.shape_known == 2
    assert one.without_rule["torch.nope"] == 2
