"""TList under mypy, the oldest and the newest: the types of items, however they are reached, and the checker beside."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.test_mypy import REPOSITORY, Project
from tests.test_mypy import project as project
from tests.test_mypy import warm_caches as warm_caches

if TYPE_CHECKING:
    from pathlib import Path

# What a user's program imports, each as short as it can be: mypy reads all of a library before it checks a line.
ANY = "from typing import Any\ndef __getattr__(name: str) -> Any: ...\n"
LIBRARIES = {
    "torch/utils/__init__.pyi": "from torch.utils import _pytree as _pytree\n",
    "torch/utils/_pytree.pyi": ANY,
    "torch/compiler.pyi": ANY,
    "torch/serialization.pyi": ANY,
    "beartype/__init__.pyi": ANY,
    "jaxtyping.py": "from typing import Annotated as Float\n",
    "shaped/__init__.pyi": """
from typing import Callable, TypeVar, overload
from shaped.runtime.tlist import TList as TList
T = TypeVar("T")
@overload
def checked(target: T, /) -> T: ...
@overload
def checked() -> Callable[[T], T]: ...
""",
    "shaped/runtime/__init__.pyi": "",
    "shaped/runtime/tlist_items.pyi": ANY,
    "shaped/runtime/tensor_types.pyi": ANY,
    "shaped/runtime/checked/__init__.pyi": "",
    "shaped/runtime/checked/failure.pyi": ANY,
}
REAL = ["shaped/runtime/tlist.py"]
HEAD = """\
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, TypeVarTuple
from jaxtyping import Float
from torch import Tensor, nn
from shaped import TList, checked

class Parameter(Tensor): ...
Params = TList[Float[Parameter, "8 2"], Float[Tensor, "8"]]
Ts = TypeVarTuple("Ts")

"""


@pytest.fixture
def typed(project: Project) -> Project:
    """A project with the real TList and stubs of the libraries that it and its users import."""
    stubs = project.folder / "stubs"
    for name, text in LIBRARIES.items():
        _folder_of(stubs / name).joinpath(name.rpartition("/")[2]).write_text(text)
    for name in REAL:
        shutil.copy(REPOSITORY / name, _folder_of(stubs / name))
    project.configure("follow_imports = silent", plugin="shaped.mypy")
    return project


def _folder_of(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.parent


def said(project: Project, program: str) -> list[str]:
    """What mypy says of a program behind `HEAD`, without the places."""
    project.write(net=HEAD + program)
    lines = project.mypy("net.py").replace("builtins.", "").replace("torch._tensor.", "").replace("net.", "")
    return [line.partition(": ")[2] for line in lines.splitlines()]


def revealed(project: Project, *expressions: str) -> list[str]:
    """The types that mypy reveals of expressions of `params: Params` and `other: Params`."""
    body = "".join(f"    reveal_type({expression})\n" for expression in expressions)
    lines = said(project, f"def f(params: Params, other: Params) -> None:\n{body}")
    start = 'note: Revealed type is "'
    assert all(line.startswith(start) for line in lines), lines
    return [_plain(line.removeprefix(start).removesuffix('"')) for line in lines]


def _plain(type_: str) -> str:
    """A type as people write it: mypy shows a tuple's items, and the class that has them behind."""
    head, _, fallback = type_.partition(", fallback=shaped.runtime.tlist.")
    return fallback.removesuffix("]") if fallback else head


def test_an_item_has_its_own_type(typed: Project) -> None:
    assert revealed(typed, "params[0]", "params[-1]", "[x for x in params]", "len(params)") == [
        "Parameter",
        "Tensor",
        "list[Tensor]",
        "int",
    ]


def test_slices_and_sums_keep_the_types_of_items(typed: Project) -> None:
    assert revealed(typed, "params[1:]", "params + other[:1]", "TList(*params[1:])") == [
        "tuple[Tensor]",
        "tuple[Parameter, Tensor, Parameter]",
        "TList[Tensor]",
    ]


def test_lists_that_are_made_have_the_types_of_what_they_are_made_of(typed: Project) -> None:
    made = ["TList(params[1], params[0])", "Params(*params)", "params.map(lambda x: x)", "params.detach()"]
    assert revealed(typed, *made) == ["TList[Tensor, Parameter]", *["TList[Parameter, Tensor]"] * 3]


def test_pairs_and_types_of_items(typed: Project) -> None:
    assert revealed(typed, "params.zip(other)", "Params.types") == [
        "tuple[tuple[Tensor, Tensor], ...]",
        "tuple[Any, ...]",
    ]


def test_items_are_unpacked_and_zipped_with_their_types(typed: Project) -> None:
    program = """
def f(params: Params, other: Params) -> None:
    weight, bias = params
    reveal_type(weight)
    reveal_type(bias)
    for a, b in zip(params[:1], other):
        reveal_type(a)
"""
    assert said(typed, program) == [f'note: Revealed type is "{name}"' for name in ("Parameter", "Tensor", "Parameter")]


def test_generic_code_keeps_the_types_of_the_items_that_it_does_not_know(typed: Project) -> None:
    program = """
class Trainer(Generic[*Ts]):
    def __init__(self, params: TList[*Ts]) -> None:
        self.params = params

    def gradients(self) -> TList[*Ts]:
        return self.params.map(lambda x: x)

def f(params: Params) -> None:
    reveal_type(Trainer(params).gradients()[0])
"""
    assert said(typed, program) == ['note: Revealed type is "Parameter"']


def test_a_list_of_other_items_is_refused(typed: Project) -> None:
    program = """
def f(params: Params) -> None:
    params[2]
    params[0] = params[1]
    a, b, c = params
    one: TList[Tensor] = TList(params[0], params[1])
    two: TList[Tensor, int] = TList(params[0], params[1])
"""
    codes = [line.rpartition("  ")[2] for line in said(typed, program) if line.startswith("error")]
    # The checker says too that the lists are of other items, and that an `int` is none.
    by_mypy = [code for code in codes if code not in ("[shape]", "[annotation]")]
    assert by_mypy == ["[misc]", "[index]", "[misc]", "[call-arg]", "[arg-type]"]
    assert "[annotation]" in codes


def test_the_checker_reports_beside_mypy(typed: Project) -> None:
    program = """
def loss(params: Params, x: Float[Tensor, "b 2"]) -> Tensor:
    weight, bias = params
    return x @ weight

def train(x: Float[Tensor, "n 2"], weight: Float[Parameter, "4 2"], bias: Float[Tensor, "8"]) -> None:
    loss(TList(weight, bias), x)
"""
    assert [line for line in said(typed, program) if line.startswith("error")] == [
        "error: matmul: (b, 2) @ (8, 2): inner dimensions 2 and 8 differ  [shape]",
        'error: argument params[0] of loss: (4, 2) does not match "8 2": axis 0 is 4, not 8  [shape]',
    ]


def test_checked_functions_and_modules_keep_their_types(typed: Project) -> None:
    program = """
class Net(nn.Module):
    @checked
    def forward(self, x: Float[Tensor, "b 2"]) -> Params: ...

@checked()
def loss(params: Params) -> Float[Tensor, ""]: ...

@checked
@dataclass
class Batch:
    x: Float[Tensor, "b 2"]

def f(x: Float[Tensor, "b 2"]) -> None:
    reveal_type(Net()(x))
    reveal_type(loss(Net()(x)))
    reveal_type(Batch(x).x)
"""
    found = [line for line in said(typed, program) if line.startswith("note")]
    assert [_plain(line.removeprefix('note: Revealed type is "').removesuffix('"')) for line in found] == [
        "TList[Parameter, Tensor]",
        "Tensor",
        "Tensor",
    ]
