"""An annotation describes the tensor that a body sees: names for its sizes, the same for the same name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.errors import Origin
from shaped.spec.annotation import parse
from shaped.spec.binding import Bindings, instantiate
from shaped.spec.context import Context
from shaped.spec.dims import Dim, Kind
from shaped.spec.dtypes import FLOATS, DType
from shaped.spec.matching import fits
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import TensorType


def entry(text: str, bindings: Bindings | None = None, *, unbound: Kind = Kind.NAME) -> TensorType:
    return instantiate(
        parse("Float", text),
        Bindings("f") if bindings is None else bindings,
        Context(),
        evaluate=lambda field: Dim.of(64) if field == "self.d" else None,
        unbound=unbound,
    )


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("b 3 n=4", "(b, 3, 4)"),
        ("", "()"),
        ("_ _x b", "(_, _, b)"),
        ("... d", "(..., d)"),
        ("*s d", "(*s, d)"),
        ("#b #4 *#s", "(#b, _, ...)"),
        ("?b *?s", "(_, ...)"),
        ("{self.d} {self.d}*b 2*{self.d}", "(64, 64*b, 128)"),
        ("{n} h{self.d} b**h", "(_, _, _)"),
        ("t-1 h//2 c*h", "(t-1, h//2, c*h)"),
        ("#t-1", "(_,)"),
    ],
)
def test_a_body_sees_the_sizes_that_its_annotation_names(text: str, shape: str) -> None:
    assert str(entry(text)) == shape


def test_a_tensor_has_the_annotation_s_dtypes() -> None:
    assert entry("b").dtype == DType(FLOATS)


def test_a_name_is_any_size_from_1_of_its_function() -> None:
    assert entry("b").shape == Shape.of(Dim.name("b", "f", low=1))
    assert entry("b", Bindings("g")) != entry("b", Bindings("f"))


def test_equal_names_of_one_call_are_equal() -> None:
    bindings = Bindings("f")
    first, second = entry("b t-1 *s", bindings), entry("*s t b", bindings)
    assert first.shape == Shape.of(Dim.name("b", "f"), Dim.name("t", "f") - 1, Pack("s", scope="f"))
    assert second.shape == Shape.of(Pack("s", scope="f"), Dim.name("t", "f"), Dim.name("b", "f"))


def test_bound_names_are_what_they_are_bound_to() -> None:
    bindings = Bindings("f", {"b": Dim.of(7)}, {"s": (Dim.of(2), Dim.of(3))})
    assert entry("b *s b+1", bindings).shape == Shape.of(7, 2, 3, 8)


def test_a_pack_that_may_still_grow_is_not_followed() -> None:
    bindings = Bindings("f", packs={"s": (Dim.of(1),)}, broadcastable={"s"})
    assert str(entry("*s", bindings)) == "(...)"


def test_a_caller_gets_back_unknown_sizes_for_unbound_names() -> None:
    tensor = entry("b t-1 b", unbound=Kind.UNKNOWN)
    first, _, last = tensor.shape.dims
    assert first == last
    assert first.has_unknown
    pack = entry("*s", unbound=Kind.UNKNOWN).shape.pack
    assert pack is not None
    assert pack.kind is Kind.UNKNOWN


def test_sizes_know_their_argument_and_line() -> None:
    bindings = Bindings("f")
    origin = Origin("x of forward", 3, "model.py")

    def origins(text: str, origin: Origin) -> list[str]:
        shape = instantiate(parse("Float", text), bindings, Context(), origin=origin).shape
        return [str(axis.origin) for axis in shape.axes if isinstance(axis, Dim)]

    assert origins("b 3 b-1 ... 5", origin) == [
        "axis 0 of x of forward, model.py, line 3",
        "axis 1 of x of forward, model.py, line 3",
        "axis 2 of x of forward, model.py, line 3",
        "axis -1 of x of forward, model.py, line 3",
    ]
    assert origins("b", Origin("y of forward", 4)) == ["axis 0 of x of forward, model.py, line 3"]
    assert str(bindings.dims["b"].origin) == "axis 0 of x of forward, model.py, line 3"


def test_divisions_in_annotations_are_meant_to_leave_no_rest() -> None:
    context = Context()
    instantiate(parse("Float", "d//h"), Bindings(), context)
    assert (Dim.name("d"), Dim.name("h")) in context.facts.intended


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("b {axes} 3", "(b, ..., 3)"),
        ("b h{axes} 3", "(b, ..., 3)"),
        ("b {axes} 3 ... d", "(b, ..., d)"),
        ("b {self.d} 3", "(b, 64, 3)"),
        ("b {self.d:d} 3", "(b, ..., 3)"),
        ("b h{self.d} 3", "(b, _, 3)"),
    ],
)
def test_a_field_of_an_f_string_that_was_not_followed_may_be_any_axes(text: str, shape: str) -> None:
    annotation = parse("Float", text, is_formatted=True)
    evaluate = {"self.d": Dim.of(64), "axes": None}.__getitem__
    assert str(instantiate(annotation, Bindings(), Context(), evaluate=evaluate)) == shape


def test_a_copy_binds_for_itself() -> None:
    bindings = Bindings("f")
    copied = bindings.copy()
    entry("b *s", copied)
    assert not bindings.dims
    assert not bindings.packs
    assert copied.scope == "f"


axes = st.lists(st.sampled_from(["b", "c", "3", "_", "b+1", "2*c", "#b", "{self.d}", "?c"]), max_size=4)


@given(axes, st.sampled_from([[], ["*s"], ["..."]]), axes)
def test_what_an_annotation_describes_fits_it(head: list[str], pack: list[str], tail: list[str]) -> None:
    annotation = parse("Float", " ".join([*head, *pack, *tail]))
    bindings, context = Bindings("f"), Context()
    evaluate = {"self.d": Dim.of(64)}.get
    tensor = instantiate(annotation, bindings, context, evaluate=evaluate)
    assert fits(annotation, tensor, bindings, context, evaluate=evaluate) is not False
    if not {"#b", "?c"} & {*head, *tail}:
        assert fits(annotation, tensor, bindings, context, evaluate=evaluate)
