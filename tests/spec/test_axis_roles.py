"""What the names of axes say, alone and beside each other."""

from __future__ import annotations

import pytest

from shaped.spec.axis_roles import (
    is_called_sequence,
    is_channels,
    is_features,
    is_spectrum,
    is_vocabulary,
    name_of,
    roles,
)
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.shape import Axis, Pack


def read(axes: str) -> str:
    """The first letters of the roles of axes, a dot for none."""
    found = roles([Dim.name(axis) for axis in axes.split()])
    return "".join("." if role is None else role.value[0] for role in found)


@pytest.mark.parametrize(
    ("axes", "wanted"),
    [
        ("b t d", "bs."),
        ("B T D", "bs."),
        ("batch_size seq_len d_model", "bs."),
        ("b h t d", "bhs."),
        ("b h q k", "bh.."),
        ("b c h w", "b..."),
        ("b t h", "bs."),
        ("b s d", "bs."),
        ("b l d", "bs."),
        ("b d l", "b.."),
        ("s d", ".."),
        ("n k m", "..."),
        ("queries b", ".b"),
        ("a b", ".."),
        ("a b t", "..s"),
        ("num_heads pos", "hs"),
    ],
)
def test_names_are_read_beside_each_other(axes: str, wanted: str) -> None:
    assert read(axes) == wanted


@pytest.mark.parametrize(
    "axis", [Dim.quantity("batch"), Context().fresh(name="batch"), Dim.of(8), Dim.name("b") * 2, Pack("batch")]
)
def test_only_a_name_of_an_annotation_says_anything(axis: Axis) -> None:
    assert roles([axis, Dim.name("d")]) == (None, None)
    assert not name_of(axis)


def test_axes_beside_batch_and_sequence_are_told_apart_by_their_names() -> None:
    assert all(map(is_features, map(Dim.name, ("d", "d_model", "embed_dim", "c", "in_channels", "hidden"))))
    assert not any(map(is_features, map(Dim.name, ("n", "k", "t", "vocab"))))
    assert is_channels(Dim.name("channels"))
    assert not is_channels(Dim.name("d"))
    assert is_spectrum(Dim.name("n_mels"))
    assert is_vocabulary(Dim.name("vocab_size"))
    assert is_called_sequence("q")
    assert is_called_sequence("seq_len")
    assert not is_called_sequence("i")
