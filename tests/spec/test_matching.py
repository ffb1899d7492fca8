"""A tensor matches an annotation when jaxtyping says so, for all its sizes; the checker is never surer than that."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import jaxtyping
import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from shaped.errors import DtypeError, Fault, ShapeError
from shaped.spec.annotation import parse
from shaped.spec.binding import Bindings
from shaped.spec.context import Context
from shaped.spec.dims import Dim, Kind, Symbol
from shaped.spec.dtypes import FLOAT32, INT64
from shaped.spec.matching import fits, match
from shaped.spec.shape import Axis, Pack, Shape
from shaped.spec.values import TensorType

M, N = Symbol("m", scope="caller"), Symbol("n", scope="caller")
m, n = Dim.atom(M), Dim.atom(N)
NAMED_PACK = Pack("rest", Kind.NAME, "caller")
UNKNOWN_SIZE, UNKNOWN_PACK = Symbol("u", Kind.UNKNOWN, low=0), Pack("v", Kind.UNKNOWN)

Concrete = tuple[int, ...]


def jaxtyping_says(texts: list[str], shapes: list[Concrete]) -> list[bool]:
    """Whether each array matches its annotation, in one call of a function."""
    answers = []
    with jaxtyping.jaxtyped("context"):
        for text, shape in zip(texts, shapes):
            try:
                answers.append(isinstance(np.zeros(shape, np.float32), jaxtyping.Float[np.ndarray, text]))
            except jaxtyping.AnnotationError:
                reject()  # arithmetic over a name that is not bound yet
    return answers


single_axes = st.sampled_from(["b", "b", "c", "c", "2", "1", "_", "#b", "#c", "#2", "b+1", "2*b", "b*c", "#b+1"])
packs = st.sampled_from(["...", "*s", "*s", "*#s"])


@st.composite
def annotations(draw: st.DrawFn) -> str:
    axes = draw(st.lists(single_axes, max_size=3))
    if draw(st.booleans()):
        axes.insert(draw(st.integers(0, len(axes))), draw(packs))
    return " ".join(axes)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    sizes = [m, n, n, Dim.of(1), Dim.of(2), Dim.of(3), n + 1, 2 * n, m * n, Dim.atom(UNKNOWN_SIZE)]
    axes: list[Axis] = list(draw(st.lists(st.sampled_from(sizes), max_size=3)))
    if draw(st.integers(0, 3)) == 0:
        axes.insert(draw(st.integers(0, len(axes))), draw(st.sampled_from([NAMED_PACK, UNKNOWN_PACK])))
    return Shape(tuple(axes))


cases = st.lists(st.tuples(annotations(), shapes()), min_size=1, max_size=3)


def concrete(shape: Shape, sizes: Mapping[Symbol, int], pack: Concrete) -> Concrete:
    found: list[int] = []
    for axis in shape.axes:
        found += pack if isinstance(axis, Pack) else [axis.evaluate(sizes)]
    return tuple(found)


WORLDS: list[tuple[Mapping[Symbol, int], Concrete]] = [
    ({M: i, N: j, UNKNOWN_SIZE: k}, pack)
    for i, j, k in itertools.product((1, 2, 3, 5), (1, 2, 4), (0, 1, 2, 3))
    for pack in ((), (1,), (2,), (3, 2))
]


@settings(max_examples=150, deadline=None)
@given(cases)
def test_a_mismatch_is_one_for_all_sizes_and_a_proved_match_holds_for_all_sizes(case: list[tuple[str, Shape]]) -> None:
    texts = [text for text, _ in case]
    bindings, context = Bindings("callee"), Context(certain=False)
    for text, shape in case[:-1]:
        try:
            match(parse("Float", text), TensorType(shape, FLOAT32), bindings, context)
        except Fault:
            reject()
    text, shape = case[-1]
    annotation, tensor = parse("Float", text), TensorType(shape, FLOAT32)
    proved = fits(annotation, tensor, bindings, context)
    try:
        refined = match(annotation, tensor, bindings, context).shape
    except Fault:
        refined = None
    assert (proved is False) == (refined is None)
    worlds = {tuple(concrete(shape, *world) for _, shape in case): world for world in WORLDS}
    for shapes, (sizes, pack) in worlds.items():
        *before, answer = jaxtyping_says(texts, list(shapes))
        if not all(before):
            continue
        if proved is not None:
            assert answer == proved, (sizes, pack)
        if answer and refined is not None:
            assert admits(refined, concrete(shape, sizes, pack), sizes, pack), (str(refined), sizes, pack)


def admits(shape: Shape, actual: Concrete, sizes: Mapping[Symbol, int], pack: Concrete) -> bool:
    """Whether a shape says nothing wrong about an actual one; sizes and packs that `match` made up may be any."""
    if shape.rank is None and shape.least_rank > len(actual):
        return False
    if shape.rank is not None and shape.rank != len(actual):
        return False
    if shape.pack in (NAMED_PACK, UNKNOWN_PACK) and shape.least_rank + len(pack) != len(actual):
        return False
    tail = actual[len(actual) - len(shape.tail) :]
    pairs = [*zip(shape.head, actual), *zip(shape.tail, tail)]
    return all(size.evaluate(sizes) == found for size, found in pairs if size.symbols() <= sizes.keys())


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(annotations(), st.lists(st.integers(1, 3), max_size=4).map(tuple)), min_size=1, max_size=3))
def test_on_constant_sizes_match_is_jaxtyping_s_check(case: list[tuple[str, Concrete]]) -> None:
    bindings, context = Bindings("callee"), Context()
    answers = jaxtyping_says([text for text, _ in case], [shape for _, shape in case])
    assume(all(answers[:-1]))
    for (text, shape), answer in zip(case, answers):
        tensor = TensorType(Shape.of(*shape), FLOAT32)
        if answer:
            assert match(parse("Float", text), tensor, bindings, context).shape == tensor.shape
        else:
            with pytest.raises(ShapeError):
                match(parse("Float", text), tensor, bindings, context)


def of(*axes: Axis | int) -> TensorType:
    return TensorType(Shape.of(*axes), FLOAT32)


b, d = Dim.name("b", "f"), Dim.name("d", "f")
S = Pack("s", Kind.NAME, "f")


def body() -> Bindings:
    """What the annotations "b d" and "*s" of a function `f` bind in its body."""
    return Bindings("f", {"b": b, "d": d}, {"s": (S,)})


def check(text: str, tensor: TensorType, bindings: Bindings | None = None, context: Context | None = None) -> str:
    annotation = parse("Float", text)
    seven = Dim.of(7)
    return str(
        match(
            annotation,
            tensor,
            body() if bindings is None else bindings,
            context or Context(),
            evaluate=lambda text: seven if text == "n" else None,
            operation="f",
            what="return",
        )
    )


@pytest.mark.parametrize(
    ("text", "tensor", "message"),
    [
        ("b 3 h w", of(b, 4, 45, 64), '(b, 4, 45, 64) does not match "b 3 h w": axis 1 is 4, not 3'),
        ("b t 6", of(Dim.name("t", "f"), b, 6), '(t, b, 6) does not match "b t 6": axis 0 is t, not b'),
        ("b d", of(d, d), '(d, d) does not match "b d": axis 0 is d, not b'),
        ("b d", of(b), '(b,) does not match "b d": it has 1 axis, not 2'),
        ("b d", of(b, d, 1), '(b, d, 1) does not match "b d": it has 3 axes, not 2'),
        ("", of(b), '(b,) does not match "": it has 1 axis, not 0'),
        ("... b d", of(b), '(b,) does not match "... b d": it has 1 axis, not 2 or more'),
        ("b", of(b, UNKNOWN_PACK, d), '(b, ..., d) does not match "b": it has at least 2 axes, not 1'),
        ("b t d", of(b, UNKNOWN_PACK, 7), '(b, ..., 7) does not match "b t d": axis -1 is 7, not d'),
        ("... 3 d", of(b, 4, d), '(b, 4, d) does not match "... 3 d": axis 1 is 4, not 3'),
        ("b {n}", of(b, 4), '(b, 4) does not match "b {n}": axis 1 is 4, not {n}=7'),
        ("d-1", of(d), '(d,) does not match "d-1": axis 0 is d, not d-1'),
        ("#d", of(d + 1), '(d+1,) does not match "#d": axis 0 is d+1, neither 1 nor d'),
        ("#3", of(2), '(2,) does not match "#3": axis 0 is 2, neither 1 nor 3'),
        ("*s 3", of(S, 1, 3), '(*s, 1, 3) does not match "*s 3": *s is (*s, 1), not (*s)'),
        ("*s", of(), '() does not match "*s": *s may be any axes, not only ()'),
        ("2*k", of(19), '(19,) does not match "2*k": axis 0 is 19, which no size k gives as 2*k'),
        ("b", of(Dim.name("b", "g")), '(b,) does not match "b": axis 0 is b, not the b that was bound before'),
    ],
)
def test_a_mismatch_names_the_axis_and_both_sizes(text: str, tensor: TensorType, message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        check(text, tensor)
    assert str(caught.value) == f"return of f: {message}"
    assert caught.value.code == "shape"


def test_a_size_that_a_name_stands_for_is_shown() -> None:
    bindings = Bindings("f")
    check("b", of(n), bindings)
    with pytest.raises(ShapeError, match="axis 0 is m, not b=n") as caught:
        check("b", of(m), bindings)
    assert caught.value.dims == (m, n)


def test_packs_name_their_axes() -> None:
    bindings = Bindings("f")
    check("*s 3", of(n, 2, 3), bindings)
    with pytest.raises(ShapeError, match=r"\*s is \(n, 4\), not \(n, 2\)"):
        check("*s 3", of(n, 4, 3), bindings)
    with pytest.raises(ShapeError, match=r"\*s is \(n,\), not \(n, 2\)"):
        check("*s 3", of(n, 3), bindings)


def test_broadcastable_packs_name_the_axes_that_do_not_broadcast() -> None:
    bindings = Bindings("f")
    check("*#s", of(4, 1), bindings)
    check("*#s", of(5), bindings)
    assert bindings.packs["s"] == (Dim.of(4), Dim.of(5))
    with pytest.raises(ShapeError, match=r"\*#s is \(3,\), not \(4, 5\): 3 and 5 do not broadcast"):
        check("*#s", of(3), bindings)
    with pytest.raises(ShapeError, match=r"\*s is \(5,\), not \(4, 5\): the number of axes differs"):
        check("*s", of(5), bindings)
    check("*s", of(4, 5), bindings)
    assert not bindings.broadcastable
    check("*#s", of(1, 5), bindings)
    assert bindings.packs["s"] == (Dim.of(4), Dim.of(5))
    with pytest.raises(ShapeError, match="the number of axes differs"):
        check("*#s", of(2, 4, 5), bindings)


def test_broadcastable_axes_that_are_1_bind_no_name() -> None:
    bindings = Bindings("f")
    check("#b", of(1), bindings)
    assert not bindings.dims
    check("#b", of(n), bindings)
    check("b", of(4), bindings)
    assert bindings.dims["b"] == 4
    check("#b", of(1), bindings)
    with pytest.raises(ShapeError):
        check("#b", of(5), bindings)


def test_hidden_broadcastable_axes_are_bound_to_what_was_not_followed() -> None:
    bindings = Bindings("f")
    check("#b *#s", of(UNKNOWN_PACK), bindings)
    check("b *s", of(n, 4), bindings)
    assert bindings.dims["b"] == n
    assert bindings.packs["s"] == (Dim.of(4),)
    check("b *#s", of(UNKNOWN_PACK), bindings)
    assert bindings.packs["s"] == (Dim.of(4),)


def test_the_same_pack_with_more_axes_is_never_equal() -> None:
    bindings = Bindings("f")
    check("*s", of(3, NAMED_PACK), bindings)
    with pytest.raises(ShapeError):
        check("*s", of(NAMED_PACK, 3, 4), bindings)
    check("*s", of(NAMED_PACK, 3), bindings)


def test_a_dtype_that_the_annotation_excludes_is_a_dtype_fault() -> None:
    with pytest.raises(DtypeError) as caught:
        match(parse("Float", "b"), of(b).with_dtype(INT64), body(), Context(), operation="f", what="argument x")
    assert str(caught.value) == 'argument x of f: dtype int64 does not match Float[Tensor, "b"]'
    assert caught.value.code == "dtype"


def test_the_dtypes_of_tensor_and_annotation_intersect() -> None:
    assert match(parse("Float", ""), TensorType.of(), body(), Context()).dtype == parse("Float", "").dtype
    assert match(parse("Shaped", ""), of(), body(), Context()).dtype == FLOAT32


def test_names_bind_to_the_sizes_of_the_tensor() -> None:
    bindings = Bindings("f")
    check("b t-1 k*2 *s 3", of(n, 19, 2 * n, 5, m, 3), bindings)
    assert bindings.dims == {"b": n, "t": Dim.of(20), "k": n}
    assert bindings.packs == {"s": (Dim.of(5), m)}


@pytest.mark.parametrize("text", ["t*k", "t%2", "min(t,3)", "t*{other}", "t*t"])
def test_arithmetic_that_cannot_be_solved_binds_nothing_and_is_silent(text: str) -> None:
    bindings = Bindings("f")
    check(text, of(n), bindings)
    assert not bindings.dims


@pytest.mark.parametrize(
    ("text", "axes", "refined"),
    [
        ("b 3 d", (UNKNOWN_PACK,), "(b, 3, d)"),
        ("b 3 {n}", (UNKNOWN_PACK,), "(b, 3, 7)"),
        ("b ... d", (UNKNOWN_PACK,), "(b, ..., d)"),
        ("b *s", (UNKNOWN_PACK,), "(b, *s)"),
        ("b 3 d", (b, UNKNOWN_PACK), "(b, 3, d)"),
        ("b 3 d", (UNKNOWN_PACK, d), "(b, 3, d)"),
        ("b _ d", (b, UNKNOWN_PACK, d), "(b, _, d)"),
        ("b d", (b, UNKNOWN_PACK, d), "(b, d)"),
        ("b ... d", (b, 5, UNKNOWN_PACK, 6, d), "(b, 5, ..., 6, d)"),
        ("b d ...", (b, UNKNOWN_PACK, 6), "(b, ..., 6)"),
        ("b d", (Dim.atom(UNKNOWN_SIZE), Dim.atom(UNKNOWN_SIZE)), "(b, d)"),
        ("#b 3", (Dim.atom(UNKNOWN_SIZE), Dim.atom(UNKNOWN_SIZE)), "(u, 3)"),
        ("*s d", (UNKNOWN_PACK, 4, d), "(*s, d)"),
    ],
)
def test_what_is_not_followed_is_seen_through_the_annotation(
    text: str, axes: tuple[Axis | int, ...], refined: str
) -> None:
    assert check(text, of(*axes)) == refined


def test_a_name_takes_the_better_known_of_two_sizes() -> None:
    bindings = Bindings("f")
    check("k", of(Dim.atom(UNKNOWN_SIZE)), bindings)
    check("k", of(n), bindings)
    assert bindings.dims["k"] == n
    with pytest.raises(ShapeError):
        check("k", of(m), bindings)


def test_a_name_hidden_in_unknown_axes_is_bound_to_what_is_there() -> None:
    bindings = Bindings("f")
    check("k *s", of(UNKNOWN_PACK), bindings)
    check("k", of(n), bindings)
    assert bindings.dims["k"] == n
    check("*s", of(n, m), bindings)
    assert bindings.packs["s"] == (n, m)


def test_what_holds_for_some_sizes_is_silent_on_an_uncertain_path_and_for_a_joined_tensor() -> None:
    check("b", of(d), context=Context(certain=False))
    check("b *s", of(b), context=Context(certain=False))
    joined = TensorType(Shape.of(d), FLOAT32, joined=True)
    context = Context()
    check("b", joined, context=context)
    assert context.certain
    with pytest.raises(ShapeError):
        check("b", of(d), context=context)


def test_axes_of_a_pack_that_were_counted_on_a_path_are_silent() -> None:
    check("*s", of(Dim.atom(UNKNOWN_SIZE)))


def test_a_leaf_s_own_size_is_never_compared() -> None:
    bindings = Bindings("f")
    check("?k", of(3), bindings)
    check("?k", of(4), bindings)
    check("*?s", of(4, 5), bindings)
    assert not bindings.dims
    assert not bindings.packs


def test_a_field_of_an_f_string_that_was_not_followed_may_be_any_axes() -> None:
    annotation = parse("Float", "b {axes} {n} d", is_formatted=True)
    for axes in [(b, 7, d), (b, 2, 3, 7, d)]:
        match(annotation, of(*axes), body(), Context(), evaluate=lambda text: Dim.of(7) if text == "n" else None)
    with pytest.raises(ShapeError, match=r"axis 1 is 6, not \{n\}=7"):
        match(annotation, of(b, 6, d), body(), Context(), evaluate=lambda text: Dim.of(7) if text == "n" else None)


@pytest.mark.parametrize(
    ("text", "axes", "expected"),
    [
        ("b d", (b, d), True),
        ("b d", (b, d + 1), False),
        ("b d", (b,), False),
        ("b d", (d, b), None),
        ("b d", (UNKNOWN_PACK,), None),
        ("k ...", (b, UNKNOWN_PACK), True),
        ("*s", (S,), True),
        ("#b", (1,), True),
        ("#b", (d,), None),
    ],
)
def test_fits_tells_certain_from_possible(text: str, axes: tuple[Axis | int, ...], expected: bool | None) -> None:
    bindings, context = body(), Context()
    assert fits(parse("Float", text), of(*axes), bindings, context) is expected
    assert bindings == body()
    assert context.assumptions == []


def test_fits_looks_at_dtypes() -> None:
    assert fits(parse("Int", ""), of(), body(), Context()) is False
    assert fits(parse("Float", ""), TensorType.of(), body(), Context()) is None
