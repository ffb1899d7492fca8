"""A training step is evaluated with its bounds: sound kernels are within them, and mutants are not."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, fx, nn

from shaped.runtime.compiled.program import Program
from shaped.runtime.compiled.rounding import Bounded, Budget, compare, evaluate
from shaped.runtime.compiled.rounding.bounded import given as exactly
from shaped.runtime.compiled.rounding.formats import format_of
from tests.runtime.compiled.rounding.traced import Traced, with_errors

aten = torch.ops.aten
BETA1, BETA2, LEARNING_RATE, EPS = 0.9, 0.999, 1e-3, 1e-8


class AdamStep:
    """A step of a perceptron and Adam, on flat tensors that it writes to: parameters, both moments, the count."""

    def __init__(self, *sizes: int, batch: int) -> None:
        torch.manual_seed(0)
        self.sizes = sizes
        count = sum((width + 1) * height for width, height in pairwise(sizes))
        self.tensors = [torch.randn(count) / 8, torch.randn(count) / 100, torch.rand(count) / 100, torch.zeros(1)]
        self.tensors += [torch.randn(batch, sizes[0]), torch.randn(batch, sizes[-1])]
        self.traced = Traced(self.step, *self.tensors)

    def layers(self, flat: Tensor) -> list[tuple[Tensor, Tensor]]:
        made, at = [], 0
        for width, height in pairwise(self.sizes):
            weight = flat[at : at + width * height].view(height, width)
            at += width * height
            made.append((weight, flat[at : at + height]))
            at += height
        return made

    def step(self, flat: Tensor, m: Tensor, v: Tensor, steps: Tensor, x: Tensor, y: Tensor) -> Tensor:
        parameters = [each.detach().requires_grad_() for pair in self.layers(flat) for each in pair]
        hidden = x
        for weight, bias in zip(parameters[::2], parameters[1::2]):
            hidden = F.linear(hidden if hidden is x else hidden.relu(), weight, bias)
        loss = F.mse_loss(hidden, y)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            gradient = torch.empty_like(flat)
            for place, one in zip([each for pair in self.layers(gradient) for each in pair], gradients):
                place.copy_(one)
            steps.add_(1)
            m.lerp_(gradient, 1 - BETA1)
            v.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            denominator = (v.sqrt() / (1 - BETA2) ** 0.5).add_(EPS)
            flat.addcdiv_(m, denominator, value=-LEARNING_RATE / (1 - BETA1))
        return loss.detach()

    def copies(self) -> list[Tensor]:
        return [each.clone() for each in self.tensors]

    def budgets(self, loss: Tensor, after: list[Tensor]) -> list[Budget]:
        """What a kernel left, held to the bounds."""
        true = evaluate(self.traced.program, self.traced.values(self.tensors))
        held = list(true.held.values())
        names = ["parameters", "m", "v", "steps"]
        return [compare(loss, true.outputs[0], "loss")] + [compare(*each) for each in zip(after, held, names)]


SMALL = AdamStep(6, 16, 3, batch=32)


def test_torch_s_own_step_is_within_the_bounds_and_the_given_tensors_stay() -> None:
    before = SMALL.copies()
    after = SMALL.copies()
    budgets = SMALL.budgets(SMALL.step(*after), after)
    assert all(budget.ok for budget in budgets), list(map(str, budgets))
    assert all(torch.equal(*pair) for pair in zip(before, SMALL.tensors))


def test_a_step_computed_in_64_bits_and_rounded_at_the_end_is_within_the_bounds() -> None:
    after = [each.double() for each in SMALL.copies()]
    loss = SMALL.step(*after)
    budgets = SMALL.budgets(loss.float(), [each.float() for each in after])
    assert all(budget.ok for budget in budgets), list(map(str, budgets))


def test_a_step_on_a_shuffled_batch_and_shuffled_features_is_within_the_bounds() -> None:
    after = SMALL.copies()
    order = torch.randperm(32, generator=torch.Generator().manual_seed(3))
    loss = SMALL.step(*after[:4], after[4][order], after[5][order])
    assert all(budget.ok for budget in SMALL.budgets(loss, after[:4]))


def _changed(node: fx.Node, place: int, value: object) -> None:
    node.args = (*node.args[:place], value, *node.args[place + 1 :])


MUTANTS: dict[str, Callable[[Traced], None]] = {
    "a bias left out": lambda t: t.node(aten.addmm.default).update_kwarg("beta", 0),
    "0.91 for 0.9": lambda t: _changed(t.node(aten.lerp_.Scalar), 2, 1 - 0.91),
    "0.99 for 0.999": lambda t: _changed(t.node(aten.mul_.Tensor), 1, 0.99),
    "no mean": lambda t: _changed(t.node(aten.mse_loss_backward.default), 3, 2),
    "another step's correction of m": lambda t: t.node(aten.addcdiv_.default).update_kwarg(
        "value", -LEARNING_RATE / (1 - BETA1**2)
    ),
    "another step's correction of v": lambda t: _changed(t.node(aten.div.Tensor), 1, (1 - BETA2**2) ** 0.5),
    "the count of steps not kept": lambda t: _changed(t.node(aten.add_.Tensor), 1, 0),
    "the loss's sum": lambda t: t.node(aten.mse_loss.default).insert_arg(2, 2),
    "a kink elsewhere": lambda t: _changed(t.node(aten.threshold_backward.default), 2, 0.1),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_out_by_much(name: str) -> None:
    mutant = AdamStep(6, 16, 3, batch=32)
    MUTANTS[name](mutant.traced)
    module = fx.GraphModule(nn.Module(), mutant.traced.program.graph)
    after = mutant.copies()
    (loss,) = module(*after)
    assert max(budget.rho for budget in SMALL.budgets(loss, after[:4])) > 10


def test_a_large_step_is_evaluated_in_less_than_a_second() -> None:
    step = AdamStep(128, 256, 128, 8, batch=128)
    times = []
    for _ in range(3):
        start = time.process_time()
        true = evaluate(step.traced.program, step.traced.values(step.tensors))
        times.append(time.process_time() - start)
    assert min(times) < 1, times
    assert true.outputs[0].bound < 0.02 * true.outputs[0].value


def test_errors_of_a_step_go_into_the_next() -> None:
    first = evaluate(SMALL.traced.program, SMALL.traced.values(SMALL.tensors))
    inputs: list[Tensor | Bounded] = [*list(first.held.values())[:4], *SMALL.tensors[4:]]
    second = evaluate(SMALL.traced.program, SMALL.traced.values(inputs))
    after = SMALL.copies()
    for _ in range(2):
        loss = SMALL.step(*after)
    assert compare(loss, second.outputs[0]).ok
    pairs = list(zip(after[:4], second.held.values()))
    assert all(compare(actual, bounded).rho <= 1 for actual, bounded in pairs)
    assert (second.outputs[0].bound > first.outputs[0].bound).all()


def test_a_write_through_a_view_lands() -> None:
    def function(x: Tensor) -> Tensor:
        row = x.view(3, 4)[1]
        row.t().add_(0.1)
        x.as_strided((2,), (4,), 1).mul_(3.0)
        return x.view(4, 3) * 1

    x = torch.arange(20.0)[8:]  # its memory begins before it
    traced = Traced(function, x.clone())
    after = x.clone()
    expected = function(after)
    true = evaluate(traced.program, traced.values([x]))
    assert compare(expected, true.outputs[0]).ok
    assert compare(after, next(iter(true.held.values()))).ok
    assert x.tolist() == list(range(8, 20))


def test_a_view_of_a_view_of_given_memory_is_by_its_own_offset() -> None:
    memory = torch.arange(12.0)
    x = memory[2:10]
    traced = Traced(lambda x: x.as_strided((2, 2), (2, 1), x.storage_offset() + 1) * 2, x)
    assert compare(x.as_strided((2, 2), (2, 1), 3) * 2, traced.bounded(x)[0]).ok


def test_what_is_written_to_is_no_longer_known_to_be_positive() -> None:
    def function(x: Tensor) -> Tensor:
        root = x.sqrt()
        root.view(-1).sub_(1.0)
        return 1 / (root + 0.5)

    x = torch.tensor([0.2501, 4.0])
    off = with_errors(x, torch.tensor([0.2499, 4.0]))
    assert Traced(function, x).bounded(off)[0].bound.isinf().tolist() == [True, False]


def test_writing_to_a_result_leaves_what_it_was_made_from() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        twice = x * 1.0
        twice.add_(1.0)
        return twice, x * 2

    x = torch.tensor([0.3])
    assert [bounded.value.item() for bounded in Traced(function, x).bounded(x)] == pytest.approx([1.3, 0.6])


def test_scalars_are_given_at_each_call() -> None:
    x = torch.tensor([0.3, 3.0])
    traced = Traced(lambda x: x * 7.0, x)
    graph = traced.program.graph
    with graph.inserting_before(traced.program.operations[0]):
        scalar = graph.placeholder("scalar")
    _changed(traced.node(aten.mul.Tensor), 1, scalar)
    program = Program(graph, traced.placeholders, {}, (scalar,))
    (result,) = evaluate(program, {traced.placeholders[0]: x, scalar: 0.1}).outputs
    assert compare(x * 0.1, result).ok
    assert not compare(x * 0.1001, result).ok


def test_a_placeholder_without_value_or_of_another_shape_is_refused_by_name() -> None:
    traced = Traced(torch.neg, torch.zeros(2))
    with pytest.raises(ValueError, match="no value is given for the placeholder"):
        evaluate(traced.program, {})
    with pytest.raises(ValueError, match=r"has the shape \(3,\), but the program is of \(2,\)"):
        traced.bounded(torch.zeros(3))


def test_given_tensors_are_copied_whatever_their_strides() -> None:
    random = torch.randn(3, 4, dtype=torch.float64)
    for x in (random.t(), random[:, :1].expand(3, 4), random[1:, ::2], random[:0], random[0, 0]):
        copy = exactly(x)
        assert torch.equal(copy.value, x)
        assert copy.value.stride() == x.stride()
        assert not x.numel() or copy.value.data_ptr() != x.data_ptr()


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "convolutions": lambda: nn.Sequential(
        nn.Unflatten(1, (1, 4, 4)), nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(16, 3),
    ),
    "normalised": lambda: nn.Sequential(nn.Linear(16, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3)),
    "attention": lambda: nn.Sequential(
        nn.Unflatten(1, (4, 4)), nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True), nn.Flatten(),
        nn.Linear(16, 3),
    ),
    "recurrent": lambda: nn.Sequential(nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 3), nn.Softplus()),
}  # fmt: skip


def step_of(network: nn.Module) -> Callable[..., list[Tensor]]:
    """The loss and the gradients, as a function of parameters, buffers, inputs and classes."""
    names = [name for name, _ in network.named_parameters()]
    buffers = [name for name, _ in network.named_buffers()]

    def function(*tensors: Tensor) -> list[Tensor]:
        leaves = [each.detach().requires_grad_() for each in tensors[: len(names)]]
        held = tensors[len(names) : len(names) + len(buffers)]
        x, y = tensors[-2:]
        result = torch.func.functional_call(network, dict(zip([*names, *buffers], [*leaves, *held])), (x,))
        loss = F.cross_entropy(result, y)
        return [loss.detach(), *torch.autograd.grad(loss, leaves)]

    return function


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", NETWORKS)
def test_losses_and_gradients_of_networks_are_within_the_bounds(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    network = NETWORKS[name]().to(dtype)
    tensors = [*network.parameters(), *network.buffers(), torch.randn(8, 16).to(dtype), torch.arange(8) % 3]
    given_tensors = [each.detach().clone() for each in tensors]
    traced = Traced(step_of(network), *given_tensors)
    actual = [each.clone() for each in given_tensors]
    for budget in traced.budgets(traced.eager(*actual), *given_tensors):
        assert budget.rho <= 1, str(budget)
    # Running statistics, and the count of batches.
    true = evaluate(traced.program, traced.values(given_tensors))
    for left, bounded in zip(actual, true.held.values()):
        assert compare(left, bounded).rho <= 1
    if dtype != torch.bfloat16:
        assert true.outputs[0].bound < 0.05 * true.outputs[0].value


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=5),
    batch=st.integers(1, 9),
    scale=st.sampled_from([1e-20, 1e-3, 1.0, 1e3, 1e12]),
    seed=st.integers(0, 1000),
    activation=st.sampled_from([torch.tanh, torch.relu, F.silu, F.gelu, torch.sigmoid, F.softplus, torch.square]),
)
def test_any_perceptron_at_any_scale_is_within_the_bounds(
    sizes: list[int], batch: int, scale: float, seed: int, activation: Callable[[Tensor], Tensor]
) -> None:
    torch.manual_seed(seed)
    weights = [torch.randn(after, before) for before, after in pairwise(sizes)]
    x = torch.randn(batch, sizes[0]) * scale

    def function(x: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        leaves = [each.detach().requires_grad_() for each in weights]
        for weight in leaves:
            x = activation(x @ weight.t())
        loss = x.mean() + x.square().sum()
        return (loss, *torch.autograd.grad(loss, leaves))

    traced = Traced(function, x, *weights)
    in_blocks = [each.float() for each in traced.eager(x.double(), *(each.double() for each in weights))]
    for actual in (traced.eager(x, *weights), in_blocks):
        for budget in traced.budgets([each.detach() for each in actual], x, *weights):
            assert budget.rho <= 1, str(budget)


@pytest.mark.slow
def test_a_step_that_inductor_compiled_is_within_the_bounds() -> None:
    torch.manual_seed(0)
    network = NETWORKS["normalised"]()
    tensors = [*network.parameters(), torch.randn(8, 16), torch.arange(8) % 3]
    given_tensors = [each.detach().clone() for each in tensors]
    traced = Traced(step_of(network), *given_tensors)
    module = fx.GraphModule(nn.Module(), traced.program.graph)
    actual = torch.compile(module)(*given_tensors)
    for budget in traced.budgets(actual, *given_tensors):
        assert budget.ok, str(budget)


def test_the_format_of_integers_rounds_nothing() -> None:
    assert not format_of(torch.int64).is_float
    assert format_of(torch.bfloat16).precision == 2**-8
