"""Laws of the journal: a path leaves nothing behind it, and its changes can be made again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.static.journal import MISSING, Changes, Journal, LocalNames, Missing

KEYS = st.sampled_from("abc")
VALUES = st.one_of(st.integers(0, 3).map(str), st.just(MISSING))
WRITES = st.lists(st.tuples(st.sampled_from([0, 1]), KEYS, VALUES), max_size=8)
STATES = st.lists(st.dictionaries(KEYS, st.sampled_from(["x", "y"])), min_size=2, max_size=2)


def write(journal: Journal, state: list[Any], writes: list[Any]) -> None:
    """Make some writes to two dictionaries."""
    for which, key, value in writes:
        journal.set(state[which], key, value)


def copy_of(state: list[dict[str, str]]) -> list[dict[str, str]]:
    """The dictionaries as they are now."""
    return [dict(one) for one in state]


@given(STATES, WRITES)
def test_a_path_is_undone(state: list[dict[str, str]], writes: list[Any]) -> None:
    journal, before = Journal(), copy_of(state)
    journal.on_path(lambda: write(journal, state, writes))
    assert state == before


@given(STATES, WRITES, WRITES, WRITES)
def test_paths_within_paths_are_undone(
    state: list[dict[str, str]], first: list[Any], inner: list[Any], last: list[Any]
) -> None:
    journal, before = Journal(), copy_of(state)

    def outer() -> None:
        write(journal, state, first)
        middle = copy_of(state)
        journal.on_path(lambda: write(journal, state, inner))
        assert state == middle
        write(journal, state, last)

    journal.on_path(outer)
    assert state == before


@given(STATES, WRITES)
def test_the_changes_of_a_path_can_be_made_again(state: list[dict[str, str]], writes: list[Any]) -> None:
    journal, other = Journal(), copy_of(state)
    write(Journal(), other, writes)
    _, changes = journal.on_path(lambda: write(journal, state, writes))
    journal.apply(changes)
    assert state == other


@given(STATES, WRITES, WRITES)
def test_joined_paths_keep_what_both_say_and_mark_what_differs(
    state: list[dict[str, str]], first: list[Any], second: list[Any]
) -> None:
    ends = []
    for writes in (first, second):
        other = copy_of(state)
        write(Journal(), other, writes)
        ends.append(other)
    journal = Journal()
    paths = [journal.on_path(lambda writes=writes: write(journal, state, writes))[1] for writes in (first, second)]
    journal.apply_joined(paths, lambda a, b: a if a == b else "differs")
    for slots, one, two in zip(state, *ends):
        for key in "abc":
            expected = one.get(key) if one.get(key) == two.get(key) else "differs"
            assert slots.get(key) == expected


@given(STATES, WRITES)
def test_the_changes_since_a_mark_are_those_of_the_path(state: list[dict[str, str]], writes: list[Any]) -> None:
    journal = Journal()
    depth = journal.depth()

    def path() -> Changes:
        write(journal, state, writes)
        return journal.since(depth)

    inside, changes = journal.on_path(path)
    assert inside == changes


def test_a_fault_on_a_path_undoes_it_too() -> None:
    journal, names = Journal(), {"x": "1"}

    def path() -> None:
        journal.set(names, "x", "2")
        raise ValueError("on the way")

    with pytest.raises(ValueError, match="on the way"):
        journal.on_path(path)
    assert names == {"x": "1"}
    assert journal.depth() == 0


def test_what_is_changed_outside_the_paths_stays() -> None:
    journal, names = Journal(), {}

    def path() -> None:
        journal.set(names, "x", "1")
        with journal.outside():
            journal.set(names, "y", "2")

    journal.on_path(path)
    assert names == {"y": "2"}


def test_watching_sees_what_undone_paths_touch() -> None:
    journal, names = Journal(), {}
    with journal.watching() as touched:
        journal.on_path(lambda: journal.set(names, "x", "1"))
    journal.set(names, "y", "2")
    assert [key for _, key in touched.values()] == ["x"]


def test_only_a_change_that_outlives_the_call_counts_as_one() -> None:
    journal = Journal()
    journal.set(LocalNames(), "x", "1")
    journal.set({}, "x", "1", local=True)
    assert journal.epoch == 0
    journal.set({}, "x", "1")
    assert journal.epoch == 1


def test_changes_beyond_the_call_leave_its_own_names_out() -> None:
    journal, own, shared = Journal(), LocalNames(), {}

    def path() -> None:
        journal.set(own, "x", "1")
        journal.set(shared, "x", "2")

    _, changes = journal.on_path(path)
    journal.apply(changes.beyond_the_call())
    assert own == {}
    assert shared == {"x": "2"}
    assert not isinstance(shared["x"], Missing)


def test_what_a_path_sets_in_an_object_that_it_made_stays() -> None:
    journal, attributes = Journal(), dict[str, Any]()

    def run() -> None:
        journal.made(attributes)
        journal.set(attributes, "width", 3)

    _, changes = journal.on_path(run)
    assert attributes == {"width": 3}
    assert not changes.slots


def test_a_path_within_the_one_that_made_an_object_is_undone() -> None:
    journal, attributes = Journal(), dict[str, Any]()

    def run() -> None:
        journal.made(attributes)
        journal.set(attributes, "width", 3)
        journal.on_path(lambda: journal.set(attributes, "width", 4))

    journal.on_path(run)
    assert attributes == {"width": 3}
