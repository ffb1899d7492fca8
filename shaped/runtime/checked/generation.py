"""The function that stands in for a checked one: its parameters, its checks, the call, the check of the result."""

from __future__ import annotations

import builtins
import functools
import inspect
import itertools
import linecache
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from shaped.runtime.checked import scope
from shaped.runtime.checked.checks import Checks
from shaped.runtime.checked.failure import OMITTED, Explainer
from shaped.runtime.checked.hints import Anything, arrays, computed_axes, pack_names, size_names
from shaped.runtime.checked.names import Variable
from shaped.runtime.checked.plan import EMPTY, Plan, needs_omitted
from shaped.runtime.checked.scope import reads_scope
from shaped.runtime.checked.switch import SWITCH
from shaped.runtime.checked.writer import Writer
from shaped.spec.annotation import NamedPack

_NUMBERS = itertools.count(1)
_Kind = inspect.Parameter
_MARKS: dict[Any, str] = {_Kind.VAR_POSITIONAL: "*", _Kind.VAR_KEYWORD: "**"}


def generate(plan: Plan, known_as: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A function with the same parameters that checks its calls.

    Args:
        plan: the function and its checks.
        known_as: the function that users know, if it is another one.
    """
    generator = _Generator(plan)
    made = _compiled(generator.source(), generator.name, generator.writer.scope, plan)
    if generator.checker:
        # Python names it where an argument is missing.
        made.__globals__[generator.checker].__qualname__ = made.__qualname__
    generator.explainer.wrapper = weakref.ref(known_as or made)
    return made


def deferred(plan: Plan, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[..., Any]:
    """A function that becomes at its first call what `make` gives for it then."""

    def settle() -> None:
        known = make(stand_in)
        stand_in.__globals__["known"] = known
        if isinstance(known, types.FunctionType) and known.__code__.co_filename.startswith(_FILENAME):
            stand_in.__globals__.update(known.__globals__)
            stand_in.__defaults__, stand_in.__kwdefaults__ = known.__defaults__, known.__kwdefaults__
            stand_in.__code__ = known.__code__

    settle._dynamo_marked_constant = True  # type: ignore[attr-defined]  # torch.compile calls it and traces what it made
    keyword, wait = ("async def", "await ") if plan.is_async else ("def", "")
    source = f"{keyword} call(*args, **kwargs):\n    settle()\n    return {wait}known(*args, **kwargs)\n"
    stand_in = _compiled(source, "call", {"settle": settle}, plan)
    return stand_in


_FILENAME = "<checked "


def _compiled(source: str, name: str, scope: Mapping[str, Any], plan: Plan) -> types.FunctionType:
    """A function of generated source, which tracebacks and debuggers can show, with the metadata of the user's."""
    # No `__name__`: torch.compile would look for the globals in the module of that name.
    namespace: dict[str, Any] = {"__builtins__": builtins, **scope}
    exec(_code(source, plan.operation), namespace)
    for function in namespace.values():
        if isinstance(function, types.FunctionType) and function.__globals__ is namespace:
            # torch.compile keeps what it compiled by code, for the globals that it saw with it.
            function.__code__ = function.__code__.replace()
    made: types.FunctionType = namespace.pop(name)
    functools.update_wrapper(made, plan.function)
    return made


@functools.cache
def _code(source: str, operation: str) -> types.CodeType:
    """The compiled source: kept for a nested function that is decorated once a call, many times."""
    filename = f"{_FILENAME}{operation} {next(_NUMBERS)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return compile(source, filename, "exec")


class _Generator:
    """Writes the source of one function."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.writer = Writer(frozenset(plan.signature.parameters))
        self.omitted = {
            name
            for name, parameter in plan.signature.parameters.items()
            if needs_omitted(plan.parameters[name], parameter.default)
        }
        defaults = {name: parameter.default for name, parameter in plan.signature.parameters.items()}
        self.explainer = Explainer(plan.function, plan.operation, plan.parameters, plan.result, defaults)
        self.growing = (
            frozenset(
                axis.name
                for hint in (*plan.parameters.values(), plan.result)
                for array in arrays(hint)
                for axis in array.axes
                if isinstance(axis, NamedPack) and axis.broadcastable
            )
            | self._bound_in_body()
        )
        wish = getattr(plan.function, "__name__", "call")
        self.name = self.writer.name(wish if wish.isidentifier() else "call")
        self.function = self.writer.constant("function", plan.function)
        self.checker = ""

    def _bound_in_body(self) -> frozenset[str]:
        """The `*name`s of the result that the body may have bound as `*#name`, by asking `isinstance` of one."""
        plan, names = self.plan, frozenset(pack_names(self.plan.result))
        if not plan.is_scoped:
            return frozenset()
        if reads_scope(plan.function):
            return names
        return names.difference(*map(pack_names, plan.parameters.values()))

    def source(self) -> str:
        return self._opaque_source() if self.plan.is_opaque else self._plain_source()

    # A function whose signature is its own.

    def _plain_source(self) -> str:
        writer, call = self.writer, self._call()
        given = {name: self._given(name) for name in self.plan.signature.parameters}
        arguments = self._mapping({name: name for name in given})
        values = self._mapping(given)
        with writer.block(f"{self._def()} {self.name}({self._parameters()}):"):
            writer.line("__tracebackhide__ = True")
            self._leave_early(call)
            refuse = writer.constant("refuse", self.explainer.refuse)
            leave = [f"{refuse}({arguments})", f"return {call}"]
            checks = Checks(writer, leave, given, values, self.growing)
            self._check_parameters(checks)
            self._call_and_check(checks, call, arguments, values)
        return writer.text

    # A function that hands on to another one: it gets the arguments as they came.

    def _opaque_source(self) -> str:
        writer = self.writer
        positional, keywords = writer.name("args"), writer.name("kwargs")
        call = f"{'await ' * self.plan.is_async}{self.function}(*{positional}, **{keywords})"
        given = {name: self._given(name) for name in self.plan.signature.parameters}
        self.checker = writer.name("check_arguments")
        with writer.block(f"def {self.checker}({self._parameters()}):"):
            writer.line("__tracebackhide__ = True")
            refuse = writer.constant("refuse", self.explainer.refuse)
            leave = [f"{refuse}({self._mapping({name: name for name in given})})", "return None"]
            checks = Checks(writer, leave, given, self._mapping(given), self.growing)
            self._check_parameters(checks)
            variables = [known.text for known in (*checks.names.sizes.values(), *checks.names.packs.values())]
            writer.line(f"return {', '.join([self._mapping(given), *variables])},")
        arguments = writer.name("arguments")
        with writer.block(f"{self._def()} {self.name}(*{positional}, **{keywords}):"):
            writer.line("__tracebackhide__ = True")
            self._leave_early(call)
            found = writer.name("found")
            writer.line(f"{found} = {self.checker}(*{positional}, **{keywords})")
            with writer.block(f"if {found} is None:"):
                writer.line(f"return {call}")
            writer.line(f"{', '.join([arguments, *variables])}, = {found}")
            checks.parameters = {name: f"{arguments}[{name!r}]" for name in given}
            checks.arguments = arguments
            self._call_and_check(checks, call, arguments, arguments)
        return writer.text

    def _leave_early(self, call: str) -> None:
        """Do without checks where they are off, and leave the graph of torch.compile where it would go wrong."""
        writer, is_compiling = self.writer, scope.compile_test()
        with writer.block(f"if {writer.constant('switch', SWITCH)}.off:"):
            writer.line(f"return {call}")
        if is_compiling is not None and self.plan.is_scoped and scope.asks_jaxtyping(self.plan.function):
            untraced = call.replace(self.function, writer.constant("untraced", self.explainer.untraced), 1)
            with writer.block(f"if {writer.constant('is_compiling', is_compiling)}():"):
                writer.line(f"return {untraced}")

    def _check_parameters(self, checks: Checks) -> None:
        for name, hint in self.plan.parameters.items():
            if isinstance(hint, Anything):
                continue
            if name not in self.omitted:
                checks.check(hint, name, checks.refuse)
                continue
            with checks.optional(hint, f"{name} is not {self._omitted()}"):
                checks.check(hint, name, checks.refuse)

    def _call_and_check(self, checks: Checks, call: str, arguments: str, values: str) -> None:
        writer, result = self.writer, self.writer.name("result")
        is_checked = not isinstance(self.plan.result, Anything)
        if not is_checked and not self.plan.is_scoped and not self.plan.rechecks:
            writer.line(f"return {call}")
            return
        if not self.plan.is_scoped:
            writer.line(f"{result} = {call}")
        else:
            self._call_in_scope(checks, call, result, values)
        known = f"{checks.sizes()}, {checks.packs()}"
        if self.plan.rechecks:
            refuse = writer.constant("refuse", self.explainer.refuse)
            checks.refuse = [f"{refuse}({arguments}, {known})", f"return {result}"]
            self._check_parameters(checks)
        if is_checked:
            refuse = writer.constant("refuse_result", self.explainer.refuse_result)
            leave = [f"{refuse}({result}, {arguments}, {known})", f"return {result}"]
            checks.refuse = leave
            checks.check(self.plan.result, result, leave)
        writer.line(f"return {result}")

    def _call_in_scope(self, checks: Checks, call: str, result: str, values: str) -> None:
        """Call the function while jaxtyping knows the names of the call; take over what its body binds."""
        writer, stack, memo = self.writer, self.writer.name("stack"), self.writer.name("memo")
        storage, new = writer.constant("storage", scope.STORAGE), writer.constant("new_stack", scope.new_stack)
        is_compiling = scope.compile_test()
        if is_compiling is not None:
            with writer.block(f"if {writer.constant('is_compiling', is_compiling)}():"):
                writer.line(f"{result} = {call}", f"{memo} = None")
        with writer.block("else:" if is_compiling is not None else "if True:"):
            with writer.block("try:"):
                writer.line(f"{stack} = {storage}.memo_stack")
            with writer.block(f"except {writer.builtin('AttributeError')}:"):
                writer.line(f"{stack} = {new}()")
            writer.line(f"{stack}.append(({checks.sizes()}, {checks.packs()}, {{}}, {values}))")
            with writer.block("try:"):
                writer.line(f"{result} = {call}")
            with writer.block("finally:"):
                writer.line(f"{memo} = {stack}.pop()")
        self._take_bindings(checks, memo)

    def _take_bindings(self, checks: Checks, memo: str) -> None:
        """Names that the body may have bound."""
        checks.heard = memo
        used = [name for axis in computed_axes(self.plan.result) for name in axis.names]
        for name in dict.fromkeys([*size_names(self.plan.result), *used]):
            if name not in checks.names.sizes or not checks.names.sizes[name].is_bound:
                variable = self.writer.name(f"size_{name}")
                self.writer.line(f"{variable} = {memo} and {memo}[0].get({name!r})")
                checks.names.sizes[name] = Variable(variable, False)
        for name in pack_names(self.plan.result):
            if name not in checks.names.packs or not checks.names.packs[name].is_bound or name in self.growing:
                variable = self.writer.name(f"sizes_{name}")
                self.writer.line(f"{variable} = {memo} and {memo}[1].get({name!r})")
                if name not in self.growing:
                    self.writer.line(f"{variable} = {variable} and {variable}[1]")
                checks.names.packs[name] = Variable(variable, False)

    def _def(self) -> str:
        return "async def" if self.plan.is_async else "def"

    def _parameters(self) -> str:
        """The parameters as they stand in a `def`."""
        pieces: list[str] = []
        previous: inspect.Parameter | None = None
        for parameter in self.plan.signature.parameters.values():
            if previous is not None and previous.kind is _Kind.POSITIONAL_ONLY is not parameter.kind:
                pieces.append("/")
            if parameter.kind is _Kind.KEYWORD_ONLY and "*" not in "".join(pieces):
                pieces.append("*")
            pieces.append(self._parameter(parameter))
            previous = parameter
        if previous is not None and previous.kind is _Kind.POSITIONAL_ONLY:
            pieces.append("/")
        return ", ".join(pieces)

    def _parameter(self, parameter: inspect.Parameter) -> str:
        text = _MARKS.get(parameter.kind, "") + parameter.name
        if parameter.default is EMPTY:
            return text
        if parameter.name in self.omitted:
            return f"{text}={self._omitted()}"
        return f"{text}={self._default(parameter.name)}"

    def _omitted(self) -> str:
        return self.writer.constant("omitted", OMITTED)

    def _default(self, name: str) -> str:
        return self.writer.constant(f"default_{name}", self.plan.signature.parameters[name].default)

    def _given(self, name: str) -> str:
        """The value of a parameter, its default in place of what marks an omitted one."""
        if name not in self.omitted:
            return name
        return f"({self._default(name)} if {name} is {self._omitted()} else {name})"

    def _call(self) -> str:
        """The call of the function with the parameters."""
        pieces = []
        for name, parameter in self.plan.signature.parameters.items():
            match parameter.kind:
                case _Kind.VAR_POSITIONAL:
                    pieces.append(f"*{name}")
                case _Kind.VAR_KEYWORD:
                    pieces.append(f"**{name}")
                case _Kind.KEYWORD_ONLY:
                    pieces.append(f"{name}={self._given(name)}")
                case _:
                    pieces.append(self._given(name))
        return f"{'await ' * self.plan.is_async}{self.function}({', '.join(pieces)})"

    @staticmethod
    def _mapping(values: Mapping[str, str]) -> str:
        return f"{{{', '.join(f'{name!r}: {value}' for name, value in values.items())}}}"
