"""Which program a call runs."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor

from shaped.runtime import compile_forward
from shaped.runtime.compiled import dispatch
from tests.runtime.compiled.training import perceptron

x = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))


def test_more_shapes_than_a_small_set_run_in_eager_with_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_MOST_SHAPES", 3)
    model = perceptron(4, 8, 1)
    calls: list[int] = []
    compiled = compile_forward(model, (x[:1],), backend="python")
    eager = compiled.eager
    monkeypatch.setattr(compiled, "eager", lambda *inputs: (calls.append(len(inputs[0])), eager(*inputs))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (2, 3, 1, 2, 3):
            assert torch.equal(compiled(x[:size]), model(x[:size]))
    assert calls == []
    with pytest.warns(UserWarning, match="CompiledForward: inputs came in more than 3 shapes; others run in eager"):
        compiled(x[:4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (5, 4, 1):
            assert torch.equal(compiled(x[:size]), model(x[:size]))
    assert calls == [4, 5, 4]


def test_two_threads_get_results_of_their_own() -> None:
    model = perceptron(4, 8, 1)
    compiled = compile_forward(model, (x,), backend="python")
    inputs = (x, x.flip(0) * 2)
    with torch.no_grad():
        wanted = [model(one) for one in inputs]
    found: list[list[Tensor]] = [[], []]
    start = threading.Barrier(2)

    def call(place: int) -> None:
        start.wait()
        found[place] += [compiled(inputs[place]) for _ in range(300)]

    threads = [threading.Thread(target=call, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for results, one in zip(found, wanted):
        assert len(results) == 300
        assert all(torch.equal(result, one) for result in results)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_copy_is_an_error_that_says_what_to_do(copied: Any) -> None:
    compiled = compile_forward(perceptron(4, 8, 1), (x,), backend="python")
    with pytest.raises(TypeError, match=r"a CompiledForward holds the memory of its model, .*compile the copy"):
        copied(compiled)
