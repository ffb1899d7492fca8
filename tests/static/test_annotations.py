"""Annotations in source are read as Python and jaxtyping mean them; malformed ones are reported where they stand."""

from __future__ import annotations

import ast

import pytest

from shaped.errors import AnnotationError
from shaped.spec.annotation import parse
from shaped.static.annotations import Problems, read, unquote
from shaped.static.forms import (
    UNKNOWN_FORM,
    BoolForm,
    CallableForm,
    ClassForm,
    DictForm,
    FloatForm,
    IntForm,
    ListForm,
    LiteralForm,
    NoneForm,
    PlainTensorForm,
    StrForm,
    TensorForm,
    TupleForm,
    TypeForm,
    UnionForm,
    VariadicTupleForm,
)

MODULES = {
    "typing": "Optional Union Annotated Final ClassVar Literal Callable NamedTuple Any List Tuple Self TypeAlias Never",
    "typing_extensions": "Required TypeIs",
    "collections.abc": "Sequence Iterator Mapping",
    "collections": "OrderedDict Counter deque",
    "torch": "Tensor LongTensor Size",
    "jaxtyping": "Float Float32 Int Bool Shaped Array PyTree Scalar PRNGKeyArray Flaot",
}
IMPORTED = {word: f"{module}.{word}" for module, words in MODULES.items() for word in words.split()}
IMPORTED |= {"np": "numpy", "nn": "torch.nn", "torch": "torch", "jt": "jaxtyping", "t": "typing", "jax": "jax"}
BUILTINS = ["int", "float", "bool", "str", "list", "dict", "tuple", "set", "type", "object", "frozenset"]
ALIASES: dict[str, TypeForm] = {
    "mine.Image": TensorForm(parse("Float", "3 h w")),
    "mine.Pair": TupleForm((IntForm(), IntForm())),
    "mine.Either": UnionForm((TensorForm(parse("Float", "h")), TensorForm(parse("Float", "h w")))),
}


def resolve(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            if name in BUILTINS:
                return f"builtins.{name}"
            return IMPORTED.get(name, f"mine.{name}" if name[0].isupper() and name != "Nowhere" else None)
        case ast.Attribute(value=value, attr=name):
            base = resolve(value)
            return f"{base}.{name}" if base else None
    return None


def form(source: str, problems: Problems | None = None) -> TypeForm:
    return read(ast.parse(source, mode="eval").body, resolve, ALIASES.get, problems)


def tensor(text: str, word: str = "Float", array: str = "Tensor") -> TensorForm:
    return TensorForm(parse(word, text, array))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("int", IntForm()),
        ("float", FloatForm()),
        ("bool", BoolForm()),
        ("str", StrForm()),
        ("None", NoneForm()),
        ("object", UNKNOWN_FORM),
        ("Any", UNKNOWN_FORM),
        ("Never", UNKNOWN_FORM),
        ("NamedTuple", UNKNOWN_FORM),
        ("nowhere", UNKNOWN_FORM),
        ("f(x)", UNKNOWN_FORM),
        ("Tensor", PlainTensorForm()),
        ("torch.Tensor", PlainTensorForm()),
        ("nn.Parameter", PlainTensorForm()),
        ("LongTensor", PlainTensorForm()),
        ("Size", VariadicTupleForm(IntForm())),
        ("Model", ClassForm("mine.Model")),
        ("nn.Linear", ClassForm("torch.nn.Linear")),
        ("Box[int]", ClassForm("mine.Box")),
        ("Self", ClassForm("typing.Self")),
        ("type[Model]", UNKNOWN_FORM),
        ("Optional[int]", UnionForm((IntForm(), NoneForm()))),
        ("int | None", UnionForm((IntForm(), NoneForm()))),
        ("int | None | float | int", UnionForm((IntForm(), NoneForm(), FloatForm()))),
        ("Union[int, Optional[str]]", UnionForm((IntForm(), StrForm(), NoneForm()))),
        ("Union[int]", IntForm()),
        ("Annotated[int, 'a note']", IntForm()),
        ("Final[int]", IntForm()),
        ("Final", UNKNOWN_FORM),
        ("ClassVar[int]", IntForm()),
        ("Required[int]", IntForm()),
        ("TypeIs[int]", BoolForm()),
        ("Literal['mean', 'sum']", LiteralForm(("mean", "sum"))),
        ("Literal[-1, True, None]", LiteralForm((-1, True, None))),
        ("Literal[Color.RED]", UNKNOWN_FORM),
        ("Literal[b'x']", UNKNOWN_FORM),
        ("list[int]", ListForm(IntForm())),
        ("list", ListForm(UNKNOWN_FORM)),
        ("List[Tensor]", ListForm(PlainTensorForm())),
        ("set[int]", ListForm(IntForm())),
        ("Sequence[int]", ListForm(IntForm())),
        ("Iterator[int]", ListForm(IntForm())),
        ("deque[int]", ListForm(IntForm())),
        ("t.Iterable[int]", ListForm(IntForm())),
        ("dict[str, int]", DictForm(StrForm(), IntForm())),
        ("Mapping[str, Tensor]", DictForm(StrForm(), PlainTensorForm())),
        ("OrderedDict[str, int]", DictForm(StrForm(), IntForm())),
        ("Counter[str]", DictForm(StrForm(), IntForm())),
        ("dict", DictForm(UNKNOWN_FORM, UNKNOWN_FORM)),
        ("tuple[int, str]", TupleForm((IntForm(), StrForm()))),
        ("Tuple[int]", TupleForm((IntForm(),))),
        ("tuple[int, ...]", VariadicTupleForm(IntForm())),
        ("tuple[()]", TupleForm(())),
        ("tuple", VariadicTupleForm(UNKNOWN_FORM)),
        ("tuple[int, *tuple[str, ...]]", VariadicTupleForm(UNKNOWN_FORM)),
        ("Callable[[int], str]", CallableForm(StrForm())),
        ("Callable[..., Tensor]", CallableForm(PlainTensorForm())),
        ("Callable", CallableForm(UNKNOWN_FORM)),
        ("PyTree", UNKNOWN_FORM),
        ("PyTree[Float[Tensor, 'b']]", UNKNOWN_FORM),
        ("PRNGKeyArray", UNKNOWN_FORM),
        ("Float", ClassForm("jaxtyping.Float")),
    ],
)
def test_python_types_are_read(source: str, expected: TypeForm) -> None:
    assert form(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Float[Tensor, 'b 3 h w']", tensor("b 3 h w")),
        ("jt.Float[torch.Tensor, 'b']", tensor("b")),
        ("Float[Tensor, 'b' ' c']", tensor("b c")),
        ("Float[Tensor, '']", tensor("")),
        ("Float[nn.Parameter, 'o i']", tensor("o i", array="Parameter")),
        ("Float[np.ndarray, 'n']", tensor("n", array="ndarray")),
        ("Float[Array, 'n']", tensor("n", array="Array")),
        ("Float[Nowhere, 'n']", tensor("n", array="Nowhere")),
        ("Float['Tensor', 'n']", tensor("n")),
        ("Scalar", tensor("", "Shaped", "Array")),
        ("Float[Float[Tensor, 'b'], '3']", tensor("3 b")),
        ("Optional[Float[Tensor, 'b']]", UnionForm((tensor("b"), NoneForm()))),
        ("Float[Tensor | np.ndarray, 'b']", UnionForm((tensor("b"), tensor("b", array="ndarray")))),
        ("tuple[Float[Tensor, 'b'], Int[Tensor, 'b']]", TupleForm((tensor("b"), tensor("b", "Int")))),
        ("list[Float[Tensor, 'b'] | None]", ListForm(UnionForm((tensor("b"), NoneForm())))),
        ("Image", tensor("3 h w")),
        ("Float[Image, 'b']", tensor("b 3 h w")),
        ("Float[Either, 'b']", UnionForm((tensor("b h"), tensor("b h w")))),
        ("Pair", TupleForm((IntForm(), IntForm()))),
        ("Float[float, '']", FloatForm()),
        ("Float[Tensor, AXES]", PlainTensorForm()),
        ("Float[Tensor, 'b ' + rest]", PlainTensorForm()),
    ],
)
def test_array_annotations_are_read(source: str, expected: TypeForm) -> None:
    assert form(source) == expected


def test_an_f_string_keeps_its_fields() -> None:
    read_form = form("Float[Tensor, f'b {d} {self.n + 1} {x!r}']")
    assert isinstance(read_form, TensorForm)
    assert read_form.annotation.is_formatted
    assert read_form.annotation.text == "b {d} {self.n + 1} {()}"
    assert len(read_form.annotation.axes) == 4


@pytest.mark.parametrize("field", ["lambda: 3", "x[...]", "{1: 2}[1]", "'a b'", "f(a, b)", "x if y else z", "a != b"])
def test_no_field_of_an_f_string_is_malformed(field: str) -> None:
    read_form = form(f'Float[Tensor, f"b {{({field})}} c"]')
    assert isinstance(read_form, TensorForm)
    assert len(read_form.annotation.axes) == 3


def test_a_quoted_annotation_reads_as_if_it_were_not_quoted() -> None:
    assert form("'int | None'") == form("int | None")
    assert form('''"Float[Tensor, 'b 3']"''') == tensor("b 3")
    assert form("list['Model']") == ListForm(ClassForm("mine.Model"))
    assert form("'no annotation at all'") == UNKNOWN_FORM


@pytest.mark.parametrize(
    ("source", "inner"),
    [
        ('x: "list[int]"', "int"),
        ('\n\nx: dict[str, "list[int]"] = {}', "int"),
        ('x: """list[\n  int]"""', "int"),
        ('x: """list[\n  int]"""', "list"),
        ('x: """int"""', "int"),
        ('x: " int"', "int"),
    ],
)
def test_nodes_of_a_quoted_annotation_stand_where_they_stand_in_the_file(source: str, inner: str) -> None:
    quoted = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant) and node.value]
    tree = unquote(quoted[0])
    assert tree is not None
    (node,) = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == inner)
    assert ast.get_source_segment(source, node) == inner


@pytest.mark.parametrize(
    ("source", "at", "message"),
    [
        (
            "Float[Tensor, 'b,c']",
            "'b,c'",
            'Float[Tensor, "b,c"]: axes are separated by spaces, not by commas',
        ),
        ("Float[Tensor]", "Float[Tensor]", "Float[Tensor]: it takes an array type and one string of axes"),
        (
            "Float[Tensor, 'b', 'c']",
            "Float[Tensor, 'b', 'c']",
            "Float[Tensor, 'b', 'c']: it takes an array type and one string of axes",
        ),
        ("Float[Tensor, 3]", "3", "Float[Tensor, 3]: the axes are one string"),
        ("Float[Tensor, ...]", "...", "Float[Tensor, ...]: the axes are one string"),
        ("Float[Image, '... c'] | Float[Image, '+']", "'+'", None),
        ("Bool[Image, 'b']", "'b'", 'Bool[Float[Tensor, "3 h w"], "b"]: no dtype is both Bool and Float'),
        ("Float[Either, 'b,c']", "'b,c'", None),
        ("Float[Tensor, f'b {d},c']", "f'b {d},c'", None),
    ],
)
def test_a_malformed_annotation_is_reported_at_its_node(source: str, at: str, message: str | None) -> None:
    problems: Problems = []
    form(source, problems)
    ((node, problem),) = problems
    assert ast.get_source_segment(source, node) == at
    assert message is None or str(problem) == message
    with pytest.raises(AnnotationError):
        form(source)


def test_a_malformed_annotation_reads_as_a_plain_tensor() -> None:
    assert form("Optional[Float[Tensor, 'b)']]", []) == UnionForm((PlainTensorForm(), NoneForm()))


def test_an_unknown_word_of_jaxtyping_is_no_annotation_of_ours() -> None:
    assert form("Flaot[Tensor, 'b']") == ClassForm("jaxtyping.Flaot")
