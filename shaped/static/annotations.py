"""Annotations as they stand in source, read into what the interpreter can use.

`read` takes an annotation's AST to a `TypeForm` (see `forms`): a tensor with its axes, a plain tensor, containers and
unions of them, a class, a number, or `UnknownForm` for all that says nothing about shapes. It sees names through:

- `resolve(node)`: the qualified name of a dotted name as the file's imports see it (`jaxtyping.Float`, `torch.Tensor`,
  `package.module.Image`), None if it is not known; builtins with or without `builtins.`;
- `alias(qualified)`: the form of a type alias (`Image = Float[Tensor, "3 h w"]`, `type Image = ...`), None for others;
- `known`: what the program makes by running code: axes in a name (`Float[Tensor, SHAPE]`), annotations by an object
  that answers `Float["b d"]` itself.

Quoted annotations are read through; `Self` is `ClassForm("typing.Self")`. A malformed annotation is appended to
`problems` with its node, and reads as a plain tensor.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from shaped.errors import AnnotationError
from shaped.spec.annotation import is_dtype_word, parse
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
    UnknownForm,
    VariadicTupleForm,
    options_of,
    union,
)

# The forms are a part of what `read` gives, so that one import is enough.
__all__ = [
    "UNKNOWN_FORM",
    "Alias",
    "BoolForm",
    "CallableForm",
    "ClassForm",
    "DictForm",
    "FloatForm",
    "IntForm",
    "Known",
    "ListForm",
    "LiteralForm",
    "NoneForm",
    "PlainTensorForm",
    "Problems",
    "Resolve",
    "StrForm",
    "TensorForm",
    "TupleForm",
    "TypeForm",
    "UnionForm",
    "UnknownForm",
    "VariadicTupleForm",
    "read",
    "union",
    "unquote",
]

Resolve = Callable[[ast.expr], str | None]
Alias = Callable[[str], TypeForm | None]
Problems = list[tuple[ast.expr, AnnotationError]]


class Known(Protocol):
    """What the parts of an annotation are that only running the program's code can tell."""

    def text(self, node: ast.expr) -> str | None:
        """The string that an expression gives, None if it is not known."""

    def subscripted(self, node: ast.Subscript) -> TypeForm | None:
        """The annotation that an object of the program gives for `object[...]`, None if it is no such object.

        Raises:
            AnnotationError: the annotation that it gives is malformed.
        """


def read(
    node: ast.expr, resolve: Resolve, alias: Alias, problems: Problems | None = None, known: Known | None = None
) -> TypeForm:
    """The form of an annotation.

    Args:
        node: the annotation; a quoted one is a string constant.
        resolve: the qualified name of a dotted name.
        alias: the form of a type alias.
        problems: collects malformed annotations, each with the node at fault.
        known: what code of the program makes of it.

    Raises:
        AnnotationError: a malformed annotation, only without `problems`.
    """
    return _Reader(resolve, alias, problems, known).read(node)


def unquote(node: ast.Constant) -> ast.expr | None:
    """The annotation in a string, its nodes placed where they stand in the file; None if it is no expression."""
    assert isinstance(node.value, str)
    try:
        # As mypy does: in brackets, an annotation may go over several lines.
        tree = ast.parse(f"({node.value}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    one_line = node.end_lineno == node.lineno
    quotes = ((node.end_col_offset or 0) - node.col_offset - len(node.value.encode())) // 2 if one_line else 3
    column = node.col_offset + quotes - 1
    for inner in ast.walk(tree):
        if isinstance(inner, ast.expr):
            inner.col_offset += column if inner.lineno == 1 else 0
            inner.end_col_offset = (inner.end_col_offset or 0) + (column if inner.end_lineno == 1 else 0)
            inner.lineno += node.lineno - 1
            inner.end_lineno = (inner.end_lineno or 1) + node.lineno - 1
    return tree


_PLAIN: dict[str, TypeForm] = {
    "int": IntForm(),
    "float": FloatForm(),
    "bool": BoolForm(),
    "str": StrForm(),
    "None": NoneForm(),
    "types.NoneType": NoneForm(),
    "typing.Text": StrForm(),
    "typing.LiteralString": StrForm(),
    "torch.Size": VariadicTupleForm(IntForm()),
    "torch.Tensor": PlainTensorForm(),
    "torch.nn.Parameter": PlainTensorForm(),
    "torch.nn.Buffer": PlainTensorForm(),
    **dict.fromkeys(
        [
            *("object", "complex", "bytes", "type", "typing.Any", "typing.Hashable", "typing.NoReturn", "typing.Never"),
            *("typing.Final", "typing.ClassVar", "typing.Type", "typing.Generic", "typing.Protocol"),
            *("numbers.Number", "jaxtyping.PyTree", "jaxtyping.PRNGKeyArray", "jaxtyping.ArrayLike"),
            *("jaxtyping.ScalarLike", "jaxtyping.PyTreeDef", "jaxtyping.DTypeLike", "numpy.typing.ArrayLike"),
        ],
        UNKNOWN_FORM,
    ),
}
# The old types of tensors say a dtype, but programs say `torch.FloatTensor` of tensors of any width, and
# `torch.LongTensor` of labels that are floats in some of their uses.
for _dtype in ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool"):
    _PLAIN[f"torch.{_dtype}Tensor"] = _PLAIN[f"torch.cuda.{_dtype}Tensor"] = PlainTensorForm()

# Names of typing, collections and the builtins, without the module that they are imported from.
_LISTS = frozenset(
    [
        *("list", "List", "set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet", "deque", "Deque"),
        *("Sequence", "MutableSequence", "Collection", "Container", "Iterable", "Iterator", "Reversible"),
        *("Generator", "KeysView", "ValuesView"),
    ]
)
_DICTS = frozenset(["dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict", "DefaultDict"])
_WRAPPERS = frozenset(["Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar"])
_BUILTIN_GENERICS = frozenset(["list", "dict", "set", "frozenset", "tuple", "type"])
_BUILTINS = _BUILTIN_GENERICS | {"int", "float", "bool", "str", "object", "complex", "bytes"}
# What is no tensor for certain.
_NO_TENSORS = (IntForm, FloatForm, BoolForm, StrForm, NoneForm, LiteralForm, TupleForm, ListForm, DictForm)
TLISTS = frozenset(["shaped.TList", "shaped.runtime.tlist.TList"])
_TYPING_MODULES = ("typing", "typing_extensions", "collections", "collections.abc", "dataclasses")


@dataclass
class _Reader:
    resolve: Resolve
    alias: Alias
    problems: Problems | None
    known: Known | None

    def read(self, node: ast.expr) -> TypeForm:
        match node:
            case ast.Constant(value=None):
                return NoneForm()
            case ast.Constant(value=str()):
                inner = unquote(node)
                return UNKNOWN_FORM if inner is None else self.read(inner)
            case ast.Name() | ast.Attribute():
                return self._named(self._qualified(node))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return union((self.read(left), self.read(right)))
            case ast.Subscript(value=head, slice=index):
                return self._subscript(node, self._qualified(head), _arguments(index))
        return UNKNOWN_FORM

    def _qualified(self, node: ast.expr) -> str:
        """The qualified name; names of builtins and of `typing` in one spelling each."""
        name = self.resolve(node) or (node.id if isinstance(node, ast.Name) and node.id in _BUILTINS else "")
        if name.startswith("typing_extensions."):
            name = "typing." + name.partition(".")[2]
        return _RENAMED.get(name, name.removeprefix("builtins."))

    def _named(self, name: str) -> TypeForm:
        """A name without arguments."""
        if not name:
            return UNKNOWN_FORM
        if name in _PLAIN:
            return _PLAIN[name]
        if name in TLISTS:
            return VariadicTupleForm(UNKNOWN_FORM)
        if name == "jaxtyping.Scalar":
            return TensorForm(parse("Shaped", "", "Array"))
        generic = self._generic(name, [])
        if generic is not None:
            return generic
        aliased = self.alias(name)
        return ClassForm(name) if aliased is None else aliased

    def _subscript(self, node: ast.Subscript, name: str, arguments: list[ast.expr]) -> TypeForm:
        module, _, word = name.rpartition(".")
        if module == "jaxtyping" and is_dtype_word(word):
            return self._array(node, word, arguments)
        if name in TLISTS:
            return self._tlist(arguments)
        generic = self._generic(name, arguments)
        if generic is None and self.known is not None:
            try:
                generic = self.known.subscripted(node)
            except AnnotationError as problem:
                return self._problem(node.slice, problem)
        # The arguments of a generic class or alias are not followed.
        return self._named(name) if generic is None else generic

    def _generic(self, name: str, arguments: list[ast.expr]) -> TypeForm | None:
        """A generic of `typing`, `collections` or the builtins; None if it is another name."""
        module, _, word = name.rpartition(".")
        if module not in _TYPING_MODULES and name not in _BUILTIN_GENERICS:
            return None
        first = arguments[0] if arguments else None
        if word in _LISTS:
            return ListForm(self.read(first) if first else UNKNOWN_FORM)
        if word in _DICTS:
            key, value = (self.read(arguments[i]) if i < len(arguments) else UNKNOWN_FORM for i in (0, 1))
            return DictForm(key, value)
        if word == "Counter":
            return DictForm(self.read(first) if first else UNKNOWN_FORM, IntForm())
        if word in ("tuple", "Tuple"):
            return self._tuple(arguments)
        if word == "Callable":
            return CallableForm(self.read(arguments[1]) if len(arguments) == 2 else UNKNOWN_FORM)
        if word == "Union" and arguments:
            return union([self.read(argument) for argument in arguments])
        if word == "Optional" and first:
            return union((self.read(first), NoneForm()))
        if word in _WRAPPERS:
            return self.read(first) if first else UNKNOWN_FORM
        if word == "Literal" and arguments:
            return _literal(arguments)
        if word in ("TypeGuard", "TypeIs"):
            return BoolForm()
        return ClassForm("typing.Self") if word == "Self" else UNKNOWN_FORM

    def _tuple(self, arguments: list[ast.expr]) -> TypeForm:
        match arguments:
            case []:
                return VariadicTupleForm(UNKNOWN_FORM)
            case [ast.Tuple(elts=[])]:
                return TupleForm(())
            case [element, ast.Constant(value=value)] if value is Ellipsis:
                return VariadicTupleForm(self.read(element))
        if any(self._is_unpacked(argument) for argument in arguments):
            return VariadicTupleForm(UNKNOWN_FORM)
        return TupleForm(tuple(self.read(argument) for argument in arguments))

    def _tlist(self, arguments: list[ast.expr]) -> TypeForm:
        """`TList[A, B]`: a tuple of tensors."""
        form = self._tuple(arguments)
        if not isinstance(form, TupleForm):
            return form
        for position, (element, argument) in enumerate(zip(form.elements, arguments)):
            if any(isinstance(option, _NO_TENSORS) for option in options_of(element)):
                reason = f"{ast.unparse(argument)} is no type of a tensor"
                self._problem(argument, AnnotationError(f"TList item {position}", reason, hint='Float[Tensor, "b d"]'))
        return TupleForm(form.elements, is_tlist=True)

    def _is_unpacked(self, argument: ast.expr) -> bool:
        """Whether an argument stands for several: `*Ts`, `Unpack[Ts]`."""
        if isinstance(argument, ast.Subscript):
            return self._qualified(argument.value) == "typing.Unpack"
        return isinstance(argument, ast.Starred)

    def _array(self, node: ast.Subscript, word: str, arguments: list[ast.expr]) -> TypeForm:
        """`Float[Tensor, "b d"]`; each option of a union of arrays by itself."""
        if len(arguments) != 2:
            reason = "it takes an array type and one string of axes"
            return self._problem(node, AnnotationError(ast.unparse(node), reason, hint=f'{word}[Tensor, "b d"]'))
        array, axes = arguments
        is_formatted = isinstance(axes, ast.JoinedStr)
        text = _formatted_text(axes) if isinstance(axes, ast.JoinedStr) else None
        if isinstance(axes, ast.Constant):
            if not isinstance(axes.value, str):
                hint = f'{word}[{ast.unparse(array)}, "{ast.unparse(axes)}"]'
                return self._problem(axes, AnnotationError(ast.unparse(node), "the axes are one string", hint=hint))
            text = axes.value
        elif not is_formatted and self.known is not None:
            text = self.known.text(axes)
        inner = self.read(array)
        return union([self._array_of(axes, word, option, array, text, is_formatted) for option in options_of(inner)])

    def _array_of(
        self, axes: ast.expr, word: str, inner: TypeForm, array: ast.expr, text: str | None, is_formatted: bool
    ) -> TypeForm:
        if text is None:
            return PlainTensorForm()  # the axes are computed: not followed
        if isinstance(inner, (IntForm, FloatForm, BoolForm, StrForm, NoneForm)):
            return inner  # jaxtyping takes numbers as scalars
        of = inner.annotation if isinstance(inner, TensorForm) else _array_name(inner, array)
        try:
            return TensorForm(parse(word, text, of, is_formatted=is_formatted))
        except AnnotationError as problem:
            return self._problem(axes, problem)

    def _problem(self, node: ast.expr, problem: AnnotationError) -> TypeForm:
        if self.problems is None:
            raise problem
        if not any(known is node for known, _ in self.problems):  # each option of a union has the same axes
            self.problems.append((node, problem))
        return PlainTensorForm()


_RENAMED = {
    "torch.autograd.Variable": "torch.Tensor",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.nn.parameter.Buffer": "torch.nn.Buffer",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.types.Tensor": "torch.Tensor",
}


def _array_name(form: TypeForm, node: ast.expr) -> str:
    """The array type as the user wrote it, without its module."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Constant(value=str() as text):
            return text.rpartition(".")[2]
    return form.qualified_name.rpartition(".")[2] if isinstance(form, ClassForm) else "Tensor"


def _arguments(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) and index.elts else [index]


def _literal(arguments: list[ast.expr]) -> TypeForm:
    values: list[int | str | bool | None] = []
    for argument in arguments:
        try:
            value = ast.literal_eval(argument)
        except ValueError:
            return UNKNOWN_FORM  # a member of an enumeration
        if not isinstance(value, (int, str, bool, type(None))):
            return UNKNOWN_FORM
        values.append(value)
    return LiteralForm(tuple(values))


def _formatted_text(node: ast.JoinedStr) -> str:
    """An f-string's text with its fields kept; `{()}`, no size, for one that cannot be written inside a text."""
    text = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            expression = ast.unparse(part.value)
            is_plain = part.conversion == -1 and part.format_spec is None and _PLAIN_FIELD.fullmatch(expression)
            text += f"{{{expression}}}" if is_plain else "{()}"
        elif isinstance(part, ast.Constant):
            text += str(part.value)
    return text


_PLAIN_FIELD = re.compile(r"[\w.+\-*/%()\[\], ]+")
