"""Layouts in programs: what is reported where the layer is called, and programs that look like it and are right."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from shaped.static.check import Checker
from tests.expected import expected_in, told

IMPORTS = """\
import torch
import torch.nn.functional as F
from einops import rearrange, repeat
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

"""


def is_reported_as_marked(program: str) -> bool:
    """Whether exactly the marked lines of a program are reported."""
    source = IMPORTS + dedent(program)
    found = Checker(show_traceback=True).check(Path("program.py").absolute(), source).diagnostics
    expected = expected_in(source)
    matched = [any(one.is_met_by(each) for each in found) for one in expected]
    assert all(matched), f"{expected[matched.index(False)]} is not reported\n{told(found)}"
    assert {each.span.line for each in found} == {one.line for one in expected}, told(found)
    return True


def test_a_layer_that_a_class_holds_knows_its_layout() -> None:
    assert is_reported_as_marked(
        """
        class Tagger(nn.Module):
            def __init__(self, vocabulary: int, width: int) -> None:
                super().__init__()
                self.embed = nn.Embedding(vocabulary, width)
                self.lstm = nn.LSTM(width, width // 2, num_layers=2, bidirectional=True)
                self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, batch_first=True), 2)

            def forward(self, ids: Int[Tensor, "batch seq"]) -> Tensor:
                return self.lstm(self.embed(ids))[0]  # error[shape-layout]: batch, is the batch

            def right(self, ids: Int[Tensor, "batch seq"]) -> Tensor:
                return self.lstm(self.embed(ids.t()))[0]

            def encoded(self, ids: Int[Tensor, "batch seq"]) -> Tensor:
                x = self.embed(ids).transpose(0, 1)
                return self.encoder(x)  # error[shape-layout]: batch_first=True

            def encoded_right(self, ids: Int[Tensor, "batch seq"]) -> Tensor:
                return self.encoder(self.embed(ids))
        """
    )


def test_the_layout_may_be_an_argument_of_the_constructor() -> None:
    assert is_reported_as_marked(
        """
        class Encoder(nn.Module):
            def __init__(self, width: int, batch_first: bool = False) -> None:
                super().__init__()
                self.gru = nn.GRU(width, width, batch_first=batch_first)

            def forward(self, x: Tensor) -> Tensor:
                return self.gru(x)[0]  # error[shape-layout]: batch_first=False

        class Wrong(nn.Module):
            def __init__(self, width: int) -> None:
                super().__init__()
                self.encoder = Encoder(width)

            def forward(self, x: Float[Tensor, "b t width"]) -> Tensor:
                return self.encoder(x)

        class Right(nn.Module):
            def __init__(self, width: int) -> None:
                super().__init__()
                self.encoder = Encoder(width, batch_first=True)

            def forward(self, x: Float[Tensor, "b t width"]) -> Tensor:
                return self.encoder(x)

        class Chosen(nn.Module):
            def __init__(self, width: int, batch_first: bool) -> None:
                super().__init__()
                self.encoder = Encoder(width, batch_first=batch_first)

            def forward(self, x: Float[Tensor, "b t width"]) -> Tensor:
                return self.encoder(x)
        """
    )


def test_padded_sequences_stand_as_padding_lays_them() -> None:
    assert is_reported_as_marked(
        """
        class Encoder(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.gru = nn.GRU(5, 7, batch_first=True)

            def wrong(self, xs: list[Float[Tensor, "_ 5"]]) -> Tensor:
                return self.gru(pad_sequence(xs))[0]  # error[shape-layout]: padded length

            def right(self, xs: list[Float[Tensor, "_ 5"]]) -> Tensor:
                return self.gru(pad_sequence(xs, batch_first=True))[0]

            def packed(self, x: Float[Tensor, "b t 5"], lengths: Int[Tensor, "b"]) -> Float[Tensor, "b s 7"]:
                packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
                return pad_packed_sequence(self.gru(packed)[0], batch_first=True)[0]

            def packed_wrong(self, x: Float[Tensor, "b t 5"], lengths: Tensor) -> Tensor:
                packed = pack_padded_sequence(x, lengths)  # error[shape-layout]: pack_padded_sequence
                return pad_packed_sequence(self.gru(packed)[0])[0]

            def unpacked_wrong(self, x: Float[Tensor, "b t 5"], lengths: Int[Tensor, "b"]) -> Float[Tensor, "b s 7"]:
                packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
                out, _ = pad_packed_sequence(self.gru(packed)[0])
                return out  # error[shape-layout]: the batch b is axis 1

            def time_major(self, x: Float[Tensor, "b t 5"], lengths: Tensor) -> Tensor:
                packed = pack_padded_sequence(x.transpose(0, 1), lengths)
                return pad_packed_sequence(self.gru(packed)[0])[0]
        """
    )


def test_the_directions_of_a_state_stand_inside_of_its_layers() -> None:
    assert is_reported_as_marked(
        """
        class Encoder(nn.Module):
            def __init__(self, hidden: int, layers: int) -> None:
                super().__init__()
                self.layers, self.hidden = layers, hidden
                self.lstm = nn.LSTM(5, hidden, layers, bidirectional=True, batch_first=True)

            def wrong(self, x: Float[Tensor, "b t 5"]) -> Tensor:
                _, (h, _) = self.lstm(x)
                return h.view(2, self.layers, x.size(0), self.hidden)[:, -1]  # error[shape-axes]

            def right(self, x: Float[Tensor, "b t 5"]) -> Tensor:
                _, (h, _) = self.lstm(x)
                return h.view(self.layers, 2, x.size(0), self.hidden)[-1]

            def joined(self, x: Float[Tensor, "b t 5"]) -> Float[Tensor, "b {2*self.hidden}"]:
                _, (h, _) = self.lstm(x)
                return torch.cat((h[-2], h[-1]), dim=-1)
        """
    )


def test_attention_that_is_meant_over_other_axes_is_silent() -> None:
    assert is_reported_as_marked(
        """
        class Mixers(nn.Module):
            def __init__(self, width: int) -> None:
                super().__init__()
                self.attend = nn.MultiheadAttention(width, 4)
                self.layer = nn.TransformerEncoderLayer(width, 4)

            def between_samples(self, x: Float[Tensor, "b width"]) -> Tensor:
                return self.layer(x.unsqueeze(1)).squeeze(1)

            def between_joints(self, x: Float[Tensor, "b t joints width"]) -> Tensor:
                y = rearrange(x, "b t n d -> n (b t) d")
                return rearrange(self.attend(y, y, y)[0], "n (b t) d -> b t n d", b=x.size(0))

            def over_time(self, x: Float[Tensor, "b t joints width"]) -> Tensor:
                y = rearrange(x, "b t n d -> t (b n) d")
                return self.attend(y, y, y)[0]

            def nodes(self, x: Float[Tensor, "n t width"]) -> Tensor:
                return self.attend(x, x, x)[0]

            def heads(self, q: Float[Tensor, "b heads t d"], k: Float[Tensor, "b heads s d"]) -> Tensor:
                return F.scaled_dot_product_attention(q, k, k)
        """
    )


def test_channels_stand_in_front_of_height_and_width() -> None:
    assert is_reported_as_marked(
        """
        class Head(nn.Module):
            def __init__(self, c: int) -> None:
                super().__init__()
                self.conv, self.norm, self.pool = nn.Conv2d(c, 8, 3), nn.InstanceNorm2d(c), nn.MaxPool2d(2)

            def conv_wrong(self, x: Float[Tensor, "b h w c"]) -> Tensor:
                return self.conv(x)  # error[shape-layout]: conv2d

            def norm_wrong(self, x: Float[Tensor, "b h w c"]) -> Tensor:
                return self.norm(x)  # error[shape-layout]: instance_norm

            def pool_wrong(self, x: Float[Tensor, "batch height width channels"]) -> Tensor:
                return self.pool(x)  # error[shape-layout]: max_pool2d

            def right(self, x: Float[Tensor, "b h w c"]) -> Tensor:
                return self.pool(self.norm(self.conv(x.permute(0, 3, 1, 2))))

        def resized(x: Float[Tensor, "b h w 3"], grid: Float[Tensor, "b h w 2"]) -> Tensor:
            y = F.interpolate(x, scale_factor=2)  # error[shape-layout]: interpolate
            return F.grid_sample(x, grid)  # error[shape-layout]: grid_sample

        def pooled(x: Float[Tensor, "b t c"]) -> Tensor:
            return F.adaptive_avg_pool1d(x, 1)  # error[shape-layout]: adaptive_avg_pool1d

        def right(x: Float[Tensor, "b h w 3"], y: Float[Tensor, "b t c"], volume: Float[Tensor, "b h w d"]) -> Tensor:
            F.interpolate(x.movedim(-1, 1), scale_factor=2)
            F.adaptive_avg_pool1d(y.transpose(1, 2), 1)
            F.avg_pool2d(volume, 2)
            return F.max_pool1d(y, 2)  # maxout
        """
    )


def test_the_class_axis_is_no_sequence() -> None:
    assert is_reported_as_marked(
        """
        def wrong(x: Float[Tensor, "b t vocab"], y: Float[Tensor, "b t vocab"]) -> Tensor:
            return F.cross_entropy(x, y)  # error[shape-layout]: read as the classes

        def right(x: Float[Tensor, "b t vocab"], y: Float[Tensor, "b t vocab"]) -> Tensor:
            return F.cross_entropy(x.transpose(1, 2), y.transpose(1, 2))

        def span(x: Float[Tensor, "b t 2"], y: Int[Tensor, "b 2"]) -> Tensor:
            return F.cross_entropy(x, y)

        def pointer(x: Float[Tensor, "b src tgt"], y: Float[Tensor, "b src tgt"]) -> Tensor:
            return F.cross_entropy(x, y)

        def shuffled(x: Float[Tensor, "b t v"], y: Int[Tensor, "b t"]) -> Tensor:
            rows = x.transpose(0, 1).reshape(-1, x.size(-1))
            return F.cross_entropy(rows, y.reshape(-1))  # error[shape-axes]: lie in the order

        def speech(x: Float[Tensor, "b t v"], y: Int[Tensor, "b s"], n: Int[Tensor, "b"], m: Tensor) -> Tensor:
            F.ctc_loss(x.log_softmax(-1).transpose(0, 1), y, n, m)
            return F.ctc_loss(x.log_softmax(-1), y, n, m)  # error[shape-layout]: ctc_loss
        """
    )


def test_channels_are_dropped_where_they_stand() -> None:
    assert is_reported_as_marked(
        """
        class Net(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.drop = nn.Dropout2d(0.5)

            def forward(self, x: Float[Tensor, "b h w c"]) -> Tensor:
                return self.drop(x)  # error[shape-layout]: dropout2d

            def right(self, x: Float[Tensor, "b c h w"]) -> Tensor:
                return self.drop(x)

            def whole_words(self, x: Float[Tensor, "b t c"]) -> Tensor:
                return F.dropout1d(x) + self.drop(x.unsqueeze(-1)).squeeze(-1)
        """
    )


def test_a_softmax_behind_a_layer_that_is_given() -> None:
    assert is_reported_as_marked(
        """
        def weights(x: Float[Tensor, "b t d"], score: nn.Linear) -> Tensor:
            return F.softmax(score(x).squeeze(-1), 0)  # error[shape-reduce]: b, the batch

        def right(x: Float[Tensor, "b t d"], score: nn.Linear) -> Tensor:
            return F.softmax(score(x).squeeze(-1), 1)

        def of_samples(x: Float[Tensor, "b d"], score: nn.Linear) -> Tensor:
            return F.softmax(score(x), 0)
        """
    )
