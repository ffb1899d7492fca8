"""The op in graphs: torch.compile, torch.export, and torch's own check of registrations; its name."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from shaped import custom_grad
from shaped.runtime.custom_grad import CustomGrad
from tests.runtime.custom_grad.ops import double, linear, polar, swish, weighted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SAMPLES: dict[str, Callable[[], tuple[CustomGrad[..., Any], tuple[Any, ...]]]] = {
    "swish": lambda: (swish, (double(2, 3),)),
    "linear": lambda: (linear, (double(4, 3), double(2, 3), double(2), 1.5)),
    "linear without bias": lambda: (linear, (double(4, 3), double(2, 3), None, 2.0)),
    "polar": lambda: (polar, (double(3), double(3))),
    "weighted": lambda: (weighted, ([double(3), double(3)], [1, 2])),
}


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_torchs_own_check_of_registrations_passes(sample: Callable[[], Any]) -> None:
    op, inputs = sample()
    assert set(torch.library.opcheck(op.operator, inputs).values()) == {"SUCCESS"}


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_compiled_graph_is_whole_and_gives_eagers_numbers(sample: Callable[[], Any]) -> None:
    op, inputs = sample()
    compiled = torch.compile(op, backend="aot_eager", fullgraph=True)
    wanted = [x for each in inputs for x in (each if isinstance(each, list) else [each]) if isinstance(x, Tensor)]

    def gradients(call: Any) -> list[Tensor]:
        outputs = call(*inputs)
        first = outputs[0] if isinstance(outputs, tuple) else outputs
        return [first, *torch.autograd.grad(first.square().sum(), wanted)]

    for got, expected in zip(gradients(compiled), gradients(op)):
        assert torch.equal(got, expected)


def test_a_compiled_graph_with_keywords_and_sizes_that_change() -> None:
    compiled = torch.compile(
        lambda x, w: linear(w=w, x=x, scale=3.0).sum(), backend="aot_eager", fullgraph=True, dynamic=True
    )
    for rows in (2, 3, 5):
        x, w = double(rows, 3), double(2, 3)
        assert torch.allclose(compiled(x, w), 3 * (x @ w.T).sum())


@pytest.mark.slow  # 20 s: it builds C++; aot_eager above is its fast sibling
def test_inductor_gives_eagers_numbers() -> None:
    x = double(3, 5)
    compiled = torch.compile(lambda x: swish(x * 2) + 1, fullgraph=True)
    (got,) = torch.autograd.grad(compiled(x).sum(), x)
    (expected,) = torch.autograd.grad((swish(x * 2) + 1).sum(), x)
    assert torch.allclose(got, expected)


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return swish(x)


@pytest.mark.parametrize("strict", [True, False])
def test_an_exported_program_keeps_the_op_and_is_saved_and_loaded(strict: bool, tmp_path: Path) -> None:
    x = torch.randn(2, 3)
    program = torch.export.export(Model(), (x,), strict=strict)
    assert swish.operator in [node.target for node in program.graph.nodes]
    torch.export.save(program, tmp_path / "model.pt2")
    again = torch.export.load(tmp_path / "model.pt2").module()
    assert torch.equal(again(x), swish(x))
    wants = x.clone().requires_grad_()
    again(wants).sum().backward()
    expected = x.clone().requires_grad_()
    swish(expected).sum().backward()
    assert wants.grad is not None
    assert torch.equal(wants.grad, expected.grad)  # type: ignore[arg-type]  # it was computed above


def test_the_operator_may_be_called_and_differentiated_twice_itself() -> None:
    assert torch.autograd.gradgradcheck(swish.operator, (double(3),))
    assert torch.autograd.gradgradcheck(linear.operator, (double(2, 3), double(2, 3), None, 1.0))


def test_vmap_over_the_operator() -> None:
    x = torch.randn(4, 3)
    assert torch.allclose(torch.vmap(swish.operator)(x), swish(x))


def test_a_given_name_is_the_ops() -> None:
    @custom_grad(name="shaped_tests::named")
    def op(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * 2

    assert str(op.operator) == "shaped_tests.named.default"
    assert torch.equal(torch.ops.shaped_tests.named(torch.ones(2)), torch.tensor([2.0, 2.0]))


@pytest.mark.parametrize("name", ["swish", "a::b::c", "a.b::c", "::x", "1a::b"])
def test_a_name_without_a_namespace_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match='is no name of an op: write "mylib::f"'):
        custom_grad(name=name)(f)


def f(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x


def test_a_name_defined_again_is_the_later_op_and_the_earlier_stays_itself() -> None:
    def make(k: float) -> CustomGrad[..., Tensor]:
        @custom_grad(name="shaped_tests::again")
        def op(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
            return x * k

        op.backward(lambda grad, x: grad * k)
        return op

    first, second = make(2.0), make(3.0)
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    assert (first(x).item(), second(x).item()) == (2, 3)
    assert torch.autograd.grad(first(x), x)[0].item() == 2
    assert torch.compile(second, backend="aot_eager", fullgraph=True)(x).item() == 3
    with pytest.raises(Exception, match="defined again"):
        torch.compile(first, backend="eager", fullgraph=True)(x)


def test_ops_that_a_function_makes_live_side_by_side() -> None:
    def make(k: float) -> CustomGrad[..., Tensor]:
        @custom_grad
        def op(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
            return x * k

        op.backward(lambda grad, x: grad * k)
        return op

    first, second = make(2.0), make(3.0)
    assert first.operator is not second.operator
    both = torch.compile(lambda x: first(x) + 10 * second(x), backend="aot_eager", fullgraph=True)
    x = torch.ones(1, requires_grad=True)
    assert both(x).item() == 32
    assert torch.autograd.grad(both(x), x)[0].item() == 32


SOURCE = """
import torch
from jaxtyping import Float
from torch import Tensor
from shaped import custom_grad

@custom_grad
def op(x: Float[Tensor, "n"]{more}) -> Float[Tensor, "n"]:
    return x * {k}

@op.backward
def op_backward(grad, x{more_names}):
    return grad * {k}{none}
"""


def test_a_reloaded_module_keeps_the_name_without_a_second_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    source = tmp_path / "shaped_reloaded.py"
    source.write_text(SOURCE.format(k=2, more="", more_names="", none=""))
    module = importlib.import_module("shaped_reloaded")
    libraries = len(torch._library.custom_ops.OPDEF_TO_LIB)
    x = torch.ones(1, requires_grad=True)
    for k, more in ((3, {}), (4, {"more": ", n: int = 1", "more_names": ", n", "none": ", None"})):
        source.write_text(SOURCE.format(k=k, **{"more": "", "more_names": "", "none": "", **more}))
        importlib.invalidate_caches()
        importlib.reload(module)
        assert module.op.operator._name == "custom_grad::shaped_reloaded_op"
        compiled = torch.compile(module.op, backend="aot_eager", fullgraph=True)
        for call in (module.op, compiled):
            assert torch.autograd.grad(call(x), x)[0].item() == k
    assert len(torch._library.custom_ops.OPDEF_TO_LIB) == libraries
    del sys.modules["shaped_reloaded"]


def test_a_second_backward_is_refused_but_the_same_may_be_run_again() -> None:
    @custom_grad
    def op(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * 2

    def define() -> None:
        @op.backward
        def op_backward(grad: Tensor, x: Tensor) -> Tensor:
            return grad * 2

    define()
    define()
    with pytest.raises(ValueError, match=r"op has a backward already, op_backward \(line \d+ of test_operator.py\)"):

        @op.backward
        def another(grad: Tensor, x: Tensor) -> Tensor:
            return grad * 2


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (lambda grad, y: grad, r"takes \(grad, y\): write f_backward\(grad, x, k\)"),
        (lambda grad, x, k, z: grad, r"takes \(grad, x, k, z\)"),
        (lambda grad, k, x: grad, "takes k, x, f takes x, k: take them in the same order"),
    ],
)
def test_a_backward_of_other_parameters_is_refused(backward: Callable[..., Any], message: str) -> None:
    @custom_grad
    def f(x: Float[Tensor, "n"], k: float) -> Float[Tensor, "n"]:
        return x * k

    with pytest.raises(TypeError, match=message):
        f.backward(backward)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="is no function"):
        swish.backward(3)  # type: ignore[type-var]
    with pytest.raises(TypeError, match="gradient_of is 3, no function"):
        custom_grad(gradient_of=3)(f)  # type: ignore[arg-type]
