"""Arithmetic in an annotation's axis: `dim+1`, `c*h*w`, `min(a,b)`, `{self.d}//2`; read, checked and evaluated.

jaxtyping formats the axis as an f-string of the arguments (`{self.d}` becomes 64) and evaluates the outcome as Python
over the sizes of the names. `read_arithmetic` refuses what fails there for all sizes.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shaped.spec.dims import Dim, maximum, minimum

Evaluate = Callable[[str], "Dim | None"]
"""The size that the Python expression in a field stands for, None if it was not followed."""

_FIELD = "ʄ"  # starts the name that stands for a field in the parsed arithmetic: nobody types it
_LARGEST_POWER = 8


@dataclass
class Malformed(Exception):
    """An axis that says nothing: why, and how to write it."""

    reason: str
    hint: str = ""


@dataclass(frozen=True)
class Computed:
    """An axis whose size is computed from others.

    Args:
        text: the arithmetic as written.
        broadcastable: the axis may also be 1.
        fields: the Python expressions in `{}`, empty for one with a format (`{n:d}`), which is not followed.
        tree: the parsed arithmetic, None where it depends on the text that a field gives (`h{i}`).
    """

    text: str
    broadcastable: bool = False
    fields: tuple[str, ...] = ()
    tree: ast.expr | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return "#" * self.broadcastable + self.text

    @property
    def names(self) -> tuple[str, ...]:
        """The axis names that it depends on, in order."""
        if self.tree is None:
            return ()
        called = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name) and id(node) not in called]
        found.sort(key=lambda node: node.col_offset)
        return tuple(dict.fromkeys(node.id for node in found if not node.id.startswith(_FIELD)))

    def size(self, names: Mapping[str, Dim], evaluate: Evaluate | None) -> Dim | None:
        """The size where the names have these sizes; None if it is not known.

        >>> b = Dim.name("b")
        >>> print(read_arithmetic("2*b+{self.d}").size({"b": b}, lambda text: Dim.of(7)))
        2*b+7
        """
        if self.tree is None:
            return None
        values = dict(names)
        if evaluate is not None:
            for i, text in enumerate(self.fields):
                value = evaluate(text) if text else None
                if value is not None:
                    values[f"{_FIELD}{i}"] = value
        try:
            return _evaluate(self.tree, values)
        except ZeroDivisionError:
            return None


def read_arithmetic(text: str, broadcastable: bool = False, *, is_formatted: bool = False) -> Computed:
    """Read the arithmetic of one axis. `is_formatted` says that the fields are those of a real f-string.

    Raises:
        Malformed: it is no arithmetic over axis names.
    """
    if "\\" in text:
        raise Malformed(f'unexpected character "\\" in "{text}"')
    pieces, fields = _split_fields(text, is_formatted)
    source, is_text = "", False
    for i, piece in enumerate(pieces):
        if i:
            name = f"{_FIELD}{i - 1}"
            is_text = is_text or _touches(source[-1:]) or _touches(piece[:1])
            source += name
        source += piece
    texts = tuple(text or "" for text in fields)
    if not is_text:
        return Computed(text, broadcastable, texts, _parse_arithmetic(source, text))
    if not is_formatted:
        _require_text_of_arithmetic(source, text)
    return Computed(text, broadcastable, texts)


def _require_text_of_arithmetic(source: str, text: str) -> None:
    """Refuse what is no arithmetic, whether its fields give numbers or names."""
    for stand_in in ("1", "x"):
        try:
            _parse_arithmetic(re.sub(f"{_FIELD}[0-9]+", stand_in, source), text)
        except Malformed as problem:
            last = problem
        else:
            return
    raise last


def _parse_arithmetic(source: str, text: str) -> ast.expr:
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Malformed(*_diagnose(text)) from None
    for node in ast.walk(tree):
        _require_arithmetic(node, text)
    return tree.body


def _touches(character: str) -> bool:
    """Whether a field beside this character is a part of a longer name or number, or another field's neighbour."""
    return bool(character) and (character.isidentifier() or character.isdigit() or character in ".")


def _split_fields(text: str, is_formatted: bool) -> tuple[list[str], list[str | None]]:
    """The text around the fields, and the fields' expressions (None for one with a format)."""
    if "{" not in text and "}" not in text:
        return [text], []
    # jaxtyping's own quotes first; Python before 3.12 cannot nest them.
    for quote in ("'", '"'):
        try:
            tree = ast.parse(f"f{quote}{text}{quote}", mode="eval").body
            break
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    else:
        raise Malformed(*_diagnose_field(text))
    pieces: list[str] = [""]
    fields: list[str | None] = []
    for part in tree.values if isinstance(tree, ast.JoinedStr) else ():
        if isinstance(part, ast.FormattedValue):
            plain = part.conversion == -1 and part.format_spec is None
            fields.append(ast.unparse(part.value) if plain else None)
            pieces.append("")
        elif isinstance(part, ast.Constant):
            pieces[-1] += str(part.value)
    if not is_formatted and any("{" in piece or "}" in piece for piece in pieces):
        raise Malformed(
            f'"{text}" has doubled braces, which are no field', "{self.d} or {n}: an attribute or an argument"
        )
    return pieces, fields


def _diagnose_field(text: str) -> tuple[str, str]:
    if "{}" in text:
        return f'the field "{{}}" of "{text}" is empty', "{self.d} or {n}: an attribute or an argument"
    if text.count("{") != text.count("}"):
        return (
            f'"{text}" has a field that is not closed'
            if text.count("{") > text.count("}")
            else f'"{text}" has a "}}" too many',
            "a field holds no spaces: {self.d}",
        )
    return f'the field in "{text}" is no Python expression', "{self.d} or {n}: an attribute or an argument"


def _diagnose(text: str) -> tuple[str, str]:
    """Why `text` does not parse, and how to write what was probably meant."""
    strange = [c for c in text if not (c.isidentifier() or c.isdigit() or c in "+-*/%(){}[]<>=!&|^~@.,:'\"")]
    if strange:
        return (
            f'unexpected character "{strange[0]}" in "{text}"',
            "axes are names, sizes or arithmetic, separated by spaces",
        )
    for opening, closing in ("()", "[]"):
        if text.count(opening) != text.count(closing):
            bracket = opening if text.count(opening) > text.count(closing) else closing
            plain = text.replace(opening, "").replace(closing, "").replace(",", "")
            return f'"{text}" has a "{bracket}" without its partner', f"{plain or 'name'}; a product of axes is b*c"
    digits = len(text) - len(text.lstrip("0123456789_"))
    if digits and text[digits:].isidentifier():
        number, name = text[:digits], text[digits:]
        return f'"{text}" is neither a name nor a size', f"{name}{number} for a name, {number}*{name} for a product"
    if text.count("=") > 1:
        return f'"{text}" has more than one "="', "name=4 documents the size 4"
    if text[-1] in "+-*/%" or text[0] in "+-*/%":
        return f'"{text}" is half of an operation', "arithmetic has no spaces: d+1"
    return f'"{text}" is neither a name, a size nor arithmetic', "for example d, 4, d+1, 2*h, min(a,b), {self.d}"


def _require_arithmetic(node: ast.AST, text: str) -> None:
    """Refuse what Python refuses for all sizes. What a field stands for may be more than a size."""
    usual = "an axis may use names, sizes, + - * // %, min, max and fields such as {self.d}"
    match node:
        case ast.Attribute(value=value, attr=name) if not hasattr(int, name) and not _has_field(value):
            owner = ast.unparse(value)
            raise Malformed(f'"{owner}" in "{text}" has no attributes', f"{{{owner}.{name}}} for those of an argument")
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[] | [_] as args):
            if not any(map(_may_be_several, args)):
                raise Malformed(f'"{text}" has the {name} of one size', f"{name}(a,b)")
        case ast.Call(func=ast.Name(id=name)) if not hasattr(builtins, name) and not _has_field(node.func):
            raise Malformed(f'the function "{name}" is not known in "{text}"', usual)
        case ast.Call(func=ast.Constant() | ast.Call() | ast.BinOp()) if not _has_field(node):
            raise Malformed(f'"{text}" calls a size', usual)
        case ast.Subscript(value=ast.Name() | ast.Constant() as value) if not _has_field(value):
            raise Malformed(f'"{text}" indexes a size', usual)
        case ast.BinOp(op=ast.MatMult()):
            raise Malformed(f'"{text}" has the operator "@", which sizes do not have', usual)
        case ast.Expression(body=value) | ast.UnaryOp(operand=value):
            if isinstance(value, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
                raise Malformed(f'"{text}" has several sizes for one axis', "axes stand without brackets: b c")


def _has_field(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id.startswith(_FIELD) for inner in ast.walk(node))


def _may_be_several(argument: ast.expr) -> bool:
    """Whether an argument may stand for several sizes."""
    return _has_field(argument) or not isinstance(argument, (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp))


def _evaluate(node: ast.expr, values: Mapping[str, Dim]) -> Dim | None:
    match node:
        case ast.Name(id=name):
            return values.get(name)
        case ast.Constant(value=int() as value):
            return Dim.of(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            size = _evaluate(operand, values)
            return None if size is None else -size
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _evaluate(operand, values)
        case ast.BinOp(left=left, op=operator, right=right):
            a, b = _evaluate(left, values), _evaluate(right, values)
            return None if a is None or b is None else _apply(operator, a, b)
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=args, keywords=[]):
            sizes = [size for size in (_evaluate(arg, values) for arg in args) if size is not None]
            if len(sizes) < len(args) or not sizes:
                return None
            return minimum(*sizes) if name == "min" else maximum(*sizes)
        case ast.Call(func=ast.Name(id="int"), args=[argument], keywords=[]):
            return _evaluate(argument, values)
    return None


def _apply(operator: ast.operator, a: Dim, b: Dim) -> Dim | None:
    match operator:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case ast.FloorDiv() | ast.Div():  # the quotient is a size, so `/` leaves no rest
            return a // b
        case ast.Mod():
            return a % b
        case ast.Pow():
            power = b.constant
            return a**power if power is not None and 0 <= power <= _LARGEST_POWER else None
    return None
