"""A fill has none of the modes of its caller's thread, and no trace of it is left in a compiled function."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from shaped.init import Normal, Scheme, Uniform, tensor
from shaped.init.plain_thread import in_plain_threads


def test_work_is_done_once_in_each_of_so_many_other_threads() -> None:
    out = torch.empty(1)
    done: list[int] = []
    everyone = threading.Barrier(3)

    def work() -> None:
        everyone.wait(60)
        done.append(threading.get_ident())

    in_plain_threads(work, out, 3)
    assert len(done) == 3
    assert threading.get_ident() not in done


def test_an_error_is_raised_in_the_callers_thread() -> None:
    def fail() -> None:
        raise KeyError("no")

    with pytest.raises(KeyError, match="no"):
        in_plain_threads(fail, torch.empty(1))


def test_a_mode_of_the_caller_sees_nothing_of_the_work() -> None:
    class Recording(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    seen: list[str] = []
    with Recording():
        drawn = tensor(Normal(), [5])
    assert set(seen) <= {"empty.memory_format", "detach.default"}
    assert drawn.equal(tensor(Normal(), [5]))


def test_a_default_device_of_the_caller_does_not_matter() -> None:
    with torch.device("meta"):
        drawn = tensor(Normal(), [5], dtype=torch.float64)
    assert drawn.equal(tensor(Normal(), [5], dtype=torch.float64))


@pytest.mark.parametrize("scheme", [Uniform(0, 1e-40), Normal(0, 1e-40)])
def test_small_numbers_are_kept_where_the_caller_flushes_them_to_zero(scheme: Scheme) -> None:
    due = tensor(scheme, [50]).view(torch.int32)
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor flushes nothing")
    try:
        drawn = tensor(scheme, [50])
        assert (drawn * 1).count_nonzero() == 0, "the caller's own arithmetic still flushes"
    finally:
        torch.set_flush_denormal(False)
    assert drawn.view(torch.int32).equal(due)


@pytest.mark.filterwarnings("ignore")
def test_a_compiler_fuses_nothing_of_the_work() -> None:
    operations: list[str] = []

    def record(graph: torch.fx.GraphModule, _: list[Tensor]) -> object:
        operations.extend(str(node.target) for node in graph.graph.nodes if node.op.startswith("call"))
        return graph.forward

    def function(x: Tensor) -> Tensor:
        return x + tensor(Normal(), [4], dtype=torch.float64) + tensor(Uniform(-3, 0.7), [4])

    compiled = torch.compile(function, backend=record)
    assert compiled(torch.zeros(4)).equal(function(torch.zeros(4)))
    assert not [name for name in operations if "add" not in name and "empty" not in name and "detach" not in name]


def test_vmap_does_not_matter() -> None:
    drawn = torch.func.vmap(lambda x: x + tensor(Uniform(), [4]))(torch.zeros(2, 4))
    assert drawn.equal(tensor(Uniform(), [4]).expand(2, 4))
