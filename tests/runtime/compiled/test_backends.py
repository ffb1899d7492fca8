"""What each backend says of itself, and the slow ones at work."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.optim import Adam

from shaped.runtime import CannotCompile, compile_forward, compile_step
from shaped.runtime.compiled import BACKENDS, cuda_graph
from shaped.runtime.compiled.backends import backend, wanted
from shaped.runtime.compiled.program import Program
from shaped.runtime.compiled.writing import Writer, aten
from tests.runtime.compiled.training import perceptron

x = torch.randn(16, 4, generator=torch.Generator().manual_seed(1))
y = torch.randn(16, 1, generator=torch.Generator().manual_seed(2))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["aot_inductor", "torch.compile"])
def test_a_step_of_a_compiler_is_within_the_budget_and_keeps_the_state_true(name: str) -> None:
    model = perceptron(4, 8, 1)
    adam = Adam(model.parameters(), lr=0.01)
    step = compile_step(model, nn.MSELoss(), adam, (x, y), backend=name)
    assert step.backend == name
    assert "of the error that rounding explains" in step.report.checked
    first = step(x, y)
    for _ in range(99):
        last = step(x, y)
    assert last < first
    state = adam.state_dict()["state"]
    assert [float(state[place]["step"]) for place in range(4)] == [100.0] * 4
    assert all(bool(state[place]["exp_avg_sq"].any()) for place in range(4))
    adam.param_groups[0]["lr"] = 0.0
    before = {key: value.clone() for key, value in model.state_dict().items()}
    step(x, y)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items()), "the rate counts at once"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["aot_inductor", "torch.compile"])
def test_a_forward_of_a_compiler_is_within_the_budget_and_follows_the_parameters(name: str) -> None:
    model = perceptron(4, 8, 1)
    compiled = compile_forward(model, (x,), backend=name)
    assert "of the error that rounding explains" in compiled.report.checked
    first = compiled(x)
    with torch.no_grad():
        model[2].bias += 1
    # The only change is an addition of 1, so both differ from it by a few units in the last place of float32.
    torch.testing.assert_close(compiled(x), first + 1, rtol=1e-5, atol=1e-6)


def doubled(device: str) -> Program:
    writer = Writer()
    given = writer.given("x", torch.zeros(3, device=device))
    return writer.program([writer(aten.mul.Tensor, given, 2.0)])


def test_a_cuda_graph_is_not_for_tensors_elsewhere() -> None:
    assert cuda_graph.unavailable(doubled("cpu")) == "it is for tensors on a GPU of NVIDIA's, these are on cpu"
    with pytest.raises(CannotCompile, match="these are on cpu"):
        compile_forward(perceptron(4, 8, 1), (x,), backend="cuda_graph")


@pytest.mark.parametrize("is_there, reason", [(False, "there is no GPU of NVIDIA's"), (True, None)])
def test_a_cuda_graph_needs_a_gpu(monkeypatch: pytest.MonkeyPatch, is_there: bool, reason: str | None) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: is_there)
    program = doubled("cpu")
    for node in program.graph.nodes:
        if node.op != "output":
            node.meta["val"] = OnGpu(3)
    assert cuda_graph.unavailable(program) == reason


class OnGpu(torch.Tensor):
    """A tensor that says it is on a GPU."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # torch's is an attribute
        return torch.device("cuda", 0)


@pytest.mark.parametrize("name", ["aot_inductor", "torch.compile"])
def test_a_compiler_refuses_random_numbers_by_name(name: str) -> None:
    with pytest.raises(CannotCompile, match=r"aten\.\w+\.\w+ draws random numbers, which it would draw in its own way"):
        compile_forward(nn.Dropout(0.5), (x,), backend=name)


def test_names_are_those_of_the_modules() -> None:
    assert [backend(name).name for name in BACKENDS] == list(BACKENDS)


def test_an_unknown_name_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"no backend 'fast'.*python, script, c, aot_inductor, torch\.compile"):
        wanted(("python", "fast"), torch.device("cpu"))


def test_auto_tries_a_cuda_graph_on_a_gpu_only() -> None:
    assert wanted("auto", torch.device("cuda")) == ("cuda_graph", "script", "python")
    assert wanted("auto", torch.device("cpu")) == ("script", "python", "c")
    assert wanted("eager", torch.device("cpu")) == ("eager",)
