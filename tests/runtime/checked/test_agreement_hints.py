"""What an annotation holds besides axes: unions, containers, other array types, hints that are no tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypeVar, Union

import numpy as np
import numpy.typing as npt
import pytest
import torch
from jaxtyping import Bool, Complex, Float, Float32, Int, Num, Shaped
from torch import Tensor, nn
from torch import zeros as z

from tests.runtime.checked.agreement import Call, Outcome, Parameter

# A fault of the generated code leaves a function to jaxtyping, with a warning: then nothing is compared here.
pytestmark = pytest.mark.filterwarnings("error:jaxtyping checks:RuntimeWarning")

ArrayType = TypeVar("ArrayType")
Bound = TypeVar("Bound", bound=Tensor)
Constrained = TypeVar("Constrained", Tensor, np.ndarray)
Row = Float[Tensor, "c"]
Batch = Float[Row, "b"]
Weights = NewType("Weights", int)
FloatOrInt = Union[Float[Tensor, "b"], Int[Tensor, "b"]]  # noqa: UP007


class Pair(NamedTuple):
    left: Tensor
    right: Tensor


class Duck:
    """No array, but it has a shape and a dtype."""

    shape = (3,)
    dtype = np.dtype(np.float32)


class Named:
    """An array type of a library of its own, whose dtype is a string."""

    shape = (3,)
    dtype = "float32"


ints, bools, n = torch.zeros(3, dtype=torch.int64), torch.zeros(3, dtype=torch.bool), np.zeros
parameter = nn.Parameter(z(3))

ACCEPTED = [
    ((Float[Tensor, "b"] | None, z(3)), (Float[Tensor, "b"] | None, None), (Float[Tensor, "b"], z(3))),
    ((Optional[Float[Tensor, "b"]], None), (Float[Tensor, "b"], z(7))),  # noqa: UP045
    ((Float[Tensor, "b"] | int, 3), (Float[Tensor, "b"] | int, z(3))),
    ((Float[Tensor, "b"] | Int[Tensor, "b"], ints), (Float[Tensor, "b"], z(3))),
    ((Float[Tensor, "b c"] | Float[Tensor, "b"], z(3)), (Float[Tensor, "b c"] | Float[Tensor, "b"], z(3, 4))),
    ((FloatOrInt, ints), (FloatOrInt, z(3))),
    ((Float[Tensor, "b"], z(3)), (Float[Tensor, "2"] | Float[Tensor, "b"], z(3))),
    ((tuple[Float[Tensor, "b c"], Float[Tensor, "c"]], (z(3, 4), z(4))), (Float[Tensor, "c"], z(4))),
    ((tuple[Float[Tensor, "b"], ...], (z(3), z(3))),),
    ((tuple[Float[Tensor, "b"], ...], ()),),
    ((tuple[()], ()),),
    ((list[Float[Tensor, "b"]], [z(3)]), (Float[Tensor, "b"], z(3))),
    ((list[Float[Tensor, "b"]], [z(3), z(3), z(3)]),),
    ((list[Float[Tensor, "b"]], []),),
    ((Sequence[Float[Tensor, "b"]], (z(3),)), (Float[Tensor, "b"], z(3))),
    ((dict[str, Float[Tensor, "b"]], {"x": z(3)}), (Float[Tensor, "b"], z(3))),
    ((Mapping[str, Float[Tensor, "b"]], {}),),
    ((list[tuple[Float[Tensor, "b"], int]], [(z(3), 3)]), (Float[Tensor, "b"], z(3))),
    ((list[Float[Tensor, "b"] | None], [None]), (Float[Tensor, "b"], z(5))),
    ((dict[str, list[Float[Tensor, "b"]]], {"x": [z(3)]}),),
    ((Iterable[Float[Tensor, "b"]], [z(3)]),),
    ((Annotated[Float[Tensor, "b"], "a note"], z(3)), (Float[Tensor, "b"], z(3))),
    ((Shaped[Tensor, "b"], z(3)), (Shaped[Tensor, "b"], ints)),
    ((Float[np.ndarray, "b"], n(3)), (Float[Tensor, "b"], z(3))),
    ((Float[Tensor | np.ndarray, "b"], n(3)), (Float[Tensor | np.ndarray, "b"], z(3))),
    ((Float[Union[Tensor, np.ndarray], "b"], n(3)),),  # noqa: UP007
    ((Float[Any, "3"], Duck()), (Float[Any, "b"], z(3)), (Float[Any, "b"], n(3))),
    ((Float[ArrayType, "b"], z(3)), (Float[ArrayType, "b"], n(3))),
    ((Float[Bound, "b"], z(3)),),
    ((Float[Constrained, "b"], n(3)),),
    ((Float[Duck, "b"], Duck()),),
    ((Float32[Named, "b"], Named()),),
    ((Float[nn.Parameter, "b"], parameter),),
    ((Float[Tensor, "b"], parameter), (Float[Tensor, "b"], z(3))),
    ((Row, z(4)), (Batch, z(3, 4))),
    ((Float[Float[Tensor, "b"], "3"], z(3, 5)),),
    ((Shaped[Float[Tensor, "b"], "3"], z(3, 5)),),
    ((Float[Float[Tensor, "*b"], "3"], z(3, 5, 6)),),
    ((Float[float, ""], 1.0),),
    ((Float[float, "..."], 1.0), (Int[int, ""], 3), (Bool[bool, ""], True), (Complex[complex, ""], 1j)),
    ((Float[npt.ArrayLike, ""], 1.0), (Float[npt.ArrayLike, "..."], n((2, 3)))),
    ((Num[npt.ArrayLike, "..."], 1), (Int[npt.ArrayLike, "*b"], 3)),
    ((Float[Tensor, "b"] | float, 3.0),),
    ((Any, object()), (object, 3)),
    ((int, 3), (str, "x"), (float, 1.5), (bool, True), (bytes, b""), (type(None), None)),
    ((int | None, None), (int | str, "x"), (list[int], [1]), (dict[str, int], {"x": 1}), (tuple[int, str], (1, "x"))),
    ((Literal["sum", "mean"], "sum"), (Literal[1, 2], 2)),
    ((Callable[[Float[Tensor, "b"]], Float[Tensor, "b"]], torch.sin), (Callable[..., Any], print)),
    ((type[nn.Module], nn.Linear), (type, int)),
    ((Weights, 3),),
    ((Pair, Pair(z(3), z(4))),),
    ((Tensor, z(3)), (nn.Module, nn.ReLU()), (torch.device, torch.device("cpu")), (torch.dtype, torch.float32)),
    ((None, 3), (None, "x")),
]

REFUSED = [
    ((Float[Tensor, "b"] | None, z(3)), (Float[Tensor, "b"], z(4))),
    ((Float[Tensor, "b"] | None, 3),),
    ((Float[Tensor, "b"], None),),
    ((Float[Tensor, "b"] | int, 3.5),),
    ((Float[Tensor, "b"] | Int[Tensor, "b"], bools),),
    ((Float[Tensor, "b"] | Int[Tensor, "b"], ints), (Float[Tensor, "b"], z(4))),
    ((Float[Tensor, "b c"] | Float[Tensor, "b"], z(3)), (Float[Tensor, "b"], z(4))),
    ((tuple[Float[Tensor, "b c"], Float[Tensor, "c"]], (z(3, 4), z(3))),),
    ((tuple[Float[Tensor, "b c"], Float[Tensor, "c"]], (z(3, 4), z(4))), (Float[Tensor, "c"], z(3))),
    ((tuple[Float[Tensor, "b"], Float[Tensor, "b"]], (z(3),)),),
    ((tuple[Float[Tensor, "b"], Float[Tensor, "b"]], [z(3), z(3)]),),
    ((tuple[Float[Tensor, "b"], ...], (z(3),)), (Float[Tensor, "b"], z(4))),
    ((tuple[Float[Tensor, "b"], ...], z(3)),),
    ((list[Float[Tensor, "b"]], [z(3)]), (Float[Tensor, "b"], z(4))),
    ((list[Float[Tensor, "b"]], [z(3, 4)]),),
    ((list[Float[Tensor, "b"]], (z(3),)),),
    ((list[Float[Tensor, "b"]], [None]),),
    ((Sequence[Float[Tensor, "b"]], (z(3),)), (Float[Tensor, "b"], z(4))),
    ((dict[str, Float[Tensor, "b"]], {"x": z(3)}), (Float[Tensor, "b"], z(4))),
    ((dict[str, Float[Tensor, "b"]], {1: z(3)}),),
    ((list[tuple[Float[Tensor, "b"], int]], [(z(3), "x")]),),
    ((list[tuple[Float[Tensor, "b"], int]], [(z(3), 3)]), (Float[Tensor, "b"], z(4))),
    ((dict[str, list[Float[Tensor, "b"]]], {"x": [z(3, 3)]}),),
    ((Annotated[Float[Tensor, "b"], "a note"], z(3)), (Float[Tensor, "b"], z(4))),
    ((Float[np.ndarray, "b"], n(3)), (Float[Tensor, "b"], z(4))),
    ((Float[np.ndarray, "b"], z(3)),),
    ((Float[Tensor, "b"], n(3)),),
    ((Float[Tensor, "b"], ints),),
    ((Float[Tensor, "b"], 3.0),),
    ((Float[Tensor, "b"], [1.0]),),
    ((Float[Tensor, "b"], Duck()),),
    ((Float[Tensor | np.ndarray, "b"], n(3)), (Float[Tensor | np.ndarray, "b"], z(4))),
    ((Float[Any, "4"], Duck()),),
    ((Float[Any, "b"], 3.0),),
    ((Int[Any, "b"], Duck()),),
    ((Float[ArrayType, "b"], z(3)), (Float[ArrayType, "b"], n(4))),
    ((Float[Bound, "b"], n(3)),),
    ((Float[Constrained, "b"], Duck()),),
    ((Float[Duck, "b"], z(3)),),
    ((Int[Named, "b"], Named()),),
    ((Float[nn.Parameter, "b"], z(3)),),
    ((Row, z(4)), (Batch, z(3, 5))),
    ((Float[Float[Tensor, "b"], "3"], z(4, 5)),),
    ((Shaped[Float[Tensor, "b"], "3"], torch.zeros(3, 5, dtype=torch.int64)),),
    ((Float[float, ""], 1),),
    ((Int[int, ""], 1.0),),
    ((Float[npt.ArrayLike, ""], 1),),
    ((Float[npt.ArrayLike, "3"], 1.0),),
    ((Num[npt.ArrayLike, "3"], n(4)),),
    ((int, "x"),),
    ((float, 3),),
    ((str, None),),
    ((int | None, "x"),),
    ((list[int], ["x"]),),
    ((tuple[int, str], (1, 2)),),
    ((Literal["sum", "mean"], "max"),),
    ((Callable[..., Any], 3),),
    ((type[nn.Module], int),),
    ((Weights, "x"),),
    ((Pair, (z(3), z(4))),),
    ((nn.Module, z(3)),),
    ((int, 3), (str, 3)),
    ((str, z(3)), (Float[Tensor, "b"], z(3))),
]


def named(rows: list[Any], wanted: Outcome) -> list[Any]:
    return [pytest.param(row, wanted, id=f"{wanted.name}-{i}") for i, row in enumerate(rows)]


@pytest.mark.parametrize("row, wanted", named(ACCEPTED, Outcome.ACCEPTED) + named(REFUSED, Outcome.REFUSED))
def test_an_argument_is_what_its_hint_says(row: Any, wanted: Outcome, check: Callable[[Any], Any]) -> None:
    call = Call(tuple(Parameter(f"x{i}", hint, (value,)) for i, (hint, value) in enumerate(row)), has_return=False)
    outcome, says = call.outcome(check)
    assert outcome is wanted, says


@pytest.mark.parametrize("row, wanted", named(ACCEPTED, Outcome.ACCEPTED) + named(REFUSED, Outcome.REFUSED))
def test_a_result_is_what_its_hint_says(row: Any, wanted: Outcome, check: Callable[[Any], Any]) -> None:
    """The last hint is that of the result, the others are of arguments."""
    *arguments, (hint, value) = row
    parameters = tuple(Parameter(f"x{i}", hint, (value,)) for i, (hint, value) in enumerate(arguments))
    # A function that is annotated to return None returns nothing else.
    if hint is None:
        wanted = Outcome.REFUSED
    outcome, says = Call(parameters, hint, value).outcome(check)
    assert outcome is wanted, says


@pytest.mark.parametrize("row, wanted", named(REFUSED, Outcome.REFUSED))
def test_parameters_in_the_opposite_order_given_by_name_are_refused_too(
    row: Any, wanted: Outcome, check: Callable[[Any], Any]
) -> None:
    parameters = tuple(
        Parameter(f"x{i}", hint, (value,), by_name=True) for i, (hint, value) in reversed(list(enumerate(row)))
    )
    assert Call(parameters, has_return=False).outcome(check)[0] is wanted
