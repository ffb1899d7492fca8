"""Parsed sources are kept between checks, up to a bound, and never for another text."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaped.static.trees import Trees

A, B, C = map(Path, "abc")


def test_the_same_text_is_parsed_once() -> None:
    trees = Trees()
    assert trees.parse(A, "x = 1\n") is trees.parse(A, "x = 1\n")


def test_another_text_is_parsed_anew() -> None:
    trees = Trees()
    first = trees.parse(A, "x = 1\n")
    assert trees.parse(A, "x = 2\n") is not first
    assert trees.parse(B, "x = 1\n") is not first


def test_what_was_not_asked_for_the_longest_is_dropped_first() -> None:
    trees = Trees(most_characters=15)
    kept = {path: trees.parse(path, "x = 1\n") for path in (A, B)}
    trees.parse(A, "x = 1\n")
    trees.parse(C, "x = 1\n")
    assert trees.parse(A, "x = 1\n") is kept[A]
    assert trees.parse(B, "x = 1\n") is not kept[B]


def test_a_text_longer_than_the_bound_is_parsed_all_the_same() -> None:
    trees = Trees(most_characters=3)
    assert len(trees.parse(A, "x = 1\n").body) == 1


def test_a_syntax_error_is_told_each_time() -> None:
    trees = Trees()
    for _ in range(2):
        with pytest.raises(SyntaxError):
            trees.parse(A, "x = \n")
