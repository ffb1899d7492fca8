"""jaxtyping's grammar: `Float[Tensor, "b 3 h w"]` as data, and what is wrong with an annotation that says nothing.

`parse` accepts what jaxtyping accepts at run time and refuses what it refuses there, when the annotation is made or a
tensor is checked against it. The grammar, axes separated by spaces:

    name  4  name=4  _  _name  ...  *name  #name  *#name  ?name  dim+1  c*h*w  min(a,b)  {self.d}  {n}*d

`binding` says what an annotation means for a tensor.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from shaped.errors import AnnotationError
from shaped.spec.axis_arithmetic import Computed, Malformed, read_arithmetic
from shaped.spec.dtypes import ANY, JAXTYPING, DType

# Words of jaxtyping for dtypes that torch does not compute with, and the words that include them.
_RARE_WORDS = {
    "UInt2": "uint2",
    "UInt4": "uint4",
    "Int2": "int2",
    "Int4": "int4",
    "Float4e2m1fn": "float4_e2m1fn",
    "Float8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "Key": "prng_key",
}
_RARE_DTYPES = {
    "UInt": "uint",
    "Int": "int",
    "Integer": "uint int",
    "Float": "float",
    "Inexact": "float",
    "Real": "uint int float",
    "Num": "uint int float",
}
# A word that a newer jaxtyping may have: any dtype.
_LATER_WORD = re.compile(r"(Float|BFloat|Int|UInt|Complex)\d\w*")


@dataclass(frozen=True)
class Named:
    """`name`: one axis; `#name` may also be 1; `?name` has its own size at each leaf of a PyTree."""

    name: str
    broadcastable: bool = False
    by_leaf: bool = False

    def __str__(self) -> str:
        return "#" * self.broadcastable + "?" * self.by_leaf + self.name


@dataclass(frozen=True)
class NamedPack:
    """`*name`: any number of axes; each of `*#name` may also be 1."""

    name: str
    broadcastable: bool = False
    by_leaf: bool = False

    def __str__(self) -> str:
        return "*" + "#" * self.broadcastable + "?" * self.by_leaf + self.name


@dataclass(frozen=True)
class Fixed:
    """`4` or `name=4`; `#4` may also be 1."""

    size: int
    broadcastable: bool = False

    def __str__(self) -> str:
        return "#" * self.broadcastable + str(self.size)


@dataclass(frozen=True)
class Anonymous:
    """`_` or `_name`: one axis of any size."""

    name: str = ""

    def __str__(self) -> str:
        return "_" + self.name


@dataclass(frozen=True)
class AnonymousPack:
    """`...` or `*_name`: any number of axes."""

    def __str__(self) -> str:
        return "..."


AnnotatedAxis = Named | NamedPack | Fixed | Anonymous | AnonymousPack | Computed


def index_of_pack(axes: Sequence[AnnotatedAxis]) -> int | None:
    """The place of the axis that stands for several, None if there is none."""
    for i, axis in enumerate(axes):
        if isinstance(axis, (NamedPack, AnonymousPack)):
            return i
    return None


@dataclass(frozen=True)
class ArrayAnnotation:
    """What an annotation says of an array.

    Args:
        dtype_word: the word that it was written with (`Float`).
        dtype: the dtypes that the array may have.
        axes: its axes, at most one of them a pack.
        text: the axes as the user wrote them (`b 3 h w`).
        array: the array type as the user wrote it (`Tensor`).
        is_formatted: it was written as an f-string, so that a field stands for text: a size, a name or several axes.
    """

    dtype_word: str
    dtype: DType
    axes: tuple[AnnotatedAxis, ...]
    text: str
    array: str = "Tensor"
    is_formatted: bool = False

    @property
    def pack_index(self) -> int | None:
        """The place of the axis that stands for several, None if there is none."""
        return index_of_pack(self.axes)

    def __str__(self) -> str:
        return f'{self.dtype_word}[{self.array}, "{self.text}"]'


def is_dtype_word(word: str) -> bool:
    """Whether jaxtyping has the dtype word, or a newer one may have it."""
    return word in JAXTYPING or word in _RARE_WORDS or _LATER_WORD.fullmatch(word) is not None


def parse(
    dtype_word: str, text: str, array: str | ArrayAnnotation = "Tensor", *, is_formatted: bool = False
) -> ArrayAnnotation:
    """Read an annotation: `Float`, `b 3 h w`.

    Args:
        dtype_word: jaxtyping's word for the dtypes.
        text: the axes.
        array: the name of the array type, or an annotation to put these axes in front of:
            `Float[Float[Tensor, "b"], "3"]` is `Float[Tensor, "3 b"]`.
        is_formatted: `text` is an f-string's with its fields kept; spaces may stand inside the fields.

    Raises:
        AnnotationError: it is malformed; says what is wrong and how to write it.

    >>> print(parse("Float", "b c*h  {self.d}"))
    Float[Tensor, "b c*h {self.d}"]
    >>> parse("Float", "b,c")
    Traceback (most recent call last):
    shaped.errors.AnnotationError: Float[Tensor, "b,c"]: axes are separated by spaces, not by commas
    hint: "b c"
    """
    words = _FORMATTED_AXIS.findall(text) if is_formatted else text.split()

    try:
        if not is_dtype_word(dtype_word):
            raise Malformed(f"jaxtyping has no dtype word {dtype_word}", _nearest_word(dtype_word))
        axes = tuple(_read_axis(word, words, i, is_formatted) for i, word in enumerate(words))
        _require_one_pack(axes)
        if isinstance(array, str):
            return ArrayAnnotation(dtype_word, _dtype(dtype_word), axes, " ".join(words), array, is_formatted)
        return _extend(ArrayAnnotation(dtype_word, _dtype(dtype_word), axes, " ".join(words)), array, is_formatted)
    except Malformed as problem:
        raise AnnotationError(f'{dtype_word}[{array}, "{text}"]', problem.reason, hint=problem.hint) from None


_FORMATTED_FIELD = re.compile(r"\{[^{}]*\}")
_FORMATTED_AXIS = re.compile(rf"(?:{_FORMATTED_FIELD.pattern}|\S)+")


def _dtype(word: str) -> DType:
    if word in _RARE_WORDS:
        return DType(frozenset([_RARE_WORDS[word]]))
    return DType(JAXTYPING.get(word, ANY))


def _extend(outer: ArrayAnnotation, inner: ArrayAnnotation, is_formatted: bool) -> ArrayAnnotation:
    """The axes of `outer` before those of `inner`, and the dtypes that both allow."""
    axes = outer.axes + inner.axes
    _require_one_pack(axes)
    names = outer.dtype.names & inner.dtype.names
    if not names:
        names = _rare_dtypes(outer) & _rare_dtypes(inner)
    if not names:
        raise Malformed(
            f"no dtype is both {outer.dtype_word} and {inner.dtype_word}",
            "make the outer word Shaped, which allows all",
        )
    text = " ".join(part for part in (outer.text, inner.text) if part)
    word = inner.dtype_word if inner.dtype.names == names else outer.dtype_word
    return ArrayAnnotation(word, DType(names), axes, text, inner.array, is_formatted or inner.is_formatted)


def _rare_dtypes(annotation: ArrayAnnotation) -> frozenset[str]:
    """The dtypes of an annotation that `dtypes` does not list."""
    rare = frozenset(_RARE_WORDS.values())
    if annotation.dtype.names == ANY:
        return rare
    prefixes = tuple(_RARE_DTYPES.get(annotation.dtype_word, "").split())
    included = frozenset(name for name in rare if prefixes and name.startswith(prefixes))
    return included | (annotation.dtype.names & rare)


def _nearest_word(word: str) -> str:
    import difflib  # only an error needs it

    nearest = difflib.get_close_matches(word, [*JAXTYPING, *_RARE_WORDS], n=1)
    return f"{nearest[0]}?" if nearest else "Float, Int, Bool and Shaped are the usual words"


def _require_one_pack(axes: tuple[AnnotatedAxis, ...]) -> None:
    packs = [str(axis) for axis in axes if isinstance(axis, (NamedPack, AnonymousPack))]
    if len(packs) > 1:
        raise Malformed(
            f'"{packs[0]}" and "{packs[1]}" both stand for any number of axes, only one axis may',
            f'write the axes of one of them: "{packs[0]} a b"',
        )


# One entry for each mark that may stand before an axis: its meaning in the message that refuses two of them.
_MARKS = {"#": "broadcastable", "*": "any number of axes", "_": "anonymous", "?": "its own size at each leaf"}


def _read_axis(word: str, words: list[str], index: int, is_formatted: bool) -> AnnotatedAxis:
    """One axis, by the same steps as jaxtyping takes."""
    outside = _FORMATTED_FIELD.sub("", word) if is_formatted else word
    if "," in outside and "(" not in outside:
        raise Malformed(
            "axes are separated by spaces, not by commas", f'"{" ".join(" ".join(words).replace(",", " ").split())}"'
        )
    if word.endswith("#"):
        raise Malformed(f'in "{word}" the "#" stands behind', f"#{word.rstrip('#') or 'name'}")
    if "..." in outside:
        if word != "...":
            raise Malformed(f'"..." stands alone, not in "{word}"', "... for axes without a name, *name for named ones")
        return AnonymousPack()
    rest, marks = word, ""
    while rest:
        if rest[0] in _MARKS:
            if rest[0] in marks:
                raise Malformed(
                    f'"{word}" has the mark "{rest[0]}" ({_MARKS[rest[0]]}) twice', word.replace(rest[0], "", 1)
                )
            marks += rest[0]
            rest = rest[1:]
        elif rest.count("=") == 1 and not (is_formatted and "{" in rest.partition("=")[0]):
            rest = rest.partition("=")[2]
        else:
            break
    if not rest or rest.isidentifier():
        return _name(word, rest, marks)
    size = _integer(rest)
    if size is not None:
        return _size(word, size, marks, words, index)
    for mark in marks:
        if mark != "#":
            raise Malformed(*_marked_arithmetic(word, rest, mark, words, index))
    try:
        return read_arithmetic(rest, "#" in marks, is_formatted=is_formatted)
    except Malformed as problem:
        raise Malformed(problem.reason, _without_spaces(words, index) or problem.hint) from None


def _name(word: str, name: str, marks: str) -> AnnotatedAxis:
    if "_" in marks and "#" in marks:
        raise Malformed(
            f'"{word}" is both anonymous and broadcastable', f"_ for any size, #{name or 'name'} for a named one"
        )
    # A mark without a name names nothing.
    if "_" in marks or not name:
        return AnonymousPack() if "*" in marks else Anonymous(name)
    axis = NamedPack if "*" in marks else Named
    return axis(name, "#" in marks, "?" in marks)


def _size(word: str, size: int, marks: str, words: list[str], index: int) -> Fixed:
    joined = f"{words[index - 1]}{word}" if index else ""
    if "*" in marks:
        raise Malformed(f'"{word}" gives one size to any number of axes', joined or f"{size} for one axis")
    for mark in marks:
        if mark != "#":
            raise Malformed(f'"{word}" has the mark "{mark}" ({_MARKS[mark]}) before a size', str(size))
    if size < 0:
        raise Malformed(f"no axis has the size {size}", f"{joined}, or _ for any size" if joined else "_ for any size")
    return Fixed(size, "#" in marks)


def _marked_arithmetic(word: str, rest: str, mark: str, words: list[str], index: int) -> tuple[str, str]:
    if mark == "*" and index and words[index - 1].isidentifier():
        return f'"{word}" is arithmetic for any number of axes', f"without a space: {words[index - 1]}{word}"
    return f'"{word}" has the mark "{mark}" ({_MARKS[mark]}) before arithmetic', rest


def _without_spaces(words: list[str], index: int) -> str:
    """The arithmetic that the user spread over several axes around `index`, empty if it is no such thing."""
    start, end = index, index + 1
    while start and (_LEFT_OPEN.match(words[start]) or _RIGHT_OPEN.search(words[start - 1])):
        start -= 1
    while end < len(words) and (_RIGHT_OPEN.search(words[end - 1]) or _LEFT_OPEN.match(words[end])):
        end += 1
    parts = words[start:end]
    joined = "".join(parts)
    if any(_touch(left, right) for left, right in itertools.pairwise(parts)):
        names = [part.strip("(),[]") for part in parts]
        return f"{'*'.join(names)} for the product of axes" if all(map(str.isidentifier, names)) else ""
    try:
        read_arithmetic(joined)
    except Malformed:
        return ""
    return f"{joined}, arithmetic has no spaces" if end - start > 1 else ""


def _touch(left: str, right: str) -> bool:
    """Whether two words would become one name."""
    return (left[-1] + right[0]).replace("_", "x").isalnum()


_LEFT_OPEN = re.compile(r"[-+*/%]")  # goes on from what stands before
_RIGHT_OPEN = re.compile(r"[-+*/%({,]$|\{[^}]*$|\([^)]*$")  # goes on with what stands behind


def _integer(word: str) -> int | None:
    try:
        return int(word)
    except ValueError:
        return None
