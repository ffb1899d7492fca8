"""Programs in C: what is given, held and returned, what is refused, and what happens when an index is wrong."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, fx, nn

from shaped.runtime.compiled import c
from shaped.runtime.compiled.program import CannotCompile, Program
from shaped.runtime.compiled.tracing import tensors_of, trace
from shaped.runtime.compiled.writing import Writer

aten = torch.ops.aten
pytestmark = pytest.mark.skipif(
    c.c_kernel.load("int one(void) { return 1; }\n") is None, reason="there is no C compiler on this machine"
)


def program(write: Callable[..., list[fx.Node]], *inputs: Tensor, held: tuple[Tensor, ...] = ()) -> Program:
    """A program that `write(writer, *inputs, *held)` writes."""
    writer = Writer()
    given = [writer.given(f"x{number}", one) for number, one in enumerate(inputs)]
    kept = [writer.held(f"h{number}", one) for number, one in enumerate(held)]
    return writer.program(write(writer, *given, *kept))


def test_outputs_are_new_at_each_call() -> None:
    x = torch.arange(3.0)
    run = c.build(program(lambda w, x: [w(aten.add.Tensor, x, 1.0)], x))
    (first,), (second,) = run(x), run(x + 1)
    assert first.tolist() == [1, 2, 3]
    assert second.tolist() == [2, 3, 4]


def test_an_output_may_be_an_input_a_held_tensor_or_a_view_twice() -> None:
    x, held = torch.randn(2, 3), torch.randn(4)
    run = c.build(program(lambda w, x, h: [x, h, w(aten.t.default, x), w(aten.t.default, x), x], x, held=(held,)))
    results = run(x)
    for got, wanted in zip(results, (x, held, x.t(), x.t(), x)):
        assert got.equal(wanted)
        assert got.data_ptr() != wanted.data_ptr()
    assert len({one.data_ptr() for one in results}) == 5


def test_an_input_that_lies_otherwise_than_traced_is_read_rightly() -> None:
    x = torch.randn(3, 4)
    run = c.build(program(lambda w, x: [w(aten.relu.default, x)], x))
    other = torch.randn(4, 3).t()
    assert run(other)[0].equal(other.relu())
    turned = c.build(program(lambda w, x: [w(aten.relu.default, x)], other))
    assert turned(x)[0].equal(x.relu())
    assert turned(x)[0].stride() == other.relu().stride()


def test_held_tensors_are_read_where_they_are_at_each_call() -> None:
    held = torch.zeros(3)
    x = torch.ones(3)
    run = c.build(program(lambda w, x, h: [w(aten.add.Tensor, x, h)], x, held=(held,)))
    held.fill_(4)
    assert run(x)[0].tolist() == [5, 5, 5]


def test_operations_in_place_write_to_held_tensors_and_views_of_them_in_order() -> None:
    def write(w: Writer, x: fx.Node, h: fx.Node) -> list[fx.Node]:
        before = w(aten.mul.Tensor, h, 2.0)
        row = w(aten.select.int, h, 0, 1)
        w(aten.add_.Tensor, row, x)
        between = w(aten.mul.Tensor, h, 3.0)
        w(aten.mul_.Tensor, h, w(aten.add.Tensor, h, 1.0))
        w(aten.copy_.default, w(aten.select.int, h, 1, 0), w(aten.select.int, h, 1, 2))
        return [before, between, w(aten.t.default, h)]

    held, x = torch.randn(2, 3), torch.randn(3)
    expected = held.clone()
    before = expected * 2
    expected[1].add_(x)
    between = expected * 3
    expected.mul_(expected + 1)
    expected[:, 0].copy_(expected[:, 2].clone())
    run = c.build(program(write, x, held=(held,)))
    for got, wanted in zip(run(x), (before, between, expected.t())):
        assert got.equal(wanted)
    assert held.equal(expected)


def test_a_read_of_other_elements_is_not_moved_past_a_write() -> None:
    def write(w: Writer, x: fx.Node, h: fx.Node) -> list[fx.Node]:
        w(aten.add_.Tensor, h, x)
        return [w(aten.add.Tensor, x, w(aten.t.default, h)), w(aten.add.Tensor, w(aten.mul_.Tensor, h, 2.0), x)]

    held, x = torch.randn(3, 3), torch.randn(3, 3)
    expected = held + x
    run = c.build(program(write, x, held=(held,)))
    first, second = run(x)
    assert first.equal(x + expected.t())
    assert second.equal(expected * 2 + x)


def test_scalars_are_given_at_each_call_in_double() -> None:
    writer = Writer()
    x = torch.ones(2, dtype=torch.float64)
    node, rate = writer.given("x", x), writer.scalar("rate")
    run = c.build(writer.program([writer(aten.mul.Tensor, node, rate)]))
    assert run(x, 0.1)[0].tolist() == [0.1, 0.1]
    assert run(x, math.inf)[0].tolist() == [math.inf, math.inf]


@pytest.mark.parametrize("index", [[0, 6], [-1, 0]])
def test_an_index_out_of_range_is_an_error_before_anything_is_written(index: list[int]) -> None:
    def write(w: Writer, i: fx.Node, h: fx.Node) -> list[fx.Node]:
        w(aten.add_.Tensor, h, 1.0)
        return [w(aten.index_select.default, h, 0, i)]

    held = torch.zeros(6, 2)
    run = c.build(program(write, torch.tensor([0, 1]), held=(held,)))
    with pytest.raises(IndexError, match="an index is out of range: there are 6 rows"):
        run(torch.tensor(index))
    assert not held.any()
    assert run(torch.tensor([5, 0]))[0].tolist() == [[1, 1], [1, 1]]


def test_an_index_that_the_program_makes_is_checked_too() -> None:
    def write(w: Writer, i: fx.Node, h: fx.Node) -> list[fx.Node]:
        return [w(aten.index_select.default, h, 0, w(aten.add.Tensor, i, 5))]

    run = c.build(program(write, torch.tensor([0, 1]), held=(torch.zeros(6, 2),)))
    assert run(torch.tensor([0, -5]))[0].shape == (2, 2)
    with pytest.raises(IndexError, match="out of range"):
        run(torch.tensor([0, 1]))


def test_a_target_that_is_no_class_is_an_error() -> None:
    scores, targets = torch.randn(2, 3), torch.tensor([0, 2])

    def write(w: Writer, s: fx.Node, t: fx.Node) -> list[fx.Node]:
        return [w(aten.nll_loss_backward.default, w(aten.sum.default, s), s, t, None, 2, -100, w(aten.sum.default, s))]

    run = c.build(program(write, scores, targets))
    with pytest.raises(IndexError, match="a target is out of bounds: there are 3 classes"):
        run(scores, torch.tensor([0, 3]))
    assert run(scores, torch.tensor([0, -100]))[0][1].tolist() == [0, 0, 0]


def convolution(w: Writer, x: fx.Node) -> list[fx.Node]:
    return [w(aten.convolution.default, x, x, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)]


def relu(w: Writer, x: fx.Node) -> list[fx.Node]:
    return [w(aten.relu.default, x)]


@pytest.mark.parametrize(
    "x, write, reason",
    [
        (torch.randn(2, 2, 1, 1), convolution, "aten.convolution.default: there is no C"),
        (torch.zeros(2, dtype=torch.bfloat16), relu, "x0: no C for a tensor that is torch.strided, torch.bfloat16"),
        (torch.zeros(2, device="meta"), relu, "on meta"),
        (torch.zeros(2), lambda w, x: [w(aten.add_.Tensor, x, 1.0)], "aten.add_.Tensor writes to the input x0"),
        (torch.zeros(2), lambda w, x: [w(aten.bernoulli.default, x)], "aten.bernoulli.default"),
        (torch.zeros(2), lambda w, x: [w(aten.div.Tensor_mode, x, x, rounding_mode="floor")], "rounding_mode='floor'"),
    ],
)
def test_what_there_is_no_c_for_is_named(
    x: Tensor, write: Callable[[Writer, fx.Node], list[fx.Node]], reason: str
) -> None:
    refused = program(write, x)
    assert reason in str(c.unavailable(refused))
    with pytest.raises(CannotCompile, match=reason.partition(":")[0]):
        c.build(refused)


def test_without_a_compiler_it_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAPED_KERNELS", "0")
    made = program(lambda w, x: [w(aten.relu.default, x)], torch.zeros(2))
    assert c.unavailable(made) == "there is no C compiler, or kernels are switched off"
    with pytest.raises(CannotCompile, match="compiler"):
        c.build(made)


def test_source_that_was_changed_gives_something_else() -> None:
    x = torch.randn(40)
    made = program(lambda w, x: [w(aten.add.Tensor, w(aten.mul.Tensor, x, 2.0), 1.0)], x)
    source = c.source_of(made)
    assert source.count("x0 * 2.0f") == 1
    assert c.run_from_source(made, source)(x)[0].equal(x * 2 + 1)
    assert c.run_from_source(made, source.replace("x0 * 2.0f", "x0 * 3.0f"))(x)[0].equal(x * 3 + 1)


def test_threads_do_not_disturb_each_other() -> None:
    inputs = [torch.randn(128, 200) for _ in range(4)]
    weight = torch.randn(200, 90)

    def write(w: Writer, x: fx.Node, h: fx.Node) -> list[fx.Node]:
        return [w(aten.relu.default, w(aten.mm.default, w(aten.relu.default, x), h))]

    run = c.build(program(write, inputs[0], held=(weight,)))
    wanted = [run(x)[0] for x in inputs]
    wrong: list[int] = []

    def work(number: int) -> None:
        wrong.extend(number for _ in range(30) if not run(inputs[number])[0].equal(wanted[number]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@st.composite
def models(draw: st.DrawFn) -> tuple[nn.Sequential, Tensor]:
    """A small model of linear layers and what may lie between them, and an input."""
    sizes = draw(st.lists(st.integers(1, 40), min_size=2, max_size=4))
    between = st.sampled_from([nn.ReLU, nn.Tanh, nn.GELU, nn.SiLU, nn.Sigmoid, nn.ELU, nn.Identity])
    layers: list[nn.Module] = []
    for inward, outward in itertools.pairwise(sizes):
        layers += [nn.Linear(inward, outward, bias=draw(st.booleans())), draw(between)()]
        if draw(st.booleans()):
            layers.append(nn.LayerNorm(outward) if draw(st.booleans()) else nn.Softmax(-1))
    model = nn.Sequential(*layers)
    return model.double(), torch.randn(draw(st.integers(1, 40)), sizes[0], dtype=torch.float64)


FEW = settings(max_examples=4, deadline=None)
MANY = settings(max_examples=100, deadline=None)


@FEW
@given(models())
def test_a_model_and_its_gradients_are_those_of_torch(drawn: tuple[nn.Sequential, Tensor]) -> None:
    model_is_as_in_torch(*drawn)


@pytest.mark.slow
@MANY
@given(models())
def test_many_models_and_their_gradients_are_those_of_torch(drawn: tuple[nn.Sequential, Tensor]) -> None:
    model_is_as_in_torch(*drawn)


def model_is_as_in_torch(model: nn.Sequential, x: Tensor) -> None:

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        out = model(x)
        return (out * out.sin()).mean() + torch.nn.functional.smooth_l1_loss(out, x[:, :1].expand_as(out))

    names = [name for name, _ in model.named_parameters()]
    traced = trace(model, loss, (x,), differentiated=names)
    writer = Writer()
    nodes = dict(zip(traced.inputs, [writer.given("x", x)]))
    for name, tensor in tensors_of(model).items():
        nodes[traced.named[name]] = writer.held(f"held_{name.replace('.', '_')}", tensor)
    got = c.build(writer.program(writer.insert(traced, nodes)))(x)
    value = loss(model, x)
    wanted = [value, *torch.autograd.grad(value, [model.get_parameter(name) for name in traced.gradients])]
    for one, other in zip(got, wanted, strict=True):
        # Some thousand roundings of 2^-53 each, in any order; what is wrong is off by far more.
        torch.testing.assert_close(one, other.detach(), rtol=1e-9, atol=1e-11)


@st.composite
def expressions(draw: st.DrawFn) -> tuple[list[Tensor], list[tuple[str, int, int]]]:
    """Inputs that broadcast, and operations on them and on the results before."""
    rank = draw(st.integers(0, 3))
    full = [draw(st.sampled_from([1, 2, 3, 17])) for _ in range(rank)]
    inputs = []
    for _ in range(3):
        shape = [size if draw(st.booleans()) else 1 for size in full[draw(st.integers(0, rank)) :]]
        x = torch.randn(shape, dtype=torch.float64)
        inputs.append(x.transpose(0, -1) if len(set(shape)) == 1 and shape else x)
    names = st.sampled_from(["add", "sub", "mul", "maximum", "relu", "sin", "t", "add_", "mul_"])
    steps = draw(st.lists(st.tuples(names, st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=30))
    return inputs, steps


def _together(one: torch.Size, other: torch.Size) -> torch.Size | None:
    """The shape that both broadcast to, if there is one."""
    try:
        return torch.broadcast_shapes(one, other)
    except RuntimeError:
        return None


def _apply(
    steps: list[tuple[str, int, int]],
    values: list[Any],
    do: Callable[..., Any],
    shape: Callable[[Any], torch.Size],
) -> None:
    """Do the steps and add their results to the values; only results are written to."""
    writable: set[int] = set()
    for name, first, second in steps:
        x, y = values[first % len(values)], values[second % len(values)]
        if name == "t":
            values.append(do(aten.transpose.int, x, 0, -1) if len(shape(x)) > 1 else x)
        elif name in ("relu", "sin"):
            values.append(do(getattr(aten, name).default, x))
        elif name.endswith("_"):
            place = max(writable) if writable else None
            if place is None or _together(shape(values[place]), shape(y)) != shape(values[place]):
                continue
            do(getattr(aten, name).Tensor, values[place], y)
        elif _together(shape(x), shape(y)) is not None:
            values.append(do(getattr(aten, name).default if name == "maximum" else getattr(aten, name).Tensor, x, y))
            writable.add(len(values) - 1)


@FEW
@given(expressions())
def test_expressions_with_views_and_writes_are_those_of_torch(
    drawn: tuple[list[Tensor], list[tuple[str, int, int]]],
) -> None:
    expressions_are_as_in_torch(*drawn)


@pytest.mark.slow
@MANY
@given(expressions())
def test_many_expressions_with_views_and_writes_are_those_of_torch(
    drawn: tuple[list[Tensor], list[tuple[str, int, int]]],
) -> None:
    expressions_are_as_in_torch(*drawn)


def expressions_are_as_in_torch(inputs: list[Tensor], steps: list[tuple[str, int, int]]) -> None:
    writer = Writer()
    nodes: list[Any] = [writer.given(f"x{number}", x) for number, x in enumerate(inputs)]
    _apply(steps, nodes, writer, lambda node: node.meta["val"].shape)
    values: list[Any] = [*inputs]
    _apply(steps, values, lambda operation, *given: operation(*given), lambda value: value.shape)
    outputs = [node for node in nodes if isinstance(node, fx.Node)]
    for got, wanted in zip(c.build(writer.program(outputs))(*inputs), values, strict=True):
        # The same roundings in the same order, but for sin, which may be another one's.
        torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12, equal_nan=True)


def test_a_long_loop_hands_values_on_from_piece_to_piece() -> None:
    def write(w: Writer, x: fx.Node, h: fx.Node) -> list[fx.Node]:
        values = [w(aten.mul.Tensor, x, 0.5)]
        for step in range(60):
            # What was made long ago, what was made just now, and at times what is written in place.
            values.append(w(aten.sub.Tensor, values[step * step % len(values)], values[-1]))
            if step % 20 == 7:
                w(aten.add_.Tensor, h, values[-1])
                values.append(w(aten.mul.Tensor, h, 0.25))
        return [values[3], values[-1]]

    x, held = torch.randn(3, 350, dtype=torch.float64), torch.randn(3, 350, dtype=torch.float64)
    expected = held.clone()
    values = [x * 0.5]
    for step in range(60):
        values.append(values[step * step % len(values)] - values[-1])
        if step % 20 == 7:
            expected += values[-1]
            values.append(expected * 0.25)
    made = program(write, x, held=(held,))
    assert c.source_of(made).count("first < 1050") == 1
    for got, wanted in zip(c.build(made)(x), (values[3], values[-1])):
        assert got.equal(wanted)
    assert held.equal(expected)


@pytest.mark.parametrize("rows", [1, 4, 5, 33, 70])
def test_a_forward_is_right_however_its_products_are_laid_out(rows: int) -> None:
    model = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 33), nn.GELU(), nn.Linear(33, 3)).double()
    x = torch.randn(rows, 20, dtype=torch.float64)

    def function(model: nn.Sequential, x: Tensor) -> list[Tensor]:
        hidden = model[:4](x)
        return [hidden.sum(0), hidden.abs().mean(1), model[4](hidden) * 2]

    traced = trace(model, function, (x,))
    writer = Writer()
    nodes = dict(zip(traced.inputs, [writer.given("x", x)]))
    for name, tensor in tensors_of(model).items():
        nodes[traced.named[name]] = writer.held(f"held_{name.replace('.', '_')}", tensor.detach())
    with torch.no_grad():
        wanted = function(model, x)
    for got, other in zip(c.build(writer.program(writer.insert(traced, nodes)))(x), wanted, strict=True):
        # Sums of up to 70 terms of size one, each rounded by 2^-53.
        torch.testing.assert_close(got, other, rtol=1e-11, atol=1e-12)


def test_a_deep_product_adds_up_its_parts() -> None:
    x, weight, bias = torch.randn(40, 600), torch.randn(600, 70), torch.randn(70)
    run = c.build(program(lambda w, x, h, b: [w(aten.addmm.default, b, x, h)], x, held=(weight, bias)))
    exact = torch.addmm(bias.double(), x.double(), weight.double())
    # 601 terms of size one, each rounded by 2^-24 of a sum of up to some hundred.
    torch.testing.assert_close(run(x)[0].double(), exact, rtol=1e-5, atol=1e-3)
