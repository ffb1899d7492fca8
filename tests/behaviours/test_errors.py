"""One hierarchy of errors, the same sentence wherever a fault is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from shaped import TList, checked
from shaped.codes import CODES
from shaped.errors import DeviceError, DtypeError, Fault, RegistrationError, ShapeError
from shaped.runtime.data import pad_sequence
from shaped.runtime.devices import require_device
from shaped.spec import ops as _all_ops  # noqa: F401  # declares the operations
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.tensor import variable
from shaped.spec.values import TensorType
from shaped.static.check import Checker
from shaped.trainers import ScalarTrainer, supervised

CANONICAL = "matmul: (3, 5) @ (4, 8): inner dimensions 5 and 4 differ"
REASON = "inner dimensions 5 and 4 differ"


def test_the_checker_says_it_of_the_source() -> None:
    program = (
        "from jaxtyping import Float\nfrom torch import Tensor\n"
        'def f(x: Float[Tensor, "3 5"], y: Float[Tensor, "4 8"]) -> Tensor:\n    return x @ y\n'
    )
    [found] = Checker().check(Path("f.py"), program).diagnostics
    assert (found.message, found.code, found.span.line) == (CANONICAL, "shape", 4)


def by_rule() -> object:
    matmul = find_op("torch.matmul")
    assert matmul is not None
    return matmul.apply(Context(), [TensorType.of(3, 5), TensorType.of(4, 8)], {})


def in_a_meaning() -> object:
    return variable("x", (3, 5)) @ variable("y", (4, 8))


@pytest.mark.parametrize("run", [by_rule, in_a_meaning])
def test_so_does_what_runs(run: Callable[[], object]) -> None:
    with pytest.raises(ShapeError) as refused:
        run()
    fault = refused.value
    assert str(fault) == CANONICAL
    assert (fault.operation, fault.operands, fault.reason) == ("matmul", "(3, 5) @ (4, 8)", REASON)
    assert fault.dims == (Dim.of(5), Dim.of(4))


def test_a_trainer_says_it_with_the_names_of_its_tensors() -> None:
    with pytest.raises(ShapeError) as refused:
        ScalarTrainer(lambda params, inputs: (inputs[0] @ params[0]).sum(), [(4, 8)], [(3, 5)], names=["w"])
    assert str(refused.value) == f"matmul in the loss: input 0 (3, 5), parameter w (4, 8): {REASON}"
    assert refused.value.reason == REASON


def test_the_first_line_has_operation_operands_and_reason_and_the_rest_follows_below() -> None:
    fault = ShapeError("matmul", REASON, "(3, 5) @ (4, 8)", hint="transpose the second: .mT?")
    assert str(fault).count("\n") == 0
    assert fault.__notes__ == ["hint: transpose the second: .mT?"]


def test_names_of_dims_are_fields() -> None:
    n, m = Dim.name("n"), Dim.name("m")
    with pytest.raises(ShapeError) as refused:
        variable("x", ("a", "n")) @ variable("y", ("m", "b"))
    assert refused.value.dims == (n, m)
    assert str(refused.value) == "matmul: (a, n) @ (m, b): inner dimensions n and m differ"


def of_a_checked_call() -> object:
    @checked
    def f(x: Float[Tensor, "n 3"]) -> Tensor:
        return x

    return f(torch.ones(2, 4))


def of_a_typed_list() -> object:
    return TList[Float[Tensor, "3"]](torch.ones(4))


def of_an_input_of_a_trainer() -> object:
    of = ScalarTrainer(lambda params, inputs: params[0] * inputs[0].sum(), [()], [("n", 2)], input_names=["x"])
    return of.forward([[1.0, 2.0], [3.0]])


def of_padding() -> object:
    return pad_sequence([torch.ones(2, 3), torch.ones(2, 4)], padding=0.0)


def of_a_loss() -> object:
    return supervised(nn.MSELoss())(nn.Identity(), (torch.zeros(4, 1), torch.zeros(4)))


def of_a_device() -> object:  # which has no such dtype
    return require_device(torch.device("mps"), torch.float64)


RAISING = {
    of_a_checked_call: ShapeError,
    of_a_typed_list: ShapeError,
    of_an_input_of_a_trainer: ShapeError,
    of_padding: ShapeError,
    of_a_loss: ShapeError,
    of_a_device: DtypeError,
}


@pytest.mark.parametrize("run, kind", RAISING.items())
def test_every_part_raises_errors_of_one_hierarchy_with_the_same_fields(
    run: Callable[[], object], kind: type[Fault]
) -> None:
    with pytest.raises(kind) as refused:
        run()
    fault = refused.value
    assert isinstance(fault, Fault)
    assert fault.operation
    assert fault.reason
    assert str(fault).startswith(fault.operation)
    assert fault.reason in str(fault)
    assert fault.code == ("shape" if kind is ShapeError else "dtype")


def test_each_kind_has_its_code() -> None:
    kinds = {
        ShapeError: "shape",
        DtypeError: "dtype",
        DeviceError: "device",
        RegistrationError: "unregistered",
    }
    assert {kind: kind("operation", "reason").code for kind in kinds} == kinds
    assert all(code in CODES for code in kinds.values())
