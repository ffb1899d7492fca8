"""The ways to change one place of a program, as people get it wrong: each gives a new text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

DRIVERS = ("main", "oracle")  # the parts of a program that try it out: never changed
_FUNCTIONAL = {"torch", "F", "nn.functional", "torch.nn.functional", "functional", "torch.linalg"}
_MATRIX_PRODUCTS = {"matmul", "bmm", "mm"}
_SIZED = {"zeros", "ones", "full", "randn", "rand", "empty", "arange", "eye", "zeros_like"}
_DROPPED = {"transpose", "permute", "unsqueeze", "squeeze", "movedim", "swapaxes", "t", "flatten"}
_REORDERED = {"view", "reshape", "expand", "repeat", "unflatten"}
_REDUCTIONS = {"sum", "mean", "max", "min", "amax", "amin", "argmax", "std", "var", "norm", "logsumexp", "prod"}
_SOFTMAX = {"softmax", "log_softmax", "Softmax", "LogSoftmax", "softmin"}
_EINOPS = {"rearrange", "reduce", "repeat"}
_DIM_WORDS = {"dim", "axis", "dims", "start_dim", "end_dim", "dim0", "dim1"}
# Where a method takes a dim, counted without the tensor.
_DIMS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_REDUCTIONS - {"norm"}, (0,)),
    **dict.fromkeys(("cumsum", "cumprod", "squeeze", "unsqueeze", "size", "select", "gather", "scatter"), (0,)),
    **dict.fromkeys(("scatter_", "scatter_add", "index_select", "argsort", "sort", "narrow", "unbind", "any"), (0,)),
    **dict.fromkeys(("all", "median", "flip", "unflatten", "argmin"), (0,)),
    **dict.fromkeys(("transpose", "swapaxes", "movedim", "flatten"), (0, 1)),
    **dict.fromkeys(("norm", "chunk", "split", "topk", "repeat_interleave", "roll", "cosine_similarity"), (1,)),
    **dict.fromkeys(("cat", "concat", "stack"), (0,)),
    "normalize": (1,),
}


@dataclass(frozen=True)
class Change:
    """One changed place.

    Args:
        kind: what was changed.
        line: the first line of the place.
        start: its offset in the UTF-8 text.
        end: the offset behind it.
        text: what stands there instead.
    """

    kind: str
    line: int
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """The changed program."""
        encoded = source.encode()
        return (encoded[: self.start] + self.text.encode() + encoded[self.end :]).decode()


def changes(source: str) -> list[Change]:
    """All changes of a program, in the order of their places; no two give the same text.

    >>> [(one.kind, one.text) for one in changes("def f(x, y):\\n    return x @ y.mT\\n")]
    [('operands swapped', 'y.mT @ x'), ('transpose dropped', 'y')]
    """
    found = dict.fromkeys(_Places(source).changes())
    return sorted(found, key=lambda one: (one.start, one.end, one.kind, one.text))


class _Places:
    """The places of a program."""

    def __init__(self, source: str) -> None:
        self.encoded = source.encode()
        self.tree = ast.parse(source)
        self.starts = [0]
        for line in self.encoded.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.classes = {node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)}
        self.by_type: dict[type[ast.AST], Callable[..., Iterator[Change]]] = {
            ast.Call: self._call,
            ast.BinOp: self._operator,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Assign: self._assignment,
            ast.FunctionDef: self._signature,
        }

    def changes(self) -> Iterator[Change]:
        """All changes, some perhaps twice."""
        for top in self.tree.body:
            if isinstance(top, ast.FunctionDef) and top.name in DRIVERS:
                continue
            if isinstance(top, ast.If) and "__name__" in ast.unparse(top.test):
                continue
            for node in ast.walk(top):
                if type(node) in self.by_type:
                    yield from self.by_type[type(node)](node)

    # Text

    def _start(self, node: ast.expr) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> str:
        return self.encoded[self._start(node) : self._end(node)].decode()

    def _replace(self, kind: str, node: ast.expr, text: str) -> Iterator[Change]:
        if text != self._text(node):
            yield Change(kind, node.lineno, self._start(node), self._end(node), text)

    def _swap(self, kind: str, first: ast.expr, second: ast.expr) -> Iterator[Change]:
        """Two places of one line, or of two, exchanged."""
        one, other = self._text(first), self._text(second)
        if one != other:
            between = self.encoded[self._end(first) : self._start(second)].decode()
            yield Change(kind, first.lineno, self._start(first), self._end(second), other + between + one)

    def _swaps(self, kind: str, nodes: Sequence[ast.expr]) -> Iterator[Change]:
        for first, second in pairwise(nodes):
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                yield from self._swap(kind, first, second)

    # Kinds

    def _call(self, node: ast.Call) -> Iterator[Change]:
        function = node.func
        if isinstance(function, ast.Attribute):
            owner, name = ast.unparse(function.value), function.attr
        elif isinstance(function, ast.Name):
            owner, name = "", function.id
        else:
            return
        is_functional = owner in _FUNCTIONAL
        is_layer = owner in ("nn", "torch.nn") or name in self.classes
        operands = node.args[1:] if is_functional else node.args
        if name in _EINOPS and not isinstance(function, ast.Attribute):
            yield from self._pattern(node)
            return
        if name == "einsum":
            yield from self._equation(node)
            return
        if name in _SOFTMAX:
            yield from self._dims("softmax dim changed", node, operands[:1] if not is_layer else node.args[:1])
            return
        if isinstance(function, ast.Attribute):
            yield from self._movement(node, function, name, is_functional)
        places = [operands[k] for k in _DIMS.get(name, ()) if k < len(operands)] if not is_layer else []
        yield from self._dims("dim changed", node, places)
        if name in _REDUCTIONS:
            yield from self._keepdim(node, bool(places) or any(one.arg in _DIM_WORDS for one in node.keywords))
        if name in _MATRIX_PRODUCTS and is_functional and len(node.args) > 1:
            yield from self._swap("operands swapped", node.args[0], node.args[1])
        if name in ("cat", "concat", "stack") and node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
            yield from self._swaps("operands swapped", node.args[0].elts)
        if is_layer or (is_functional and name in _SIZED):
            yield from self._swaps("sizes swapped", [one for one in node.args if _is_size(one)])
        if is_layer or (is_functional and name not in _DIMS and name not in _REORDERED | _DROPPED):
            yield from self._constants(node, is_dims=name == "Flatten")
        for keyword in node.keywords:
            if keyword.arg == "batch_first" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True:
                yield from self._replace("batch_first dropped", keyword.value, "False")

    def _movement(self, node: ast.Call, function: ast.Attribute, name: str, is_functional: bool) -> Iterator[Change]:
        """Calls that move axes, as methods or functions."""
        receiver = node.args[0] if is_functional and node.args else function.value
        operands = node.args[1:] if is_functional else node.args
        if len(operands) == 1 and isinstance(operands[0], ast.Tuple) and name not in _DIMS:
            operands = operands[0].elts
        if name == "unflatten" and len(operands) == 2 and isinstance(operands[1], ast.Tuple):
            operands = operands[1].elts
        if name in _DROPPED:
            kind = f"{name} dropped" if name in ("unsqueeze", "squeeze", "flatten") else "transpose dropped"
            yield from self._replace(kind, node, self._text(receiver))
        if name in _REORDERED:
            yield from self._swaps("view order changed", operands)
        if name == "permute":
            yield from self._swaps("dim changed", operands)

    def _dims(self, kind: str, node: ast.Call, positional: Sequence[ast.expr]) -> Iterator[Change]:
        named = [one.value for one in node.keywords if one.arg in _DIM_WORDS]
        for place in (*positional, *named):
            for one in place.elts if isinstance(place, (ast.Tuple, ast.List)) else [place]:
                yield from self._other_numbers(kind, one, negative=True)

    def _other_numbers(self, kind: str, node: ast.expr, *, negative: bool) -> Iterator[Change]:
        number = _integer(node)
        if number is None:
            return
        # Of a dim: -1 + 1 is no neighbour of -1, and 0 - 1 is the last one.
        others = {number + 1, number - 1} if negative else {number + 1, 2 * number, number - 1}
        for other in sorted(others):
            if not (number == -1 and other == 0) if negative else other > 0:
                yield from self._replace(kind, node, str(other))

    def _keepdim(self, node: ast.Call, has_dim: bool) -> Iterator[Change]:
        for keyword in node.keywords:
            if keyword.arg == "keepdim" and isinstance(keyword.value, ast.Constant):
                yield from self._replace("keepdim flipped", keyword.value, str(not keyword.value.value))
                return
        if has_dim:
            text = self._text(node)
            yield from self._replace("keepdim flipped", node, f"{text[:-1].rstrip().rstrip(',')}, keepdim=True)")

    def _constants(self, node: ast.Call, *, is_dims: bool) -> Iterator[Change]:
        """The numbers of a layer: features, kernels, strides, paddings, groups."""
        named = [one.value for one in node.keywords if one.arg not in _DIM_WORDS]
        for place in (*node.args, *named):
            for one in place.elts if isinstance(place, (ast.Tuple, ast.List)) else [place]:
                yield from self._other_numbers("dim changed" if is_dims else "constant changed", one, negative=is_dims)

    def _equation(self, node: ast.Call) -> Iterator[Change]:
        texts = [one for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if texts:
            yield from self._words("einsum letters swapped", texts[0], r"[A-Za-z](?![\w ]* \w)|\b\w+\b")
            operands = [one for one in node.args if one is not texts[0]]
            yield from self._swaps("operands swapped", operands)

    def _pattern(self, node: ast.Call) -> Iterator[Change]:
        for one in node.args:
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and "->" in one.value:
                yield from self._words("einops names swapped", one, r"\b\w+\b")

    def _words(self, kind: str, node: ast.Constant, word: str) -> Iterator[Change]:
        """Neighbours in one operand of an equation swapped."""
        text = self._text(node)
        at = 0
        for part in re.split(r"(,|->)", text):
            pattern = word if " " in part.strip() else r"[A-Za-z]"
            if kind == "einops names swapped":
                pattern = word
            for first, second in pairwise(re.finditer(pattern, part)):
                if first.group() != second.group():
                    between = part[first.end() : second.start()]
                    turned = second.group() + between + first.group()
                    new = text[: at + first.start()] + turned + text[at + second.end() :]
                    yield from self._replace(kind, node, new)
            at += len(part)

    def _operator(self, node: ast.BinOp) -> Iterator[Change]:
        if isinstance(node.op, ast.MatMult):
            left, right = self._text(node.left), self._text(node.right)
            if isinstance(node.left, ast.BinOp):
                left = f"({left})"
            if isinstance(node.right, ast.BinOp):
                right = f"({right})"
            yield from self._replace("operands swapped", node, f"{right} @ {left}")
        elif isinstance(node.op, (ast.Mult, ast.FloorDiv, ast.Add, ast.Sub)):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if not isinstance(other, (ast.List, ast.Tuple, ast.Call)):
                    yield from self._other_numbers("constant changed", one, negative=False)

    def _attribute(self, node: ast.Attribute) -> Iterator[Change]:
        if node.attr in ("T", "mT", "H", "mH"):
            yield from self._replace("transpose dropped", node, self._text(node.value))

    def _subscript(self, node: ast.Subscript) -> Iterator[Change]:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            yield from self._other_numbers("dim changed", node.slice, negative=True)
            return
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for one in indices:
            if isinstance(one, ast.Constant) and one.value is None:
                others = ", ".join(self._text(other) for other in indices if other is not one)
                text = f"{self._text(node.value)}[{others}]" if others else self._text(node.value)
                yield from self._replace("unsqueeze dropped", node, text)

    def _assignment(self, node: ast.Assign) -> Iterator[Change]:
        """Sizes unpacked in another order."""
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and "shape" in ast.unparse(node.value):
            yield from self._swaps("sizes swapped", target.elts)

    def _signature(self, node: ast.FunctionDef) -> Iterator[Change]:
        """Two axes of one annotation swapped; defaults that are sizes."""
        annotations = [one.annotation for one in (*node.args.args, *node.args.kwonlyargs)]
        for annotation in (*annotations, node.returns):
            for part in ast.walk(annotation) if annotation else ():
                if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Tuple):
                    *_, last = part.slice.elts
                    if isinstance(last, ast.Constant) and isinstance(last.value, str):
                        yield from self._words_apart("annotation reordered", last)

    def _words_apart(self, kind: str, node: ast.Constant) -> Iterator[Change]:
        words = str(node.value).split()
        for k, (first, second) in enumerate(pairwise(words)):
            if first != second:
                turned = [*words[:k], second, first, *words[k + 2 :]]
                yield from self._replace(kind, node, '"' + " ".join(turned) + '"')


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _integer(node.operand)
        return None if number is None else -number
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _is_size(node: ast.expr) -> bool:
    """Whether an argument may be a size, by its looks."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    return isinstance(node, (ast.Name, ast.Attribute, ast.BinOp, ast.Subscript))
