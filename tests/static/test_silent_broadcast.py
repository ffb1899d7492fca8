"""Broadcasts that run and mean something else: reported where they stand, silent where they are meant."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from shaped.codes import DEFAULT_CODES
from shaped.static.check import Checker
from tests.expected import expected_in, told

IMPORTS = """\
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

"""


def is_reported_as_marked(program: str, codes: frozenset[str] = DEFAULT_CODES) -> bool:
    """Whether exactly the marked lines of a program are reported."""
    source = IMPORTS + dedent(program)
    found = Checker(show_traceback=True).check(Path("program.py").absolute(), source, codes).diagnostics
    expected = expected_in(source)
    matched = [any(one.is_met_by(each) for each in found) for one in expected]
    assert all(matched), f"{expected[matched.index(False)]} is not reported\n{told(found)}"
    assert {each.span.line for each in found} == {one.line for one in expected}, told(found)
    return True


def is_silent(program: str) -> bool:
    """Whether nothing is reported of a program."""
    assert not expected_in(program)
    return is_reported_as_marked(program)


def test_a_column_of_an_annotation_meets_a_row() -> None:
    assert is_reported_as_marked(
        """
        def policy_loss(log_p: Float[Tensor, "b"], advantage: Float[Tensor, "b 1"]) -> Tensor:
            return -(log_p * advantage).mean()  # error[shape-broadcast]: mul: (b,) * (b, 1): both are stretched

        def clipped(ratio: Float[Tensor, "b"], advantage: Float[Tensor, "b 1"]) -> Tensor:
            a = ratio * advantage  # error[shape-broadcast]
            b = torch.clamp(ratio, 0.8, 1.2) * advantage  # error[shape-broadcast]
            return -torch.min(a, b).mean()

        def target(q: Float[Tensor, "b actions"], reward: Float[Tensor, "b 1"], done: Float[Tensor, "b 1"]) -> Tensor:
            return reward + 0.9 * (1 - done) * q.max(1).values  # error[shape-broadcast]

        def accuracy(p: Float[Tensor, "batch 1"], label: Int[Tensor, "batch"]) -> Tensor:
            return ((p > 0.5) == label).float().mean()  # error[shape-broadcast]: eq

        def masked(image: Float[Tensor, "b 1 h w"], mask: Float[Tensor, "b h w"]) -> Tensor:
            return image * mask  # error[shape-broadcast]: stretched to (b, b, h, w)

        def residual(state: Float[Tensor, "b 1 d"], x: Float[Tensor, "b d"]) -> Tensor:
            return state + x  # error[shape-broadcast]: stretched to (b, b, d)

        def of_any_batch(x: Float[Tensor, "*batch 1"], y: Float[Tensor, "*batch"]) -> Tensor:
            return x * y  # error[shape-broadcast]: the last axis of (*batch, 1)
        """
    )


def test_a_column_that_a_layer_makes_meets_a_row() -> None:
    assert is_reported_as_marked(
        """
        class Critic(nn.Module):
            def __init__(self, width: int) -> None:
                super().__init__()
                self.layers = nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, 1))
                self.conv = nn.Conv2d(3, 1, 3, padding=1)
                self.recurrent = nn.LSTM(width, 8, batch_first=True)
                self.head = nn.Linear(8, 1)

            def value(self, x):
                return self.layers(x)

            def error(self, x: Float[Tensor, "b d"], returns: Float[Tensor, "b"]) -> Tensor:
                return ((self.layers(x) - returns) ** 2).mean()  # error[shape-broadcast]: all pairs of b

            def advantage(self, x: Float[Tensor, "b d"], returns: Float[Tensor, "b"]) -> Tensor:
                values = torch.exp(self.value(x)).clamp(min=0.1)
                return returns - values.detach()  # error[shape-broadcast]

            def in_a_loop(self, x: Float[Tensor, "t b d"], y: Float[Tensor, "t b"]) -> Tensor:
                total = 0.0
                for step, goal in zip(x, y):
                    total = total + (self.value(step) - goal).abs().mean()  # error[shape-broadcast]
                return total

            def on_a_path(self, x: Float[Tensor, "b d"], y: Float[Tensor, "b"], is_offset: bool) -> Tensor:
                if is_offset:
                    y = y - self.value(x)  # error[shape-broadcast]
                return y

            def of_last_step(self, x: Float[Tensor, "b t d"], y: Float[Tensor, "b"]) -> Tensor:
                states, _ = self.recurrent(x)
                return (self.head(states[:, -1]) - y).abs()  # error[shape-broadcast]

            def foreground(self, image: Float[Tensor, "b 3 h w"], mask: Float[Tensor, "b h w"]) -> Tensor:
                return torch.sigmoid(self.conv(image)) * mask  # error[shape-broadcast]

        class Ratings(nn.Module):
            def __init__(self, users: int, items: int) -> None:
                super().__init__()
                self.users, self.items = nn.Embedding(users, 8), nn.Embedding(items, 8)
                self.bias = nn.Embedding(users, 1)

            def forward(self, user: Int[Tensor, "b"], item: Int[Tensor, "b"]) -> Tensor:
                product = (self.users(user) * self.items(item)).sum(1)
                return product + self.bias(user)  # error[shape-broadcast]
        """
    )


def test_a_column_that_an_operation_leaves_meets_a_row() -> None:
    assert is_reported_as_marked(
        """
        def with_argmax(logits: Float[Tensor, "n c"], y: Int[Tensor, "n"]) -> Tensor:
            return logits.argmax(dim=1, keepdim=True).eq(y).sum()  # error[shape-broadcast]

        def with_max(logits: Float[Tensor, "n c"], y: Int[Tensor, "n"]) -> Tensor:
            _, found = logits.max(1, keepdim=True)
            return (found == y).sum()  # error[shape-broadcast]

        def with_topk(logits: Float[Tensor, "n c"], y: Int[Tensor, "n"]) -> Tensor:
            _, found = logits.topk(1)
            return torch.eq(found, y).sum()  # error[shape-broadcast]

        def drawn(p: Float[Tensor, "n c"], y: Int[Tensor, "n"]) -> Tensor:
            return torch.multinomial(p, 1) == y  # error[shape-broadcast]

        def gathered(p: Float[Tensor, "b v"], target: Int[Tensor, "b"], mask: Bool[Tensor, "b"]) -> Tensor:
            loss = -p.gather(1, target[:, None]).log()
            a = loss.masked_fill(~mask, 0.0)  # error[shape-broadcast]: masked_fill: (b, 1), mask (b,)
            b = torch.where(mask, loss, 0.0)  # error[shape-broadcast]
            return a, b, loss.masked_select(mask)  # error[shape-broadcast]

        def difference(q: Float[Tensor, "b a"], taken: Int[Tensor, "b 1"], reward: Float[Tensor, "b"]) -> Tensor:
            return reward - q.gather(1, taken)  # error[shape-broadcast]

        def sliced(x: Float[Tensor, "b d"], weights: Float[Tensor, "b"]) -> Tensor:
            return x[:, :1] * weights  # error[shape-broadcast]
        """
    )


def test_a_column_that_a_call_or_an_object_promises_meets_a_row() -> None:
    assert is_reported_as_marked(
        """
        class Critic(nn.Module):
            def __init__(self, width: int) -> None:
                super().__init__()
                self.layer = nn.Linear(width, 1)

            def forward(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b 1"]:
                return self.layer(x)

        class Agent(nn.Module):
            def __init__(self, width: int) -> None:
                super().__init__()
                self.critic = Critic(width)

            def error(self, x: Float[Tensor, "b d"], returns: Float[Tensor, "b"]) -> Tensor:
                return self.critic(x) - returns  # error[shape-broadcast]

        @dataclass
        class Batch:
            value: Float[Tensor, "b 1"]
            reward: Float[Tensor, "b"]

        def target(batch: Batch) -> Tensor:
            return batch.reward + batch.value  # error[shape-broadcast]
        """
    )


def test_the_note_says_where_the_size_1_comes_from() -> None:
    source = IMPORTS + dedent(
        """
        def picked(q: Float[Tensor, "b a"], taken: Int[Tensor, "b"], reward: Float[Tensor, "b"]) -> Tensor:
            values = q.gather(1, taken[:, None])
            return reward - values
        """
    )
    (found,) = Checker().check(Path("program.py").absolute(), source).diagnostics
    assert "1: from gather, line 11" in [str(note) for note in found.notes]
    assert found.hint == ".squeeze(-1) on (b, 1)?"


def test_every_elementwise_operation_is_looked_at() -> None:
    assert is_reported_as_marked(
        """
        def f(x: Float[Tensor, "n 1"], y: Float[Tensor, "n"]) -> None:
            torch.addcmul(x, y, y)  # error[shape-broadcast]
            torch.lerp(x, y, 0.5)  # error[shape-broadcast]
            torch.maximum(x, y)  # error[shape-broadcast]
            x.clamp(min=y)  # error[shape-broadcast]
            torch.logical_and(x > 0, y > 0)  # error[shape-broadcast]
            (x > 0) & (y > 0)  # error[shape-broadcast]
            torch.pow(x, y)  # error[shape-broadcast]
            x.lt(y)  # error[shape-broadcast]
            torch.isclose(x, y)  # error[shape-broadcast]

        def of_arrays(x: Float[np.ndarray, "n 1"], y: Float[np.ndarray, "n"]) -> None:
            x - y  # error[shape-broadcast]
        """
    )


def test_losses_of_pairs_are_reported_whoever_made_the_axis() -> None:
    assert is_reported_as_marked(
        """
        def f(x: Float[Tensor, "b 1"], y: Float[Tensor, "b"], row: Float[Tensor, "b"]) -> Tensor:
            F.mse_loss(x, y)  # error[shape-broadcast]: both are stretched to (b, b), equal shapes expected
            F.mse_loss(row[:, None], y)  # error[shape-broadcast]
            F.mse_loss(torch.zeros(8, 1), torch.zeros(8))  # error[shape-broadcast]
            F.kl_div(x, y, reduction="batchmean")  # error[shape-broadcast]
            F.poisson_nll_loss(x, y)  # error[shape-broadcast]
            F.gaussian_nll_loss(x, y, x)  # error[shape-broadcast]
            F.hinge_embedding_loss(x, y)  # error[shape-broadcast]
            nn.HuberLoss()(x, y)  # error[shape-broadcast]
            nn.MSELoss(reduction="none")(x, y)  # error[shape-broadcast]: all pairs
        """
    )


def test_losses_of_each_pair_are_meant_where_the_axis_was_made_for_it() -> None:
    assert is_silent(
        """
        def f(x: Float[Tensor, "b d"], codes: Float[Tensor, "k d"]) -> Tensor:
            F.kl_div(x[:, None].log(), x, reduction="none").sum(-1)
            return F.mse_loss(x[:, None], codes, reduction="none").mean(-1)

        def g(x: Float[Tensor, "b d"], codes: Float[Tensor, "k d"]) -> Tensor:
            b, k = x.shape[0], codes.shape[0]
            return F.mse_loss(x[:, None].expand(-1, k, -1), codes.expand(b, -1, -1))
        """
    )


def test_pairs_are_meant_where_an_axis_was_made_for_them() -> None:
    assert is_silent(
        """
        def of_one_class(labels: Int[Tensor, "b"]) -> Tensor:
            column = labels.contiguous().view(-1, 1)
            return (labels[:, None] == labels) & (labels.unsqueeze(1) == labels) & column.eq(labels)

        def distances(x: Float[Tensor, "n d"]) -> Tensor:
            squares = (x**2).sum(1, keepdim=True)
            return (x**2).sum(1, keepdim=True) + (x**2).sum(1) - 2 * x @ x.T + squares.expand(-1, 1)

        def causal(x: Float[Tensor, "b t"]) -> Tensor:
            t = x.shape[1]
            return torch.arange(t).view(-1, 1) >= torch.arange(t)

        def made_beside_a_layer(x: Float[Tensor, "n 1"], y: Float[Tensor, "n"]) -> Tensor:
            return y + (x + y[:, None])

        def outer(x: Float[Tensor, "b 1"], y: Float[Tensor, "1 b"]) -> Tensor:
            return x * y + (x - x.T)
        """
    )


def test_pairs_are_meant_where_the_program_names_them() -> None:
    assert is_silent(
        """
        def kernel(x: Float[Tensor, "n 1"], y: Float[Tensor, "n"]) -> Float[Tensor, "n n"]:
            return torch.exp(-((x - y) ** 2))

        def differences(x: Float[Tensor, "n 1"], y: Float[Tensor, "n"]) -> Tensor:
            pairs: Float[Tensor, "n n"] = x - y
            return pairs.abs().sum(1)

        def of_itself(x: Float[Tensor, "n 1"]) -> Tensor:
            return (x - x.squeeze(-1)).abs() + torch.sub(x, x[:, 0])

        def one_hot(index: Int[Tensor, "b 1"], lengths: Int[Tensor, "b 1"]) -> Tensor:
            return (index == torch.arange(index.shape[0])) & (torch.arange(index.shape[0]) + 1 < lengths)

        def of_one_sample(x: Float[Tensor, "b 1"], y: Float[Tensor, "b"]) -> Tensor:
            if x.shape[0] == 1:
                return x * y
            return x[:, 0] * y
        """
    )


def test_a_new_axis_is_not_taken_for_one_left_over_that_was_there_before() -> None:
    assert is_silent(
        """
        def doubled(x):
            return x * 2

        class Model(nn.Module):
            def __init__(self, d: int) -> None:
                super().__init__()
                self.value = nn.Linear(d, 1)

            def after_a_call(self, x: Float[Tensor, "b d"], y: Float[Tensor, "b"]) -> Tensor:
                first, second = doubled(self.value(x)), doubled(y[:, None])
                return first + second + (second - y).sum()

            def of_two_paths(self, x: Float[Tensor, "b d"], y: Float[Tensor, "b"], is_learned: bool) -> Tensor:
                column = self.value(x) if is_learned else y[:, None]
                return column - y
        """
    )


def test_a_new_axis_beside_one_left_over_is_meant() -> None:
    assert is_silent(
        """
        def scaled_by_each(scale: Float[Tensor, "b 1"], x: Float[Tensor, "b d"]) -> Tensor:
            return scale.unsqueeze(1) * x
        """
    )


def test_a_column_beside_what_it_was_made_for_is_silent() -> None:
    assert is_silent(
        """
        class Gated(nn.Module):
            def __init__(self, d: int) -> None:
                super().__init__()
                self.score = nn.Linear(d, 1)
                self.scale = nn.Parameter(torch.ones(1))

            def pooled(self, x: Float[Tensor, "b t d"]) -> Tensor:
                return (self.score(x).softmax(1) * x).sum(1)

            def scaled(self, x: Float[Tensor, "b t d"]) -> Tensor:
                return self.score(x) * self.scale

            def ranked(self, scores: Float[Tensor, "b n"], y: Int[Tensor, "b"]) -> Tensor:
                return (scores > scores.gather(1, y[:, None])).sum(1)

            def fitted(self, x: Float[Tensor, "b d"], y: Float[Tensor, "b"]) -> Tensor:
                return F.mse_loss(self.score(x)[:, 0], y) + F.mse_loss(self.score(x), y.view(-1, 1))

        def attended(w: Float[Tensor, "b t 1"], x: Float[Tensor, "b t d"], gate: Float[Tensor, "b 1 d"]) -> Tensor:
            return w * x * gate

        def of_groups(x: Float[Tensor, "b h 1 d"], y: Float[Tensor, "h t d"], z: Float[Tensor, "*batch d"]) -> Tensor:
            return x * y, z * z.sum(-1, keepdim=True)

        def counted(logits: Float[Tensor, "n c"], y: Int[Tensor, "n"]) -> Tensor:
            found = logits.argmax(dim=1, keepdim=True)
            return found.eq(y.view_as(found)).sum()
        """
    )


def test_a_row_taken_at_the_length_of_a_sequence_is_spread_over_it() -> None:
    assert is_reported_as_marked(
        """
        class Positions(nn.Module):
            def __init__(self, d: int) -> None:
                super().__init__()
                self.table = nn.Parameter(torch.zeros(512, d))
                self.register_buffer("with_batch", torch.zeros(1, 512, d))
                self.register_buffer("before_batch", torch.zeros(512, 1, d))
                self.register_buffer("causal", torch.tril(torch.ones(512, 512)))

            def f(self, x: Float[Tensor, "b t d"]) -> Tensor:
                return x + self.table[x.size(1)]  # error[shape-broadcast]: takes one row

            def g(self, x: Float[Tensor, "b t d"]) -> Tensor:
                return x + self.with_batch[:, x.shape[1], :]  # error[shape-broadcast]

            def h(self, x: Float[Tensor, "t b d"]) -> Tensor:
                return x + self.before_batch[x.size(0)]  # error[shape-broadcast]

            def of_attention(self, scores: Float[Tensor, "b heads t t"]) -> Tensor:
                t = scores.size(-1)
                return scores.masked_fill(self.causal[t, :t] == 0, -1e9)  # error[shape-broadcast]

            def moved(self, x: Float[Tensor, "b t d"]) -> Tensor:
                return x + self.with_batch[:, x.shape[1]].to(x.device).detach()  # error[shape-broadcast]

            def in_place(self, x: Float[Tensor, "b t d"]) -> Tensor:
                b, t, _ = x.shape
                x += self.table[None, t]  # error[shape-broadcast]
                return x

            def said_where_it_is_taken(self, x: Float[Tensor, "b t d"]) -> Tensor:
                row = self.table[x.shape[1]]  # error[shape-broadcast]
                return F.dropout(x + row)
        """
    )


def test_a_row_for_one_step_is_meant() -> None:
    assert is_silent(
        """
        class Positions(nn.Module):
            def __init__(self, d: int) -> None:
                super().__init__()
                self.table = nn.Parameter(torch.zeros(512, d))
                self.with_batch = nn.Parameter(torch.zeros(1, 512, d))

            def sliced(self, x: Float[Tensor, "b t d"]) -> Tensor:
                return x + self.table[: x.size(1)] + self.with_batch[:, : x.size(1)] + self.table[x.size(1) - 1]

            def at_a_step(self, x: Float[Tensor, "b t d"], step: int) -> Tensor:
                return x + self.table[step]

            def decode(self, past: Float[Tensor, "b t d"], x: Float[Tensor, "b 1 d"]) -> Tensor:
                x = x + self.table[past.shape[1]]
                return torch.cat([past, x, (x + self.with_batch[:, past.shape[1]])], 1)
        """
    )


def test_a_loss_that_is_one_number_is_weighted_by_sample() -> None:
    assert is_reported_as_marked(
        """
        def weighted(x: Float[Tensor, "b c"], y: Int[Tensor, "b"], w: Float[Tensor, "b"]) -> Tensor:
            loss = F.cross_entropy(x, y)  # error[shape-reduce]: the loss is one number for all
            return (loss * w).mean()

        def masked(a: Float[Tensor, "b t"], b: Float[Tensor, "b t"], mask: Float[Tensor, "b t"]) -> Tensor:
            return (F.mse_loss(a, b) * mask).sum() / mask.sum()  # error[shape-reduce]

        def of_tokens(logits: Float[Tensor, "b t v"], y: Int[Tensor, "b t"], mask: Float[Tensor, "b t"]) -> Tensor:
            b, t, v = logits.shape
            loss = F.cross_entropy(logits.reshape(b * t, v), y.reshape(b * t))  # error[shape-reduce]
            return (loss * mask).sum() / mask.sum()

        def averaged_first(a: Float[Tensor, "b t"], b: Float[Tensor, "b t"], mask: Float[Tensor, "b t"]) -> Tensor:
            loss = F.mse_loss(a, b, reduction="none").mean()  # error[shape-reduce]: mean: (b, t): without a dim
            return (loss * mask).sum() / mask.sum()

        def focal(logits: Float[Tensor, "b"], y: Float[Tensor, "b"], alpha: Float[Tensor, "b"]) -> Tensor:
            loss = F.binary_cross_entropy_with_logits(logits, y)  # error[shape-reduce]
            return (alpha * (1 - torch.exp(-loss)) ** 2 * loss).mean()

        class Trainer(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.loss = nn.MSELoss(reduction="sum")

            def filled(self, x: Float[Tensor, "b t d"], y: Float[Tensor, "b t d"], mask: Bool[Tensor, "b t"]) -> Tensor:
                loss = self.loss(x, y)  # error[shape-reduce]: masked by (b, t)
                return loss.masked_fill(~mask, 0.0)

            def chosen(self, x: Float[Tensor, "b t d"], y: Float[Tensor, "b t d"], mask: Bool[Tensor, "b t"]) -> Tensor:
                loss = self.loss(x, y)  # error[shape-reduce]
                return torch.where(mask, loss, torch.zeros_like(loss)).mean()

            def by_length(self, x: Float[Tensor, "b t"], y: Float[Tensor, "b t"], length: Int[Tensor, "b"]) -> Tensor:
                return (self.loss(x, y) / length).mean()  # error[shape-reduce]: divided by (b,)
        """
    )


def test_a_sum_without_a_dim_is_weighted_by_sample() -> None:
    assert is_reported_as_marked(
        """
        def divergence(mu: Float[Tensor, "b z"], log_var: Float[Tensor, "b z"], w: Float[Tensor, "b"]) -> Tensor:
            kl = -0.5 * torch.sum(1 + log_var - mu.pow(2) - log_var.exp())  # error[shape-reduce]: sum: (b, z)
            return kl * w

        def energy(x: Float[Tensor, "batch time z"], mask: Float[Tensor, "batch time"]) -> Tensor:
            return (x**2).mean() * mask  # error[shape-reduce]: mean: (batch, time, z)
        """
    )


def test_a_number_for_all_may_be_a_scale() -> None:
    assert is_silent(
        """
        def normalized(x: Float[Tensor, "b t d"]) -> Tensor:
            x = x / x.sum() - x.mean()
            return x * x.std() + x * x.abs().mean()

        def filled(x: Float[Tensor, "b t d"], mask: Float[Tensor, "b t"], is_known: Bool[Tensor, "b t d"]) -> Tensor:
            x = torch.where(is_known, x, x.mean())
            return x * mask[..., None] + x.mean() * (1 - mask[..., None])

        def noise(x: Float[Tensor, "b t d"]) -> Tensor:
            return torch.randn(x.shape[0]) * x.pow(2).mean().sqrt()

        def expected(p: Float[Tensor, "experts"], count: Float[Tensor, "experts n"]) -> Tensor:
            return p * count.sum()

        def masked_mean(x: Float[Tensor, "b d"], mask: Float[Tensor, "b"]) -> Tensor:
            return (x.pow(2).mean(-1) * mask / mask.sum()).sum()
        """
    )


def test_a_loss_beside_numbers_and_scalars_is_silent() -> None:
    assert is_silent(
        """
        class Trainer(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.loss = nn.CrossEntropyLoss()
                self.scale = nn.Parameter(torch.ones(1))

            def f(self, x: Float[Tensor, "b c"], y: Int[Tensor, "b"], w: Float[Tensor, "c"]) -> Tensor:
                loss = self.loss(x, y) * self.scale * x.shape[0] / 3
                return loss + F.cross_entropy(x, y, weight=w) + 0.1 * w.pow(2).sum() + (w + loss).sum()

            def g(self, x: Float[Tensor, "b c"], y: Int[Tensor, "b"], w: Float[Tensor, "b"]) -> Tensor:
                return (F.cross_entropy(x, y, reduction="none") * w).mean()

            def h(self, xs: list[Float[Tensor, "b c"]], y: Int[Tensor, "b"], w: Float[Tensor, "k"]) -> Tensor:
                total = torch.zeros(())
                for i, x in enumerate(xs):
                    total = total + w[i] * self.loss(x, y)
                return total

        def for_each_device(a: Float[Tensor, "b d"], b: Float[Tensor, "b d"]) -> Tensor:
            loss = F.mse_loss(a, b)
            return loss * torch.ones(a.shape[0]) + loss * a.new_ones(a.shape[0]) + loss.expand(a.shape[0])

        def relative(a: Float[Tensor, "b d"], b: Float[Tensor, "b d"]) -> Tensor:
            losses = F.mse_loss(a, b, reduction="none").mean(-1)
            return losses / losses.mean() + losses - losses.sum()

        def of_one_sample(x: Float[Tensor, "c"], y: Int[Tensor, ""], w: Float[Tensor, "c"]) -> Tensor:
            return F.cross_entropy(x, y) * w

        def projected(x: Float[Tensor, "d"], y: Float[Tensor, "d"]) -> Tensor:
            return F.cosine_similarity(x, y, dim=0) * y
        """
    )


def test_ranks_that_differ_are_reported_where_that_is_asked_for() -> None:
    program = """
        def f(x: Float[Tensor, "b t d"], y: Float[Tensor, "d"], z: Float[Tensor, "1 1 d"]) -> Tensor:
            x = x + y  # error[shape-promotion]: (d,) is repeated along b, t
            return x * z * x.mean() + 2, torch.zeros(8, 4) * torch.zeros(4)
        """
    assert is_reported_as_marked(program, DEFAULT_CODES | {"shape-promotion"})
    assert is_silent(program.replace("# error", "# "))


def test_positions_that_are_read_for_the_batch_are_reported() -> None:
    assert is_reported_as_marked(
        """
        class Positions(nn.Module):
            def __init__(self, d: int, max_len: int = 5000, max_batch: int = 64) -> None:
                super().__init__()
                self.table = nn.Parameter(torch.zeros(max_len, 1, d))
                self.noise = nn.Parameter(torch.zeros(max_batch, 1, d))

            def forward(self, x: Float[Tensor, "batch seq d"]) -> Tensor:
                return x + self.table[: x.size(0)]  # error[shape-broadcast]: as many as axis 0, batch

            def sequence_first(self, x: Float[Tensor, "seq batch d"]) -> Tensor:
                return x + self.table[: x.size(0)]

            def turned(self, x: Float[Tensor, "batch seq d"]) -> Tensor:
                x = x.transpose(0, 1)
                return (x + self.table[: x.size(0)]).transpose(0, 1)

            def of_each_sample(self, x: Float[Tensor, "batch seq d"]) -> Tensor:
                return x + self.noise[: x.size(0)]
        """
    )


def test_a_number_for_each_image_makes_no_channel() -> None:
    assert is_reported_as_marked(
        """
        def noised(x: Float[Tensor, "b 1 28 28"], noise: Float[Tensor, "b 28 28"], a: Float[Tensor, "b"]) -> Tensor:
            return x * a.view(-1, 1, 1, 1) + noise  # error[shape-broadcast]: all pairs of b

        def right(x: Float[Tensor, "b 1 28 28"], noise: Float[Tensor, "b 28 28"], a: Float[Tensor, "b"]) -> Tensor:
            return x * a.view(-1, 1, 1, 1) + noise[:, None]
        """
    )


def test_a_loss_of_all_pairs_of_what_an_object_holds_is_reported() -> None:
    assert is_reported_as_marked(
        """
        from typing import NamedTuple

        class Batch(NamedTuple):
            observation: Float[Tensor, "b d"]
            returns: Float[Tensor, "b"]

        def loss(batch: Batch) -> Tensor:
            return F.mse_loss(batch.observation.mean(1, keepdim=True), batch.returns)  # error[shape-broadcast]

        def right(batch: Batch) -> Tensor:
            return F.mse_loss(batch.observation.mean(1), batch.returns)
        """
    )


def test_an_axis_that_may_be_one_is_no_row() -> None:
    assert is_silent(
        """
        def loss(x: Float[Tensor, "b d"], target: Float[Tensor, "#b"]) -> Tensor:
            return F.mse_loss(x.mean(1, keepdim=True), target)
        """
    )
