"""Checked functions under torch.compile, torch.export and tracing: one graph, the same values, the same errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch import zeros as z
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from shaped.errors import ShapeError
from shaped.runtime.checked import checked, set_checking

BACKENDS = ["eager", "aot_eager"]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Nothing compiled is kept from one test to the next."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
    set_checking(True)


@checked
def mix(x: Float[Tensor, "b n"], weight: Float[Tensor, "n m"], bias: Float[Tensor, "#m"]) -> Float[Tensor, "b m"]:
    return x @ weight + bias


@checked
def rotate(x: Float[Tensor, "*b n"], scale: float = 2.0) -> Float[Tensor, "*b 2*n"]:
    return torch.cat([x, x * scale], -1)


@checked
def wrong_result(x: Float[Tensor, "b n"]) -> Float[Tensor, "n b"]:
    return x


@checked
def optional(x: Float[Tensor, "b"], mask: Float[Tensor, "b"] | None = None) -> tuple[Float[Tensor, "b"], int]:
    return (x if mask is None else x * mask), 3


@checked
def asks(x: Float[Tensor, "b n"]) -> Float[Tensor, "n b"]:
    y = x.T
    assert isinstance(y, Float[Tensor, "n b"])
    return y


class Block(nn.Module):
    """A module whose forward, and a method that it calls, are checked."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n
        self.linear = nn.Linear(n, n)

    @checked
    def forward(self, x: Float[Tensor, "*b {self.n}"]) -> Float[Tensor, "*b {self.n}"]:
        return self.residual(x, self.linear(x))

    @checked
    def residual(self, x: Float[Tensor, "*b n"], y: Float[Tensor, "*b n"]) -> Float[Tensor, "*b n"]:
        return x + torch.relu(y)


def compiled(function: Callable[..., Any], backend: str = "eager", **options: Any) -> Callable[..., Any]:
    return torch.compile(function, backend=backend, fullgraph=True, **options)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_checked_function_is_one_graph(backend: str) -> None:
    x, weight, bias = torch.rand(3, 4), torch.rand(4, 5), torch.rand(1)
    assert torch.equal(compiled(mix, backend)(x, weight, bias), mix(x, weight, bias))
    assert torch.equal(compiled(rotate, backend)(x), rotate(x))
    assert torch.equal(compiled(optional, backend)(x[0])[0], x[0])
    assert compiled(optional, backend)(x[0], mask=x[1])[1] == 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_checked_module_is_one_graph(backend: str) -> None:
    model = Block(4)
    step = compiled(model, backend)
    for shape in ((4,), (2, 4), (3, 2, 4)):
        x = torch.rand(shape)
        assert torch.allclose(step(x), model(x))


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_pass_through_compiled_checks(backend: str) -> None:
    model = Block(4)
    x = torch.rand(2, 4, requires_grad=True)
    (wanted,) = torch.autograd.grad(model(x).sum(), x)
    (got,) = torch.autograd.grad(compiled(model, backend)(x).sum(), x)
    assert torch.allclose(got, wanted)


def test_a_sequence_of_checked_modules_is_one_graph() -> None:
    model = nn.Sequential(Block(4), nn.ReLU(), Block(4))
    x = torch.rand(2, 4)
    assert torch.allclose(compiled(model)(x), model(x))


def test_no_check_is_left_in_the_graph() -> None:
    graphs = []

    def keep(graph: torch.fx.GraphModule, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    torch.compile(mix, backend=keep, fullgraph=True)(z(3, 4), z(4, 5), z(1))
    (graph,) = graphs
    assert [node.op for node in graph.graph.nodes] == ["placeholder"] * 3 + ["call_function"] * 2 + ["output"]


def test_dynamic_shapes_are_not_fixed_by_a_check() -> None:
    counter = torch._dynamo.testing.CompileCounter()
    step = torch.compile(mix, backend=counter, fullgraph=True, dynamic=True)
    for b, n, m in ((3, 4, 5), (6, 7, 8), (9, 2, 3), (5, 6, 7)):
        assert step(z(b, n), z(n, m), z(1)).shape == (b, m)
    assert counter.frame_count == 1


def test_dynamic_shapes_of_a_pack_and_arithmetic() -> None:
    counter = torch._dynamo.testing.CompileCounter()
    step = torch.compile(rotate, backend=counter, fullgraph=True, dynamic=True)
    for b, n in ((3, 4), (6, 7), (9, 2)):
        assert step(z(b, n)).shape == (b, 2 * n)
    assert counter.frame_count == 1


def test_a_second_size_makes_a_second_graph_at_most() -> None:
    counter = torch._dynamo.testing.CompileCounter()
    step = torch.compile(mix, backend=counter, fullgraph=True)
    for b in (3, 4, 5, 6, 7):
        step(z(b, 4), z(4, 5), z(1))
    assert counter.frame_count == 2


ERROR = 'argument weight of mix: (5, 6) does not match "n m": axis 0 is 5, not n=4'


def test_a_refused_call_is_refused_while_it_is_compiled() -> None:
    """Dynamo cannot raise in a graph: without fullgraph it leaves the call to Python, which says what is wrong."""
    step = torch.compile(mix, backend="eager")
    with pytest.raises(ShapeError) as caught:
        step(z(3, 4), z(5, 6), z(1))
    assert str(caught.value) == ERROR


def test_a_refused_call_is_refused_in_one_graph_with_the_reason_named() -> None:
    with pytest.raises(torch._dynamo.exc.Unsupported, match="a checked call is refused"):
        compiled(mix)(z(3, 4), z(5, 6), z(1))


def test_a_call_is_refused_after_others_passed() -> None:
    step = torch.compile(mix, backend="eager")
    step(z(3, 4), z(4, 5), z(1))
    with pytest.raises(ShapeError) as caught:
        step(z(3, 4), z(5, 6), z(1))
    assert str(caught.value) == ERROR
    assert step(z(3, 4), z(4, 5), z(1)).shape == (3, 5)


def test_a_refused_result_is_refused_while_it_is_compiled() -> None:
    with pytest.raises(ShapeError, match=r'return of wrong_result: .* does not match "n b"'):
        torch.compile(wrong_result, backend="eager")(z(3, 4))


def test_a_body_that_asks_isinstance_of_an_annotation_is_left_to_python() -> None:
    """Dynamo answers isinstance by the type alone, and so No for every annotation of jaxtyping's."""
    with pytest.raises(AssertionError):
        torch.compile(asks.__wrapped__, backend="eager")(z(3, 4))
    assert torch.compile(asks, backend="eager")(z(3, 4)).shape == (4, 3)
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported):
        compiled(asks)(z(3, 4))


def test_checks_that_are_switched_off_are_off_in_the_graph() -> None:
    set_checking(False)
    assert compiled(wrong_result)(z(3, 4)).shape == (3, 4)


def test_switching_checks_on_again_compiles_again() -> None:
    step = torch.compile(wrong_result, backend="eager")
    set_checking(False)
    step(z(3, 4))
    set_checking(True)
    with pytest.raises(ShapeError):
        step(z(3, 4))


def test_checked_above_compile_and_below_it() -> None:
    def f(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x * 2

    above, below = checked(compiled(f)), torch.compile(checked(f), backend="eager")
    for function in (above, below):
        assert function(z(3)).shape == (3,)
        with pytest.raises(ShapeError, match='does not match "b"'):
            function(z(3, 3))


def test_a_dataclass_made_in_a_graph() -> None:
    @checked
    @dataclass
    class Batch:
        x: Float[Tensor, "b n"]
        y: Int[Tensor, "b"]

    def loss(x: Tensor, y: Tensor) -> Tensor:
        batch = Batch(x, y)
        return batch.x.sum() + batch.y.sum()

    labels = torch.zeros(3, dtype=torch.int64)
    assert compiled(loss)(torch.ones(3, 4), labels) == 12
    with pytest.raises(ShapeError, match=r"argument y of Batch\.__init__"):
        torch.compile(loss, backend="eager")(torch.ones(4, 4), labels)


@pytest.mark.slow
def test_inductor_compiles_checked_functions() -> None:
    x, weight, bias = torch.rand(3, 4), torch.rand(4, 5), torch.rand(1)
    assert torch.allclose(compiled(mix, "inductor")(x, weight, bias), mix(x, weight, bias))


def test_a_module_with_a_checked_forward_is_exported() -> None:
    model = Block(4).eval()
    program = torch.export.export(model, (torch.rand(2, 4),))
    x = torch.rand(2, 4)
    assert torch.allclose(program.module()(x), model(x))


def test_export_keeps_a_dynamic_size() -> None:
    model = Block(4).eval()
    sizes = {"x": {0: torch.export.Dim("b", min=2)}}
    program = torch.export.export(model, (torch.rand(3, 4),), dynamic_shapes=sizes)
    assert program.module()(torch.rand(7, 4)).shape == (7, 4)


def test_export_refuses_what_the_annotations_refuse() -> None:
    with pytest.raises(Exception, match=r"argument x of Block.forward: \(2, 5\) does not match"):
        torch.export.export(Block(4), (torch.rand(2, 5),))


def test_make_fx_sees_the_operations_alone() -> None:
    for mode in ("real", "fake", "symbolic"):
        graph = make_fx(mix, tracing_mode=mode)(z(3, 4), z(4, 5), z(1))
        assert graph(torch.ones(3, 4), torch.ones(4, 5), torch.ones(1)).sum() == 75
        assert sum(node.op == "call_function" and "sym" not in str(node.target) for node in graph.graph.nodes) == 2


def test_make_fx_with_symbolic_sizes_fixes_none_of_them() -> None:
    graph = make_fx(mix, tracing_mode="symbolic")(z(3, 4), z(4, 5), z(1))
    assert graph(z(6, 7), z(7, 8), z(1)).shape == (6, 8)


def test_fake_and_meta_tensors_are_checked_by_their_shapes() -> None:
    with FakeTensorMode():
        assert mix(z(3, 4), z(4, 5), z(1)).shape == (3, 5)
        with pytest.raises(ShapeError, match="axis 0 is 5"):
            mix(z(3, 4), z(5, 5), z(1))
    meta = torch.device("meta")
    assert mix(z(3, 4, device=meta), z(4, 5, device=meta), z(1, device=meta)).shape == (3, 5)
    with pytest.raises(ShapeError, match="axis 0 is 5"):
        mix(z(3, 4, device=meta), z(5, 5, device=meta), z(1, device=meta))


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning", "ignore:.*torch.jit:DeprecationWarning")
def test_a_checked_function_is_traced() -> None:
    traced = torch.jit.trace(mix, (torch.ones(3, 4), torch.ones(4, 5), torch.ones(1)))
    assert traced(torch.ones(3, 4), torch.ones(4, 5), torch.ones(1)).sum() == 75


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_torch_jit_script_takes_no_checked_function() -> None:
    """Nor one of jaxtyped: TorchScript reads the source of the wrapped function, whose annotations it does not know."""
    with pytest.raises(Exception):  # noqa: B017, PT011
        torch.jit.script(mix)
