"""Whether an expression makes modules or parameters, as source says: names in it are looked up, nothing is run."""

from __future__ import annotations

import ast
from enum import Enum
from typing import TYPE_CHECKING, Final

from shaped.static import annotate
from shaped.static.values import ClassValue, External, FunctionValue
from shaped.static.walk import walk

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

Method = ast.FunctionDef | ast.AsyncFunctionDef


class Made(Enum):
    """What an expression makes."""

    MODULE = "modules"  # with parameters
    PARAMETER = "parameters"
    HARMLESS = "nothing to train"  # None, or a module without parameters: nn.ReLU()
    OTHER = "something else"  # or it is not known


_WITH_PARAMETERS: Final = (
    *("Linear", "LazyLinear", "Bilinear", "Embedding", "EmbeddingBag", "PReLU", "MultiheadAttention"),
    *("Conv1d", "Conv2d", "Conv3d", "LazyConv1d", "LazyConv2d", "LazyConv3d"),
    *("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
    *("LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d"),
    *("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d"),
    *("SyncBatchNorm", "LayerNorm", "GroupNorm", "RMSNorm"),
    *("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"),
    *("Transformer", "TransformerEncoder", "TransformerDecoder"),
    *("TransformerEncoderLayer", "TransformerDecoderLayer"),
)
_CONTAINERS: Final = frozenset(["Sequential", "ModuleList", "ModuleDict"])
_WITHOUT_PARAMETERS: Final = frozenset(
    [
        *(
            "Identity",
            "ReLU",
            "ReLU6",
            "GELU",
            "SiLU",
            "Mish",
            "Sigmoid",
            "Tanh",
            "ELU",
            "SELU",
            "CELU",
            "GLU",
            "LeakyReLU",
        ),
        *("Softmax", "LogSoftmax", "Softplus", "Softsign", "Hardswish", "Hardtanh", "Flatten", "Unflatten"),
        *("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "MaxPool1d", "MaxPool2d", "MaxPool3d"),
        *("AvgPool1d", "AvgPool2d", "AvgPool3d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool2d"),
        *("Upsample", "PixelShuffle", "PixelUnshuffle", "ZeroPad2d", "ReflectionPad2d"),
    ]
)
# Methods that give back the module: it is made to be trained all the same, if not `eval` or `requires_grad_`.
_GIVE_IT_BACK: Final = frozenset(["to", "cuda", "cpu", "float", "double", "half", "bfloat16", "apply", "train"])
_MOST_STEPS = 8  # a class that holds one of its own kind has no end


def made_by(interpreter: Interpreter, node: ast.expr, hidden: frozenset[str], depth: int = 0) -> Made:
    """What an expression makes.

    Args:
        interpreter: in a frame of the expression's module.
        node: the expression.
        hidden: names that a function binds itself: what they stand for is not known.
        depth: how many classes and functions the question has gone through.
    """
    if depth > _MOST_STEPS:
        return Made.OTHER
    match node:
        case ast.Constant(value=None):
            return Made.HARMLESS
        case ast.IfExp(body=body, orelse=orelse):
            return joined([made_by(interpreter, option, hidden, depth) for option in (body, orelse)])
        case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr=method)) if method in _GIVE_IT_BACK:
            return made_by(interpreter, made, hidden, depth)
        case ast.Call(func=(ast.Name() | ast.Attribute()) as called) if _root(called) not in hidden:
            return _made_by_call(interpreter, node, called, hidden, depth)
    return Made.OTHER


def joined(parts: list[Made]) -> Made:
    """What several expressions make together: nothing certain if that of one is not known.

    >>> joined([Made.MODULE, Made.HARMLESS]), joined([Made.MODULE, Made.OTHER])
    (<Made.MODULE: 'modules'>, <Made.OTHER: 'something else'>)
    """
    kinds = set(parts) - {Made.HARMLESS}
    if not kinds:
        return Made.HARMLESS
    return kinds.pop() if len(kinds) == 1 else Made.OTHER


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _made_by_call(
    interpreter: Interpreter, call: ast.Call, called: ast.expr, hidden: frozenset[str], depth: int
) -> Made:
    match annotate.named(interpreter, called):
        case External(name=name) if name.startswith("torch.nn."):
            short = name.rpartition(".")[2]
            if short == "Parameter":
                return Made.PARAMETER
            if short in _WITH_PARAMETERS:
                return Made.MODULE
            if short in _CONTAINERS:
                return _made_by_container(interpreter, call, hidden, depth)
            return Made.HARMLESS if short in _WITHOUT_PARAMETERS else Made.OTHER
        case ClassValue() as cls if cls.is_module:
            return Made.MODULE if _has_parameters(interpreter, cls, depth + 1) else Made.OTHER
        case FunctionValue(node=ast.FunctionDef() as function) as value if value.owner is None and not value.decorators:
            returned = [part.value for part in walk(function) if isinstance(part, ast.Return)]
            if not returned or any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk(function)):
                return Made.OTHER
            with interpreter.in_frame(interpreter.new_frame(value.module, value.module.environment, "")):
                bound = names_bound(function)
                return joined([made_by(interpreter, one, bound, depth + 1) if one else Made.OTHER for one in returned])
    return Made.OTHER


def _made_by_container(interpreter: Interpreter, call: ast.Call, hidden: frozenset[str], depth: int) -> Made:
    """A container has parameters if one of its parts has, whatever the others are."""
    parts: list[ast.expr] = []
    for argument in call.args:
        given = argument.value if isinstance(argument, ast.Starred) else argument
        match given:
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                parts += elements
            case ast.Dict(values=values):
                parts += values
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) | ast.DictComp(value=element):
                parts.append(element)
            case _:
                parts.append(given)
    made = [made_by(interpreter, part, hidden, depth) for part in parts]
    return Made.MODULE if Made.MODULE in made else Made.OTHER


def _has_parameters(interpreter: Interpreter, cls: ClassValue, depth: int) -> bool:
    """Whether the constructor of a class, or of one that it inherits from, makes a parameter on its way."""
    for ancestor in cls.ancestors():
        constructor = ancestor.names.get("__init__")
        if not isinstance(constructor, FunctionValue) or not isinstance(constructor.node, ast.FunctionDef):
            continue
        bound = names_bound(constructor.node)
        with interpreter.in_frame(interpreter.new_frame(ancestor.module, ancestor.module.environment, "")):
            for node in walk(constructor.node):
                if isinstance(node, ast.Call) and made_by(interpreter, node, bound, depth) in (
                    Made.MODULE,
                    Made.PARAMETER,
                ):
                    return True
    return False


def names_bound(function: ast.AST) -> frozenset[str]:
    """The names that a function binds, its parameters among them."""
    found: set[str] = set()
    for node in walk(function):
        match node:
            case ast.arg(arg=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                found.update(alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                if node is not function:
                    found.add(name)
    return frozenset(found)
