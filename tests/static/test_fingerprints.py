"""Fingerprints are kept until something that they depend on is changed or undone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from shaped.spec.dims import Dim
from shaped.static.fingerprints import Fingerprints
from shaped.static.journal import Journal
from shaped.static.values import ClassValue, DictValue, FunctionValue, Instance, ListValue, SourceModule

TREE = ast.parse("size = 3\nclass Net:\n    pass\ndef width():\n    return size\n")
MODULE = SourceModule("nets", Path("nets.py"), TREE, False)
NET = ClassValue("Net", next(node for node in TREE.body if isinstance(node, ast.ClassDef)), MODULE, ())


def fresh(value: object) -> object:
    return Fingerprints(Journal()).of(value)


def test_a_change_deep_inside_changes_the_fingerprint_of_the_outermost_object() -> None:
    journal = Journal()
    prints = Fingerprints(journal)
    inner = Instance(NET, {"d": Dim.of(3)})
    table = DictValue({"inner": inner})
    outer = Instance(NET, {"parts": ListValue((table,))})
    before = prints.of(outer)
    assert prints.of(outer) == before
    journal.set(inner.attributes, "d", Dim.of(4))
    assert prints.of(outer) != before
    assert prints.of(outer) == fresh(outer)


def test_a_path_that_is_undone_gives_the_fingerprint_back() -> None:
    journal = Journal()
    prints = Fingerprints(journal)
    net = Instance(NET, {"d": Dim.of(3)})
    before = prints.of(net)

    def path() -> object:
        journal.set(net.attributes, "d", Dim.of(4))
        return prints.of(net)

    during, _ = journal.on_path(path)
    assert during != before
    assert prints.of(net) == before


def test_what_a_function_reads_of_its_module_is_part_of_it() -> None:
    journal = Journal()
    prints = Fingerprints(journal)
    node = next(node for node in TREE.body if isinstance(node, ast.FunctionDef))
    MODULE.environment.names.update({"size": Dim.of(3), "not_read": Dim.of(1)})
    function = FunctionValue(node, MODULE, MODULE.environment)
    before = prints.around(function)
    journal.set(MODULE.environment.names, "not_read", Dim.of(2))
    assert prints.around(function) == before
    journal.set(MODULE.environment.names, "size", Dim.of(4))
    assert prints.around(function) != before


def test_an_object_in_itself_has_no_fingerprint() -> None:
    net = Instance(NET)
    net.attributes["parent"] = Instance(NET, {"child": net})
    with pytest.raises(TypeError):
        fresh(net)


def test_an_object_that_was_never_looked_at_is_not_made_for_its_fingerprint() -> None:
    def make(instance: Instance) -> None:
        raise AssertionError("made")

    net = Instance(NET, make=make)
    assert fresh(net) == fresh(net)
    assert not net.is_made
