"""Whatever the text, a clear answer in bounded time: no exception, no note of a fault within the checker."""

# ruff: noqa: E501
from __future__ import annotations

import ast
import random
import sys
import textwrap
import time
from pathlib import Path

import pytest

from shaped.static import operators
from shaped.static.check import Checker
from shaped.static.host import check_source
from shaped.static.report import Diagnostic, Report

HERE = Path("nowhere") / "program.py"
TESTS = Path(__file__).parent.parent
MOST_SECONDS = 5.0  # of processor time for any text below


def check(source: str) -> Report:
    """The report on a text; it takes at most `MOST_SECONDS`, and a fault of the checker itself is raised."""
    start = time.process_time()
    report = Checker(show_traceback=True).check(HERE, source)
    assert time.process_time() - start < MOST_SECONDS
    return report


def silent(source: str) -> None:
    """Nothing at all is said about a text."""
    assert check(source).diagnostics == []


def faults_within(report: Report) -> list[Diagnostic]:
    """The notes of faults of the checker itself."""
    return [found for found in report.diagnostics if found.code == "internal"]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x = (1", 1),
        ("x = 1\ny = = 2\n", 2),
        ("def f():\nreturn 1\n", 2),
        ("if True:\n\tx = 1\n        y = 2\n", 3),
        ("x = 'never closed\n", 1),
        ("for in x: pass", 1),
        ("x = 1\n\n\nclass\n", 4),
        ("return = 3", 1),
    ],
)
def test_a_syntax_error_is_one_diagnostic_on_its_line(source: str, line: int) -> None:
    found = check(source).diagnostics
    assert [(one.code, one.span.line) for one in found] == [("syntax", line)]
    assert found[0].message


def test_null_bytes_are_a_syntax_error() -> None:
    assert [one.code for one in check("x = 1\0\n").diagnostics] == ["syntax"]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\n\n\n",
        "# only a comment",
        '"""Only a docstring."""',
        "\ufeffx = 1\n",
        "x = 1\r\ny = 2\r\n",
        "if True:\n\tx = 1\n\ty = 2\n",
        "\f\nx = 1\n",
        "x = 'é ∀ 🙂'\nπ = 3\n",
        "pass;" * 100,
    ],
)
def test_odd_texts_are_read(source: str) -> None:
    silent(source)


def test_a_file_that_is_no_text_is_one_diagnostic(tmp_path: Path) -> None:
    path = tmp_path / "binary.py"
    path.write_bytes(b"x = '\xff\xfe'\n")
    assert [one.code for one in Checker().check(path).diagnostics] == ["syntax"]


MODEL = """
class Model{i}(nn.Module):
    def __init__(self, width: int, depth: int = 2):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.head = nn.Linear(width, 10)

    def forward(self, x: Float[Tensor, "b width"]) -> Float[Tensor, "b 10"]:
        for layer in self.layers:
            x = torch.relu(layer(x)) + x
        y = self.head(x)
        return y.log_softmax(-1)

"""


def long_file(lines: int) -> str:
    """A file of about so many lines, of ordinary models."""
    start = "import torch\nfrom torch import nn, Tensor\nfrom jaxtyping import Float\n"
    return start + "".join(MODEL.format(i=i) for i in range(lines // 14))


def test_a_file_of_ten_thousand_lines_costs_in_proportion() -> None:
    times = []
    for lines in (2_500, 10_000):
        start = time.process_time()
        assert Checker(show_traceback=True).check(HERE, long_file(lines)).diagnostics == []
        times.append(time.process_time() - start)
    assert times[1] < 12 * max(times[0], 0.1)
    assert times[1] < 4 * MOST_SECONDS


DEEP = {
    "parentheses": "x = " + "(" * 90 + "1" + ")" * 90,
    "lists": "x = " + "[" * 90 + "]" * 90,
    "too many parentheses": "x = " + "(" * 1000 + "1" + ")" * 1000,
    "negations": "x = " + "not " * 1000 + "y",
    "minuses": "x = " + "-" * 900 + "1",
    "a long sum": "x = 1\ny = " + " + ".join(["x"] * 3000),
    "a long sum of tensors": "import torch\nx = torch.zeros(2)\ny = " + " + ".join(["x"] * 3000),
    "a long chain of methods": "import torch\nx = torch.zeros(2)" + ".relu()" * 1000,
    "a long chain of attributes": "x = y" + ".z" * 2000,
    "a long chain of comparisons": "x = " + " < ".join(["y"] * 2000),
    "a long or": "x = " + " or ".join(["y"] * 2000),
    "many elifs": "x = y\nif x: pass\n" + "".join(f"elif x == {i}: z = {i}\n" for i in range(300)),
    "many branches": "x = y\n" + "".join(f"if x == {i}: z = {i}\n" for i in range(2000)),
    "nested ifs": "\n".join(" " * i + f"if y{i}:" for i in range(95)) + "\n" + " " * 95 + "pass",
    "nested fors": "\n".join(" " * i + f"for a{i} in y:" for i in range(18)) + "\n" + " " * 18 + "b = a0",
    "nested whiles": "\n".join(" " * i + f"while y{i}:" for i in range(18)) + "\n" + " " * 18 + "b = y0",
    "nested functions": "\n".join(" " * i + f"def f{i}():" for i in range(95)) + "\n" + " " * 95 + "return 1",
    "nested classes": "\n".join(" " * i + f"class A{i}:" for i in range(95)) + "\n" + " " * 95 + "x = 1",
    "nested lambdas": "x = " + "lambda: " * 500 + "1",
    "nested calls": "x = " + "f(" * 90 + "1" + ")" * 90,
    "nested comprehensions": "x = " + "[" * 20 + "1" + "".join(f" for a{i} in y]" for i in range(20)),
    "nested tries": "\n".join(" " * i + "try:" for i in range(18))
    + "\n"
    + " " * 18
    + "x = 1\n"
    + "".join("\n" + " " * i + "except E:\n" + " " * i + "  x = 2" for i in reversed(range(18))),
    "nested conditionals": "x = " + "".join(f"{i} if y{i} else " for i in range(400)) + "1",
    "many arguments": f"def f({', '.join(f'a{i}' for i in range(1000))}): return a0\nx = f({', '.join('1' * 1000)})",
    "many returns": "def f(x):\n" + "".join(f"  if x == {i}: return {i}\n" for i in range(1000)) + "y = f(z)",
    "a long list": f"x = [{', '.join(map(str, range(100_000)))}]\ny = x[7]\nz = [a + 1 for a in x]\nfor b in x: c = b",
    "a long dict": "x = {" + ", ".join(f"'{i}': {i}" for i in range(20_000)) + "}\ny = x['7']",
    "a long string": "x = '" + "a" * 1_000_000 + "'\ny = len(x)",
    "a huge int": "x = " + "9" * 4000 + "\ny = x * x\nz = x ** 8\nw = 10 ** 10 ** 10\nv = 1 << 10 ** 9",
    "a huge repetition": "x = [0] * 10 ** 9\ny = (1, 2) * 10 ** 12\nz = 'a' * 10 ** 12\nw = list(range(10 ** 12))",
    "a huge range": "for i in range(10 ** 18): x = i\ny = [i for i in range(10 ** 18)]\nz = sum(range(10 ** 18))",
    "sizes that multiply": "x = 2\n" + "x = x * x\n" * 200 + "y = x % 7",
    "sizes that add up": "def f(a: int, b: int):\n" + "    a, b = a + b, a * b\n" * 60 + "    return a",
    "sizes that are divided": "def f(a: int, b: int):\n"
    + "    a = (a + b) // (b + 1) + a % (b + 2)\n" * 40
    + "    return a",
}


@pytest.mark.parametrize("what", DEEP)
def test_deep_and_large_code_takes_bounded_time(what: str) -> None:
    codes = {found.code for found in check(DEEP[what]).diagnostics}
    assert codes <= {"syntax"}


ODD = {
    "recursion": "def f(n): return f(n - 1) if n else 1\nx = f(9)\ndef g(): return g()\ny = g()",
    "mutual recursion": "def f(n): return g(n)\ndef g(n): return h(n)\ndef h(n): return f(n)\nx = f(3)",
    "recursion that fans out": "def f(n): return f(n - 1) + f(n - 2) + f(n - 3)\nx = f(30)\ndef g(n: int): return f(n)",
    "calls that double": "".join(f"def f{i}(x): return f{i + 1}(x) + f{i + 1}(x + 1)\n" for i in range(60))
    + "def f60(x): return x\ny = f0(1)",
    "a default that calls its function": "def f(x=1): return x\ndef f(x=f()): return f(x)\ny = f()",
    "a lambda that calls itself": "f = lambda n: f(n - 1)\nx = f(3)\ng = lambda h: h(h)\ny = g(g)",
    "a class that holds itself": "class A:\n  def __init__(self): self.a = A()\na = A()\nb = a.a.a.a",
    "a class that inherits from itself": "class A(A): pass\nclass B: pass\nclass B(B): x = 1\ny = B().x",
    "classes that inherit from each other": "class A(B): pass\nclass B(A): pass\nclass A(B): pass\nx = A().y",
    "an object in itself": "class A: pass\na = A()\na.a = a\nb = a.a.a.a\ndef f(x): return x.a\nc = f(a)",
    "a list in itself": "a = []\na.append(a)\nb = a[0][0]\ndef f(x): return x\nc = f(a)\nfor d in a: e = d\nf = a == a",
    "a dict in itself": "a = {}\na['a'] = a\nb = a['a']['a']\nif y: a['b'] = a\nc = a | a",
    "lists in each other": "a, b = [], []\na.append(b)\nb.append(a)\nc = a if y else b\nd = c[0][0]\nwhile z: a = b",
    "an import of itself": "import program\nfrom program import x, y as z\nfrom . import program as q\nx = program.x\nw = q.q.q",
    "missing modules": "from missing import *\nfrom .missing import *\nfrom ... import a\nimport b.c.d as e\nx = a(e.f)",
    "builtins that are shadowed": "def len(x): return x\nint = 3\nrange = list = print = None\nx = [len(int), *range]\nlist(x)",
    "names that are not there": "x = y\ny()\nz.a.b = 3\nz[1] += 2\ndel q, q.r, q[0]\nfor a.b in c: pass\nwith d as e[0]: pass",
    "exec and globals": "exec('x = 1')\nglobals()['y'] = 2\nlocals().update(z=3)\na = x + y + z\nb = eval('1') + vars()['q']",
    "metaclasses": "class M(type):\n  def __new__(m, *a, **k): return super().__new__(m, *a, **k)\nclass A(metaclass=M, x=1): pass\nA().y",
    "slots": "class A:\n  __slots__ = 'x', 'y'\n  def __init__(self): self.x = 1\na = A()\na.y = a.x",
    "a class in a function": "def f(n):\n  class A:\n    m = n\n    def g(self): return A\n  return A\nx = f(1)().g()().m",
    "functions in a loop": "fs = []\nfor i in range(40):\n  def f(j=i): return i + j\n  fs.append(f)\nx = [f() for f in fs]",
    "async": "async def f(x):\n  async with x as y:\n    async for z in y: await z\n  return [i async for i in x]\nasync def g():\n  yield 1",
    "decorators": "@property\ndef f(x): return x\n@a.b[0](c)(d)\ndef g(x): return x\n@lambda f: f\nclass A: pass\n@staticmethod\n"
    "@classmethod\ndef h(): pass\nx = f, g(1), A(), h()",
    "properties that recur": "class A:\n  @property\n  def x(self): return self.x\n  @x.setter\n  def x(self, v): self.x = v\na = A()\n"
    "a.x = a.x",
    "special methods that recur": "class A:\n  def __len__(self): return len(self)\n  def __call__(self): return self()\n"
    "  def __getitem__(self, i): return self[i]\n  def __getattr__(self, n): return getattr(self, n)\n"
    "a = A()\nx = len(a), a(), a[0], a.b, bool(a), *a",
    "walrus": "x = [y := 1, y + 1]\nz = [(w := i) for i in range(3)]\nif (a := b) and (c := a): pass\n[k := j for j in (k := x)]",
    "global and nonlocal": "def f():\n  global x\n  x = 1\n  def g():\n    nonlocal y\n    y = 2\n  y = 1\n  g()\n  return y\nx = f()\n"
    "def h():\n  global never\n  return never",
    "stars": "a, *b = *c, *d = x\n[*e, f] = 1, *x\ng = [*h, *{**i}]\nj(*k, *m, **l, **n)\nfor o, *p in q: pass\n(*r,) = 1,",
    "unpacking that does not fit": "a, b = 1\nc, d = (1,)\n(e, f), g = 1, 2\nh, = []\n*i, j = ()\nk, l = 'abc'",
    "odd indices": "x = [1, 2]\ny = x[5], x[-9], x['a'], x[1:2:0], x[::-1], x[None], x[...], x[x], ()[0], ''[0], {}[x], 3[0]",
    "odd operators": "x = 1 / 0, 1 // 0, 1 % 0, 0 ** -1, 1 << -1, 'a' + 1, [] + (), None + 1, 2 ** 0.5, -'a', ~1.5, not [], 1 @ 2, 5 % -3",
    "odd formats": "x = f'{1!r:>{2}}' f'{y=}' f'{z:{w}}' '%s' % 3\nb'abc'[0], rb'', 1j * 2, 1_000, 0x1f, ...",
    "odd returns": "return_ = 1\ndef f():\n  try: return 1\n  except: return 2\n  else: return 3\n  finally: return 4\nx = f()\nwhile True: pass",
    "loops that do not end": "while True:\n  x = 1\n  continue\ny = 2\nfor i in iter(int, 1): z = i\nwhile 1: break\nelse: w = 1",
    "match": "match x:\n  case [1, *a, {'k': b, **c}] | [A(d=1) as e] if f: pass\n  case -1 | 1j | 'a' | None | True: pass\n  case A(): pass\n"
    "  case (g, h) | [g, h]: pass\n  case _: pass",
    "type hints": "x: 'int | not a type[' = 1\ndef f(a: 1 + 2, b: 'x.y[z]', *c: d, **e: f) -> lambda: 0: pass\ny: list[int][str] = f(1, 2)",
    "super": "class A:\n  def f(self): return super().f()\n  def g(): return super().h\nclass B(A):\n  def f(self): return super(A, self).f()\nB().f()\nsuper().x",
    "partials": "from functools import partial\nf = partial(f, 1)\ng = partial(partial)\nh = partial(h, *x, **y)\nf(), g(), h()",
    "enumerate and zip": "zip(), zip(1), enumerate(), enumerate(1, 2, 3), map(), map(f), range(), range('a'), range(1, 2, 0), len(), sum(1)",
    "named tuples": "from typing import NamedTuple\nclass A(NamedTuple):\n  a: int\n  b: int = a\nx, y = A(1)\nz = A(*A(1))._replace(a=A)",
    "dataclasses": "from dataclasses import dataclass\n@dataclass\nclass A:\n  a: 'A'\n  b: int = 1\n  def __post_init__(self): self.c = A(self)\nA(A(1))",
    "chained assignment": "a = b = c[0] = d.e = (f, g) = [h, *i] = x",
    "torch with wrong arguments": "import torch\nfrom torch import nn\nx = torch.zeros()\ny = nn.Linear()\nz = nn.Conv2d(*q)\n"
    "w = y(x, x, x)\nv = nn.Sequential(1, 2)(x)\nu = torch.nothing(1)\nt = x.nothing(1).shape[0].y",
}


@pytest.mark.parametrize("what", ODD)
def test_odd_code_is_read(what: str) -> None:
    assert faults_within(check(ODD[what])) == []


@pytest.mark.parametrize(
    "source",
    [
        "type Pair[T] = tuple[T, T]\ndef first[T](x: Pair[T]) -> T: return x[0]\ny = first((1, 2))",
        "class Box[T: int, *Ts, **P]:\n  def get(self) -> T: return self.x\nBox[int]().get()",
    ],
)
def test_type_parameters_are_read_where_python_has_them(source: str) -> None:
    codes = [found.code for found in check(source).diagnostics]
    assert codes == ([] if sys.version_info >= (3, 12) else ["syntax"])


def test_modules_that_import_each_other_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import b\nfrom b import y\nx = 1\nz = b.w\nclass A(b.B): pass\n")
    (tmp_path / "b.py").write_text("import a\nfrom a import x, z\ny = x\nw = a.z\nclass B: pass\nclass C(a.A): pass\n")
    (tmp_path / "c.py").write_text("from c import c\nimport c as d\nfrom a import *\nfrom b import *\nx = d.d.c\n")
    for name in ("a.py", "b.py", "c.py"):
        report = Checker(show_traceback=True).check(tmp_path / name)
        assert report.diagnostics == []


def test_a_package_that_imports_itself_is_read(tmp_path: Path) -> None:
    package = tmp_path / "p"
    package.mkdir()
    (package / "__init__.py").write_text("from . import q\nfrom .q import *\nfrom .q import x as x\nimport p.q\n")
    (package / "q.py").write_text("from . import q\nfrom .. import p\nfrom p import x\nx = x\nfrom .missing import y\n")
    for path in package.iterdir():
        assert Checker(show_traceback=True).check(path).diagnostics == []


# Faults within the checker


FAULTY = """
import torch

def first(x):
    return x

def second():
    a = 1 + 2
    return a

def third():
    return torch.zeros(2) @ torch.zeros(3)
"""


def broken(*_: object) -> None:
    """A rule with a fault of its own."""
    raise RuntimeError("a rule is broken")


def test_a_fault_within_the_checker_is_one_note_and_the_rest_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "ints", broken)
    found = Checker().check(HERE, FAULTY).diagnostics
    notes = [one for one in found if one.code == "internal"]
    assert [(one.severity, one.span.line) for one in notes] == [("note", 8)]
    assert "second" in notes[0].message
    assert "RuntimeError: a rule is broken" in notes[0].message
    assert [one.span.line for one in found if one.severity == "error"] == [12]


def test_a_fault_within_the_checker_is_raised_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "ints", broken)
    with pytest.raises(RuntimeError, match="a rule is broken"):
        Checker(show_traceback=True).check(HERE, FAULTY)


def test_a_fault_of_all_of_the_checker_is_one_note_too(monkeypatch: pytest.MonkeyPatch) -> None:
    checker = Checker()
    monkeypatch.setattr(checker, "check", broken)
    checked = check_source(checker, HERE, FAULTY)
    assert [one.code for one in checked.report.diagnostics] == ["internal"]
    assert "a rule is broken" in checked.traceback


# Mutants of real programs


def programs() -> list[Path]:
    """The programs of the tests and the examples."""
    folders = (TESTS / "cases", TESTS.parent / "examples")
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def mutant(source: str, chance: random.Random) -> str:
    """The program with one or two things changed at random; what comes out is Python, and means anything."""
    tree = ast.parse(source)
    for _ in range(chance.randint(1, 2)):
        chance.choice([_drop, _repeat, _swap, _change_constant, _shuffle_arguments])(tree, chance)
    return ast.unparse(ast.fix_missing_locations(tree))


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    return [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list) and node.body]


def _drop(tree: ast.AST, chance: random.Random) -> None:
    body = chance.choice(_bodies(tree))
    body[chance.randrange(len(body))] = ast.Pass()


def _repeat(tree: ast.AST, chance: random.Random) -> None:
    body = chance.choice(_bodies(tree))
    body.insert(chance.randrange(len(body) + 1), chance.choice(body))


def _swap(tree: ast.AST, chance: random.Random) -> None:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    one, other = chance.choice(names), chance.choice(names)
    one.id, other.id = other.id, one.id


def _change_constant(tree: ast.AST, chance: random.Random) -> None:
    texts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in texts]
    if constants:
        chance.choice(constants).value = chance.choice([0, 1, -1, 7, 2**40, None, True, 0.5, "", "b d", ...])


def _shuffle_arguments(tree: ast.AST, chance: random.Random) -> None:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    if calls:
        call = chance.choice(calls)
        chance.shuffle(call.args)
        if chance.random() < 0.5:
            call.args.pop()


def survive(seed: int, count: int) -> None:
    """So many mutants are checked without a fault of the checker itself."""
    chance = random.Random(seed)
    texts = [path.read_text(encoding="utf-8") for path in programs()]
    for _ in range(count):
        source = mutant(chance.choice(texts), chance)
        try:
            report = Checker(show_traceback=True).check(HERE, source)
        except Exception as error:
            raise AssertionError(f"{error!r} on\n{source}") from error
        assert not faults_within(report)


@pytest.mark.parametrize("seed", range(6))
def test_mutants_of_programs_are_read(seed: int) -> None:
    survive(seed, 50)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_mutants_of_programs_are_read(seed: int) -> None:
    survive(seed, 200)


# Python's own library has no tensors


LIBRARY = Path(textwrap.__file__).parent
SMALL = ("abc", "bisect", "colorsys", "fnmatch", "getopt", "hmac", "keyword", "linecache", "reprlib", "sched", "token")
LARGE = (
    *("ast", "calendar", "cmd", "code", "codeop", "configparser", "contextlib", "copy", "csv", "dataclasses", "dis"),
    *(
        "difflib",
        "enum",
        "filecmp",
        "fractions",
        "functools",
        "glob",
        "graphlib",
        "gzip",
        "heapq",
        "imaplib",
        "numbers",
    ),
    *(
        "operator",
        "pprint",
        "queue",
        "quopri",
        "random",
        "shlex",
        "statistics",
        "string",
        "tarfile",
        "textwrap",
        "types",
    ),
)


def read_library(name: str) -> None:
    """A module of the standard library is checked in bounded time, and nothing is found in it."""
    start = time.process_time()
    report = Checker(show_traceback=True).check(LIBRARY / f"{name}.py")
    assert report.diagnostics == []
    assert time.process_time() - start < 4 * MOST_SECONDS


@pytest.mark.parametrize("name", SMALL)
def test_the_standard_library_is_read_without_a_finding(name: str) -> None:
    read_library(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_the_large_modules_of_the_standard_library_are_read_without_a_finding(name: str) -> None:
    read_library(name)
