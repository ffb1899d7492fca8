"""A compiled forward gives what the model gives, and its results are the caller's to keep."""

from __future__ import annotations

import copy
import gc
import linecache
import pickle
import threading
import warnings
import weakref
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from shaped.runtime import CannotCompile, compile_forward
from tests.runtime.compiled.training import perceptron

x = torch.randn(16, 4, generator=torch.Generator().manual_seed(1))
rows = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(2))


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


def written_through_views(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    y.view(-1)[0] = 5.0
    y.t()[1] += 1
    other = torch.zeros_like(x)
    other[1] = y[1]
    return y, other.add_(y)


def drawn(x: Tensor) -> tuple[Tensor, ...]:
    return torch.rand(3), nn.functional.dropout(x), torch.randperm(5), torch.randn_like(x), torch.normal(x, 1.0)


def numbers(x: Tensor) -> tuple[Tensor, ...]:
    return x * 0.3, x / 0.7, x.sum() * 0.3, 0.3 - x, (x > 0) * 0.4, x.sum() / 3.3


MODELS: dict[str, tuple[nn.Module, tuple[Any, ...]]] = {
    "products of three axes": (nn.Linear(4, 5, bias=False), (rows,)),
    "two such": (nn.Sequential(nn.Linear(4, 5, bias=False), nn.Tanh(), nn.Linear(5, 5, bias=False)), (rows,)),
    "convolution": (nn.Sequential(nn.Conv1d(3, 2, 2), nn.BatchNorm1d(2).eval(), nn.ReLU()), (rows,)),
    "LSTM": (nn.LSTM(4, 5, 2, batch_first=True), (rows,)),
    "views and inputs": (Function(lambda x: (x, x.t(), x[:1], {"one": [(x * 2).t()]})), (x,)),
    "None": (Function(lambda x: (x * 2, None)), (x,)),
    "writes": (Function(written_through_views), (x,)),
    "no rows": (nn.Linear(4, 5), (x[:0],)),
    "turned": (nn.Linear(16, 5), (x.t(),)),
    **{f"numbers, {dtype}": (Function(numbers), (x.mul(3).to(dtype),)) for dtype in (torch.int64, torch.bfloat16)},
    "numbers, float64": (Function(numbers), (x.double(),)),
    "random": (Function(drawn), (x,)),
}


def same(one: Any, other: Any) -> bool:
    pairs = zip(pytree.tree_leaves(one), pytree.tree_leaves(other), strict=True)
    return all(a is b if a is None else torch.equal(a, b) and a.stride() == b.stride() for a, b in pairs)


@pytest.mark.parametrize("backend", ["python", "script"])
@pytest.mark.parametrize("model, inputs", MODELS.values(), ids=MODELS.keys())
def test_results_are_those_of_the_model_and_stay(model: nn.Module, inputs: tuple[Any, ...], backend: str) -> None:
    compiled = compile_forward(model, inputs, backend=backend)
    assert compiled.report.checked == "the same numbers as eager, to the bit"
    seen = []
    for given in (inputs, tuple(one.flip(0) for one in inputs)):
        state = torch.get_rng_state()
        found = compiled(*given)
        torch.set_rng_state(state)
        with torch.no_grad():
            seen.append((found, copy.deepcopy(model(*given))))
    for found, wanted in seen:  # after the last call: an earlier result is not written over
        assert same(found, wanted)


def test_inputs_whose_numbers_lie_otherwise_get_their_own_program() -> None:
    model = Function(lambda x: x.reshape(-1).sin())
    compiled = compile_forward(model, (x,), backend="script")
    turned = x.t().contiguous().t()
    assert torch.equal(compiled(turned), model(turned))


def test_a_tensor_given_twice_is_one() -> None:
    compiled = compile_forward(Function(lambda a, b: a + b if a is b else a - b), (x, x), backend="script")
    assert torch.equal(compiled(x, x), x + x)
    assert torch.equal(compiled(x, x.clone()), x - x)


def test_plain_values_count() -> None:
    model = Function(lambda named, listed, nothing, times: named["x"] + listed[0] * times)
    compiled = compile_forward(model, ({"x": x}, [x], None, 4), backend="script")
    assert torch.equal(compiled({"x": x}, [x], None, 4), x + x * 4)
    assert torch.equal(compiled({"x": x}, [x], None, 5), x + x * 5)


def test_another_module_in_a_place_is_followed() -> None:
    model = perceptron(4, 8, 1)
    compiled = compile_forward(model, (x,), backend="script")
    model[2] = nn.Linear(8, 1)
    assert torch.equal(compiled(x), model(x))


def test_threads_take_turns() -> None:
    model = nn.Sequential(nn.Linear(4, 256), nn.Tanh(), nn.Linear(256, 64))
    compiled = compile_forward(model, (x,), backend="python")
    given = [x + number for number in range(4)]
    wanted = [model(one).detach() for one in given]
    wrong = []

    def run(number: int) -> None:
        wrong.extend(number for _ in range(200) if not torch.equal(compiled(given[number]), wanted[number]))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


def test_a_shape_that_first_comes_in_inference_mode_runs_outside_too() -> None:
    model = perceptron(4, 8, 1)
    compiled = compile_forward(model, (x,), backend="script")
    with torch.inference_mode():
        compiled(x[:5])
    assert torch.equal(compiled(x[:5]), model(x[:5]))


def test_a_fault_of_the_inputs_is_that_of_eager_and_no_warning() -> None:
    compiled = compile_forward(nn.Embedding(5, 2), (torch.tensor([1, 2]),), backend="python")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(IndexError):
            compiled(torch.tensor([7, 2]))
        with pytest.raises(IndexError):
            compiled(torch.tensor([1, 2, 7]))
    assert torch.is_grad_enabled()
    assert torch.equal(compiled(torch.tensor([3, 2])), compiled.model(torch.tensor([3, 2])))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickle.dumps])
def test_it_is_not_copied(copied: Any) -> None:
    with pytest.raises(TypeError, match="holds the memory of its model, and cannot be copied or pickled"):
        copied(compile_forward(perceptron(4, 8, 1), (x,), backend="python"))


@pytest.mark.parametrize("backend", ["python", "script"])
def test_nothing_is_left_of_what_is_deleted(backend: str) -> None:
    gc.collect()
    lines = len(linecache.cache)
    model = perceptron(4, 8, 1)
    compiled = compile_forward(model, (x,), backend=backend)
    compiled(x)
    gone = weakref.ref(model), weakref.ref(model[0].weight)
    del model, compiled
    gc.collect()
    assert [one() for one in gone] == [None, None]
    assert len([name for name in linecache.cache if name.startswith("<compiled")]) <= lines


class Counting(nn.Module):
    """Gives something else after some calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.seen: list[int] = []

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.seen.append(self.calls)
        return x if self.calls < 10 else x * 2


def test_a_model_that_counts_its_calls_is_refused_and_left_as_it_was() -> None:
    model = Counting()
    with pytest.raises(CannotCompile, match="the forward changes calls, seen, which a recording would not change"):
        compile_forward(model, (x,))
    assert (model.calls, model.seen) == (0, [])


def test_hooks_are_refused_and_seen_when_they_come_later() -> None:
    model = perceptron(4, 8, 1)
    compiled = compile_forward(model, (x,), backend="script")
    calls = []
    handle = model[0].register_forward_hook(lambda *given: calls.append(given))
    with pytest.raises(CannotCompile, match="the module '0' has hooks"):
        compile_forward(model, (x,))
    with pytest.warns(UserWarning, match="the module '0' has hooks"):
        compiled(x)
    assert len(calls) == 1
    handle.remove()
    compiled(x)
    assert len(calls) == 1


@pytest.mark.parametrize(
    "model, reason",
    [
        (torch.compile(perceptron(4, 8, 1)), "give the model that was given to it"),
        (nn.LazyLinear(3), "has no shape yet: call the model once before"),
    ],
    ids=["torch.compile", "lazy"],
)
def test_a_model_that_is_wrapped_or_unfinished_is_refused(model: Any, reason: str) -> None:
    with pytest.raises(CannotCompile, match=reason):
        compile_forward(model, (x,))
