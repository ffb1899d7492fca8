"""`install_import_hook` checks every function and dataclass of the named packages, and changes nothing else of them."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
import textwrap
import traceback
import typing
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import zeros as z

import shaped
from shaped.runtime.checked import import_hook
from shaped.runtime.checked.import_hook import UncheckedWarning, install_import_hook

Write = Callable[..., ModuleType]
HEAD = """
from torch import Tensor, nn
from jaxtyping import Float
"""
FUNCTION = HEAD + 'def f(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:\n    return x + y\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that modules are imported from; what is imported or hooked in a test is gone after it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


@pytest.fixture
def load(folder: Path) -> Write:
    """Import a module of this source, with the hook installed for it."""

    def load(source: str, name: str = "hooked") -> ModuleType:
        write(folder, f"{name}.py", source)
        with install_import_hook(name):
            return importlib.import_module(name)

    return load


def write(folder: Path, name: str, source: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(source), encoding="utf-8")
    importlib.invalidate_caches()
    return file


def test_it_is_a_name_of_the_package() -> None:
    assert shaped.install_import_hook is install_import_hook


def test_functions_are_checked(load: Write) -> None:
    module = load(FUNCTION)
    assert module.f(z(3), z(3)).shape == (3,)
    with pytest.raises(shaped.errors.ShapeError):
        module.f(z(3), z(4))


def test_methods_nested_functions_and_async_functions_are_checked(load: Write) -> None:
    module = load(
        HEAD
        + """
class Model(nn.Module):
    def forward(self, x: Float[Tensor, "b 3"]) -> Float[Tensor, "b"]:
        def inner(x: Float[Tensor, "b b"]) -> None: ...
        inner(x)
        return x.sum(1)

    class Inner:
        @staticmethod
        def f(x: int) -> None: ...

async def later(x: int) -> int:
    return x

class AsyncModel:
    async def forward(self, x: int) -> int:
        return x
"""
    )
    model = module.Model()
    assert model(z(3, 3)).shape == (3,)
    with pytest.raises(TypeError, match="inner"):
        model(z(2, 3))
    with pytest.raises(TypeError, match="forward"):
        model(z(3, 2))
    with pytest.raises(TypeError):
        module.Model.Inner.f("x")
    for coroutine in (lambda: module.later("x"), lambda: module.AsyncModel().forward("x")):
        with pytest.raises(TypeError):
            coroutine().send(None)


def test_dataclasses_are_checked_and_other_classes_are_as_they_were(load: Write) -> None:
    module = load(
        HEAD
        + """
import dataclasses
@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    x: Float[Tensor, "b c"]
    y: Float[Tensor, "b"]

class Derived(Batch):
    pass

class Plain:
    x: int = "x"
"""
    )
    module.Batch(z(3, 4), z(3))
    for made in (module.Batch, module.Derived):
        with pytest.raises(TypeError):
            made(z(3, 4), z(4))
    assert module.Plain.x == "x"


def test_decorators_stand_above_the_check(load: Write) -> None:
    """As with jaxtyping: what they get is checked already, and has its annotations."""
    module = load(
        HEAD
        + """
import contextlib
import functools

seen = []

def note(function):
    seen.append(dict(function.__annotations__))
    return lambda *args: function(*args)

@note
def f(x: Float[Tensor, "b b"]) -> None: ...

class Model:
    @property
    def size(self) -> int:
        return "x"
    @size.setter
    def size(self, value: int) -> None: ...
    @classmethod
    def of(cls, x: int) -> None: ...
    @functools.cached_property
    def cached(self) -> int:
        return "x"

@contextlib.contextmanager
def using(x: int):
    yield x

@functools.lru_cache
def cached(x: int) -> int:
    return x
"""
    )
    assert [set(annotations) for annotations in module.seen] == [{"x", "return"}]
    model = module.Model()
    for wrong in (
        lambda: module.f(z(2, 3)),
        lambda: model.size,
        lambda: setattr(model, "size", "x"),
        lambda: module.Model.of("x"),
        lambda: model.cached,
        lambda: module.using("x").__enter__(),
        lambda: module.cached("x"),
    ):
        with pytest.raises(TypeError):
            wrong()
    assert module.cached.cache_info().misses == 1


def test_modules_of_a_package_are_checked_and_others_are_not(folder: Path) -> None:
    write(folder, "package/__init__.py", "from . import inner\n" + FUNCTION)
    write(folder, "package/inner.py", FUNCTION)
    write(folder, "package/deep/__init__.py", "")
    write(folder, "package/deep/deeper.py", FUNCTION)
    write(folder, "packaged.py", FUNCTION)
    with install_import_hook(["package", "absent"]) as hook:
        names = ["package", "package.inner", "package.deep.deeper", "packaged"]
        modules = [importlib.import_module(name) for name in names]
    assert hook.packages == ("package", "absent")
    for module in modules[:3]:
        with pytest.raises(TypeError):
            module.f(z(3), z(1))
    assert modules[3].f(z(3), z(1)).shape == (3,)


def test_a_submodule_alone_may_be_named(folder: Path) -> None:
    write(folder, "package/__init__.py", FUNCTION)
    write(folder, "package/inner.py", FUNCTION)
    with install_import_hook("package.inner"):
        outer, inner = importlib.import_module("package"), importlib.import_module("package.inner")
    assert outer.f(z(3), z(1)).shape == (3,)
    with pytest.raises(TypeError):
        inner.f(z(3), z(1))


def test_a_package_can_hook_its_own_submodules(folder: Path) -> None:
    source = "import shaped\nwith shaped.install_import_hook(__name__):\n    from .inner import f\n"
    write(folder, "package/__init__.py", source)
    write(folder, "package/inner.py", FUNCTION)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = importlib.import_module("package")
    with pytest.raises(TypeError):
        module.f(z(3), z(1))


def test_after_uninstall_modules_are_imported_as_they_are(folder: Path) -> None:
    write(folder, "first.py", FUNCTION)
    write(folder, "second.py", FUNCTION)
    hook = install_import_hook(["first", "second"])
    first = importlib.import_module("first")
    hook.uninstall()
    hook.uninstall()
    second = importlib.import_module("second")
    with pytest.raises(TypeError):
        first.f(z(3), z(1))
    assert second.f(z(3), z(1)).shape == (3,)


def test_two_hooks_for_a_package_are_no_more_than_one(folder: Path) -> None:
    write(folder, "hooked.py", FUNCTION)
    with install_import_hook("hooked"), install_import_hook("hooked"):
        module = importlib.import_module("hooked")
    assert not hasattr(module.f.__wrapped__, "__wrapped__")


def test_a_module_that_is_imported_already_is_named_in_a_warning(folder: Path) -> None:
    write(folder, "early.py", FUNCTION)
    write(folder, "late.py", FUNCTION)
    early = importlib.import_module("early")
    with pytest.warns(UncheckedWarning, match="imported already.*: early. ") as caught, install_import_hook("early"):
        pass
    assert caught[0].filename == __file__
    assert early.f(z(3), z(1)).shape == (3,)
    with pytest.warns(UncheckedWarning), install_import_hook(["early", "late"]):
        reloaded = importlib.reload(early)
    with pytest.raises(TypeError):
        reloaded.f(z(3), z(1))


@pytest.mark.parametrize("name", ["", ".a", "a.", "a b", "a-b", 3])
def test_what_is_no_name_of_a_package_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="no name of a package"):
        install_import_hook([name])


SOURCE = '''"""The docstring."""

from __future__ import annotations

from torch import Tensor
from jaxtyping import Float

import functools


def keep(function):
    return function


@keep
@functools.lru_cache(
    maxsize=None,
)
def decorated(k: int) -> int:
    """Says."""
    return 1 // k


@keep
class Model:
    """A class."""

    @keep
    def fails(self, x: Float[Tensor, "b"]) -> None:
        raise ValueError("line 30")


def plain(x: Float[Tensor, "b"]): return 1 // len(x)
'''


def test_lines_and_sources_are_those_of_the_file(load: Write) -> None:
    module = load(SOURCE)
    assert module.__doc__ == "The docstring."
    tree = ast.parse(SOURCE)
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            wanted = SOURCE.splitlines(keepends=True)[first - 1 : node.end_lineno]
            assert inspect.getsourcelines(getattr(module, node.name)) == (wanted, first)
    for call, line in (
        (lambda: module.decorated(0), 21),
        (lambda: module.Model().fails(z(3)), 30),
        (lambda: module.plain(z(0)), 33),
    ):
        with pytest.raises((ValueError, ZeroDivisionError)) as caught:
            call()
        frames = traceback.extract_tb(caught.tb)
        assert (frames[-1].lineno, frames[-1].filename) == (line, module.__file__)
    assert module.Model.fails.__wrapped__.__code__.co_firstlineno == 28


def test_names_of_the_module_are_those_of_its_source(load: Write, folder: Path) -> None:
    module = load('"""Docs."""\nfrom __future__ import annotations\nx: int = 3\ndef f(x: int) -> int: return x\n')
    assert {name for name in vars(module) if name.isidentifier() and not name.startswith("__")} == {
        "annotations",
        "x",
        "f",
    }
    scope: dict[str, Any] = {}
    exec("from hooked import *", scope)
    assert set(scope) == {"__builtins__", "annotations", "x", "f"}


@pytest.mark.parametrize(
    "source", ["", "# only a comment\n", '"""Only docs."""\n', "from __future__ import annotations"]
)
def test_modules_that_say_little(load: Write, source: str) -> None:
    load(source)


def test_a_syntax_error_is_python_s_own(load: Write) -> None:
    with pytest.raises(SyntaxError) as caught:
        load("x = 1\ndef f(:\n")
    assert caught.value.lineno == 2


KINDS = """
import abc
import enum
import typing
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypedDict, no_type_check, overload, runtime_checkable

class Options(TypedDict, total=False):
    lr: float

class Pair(NamedTuple):
    left: int
    right: int = 2
    def total(self, by: int = 1) -> int:
        return (self.left + self.right) * by

class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    def mixed(self, other: "Colour") -> int:
        return self.value + other.value
    @property
    def doubled(self) -> int:
        return self.value * 2
    @classmethod
    def _missing_(cls, value: object) -> "Colour":
        return cls.RED

class Flags(enum.IntFlag):
    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return 2 ** count
    A = enum.auto()
    B = enum.auto()

@runtime_checkable
class Sized(Protocol):
    def size(self, by: int) -> int: ...

class Ball:
    def size(self, by: int) -> int:
        return by

class Base(abc.ABC):
    @abc.abstractmethod
    def f(self, x: int) -> int: ...
    def __init_subclass__(cls, name: str = "", **rest) -> None:
        super().__init_subclass__(**rest)
        cls.name = name
    def __class_getitem__(cls, item: int) -> int:
        return item
    def __new__(cls, *args) -> "Base":
        return super().__new__(cls)

class Derived(Base, name="derived"):
    def __init__(self, x: int) -> None:
        super().__init__()
        self.x = x
    def f(self, x: int) -> int:
        return x

@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> str: ...
def double(x):
    return x * 2

@no_type_check
def unchecked(x: int) -> int:
    def inner(y: int) -> int:
        return y
    return inner(x)

@no_type_check
class Unchecked:
    def f(self, x: 3) -> int:
        return x

@typing.no_type_check
@dataclass
class UncheckedData:
    x: int

def counted(n: int):
    for i in range(n):
        yield i

lazy = lambda x: x
"""


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_classes_and_functions_of_every_kind_work(load: Write, future: str) -> None:
    typing.clear_overloads()
    module = load(future + KINDS)
    assert module.Options(lr=0.1) == {"lr": 0.1}
    assert module.Options.__optional_keys__ == {"lr"}
    assert module.Pair(1).total(by=2) == 6
    assert module.Pair._fields == ("left", "right")
    assert [colour.name for colour in module.Colour] == ["RED", "GREEN"]
    assert module.Colour.RED.mixed(module.Colour.GREEN) == 3
    assert module.Colour.GREEN.doubled == 4
    assert module.Colour(7) is module.Colour.RED
    assert module.Flags.B == 2
    assert isinstance(module.Ball(), module.Sized)
    assert not isinstance(3, module.Sized)
    with pytest.raises(TypeError, match="abstract"):
        module.Base()
    assert module.Derived.name == "derived"
    assert module.Derived(3).f(4) == 4
    assert module.Base[3] == 3
    assert module.double("x") == "xx"
    overloads = typing.get_overloads(module.double)
    assert [function.__annotations__["return"] for function in overloads] in ([int, str], ["int", "str"])
    assert module.unchecked("x") == module.Unchecked().f("x") == module.UncheckedData("x").x == "x"
    assert list(module.counted(3)) == [0, 1, 2]
    for wrong in (
        lambda: module.Pair(1).total(by="x"),
        lambda: module.Derived("x"),
        lambda: module.Base["x"],
        lambda: module.counted("x"),
        lambda: module.Ball().size("x"),
    ):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_functions_that_another_decorator_reads_are_left_to_it(load: Write) -> None:
    module = load(
        "from __future__ import annotations\n"
        + HEAD
        + """
import torch
import torch.jit

@torch.jit.script
def scripted(x: Tensor, k: int) -> Tensor:
    return x * k

@torch.library.custom_op("shaped_hooked::double", mutates_args=())
def double(x: Tensor) -> Tensor:
    return x * 2
"""
    )
    assert torch.equal(module.double(torch.ones(3)), 2 * torch.ones(3))
    assert isinstance(module.scripted, torch.jit.ScriptFunction)
    assert module.scripted(z(3), 2).shape == (3,)


def test_a_function_that_is_checked_already_is_not_checked_twice(load: Write) -> None:
    module = load(
        HEAD
        + """
import shaped
from shaped import checked

@checked
def f(x: int) -> int:
    def inner(y: int) -> int:
        return y
    return inner(x)

@shaped.checked
def g(x: int) -> int:
    return x
"""
    )
    for function in (module.f, module.g):
        assert not hasattr(function.__wrapped__, "__wrapped__")
        with pytest.raises(TypeError):
            function("x")


def test_a_function_that_cannot_be_checked_is_left_as_it_is(load: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = import_hook.checked

    def broken(function: Callable[..., Any]) -> Callable[..., Any]:
        if function.__name__ == "odd":
            raise RuntimeError("a fault of the checks")
        return checked(function)

    monkeypatch.setattr(import_hook, "checked", broken)
    with pytest.warns(UncheckedWarning, match=r"hooked\.odd is not checked: a fault of the checks") as caught:
        module = load("def odd(x: int) -> int:\n    return x\ndef f(x: int) -> int:\n    return x\n")
    assert [(warning.filename, warning.lineno) for warning in caught] == [(module.__file__, 1)]
    assert module.odd("x") == "x"
    with pytest.raises(TypeError):
        module.f("x")


def test_a_module_that_cannot_be_instrumented_is_loaded_as_it_is(
    load: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(module: ast.Module) -> None:
        raise RuntimeError("a fault of the hook")

    with monkeypatch.context() as context:
        context.setattr(import_hook, "_instrument", broken)
        with pytest.warns(UncheckedWarning, match="hooked is imported unchecked.*a fault of the hook") as caught:
            module = load(FUNCTION)
    assert len(caught) == 1
    assert module.f(z(3), z(1)).shape == (3,)
    # What was loaded then is not kept for the next run.
    del sys.modules["hooked"]
    with pytest.raises(TypeError):
        load(FUNCTION).f(z(3), z(1))


def cached(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / "__pycache__").glob("*.pyc"))


def test_bytecode_with_and_without_the_hook_are_two_files(load: Write, folder: Path) -> None:
    tag = sys.implementation.cache_tag
    load(FUNCTION)
    assert cached(folder) == [f"hooked.{tag}.opt-shaped{import_hook._VERSION}.pyc"]
    del sys.modules["hooked"]
    assert importlib.import_module("hooked").f(z(3), z(1)).shape == (3,)
    assert cached(folder) == [f"hooked.{tag}.opt-shaped{import_hook._VERSION}.pyc", f"hooked.{tag}.pyc"]
    del sys.modules["hooked"]
    with pytest.raises(TypeError):
        load(FUNCTION).f(z(3), z(1))


def test_a_module_that_an_instrumented_one_imports_keeps_its_bytecode(load: Write, folder: Path) -> None:
    write(folder, "other.py", "x = 3\n")
    load("import other\n")
    assert f"other.{sys.implementation.cache_tag}.pyc" in cached(folder)


def test_the_bytecode_is_used_until_the_source_changes(
    load: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(FUNCTION)
    del sys.modules["hooked"]
    compiled = []
    compile_module = import_hook._compile
    monkeypatch.setattr(import_hook, "_compile", lambda *args: compiled.append(args) or compile_module(*args))
    with install_import_hook("hooked"):
        module = importlib.import_module("hooked")
    assert compiled == []
    with pytest.raises(TypeError):
        module.f(z(3), z(1))
    del sys.modules["hooked"]
    assert load(FUNCTION + "x = 3\n").x == 3
    assert len(compiled) == 1
    del sys.modules["hooked"]
    (file,) = (folder / "__pycache__").glob("*.pyc")
    file.write_bytes(file.read_bytes()[:20])
    with install_import_hook("hooked"):
        assert importlib.import_module("hooked").x == 3
    assert len(compiled) == 2


def test_no_bytecode_is_written_where_python_is_told_so(
    load: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    load(FUNCTION)
    assert cached(folder) == []


def test_a_module_can_be_run_as_a_program(folder: Path) -> None:
    source = FUNCTION + 'import torch\nif __name__ == "__main__":\n    f(torch.zeros(3), torch.zeros(1))\n'
    write(folder, "package/__init__.py", "")
    write(folder, "package/__main__.py", source)
    program = (
        "import runpy, shaped; shaped.install_import_hook('package'); runpy.run_module('package', None, '__main__')"
    )
    done = run(program, folder)
    assert 'argument y of f: (1,) does not match "b"' in done.stderr
    assert "__main__.py" in done.stderr


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of its own in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(Path(shaped.__file__).parent.parent), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.filterwarnings("ignore:install_import_hook")
def test_modules_of_other_loaders_are_as_they_were(folder: Path) -> None:
    (folder / "space").mkdir()
    write(folder, "space/inner.py", FUNCTION)
    with install_import_hook(["space", "_socket", "absent"]):
        assert importlib.import_module("_socket") is sys.modules["_socket"]
        importlib.import_module("space")
        inner = importlib.import_module("space.inner")
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("absent")
    with pytest.raises(TypeError):
        inner.f(z(3), z(1))
