"""Indices that run and pick from the wrong place, and slices of one place, which are columns whatever the sizes."""

from __future__ import annotations

from tests.static.test_silent_broadcast import is_reported_as_marked, is_silent


def test_an_index_along_another_axis_than_its_own_is_reported() -> None:
    assert is_reported_as_marked(
        """
        def log_probs(logits: Float[Tensor, "b t v"], y: Int[Tensor, "b t"]) -> Tensor:
            return F.log_softmax(logits, -1).gather(2, y.unsqueeze(1))  # error[shape-axes]: the t of axis 1 along

        def chosen(logits: Float[Tensor, "b t v"], y: Int[Tensor, "b t"]) -> Tensor:
            return torch.gather(logits, -1, y[:, None]).squeeze(1)  # error[shape-axes]: for one place of axis 1

        def q_of_actions(q: Float[Tensor, "batch actions"], action: Int[Tensor, "batch"]) -> Tensor:
            return q.gather(1, action[None])  # error[shape-axes]

        def one_hot(y: Int[Tensor, "b"], classes: int) -> Tensor:
            result = torch.zeros(y.shape[0], classes)
            result.scatter_(1, y.unsqueeze(0), 1.0)  # error[shape-axes]: scatter: (b, classes) at (1, b)
            return result
        """
    )


def test_indices_along_their_own_axis_are_silent() -> None:
    assert is_silent(
        """
        def log_probs(logits: Float[Tensor, "b t v"], y: Int[Tensor, "b t"]) -> Tensor:
            return F.log_softmax(logits, -1).gather(2, y.unsqueeze(2)).squeeze(2)

        def q_of_actions(q: Float[Tensor, "batch actions"], action: Int[Tensor, "batch 1"]) -> Tensor:
            return q.gather(1, action)

        def beams(scores: Float[Tensor, "b beams v"], chosen: Int[Tensor, "b k"]) -> Tensor:
            flat = scores.flatten(1).gather(1, chosen)
            return scores.gather(1, chosen[:, :, None].expand(-1, -1, scores.size(-1))) + flat[:, :, None]

        def last(x: Float[Tensor, "b t d"], length: Int[Tensor, "b"]) -> Tensor:
            return x.gather(1, (length - 1).view(-1, 1, 1).expand(-1, 1, x.size(2))).squeeze(1)

        def of_the_first(x: Float[Tensor, "b n d"], places: Int[Tensor, "b 1 k"]) -> Tensor:
            return x.gather(2, places)

        def of_a_square(distances: Float[Tensor, "n n"], order: Int[Tensor, "n"]) -> Tensor:
            return distances.gather(1, order[None])

        def of_each_feature(x: Float[Tensor, "b t d"], step: Int[Tensor, "b d"]) -> Tensor:
            return x.gather(1, step[:, None])
        """
    )


def test_slices_of_one_place_are_columns() -> None:
    assert is_silent(
        """
        def key_indices(n: int, stride: int, block: int, x: Float[Tensor, "b {n}"]) -> Int[Tensor, "blocks {block}"]:
            queries = torch.arange(n).view(-1, stride)
            first = queries[:, :1] + torch.arange(block)
            last = queries[:, -1:] + torch.arange(block)
            second = queries[:, 1:2] + torch.arange(block)
            wide = queries[:, :1].expand(-1, block)
            return first + last + second + wide
        """
    )
