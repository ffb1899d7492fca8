"""`install_import_hook("pkg")`: every function and dataclass of a package is checked, its source as it is.

The hook is a finder in front of the others. A module of the named packages is compiled from its syntax tree with one
decorator more on every function and class, at the lines where they stand, so that tracebacks and `inspect.getsource`
are as before. The bytecode has a cache tag of its own: a run without the hook never loads it.
"""

from __future__ import annotations

import ast
import dataclasses
import marshal
import sys
import warnings
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from types import CodeType, ModuleType, TracebackType
from typing import Self, TypeVar

from shaped.runtime.checked.decorator import checked

T = TypeVar("T")

_VERSION = 1
"""Part of the cache tag: another number for every change of what `_instrument` writes."""
_DECORATOR = "_@shaped"
"""The name of the decorator in an instrumented module: no program can write it, and `import *` passes it by."""
_NEVER_CHECKED = {"no_type_check", "overload"}
"""Decorators whose functions are not to be checked, or are never called."""
_CHECKERS = {"checked", "jaxtyped"}
"""Decorators that check their functions themselves."""
_COMPILERS = {
    *("triton.jit", "triton.heuristics", "triton.autotune"),
    *("numba.jit", "numba.njit", "numba.vectorize", "numba.guvectorize", "numba.cuda.jit", "cuda.jit"),
    *("nb.jit", "nb.njit", "nb.vectorize", "nb.guvectorize", "nb.cuda.jit"),
    *("torch.jit.script", "torch.jit.script_if_tracing", "torch.jit.export", "torch.jit.ignore", "torch.jit.unused"),
    *("torch.library.custom_op", "torch.library.triton_op"),
}
"""Decorators that need the function itself below them: its source, its bytecode or the globals of its annotations."""


class UncheckedWarning(UserWarning):
    """A module, function or class that was to be checked is not."""


def check_imported(thing: T) -> T:
    """What an instrumented module decorates with: `checked`, except that a fault costs only the checks of `thing`."""
    if isinstance(thing, type) and not dataclasses.is_dataclass(thing):
        return thing  # its methods are decorated one by one
    try:
        return checked(thing)
    except Exception as problem:
        name = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', thing)}"
        warnings.warn(f"{name} is not checked: {problem}", UncheckedWarning, stacklevel=2)
        return thing


class ImportHook:
    """What `install_import_hook` gives: take the hook away by `uninstall`, or at the end of a `with` block."""

    def __init__(self, finder: _Finder) -> None:
        self._finder = finder

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages and modules that are checked."""
        return self._finder.packages

    def uninstall(self) -> None:
        """Leave the modules that are imported from now on as they are; those imported before stay checked."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.uninstall()


def install_import_hook(packages: str | Iterable[str]) -> ImportHook:
    """Check every function and dataclass of packages that are imported from now on.

    `shaped.checked` is put on each function below its other decorators, so that these get a function that is already
    checked (as `torch.compile`, `staticmethod` or `contextmanager` need it), and on each class above its others, where
    `@dataclass` has done its work. Nothing is put on functions and classes with `@no_type_check`, nor on those that
    another decorator compiles from their source (`@triton.jit`). A module that is imported already stays as it is; a
    warning names it.

    Args:
        packages: dotted names of packages and modules; their submodules are meant too.

    Returns:
        A handle with `uninstall()`, also usable in a `with` statement.

    Raises:
        ValueError: a name is no dotted name.

    >>> with install_import_hook(["mymodel", "mydata.loaders"]) as hook:
    ...     hook.packages  # import mymodel
    ('mymodel', 'mydata.loaders')
    """
    names = (packages,) if isinstance(packages, str) else tuple(packages)
    for name in names:
        if not _is_dotted(name):
            raise ValueError(f"install_import_hook: {name!r} is no name of a package: write it as in `import a.b`")
    imported = [name for name in names if _is_loaded(name)]
    if imported:
        warnings.warn(
            f"install_import_hook: imported already, and so not checked: {', '.join(imported)}. "
            "Install the hook before the first import of them.",
            UncheckedWarning,
            stacklevel=2,
        )
    finder = _Finder(names)
    sys.meta_path.insert(0, finder)
    return ImportHook(finder)


def _is_dotted(name: object) -> bool:
    return isinstance(name, str) and all(part.isidentifier() for part in name.split("."))


def _is_loaded(name: str) -> bool:
    """Whether a module has been executed: a package that installs the hook for its own submodules has not."""
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


class _Finder(MetaPathFinder):
    """Finds what the other finders find, and has the modules of the named packages instrumented."""

    def __init__(self, packages: tuple[str, ...]) -> None:
        self.packages = packages

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module as the next finder finds it; None where it is not to be checked or has no Python source."""
        if not any(fullname == package or fullname.startswith(f"{package}.") for package in self.packages):
            return None
        for finder in sys.meta_path:
            # Two hooks for one package are no more than one.
            if isinstance(finder, _Finder) or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is None:
                continue
            # Another kind of loader has its own way to make code: pytest's rewrites the asserts of test modules.
            if isinstance(spec.loader, SourceFileLoader):
                spec.loader = _Loader(spec.loader.name, spec.loader.path)
                spec.cached = _cache_path(spec.loader.path)
            return spec
        return None


class _Loader(SourceFileLoader):
    """Loads a module from its source with the decorator on every function and class."""

    def get_code(self, fullname: str) -> CodeType:
        """The instrumented code, from the cache where that is no older than the source (the format is PEP 552's)."""
        path = self.get_filename(fullname)
        status = self.path_stats(path)
        words = (0, int(status["mtime"]), int(status["size"]))
        header = MAGIC_NUMBER + b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in words)
        cache = _cache_path(path)
        if cache is not None:
            try:
                stored = self.get_data(cache)
                if stored.startswith(header):
                    loaded: CodeType = marshal.loads(stored[len(header) :])
                    return loaded
            except (OSError, EOFError, ValueError, TypeError):
                pass  # none, or a damaged one
        code, is_instrumented = _compile(self.get_data(path), path, fullname)
        if is_instrumented and cache is not None and not sys.dont_write_bytecode:
            self.set_data(cache, header + marshal.dumps(code))
        return code


def _cache_path(source: str) -> str | None:
    """`__pycache__/mod.cpython-311.opt-shaped1.pyc`; None where the interpreter has no caches."""
    level = sys.flags.optimize or ""  # `-O` leaves out asserts, `-OO` docstrings
    try:
        return cache_from_source(source, optimization=f"{level}shaped{_VERSION}")
    except NotImplementedError:
        return None


def _compile(source: bytes, path: str, name: str) -> tuple[CodeType, bool]:
    """The code of a module, and whether it is instrumented; a fault of the instrumentation costs only the checks."""
    tree = ast.parse(source, path)
    try:
        _instrument(tree)
        return compile(tree, path, "exec", dont_inherit=True), True
    except Exception as problem:
        warnings.warn(f"{name} is imported unchecked: {problem!r}", UncheckedWarning, stacklevel=2)
        return compile(source, path, "exec", dont_inherit=True), False


def _instrument(module: ast.Module) -> None:
    """Put the decorator on every function and class of a module, and load it at its top."""
    _decorate_in(module)
    place = 0
    while place < len(module.body) and _stands_first(module.body[place]):
        place += 1
    if place < len(module.body):
        alias = ast.alias(check_imported.__name__, _DECORATOR)
        load = ast.ImportFrom(__name__, [ast.copy_location(alias, module.body[place])], 0)
        module.body.insert(place, ast.copy_location(load, module.body[place]))


def _decorate_in(node: ast.AST) -> None:
    """Put the decorator on the functions and classes in a statement; expressions hold none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            _decorate(child)
        elif isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):
            _decorate_in(child)


def _decorate(definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    decorators = definition.decorator_list
    names = _names(decorators)
    if any(_last(name) in _NEVER_CHECKED or name in _COMPILERS for name in names):
        return
    _decorate_in(definition)
    if any(_last(name) in _CHECKERS for name in names):
        return
    if isinstance(definition, ast.ClassDef):
        # The line of the first decorator is that of the class.
        decorators.insert(0, _decorator_at(decorators[0] if decorators else definition))
    else:
        decorators.append(_decorator_at(definition))


def _decorator_at(node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(_DECORATOR, ast.Load()), node)


def _stands_first(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring or an import from the future."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _names(decorators: Iterable[ast.expr]) -> list[str]:
    """The decorators as they are written, without their arguments: `torch.jit.script`."""
    return [ast.unparse(one.func if isinstance(one, ast.Call) else one) for one in decorators]


def _last(name: str) -> str:
    return name.rpartition(".")[2]
