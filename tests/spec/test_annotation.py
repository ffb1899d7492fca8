"""The grammar is jaxtyping's own, and a malformed annotation is told in a sentence."""

from __future__ import annotations

import re
from types import SimpleNamespace

import jaxtyping
import numpy as np
import pytest
from hypothesis import assume, example, given, reject, settings
from hypothesis import strategies as st
from jaxtyping._array_types import _check_dims, _FixedDim, _SymbolicDim

from shaped.errors import AnnotationError
from shaped.spec.annotation import (
    Anonymous,
    AnonymousPack,
    ArrayAnnotation,
    Fixed,
    Named,
    NamedPack,
    is_dtype_word,
    parse,
)
from shaped.spec.axis_arithmetic import Computed
from shaped.spec.dims import Dim
from shaped.spec.dtypes import ANY_DTYPE, DType

FUNCTIONS = ["min", "max", "abs", "int", "len"]
# What jaxtyping evaluates may be odd; that is what is compared.
pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")
# What a field gives: a size, the name of an axis, or several sizes.
FIELD_VALUES = [3, "b", [1, 2]]


def jaxtyping_accepts(text: str) -> bool:
    """Whether jaxtyping makes the annotation, and some array may fit it when every name in it is bound."""
    try:
        dims = getattr(jaxtyping.Float[np.ndarray, text], "dims")  # noqa: B009 - no attribute that mypy knows
    except ValueError:
        return False
    for dim in dims:
        if type(dim) is _FixedDim and dim.size < 0:
            return False
        if type(dim) is _SymbolicDim and not any(may_fit(dim, value) for value in FIELD_VALUES):
            return False
    return True


def may_fit(dim: _SymbolicDim, value: object) -> bool:
    """Whether an axis of arithmetic can be checked as jaxtyping does it, and its size is a number."""
    arguments = {"self": SimpleNamespace(d=value), "n": value, "xs": [1, 2, 3], "len": lambda xs: value}
    arguments = dict.fromkeys(names(dim.elem), value) | arguments
    try:
        formatted = eval(f"f'{dim.elem}'", dict(arguments))
    except SyntaxError:
        return False
    except Exception:
        reject()  # the field is at fault for these arguments, not the annotation
    sizes = dict.fromkeys(names(formatted), 6)
    try:
        _check_dims([dim], (6,), sizes, arguments)
        return isinstance(eval(formatted, sizes), int | float)
    except ZeroDivisionError:
        return True
    except Exception:
        return False


def names(text: str) -> list[str]:
    return [name for name in re.findall(r"[^\W\d]\w*", text) if name not in FUNCTIONS]


def accepts(text: str) -> bool:
    try:
        parse("Float", text)
    except AnnotationError:
        return False
    return True


PIECES = [
    *(
        "a",
        "b",
        "h2",
        "_",
        "*",
        "#",
        "?",
        "...",
        ".",
        "3",
        "12",
        "=",
        "+",
        "-",
        "*",
        "//",
        "%",
        "(",
        ")",
        ",",
        " ",
        " ",
    ),
    *("{n}", "{self.d}", "{len(xs)}", "{", "}", "{}", "min(", "max(a,b)", "foo(", "a.b", "==", "@", "$", "["),
]


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=7).map("".join))
@example("a#b")
@example("a==3")
def test_what_jaxtyping_accepts_is_accepted_and_what_it_refuses_is_refused(text: str) -> None:
    assume("**" not in text.replace(" ", ""))  # a power of powers takes jaxtyping for ever
    assume("}(" not in text)  # what a field gives may be the name of a function
    assume("()" not in text and "}}" not in text)  # nobody's mistakes
    assert accepts(text) == jaxtyping_accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "b", "b 3 h w", "  b   c ", "... c", "b ... c", "*batch c", "*batch", "_ c", "_name c", "*_name c"),
        *("#b c", "*#s c", "#*s c", "#4", "?leaf c", "?#leaf", "name=4 c", "rows=3 cols=4", "n=d+1", "n=*s"),
        *(
            "d+1",
            "d-1",
            "c*h*w",
            "d//2",
            "d%2",
            "2*h-1",
            "(h+1)//2",
            "-(-h//2)",
            "min(a,b)",
            "max(a,b,3)",
            "#d+1",
            "h/2",
        ),
        *(
            "{self.d}",
            "{n}",
            "{self.cfg.n_head}*{n}",
            "{len(xs)}",
            "{n}+1 b",
            "h{n}",
            "{n:d}",
            "{xs[0]}",
            "a==3",
            "1_000",
            "min({xs})",
            "max(*{xs})",
            "{name}(b)",
            "min({n},b)+1",
        ),
    ],
)
def test_jaxtyping_accepts_each_form_and_so_does_the_parser(text: str) -> None:
    assert jaxtyping.Float[np.ndarray, text]
    assert accepts(text)


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("b 3", (Named("b"), Fixed(3))),
        ("", ()),
        ("*s ", (NamedPack("s"),)),
        ("... c", (AnonymousPack(), Named("c"))),
        ("_ _x *_y", (Anonymous(), Anonymous("x"), AnonymousPack())),
        (
            "#b #4 *#s",
            (Named("b", broadcastable=True), Fixed(4, broadcastable=True), NamedPack("s", broadcastable=True)),
        ),
        ("?p", (Named("p", by_leaf=True),)),
        ("n=4 k=b #m=4", (Fixed(4), Named("b"), Fixed(4, broadcastable=True))),
        ("#n+1", (Computed("n+1", broadcastable=True),)),
        ("{n}*b", (Computed("{n}*b", fields=("n",)),)),
    ],
)
def test_axes_are_read_as_what_they_are(text: str, axes: tuple[object, ...]) -> None:
    assert parse("Float", text).axes == axes


def test_an_annotation_prints_as_it_was_written() -> None:
    annotation = parse("Float32", " b  *#s #4 ?p _x {n}*2 ", "ndarray")
    assert str(annotation) == 'Float32[ndarray, "b *#s #4 ?p _x {n}*2"]'
    assert " ".join(map(str, annotation.axes)) == annotation.text


B, H = Dim.name("b"), Dim.name("h")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2*b-1", "2*b-1"),
        ("b%2", "b%2"),
        ("-(-b//2)", "ceil(b/2)"),
        ("min(b,h)", "min(b, h)"),
        ("max(b,3)", "max(b, 3)"),
        ("+b**2", "b*b"),
        ("b**0", "1"),
        ("{n}*b", "7*b"),
        ("({n}+1)//2", "4"),
        ("int(b/2)", "b//2"),
        ("abs(b)+1", None),
        ("b//0", None),
        ("b+c", None),
        ("b<h", None),
        ("b**h", None),
        ("{other}+1", None),
        ("h{n}", None),
        ("{n:d}+1", None),
    ],
)
def test_arithmetic_is_evaluated_over_sizes_and_fields(text: str, size: str | None) -> None:
    (axis,) = parse("Float", text).axes
    assert isinstance(axis, Computed)
    value = axis.size({"b": B, "h": H}, {"n": Dim.of(7), "other": None}.__getitem__)
    assert (None if value is None else str(value)) == size


@given(
    st.recursive(
        st.sampled_from(["a", "b", "{n}", "2", "3"]),
        lambda inner: st.builds("({}{}{})".format, inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner),
        max_leaves=5,
    ),
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)),
)
def test_arithmetic_is_python_s(text: str, sizes: tuple[int, int, int]) -> None:
    a, b, n = sizes
    (axis,) = parse("Float", f"0+{text}").axes
    assert isinstance(axis, Computed)
    value = axis.size({"a": Dim.of(a), "b": Dim.of(b)}, lambda field: Dim.of(n))
    try:
        assert value == eval(text.replace("{n}", "n"), {"a": a, "b": b, "n": n})
    except ZeroDivisionError:
        assert value is None


def test_arithmetic_knows_the_names_that_it_depends_on() -> None:
    (axis,) = parse("Float", "min(c,a)*{n}+c").axes
    assert isinstance(axis, Computed)
    assert axis.names == ("c", "a")
    assert axis.fields == ("n",)


WORDS = sorted(
    word
    for word, value in vars(jaxtyping).items()
    if isinstance(value, type) and issubclass(value, jaxtyping.AbstractDtype) and word != "AbstractDtype"
)


@pytest.mark.parametrize("word", WORDS)
def test_each_dtype_word_of_jaxtyping_is_known(word: str) -> None:
    assert is_dtype_word(word)
    assert parse(word, "b").dtype.names


@pytest.mark.parametrize("outer", WORDS)
def test_nested_dtypes_meet_as_in_jaxtyping(outer: str) -> None:
    words = vars(jaxtyping)
    for inner in WORDS:
        try:
            words[outer][words[inner][np.ndarray, "b"], "3"]
        except ValueError:
            with pytest.raises(AnnotationError, match="no dtype is both"):
                parse(outer, "3", parse(inner, "b"))
        else:
            nested = parse(outer, "3", parse(inner, "b"))
            assert nested.axes == (Fixed(3), Named("b"))
            assert nested.text == "3 b"


def test_nested_dtypes_intersect() -> None:
    assert parse("Float", "3", parse("Float32", "b")).dtype == DType.named("float32")
    assert parse("Float32", "3", parse("Float", "b")).dtype == DType.named("float32")
    assert str(parse("Shaped", "", parse("Float", "b"))) == 'Float[Tensor, "b"]'
    assert parse("Shaped", "b").dtype == ANY_DTYPE


def test_an_f_string_may_have_spaces_in_its_fields() -> None:
    annotation = parse("Float", "b {n + 1} {f(a, b)}*2", is_formatted=True)
    assert annotation.axes[1:] == (Computed("{n + 1}", fields=("n + 1",)), Computed("{f(a, b)}*2", fields=("f(a, b)",)))


@pytest.mark.parametrize(
    ("text", "reason", "hint"),
    [
        ("b,c", "axes are separated by spaces, not by commas", '"b c"'),
        ("b, c", "axes are separated by spaces, not by commas", '"b c"'),
        ("b c)", '"c)" has a ")" without its partner', "c; a product of axes is b*c"),
        ("b (h w)", '"(h" has a "(" without its partner', "h*w for the product of axes"),
        ("(b,c)", '"(b,c)" has several sizes for one axis', "axes stand without brackets: b c"),
        ("3x", '"3x" is neither a name nor a size', "x3 for a name, 3*x for a product"),
        ("d + 1", '"+" is half of an operation', "d+1, arithmetic has no spaces"),
        ("b d+ 1", '"d+" is half of an operation', "d+1, arithmetic has no spaces"),
        ("d -1", "no axis has the size -1", "d-1, or _ for any size"),
        ("d *2", '"*2" gives one size to any number of axes', "d*2"),
        ("d // 2 e", '"//" is half of an operation', "d//2, arithmetic has no spaces"),
        ("max(a, b) c", '"max(a," has a "(" without its partner', "max(a,b), arithmetic has no spaces"),
        ("{n + 1}", '"{n" has a field that is not closed', "{n+1}, arithmetic has no spaces"),
        ("{n", '"{n" has a field that is not closed', "a field holds no spaces: {self.d}"),
        ("n}", '"n}" has a "}" too many', "a field holds no spaces: {self.d}"),
        ("{} c", 'the field "{}" of "{}" is empty', "{self.d} or {n}: an attribute or an argument"),
        ("{a b}", '"{a" has a field that is not closed', "a field holds no spaces: {self.d}"),
        ("{+}", 'the field in "{+}" is no Python expression', "{self.d} or {n}: an attribute or an argument"),
        ("{{n}}", '"{{n}}" has doubled braces, which are no field', "{self.d} or {n}: an attribute or an argument"),
        ("-1 c", "no axis has the size -1", "_ for any size"),
        (
            "*a *b",
            '"*a" and "*b" both stand for any number of axes, only one axis may',
            'write the axes of one of them: "*a a b"',
        ),
        (
            "... *b",
            '"..." and "*b" both stand for any number of axes, only one axis may',
            'write the axes of one of them: "... a b"',
        ),
        ("...c", '"..." stands alone, not in "...c"', "... for axes without a name, *name for named ones"),
        ("foo#", 'in "foo#" the "#" stands behind', "#foo"),
        ("##foo", '"##foo" has the mark "#" (broadcastable) twice', "#foo"),
        ("__foo", '"__foo" has the mark "_" (anonymous) twice', "_foo"),
        ("#_", '"#_" is both anonymous and broadcastable', "_ for any size, #name for a named one"),
        ("*4", '"*4" gives one size to any number of axes', "4 for one axis"),
        ("_4", '"_4" has the mark "_" (anonymous) before a size', "4"),
        ("?a+1", '"?a+1" has the mark "?" (its own size at each leaf) before arithmetic', "a+1"),
        ("a *b+1", '"*b+1" is arithmetic for any number of axes', "without a space: a*b+1"),
        ("a=b=4", '"a=b=4" has more than one "="', "name=4 documents the size 4"),
        ("c$", 'unexpected character "$" in "c$"', "axes are names, sizes or arithmetic, separated by spaces"),
        ("a\\", 'unexpected character "\\" in "a\\"', ""),
        ("self.d", '"self" in "self.d" has no attributes', "{self.d} for those of an argument"),
        ("min(a)", '"min(a)" has the min of one size', "min(a,b)"),
        ("a@b", '"a@b" has the operator "@", which sizes do not have', None),
        ("cdiv(a,b)", 'the function "cdiv" is not known in "cdiv(a,b)"', None),
        ("a[0]", '"a[0]" indexes a size', None),
        ("2(a)", '"2(a)" calls a size', None),
        ("a:b", '"a:b" is neither a name, a size nor arithmetic', "for example d, 4, d+1, 2*h, min(a,b), {self.d}"),
    ],
)
def test_a_malformed_annotation_says_what_is_wrong_and_how_to_write_it(
    text: str, reason: str, hint: str | None
) -> None:
    with pytest.raises(AnnotationError) as caught:
        parse("Float", text)
    assert str(caught.value) == f'Float[Tensor, "{text}"]: {reason}'
    assert hint is None or caught.value.hint == hint
    assert not jaxtyping_accepts(text)


def test_an_unknown_dtype_word_is_malformed_with_the_nearest_one() -> None:
    with pytest.raises(AnnotationError, match="jaxtyping has no dtype word Flaot") as caught:
        parse("Flaot", "b")
    assert caught.value.hint == "Float?"


def test_a_dtype_word_of_a_newer_jaxtyping_allows_every_dtype() -> None:
    assert parse("Float6e3m2fn", "b").dtype == ANY_DTYPE


def test_only_one_pack_in_nested_annotations() -> None:
    with pytest.raises(AnnotationError, match=r'"\*a" and "..." both stand for any number of axes'):
        parse("Float", "*a", parse("Float", "... c"))


def test_annotations_are_values() -> None:
    assert parse("Float", "b {n}*2") == parse("Float", "b  {n}*2")
    assert len({parse("Float", "b {n}*2"), parse("Float", "b {n}*2")}) == 1
    assert isinstance(parse("Float", "b"), ArrayAnnotation)
