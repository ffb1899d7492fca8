"""Indices that were written out or counted, against the sizes of what they are for."""

from __future__ import annotations

import textwrap

import pytest

from tests.static.oracle import check, disagreements, errors

REPORTED = {
    "embedding": "nn.Embedding(4, 2)(torch.tensor([[0, 4]]))",
    "functional embedding": "F.embedding(torch.tensor([-1]), torch.zeros(3, 2))",
    "positions": "nn.Embedding(64, 2)(torch.arange(128).unsqueeze(0).expand(2, -1))",
    "shifted positions": "nn.Embedding(8, 2)(torch.arange(8) + 1)",
    "padding_idx": "nn.Embedding(4, 2, padding_idx=4)",
    "one_hot": "F.one_hot(torch.tensor([1, 2, 3]), 3)",
    "index": "torch.zeros(2, 3)[:, torch.tensor([0, -4])]",
    "list": "torch.zeros(2, 3)[[2, 0]]",
    "index_select": "torch.zeros(2, 3).index_select(0, torch.tensor([2]))",
    "scatter": "torch.zeros(2, 3).scatter(1, torch.tensor([[3]]), 1.0)",
    "index_add": "torch.zeros(4, 3).index_add(0, torch.tensor([0, 4]), torch.zeros(2, 3))",
    "classes": "F.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 3]))",
    "classes of a module": "nn.NLLLoss()(torch.zeros(2, 3), torch.arange(2) + 2)",
    "classes along another axis": "F.cross_entropy(torch.zeros(1, 2, 3), torch.arange(3)[None])",
    "gather": "torch.zeros(2, 3).gather(1, torch.tensor([[0], [3]]))",
}

RUN = """
    import torch.nn.functional as F
    table = nn.Embedding(4, 2)
    reveal_shape(table(torch.tensor([[0, 3]])))
    reveal_shape(table(torch.arange(4).view(2, 2)))
    reveal_shape(table((torch.arange(9) % 4)))
    reveal_shape(table(torch.arange(9).clamp(max=3)))
    reveal_shape(table(torch.tensor([5]) - 2))
    reveal_shape(table(torch.tensor([-3]).abs()))
    reveal_shape(table(-torch.tensor([-3])))
    reveal_shape(table(torch.relu(torch.tensor([-3]))))
    reveal_shape(table(torch.tensor([7]) // 2))
    reveal_shape(table(torch.arange(9)[:4]))
    reveal_shape(table(torch.add(torch.tensor([1]), 2, alpha=-0) + 0))
    reveal_shape(table(torch.arange(9).bool().long()))
    reveal_shape(torch.zeros(2, 3)[:, torch.tensor([-3, 2])])
    reveal_shape(torch.zeros(2, 3)[:, torch.arange(9) < 5][:, :0] if False else torch.zeros(1))
    reveal_shape(torch.zeros(3)[torch.tensor(2)])
    index = torch.arange(9)
    index[4:] = 0
    reveal_shape(table(index))
    index = torch.tensor([7, 8])
    index.clamp_(max=3)
    reveal_shape(table(index))
    values, order = torch.cummin(torch.tensor([3, 9]), 0)
    reveal_shape(table(values))
    reveal_shape(table(7 - torch.arange(4, 8)))
    reveal_shape(table(torch.add(torch.arange(4), 1, alpha=0)))
    reveal_shape(table(torch.tensor([9]).expand(0, 1)))
    reveal_shape(table(torch.where(torch.arange(9) > 3, 0, torch.arange(9))))
    reveal_shape(table(torch.minimum(torch.arange(9), torch.tensor(3))))
    reveal_shape(table(torch.arange(9).fill_(1)))
    index = torch.tensor([7, 8])
    index -= 5
    reveal_shape(table(index))
    index = torch.arange(9)
    for _ in range(20):
        index = index // 2
    reveal_shape(table(index))
    reveal_shape(F.one_hot(torch.tensor([3])))
    reveal_shape(F.one_hot(torch.arange(1, 5)))
    reveal_shape(F.cross_entropy(torch.zeros(3, 3), torch.tensor([0, -100, 2])))
    reveal_shape(F.cross_entropy(torch.zeros(3, 3), torch.tensor([0, 9, 2]), ignore_index=9))
    reveal_shape(F.cross_entropy(torch.zeros(1, 3, 2), torch.tensor([[0, 2]])))
    reveal_shape(nn.CrossEntropyLoss(ignore_index=7)(torch.zeros(2, 3), torch.tensor([0, 7])))
    reveal_shape(torch.zeros(4, 3).index_add(0, torch.tensor([0, 3]), torch.zeros(2, 3)))
    reveal_shape(torch.zeros(2, 3).gather(1, torch.tensor([[2]])))
"""


def test_indices_in_range_are_silent() -> None:
    assert disagreements(RUN) == []


@pytest.mark.parametrize("call", REPORTED.values(), ids=REPORTED)
def test_an_index_beyond_the_rows_is_reported(call: str) -> None:
    (found,) = errors(check(f"import torch.nn.functional as F\n{call}"))
    assert "range" in found or "no row" in found


def test_indices_of_named_sizes_may_be_in_range() -> None:
    program = """
        from jaxtyping import Float
        from torch import Tensor

        class Model(nn.Module):
            def __init__(self, longest: int, width: int) -> None:
                super().__init__()
                self.positions = nn.Embedding(longest, width)
                self.fixed = nn.Embedding(512, 8)

            def forward(self, x: Float[Tensor, "b t d"]) -> Tensor:
                steps = torch.arange(x.shape[1])
                return self.positions(steps), self.fixed(steps), self.fixed(steps + 2), x[:, steps]
    """
    assert errors(check(textwrap.dedent(program))) == []


def test_a_table_that_is_one_row_too_short_for_every_size_is_reported() -> None:
    program = """
        from jaxtyping import Float
        from torch import Tensor

        def f(x: Float[Tensor, "b t d"]) -> Tensor:
            return nn.Embedding(x.shape[1], 8)(torch.arange(x.shape[1] + 1))
    """
    (found,) = errors(check(textwrap.dedent(program)))
    assert found.endswith("index t is out of range for a table of t rows")
