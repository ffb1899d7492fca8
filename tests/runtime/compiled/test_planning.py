"""A planned program does what its operations do one after the other, whichever they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, fx

from shaped.runtime.compiled import script, straight_line
from shaped.runtime.compiled.program import Program
from shaped.runtime.compiled.writing import Writer

aten = torch.ops.aten
BACKENDS = (straight_line, script)
SHAPES = ((3, 3), (3,), (1, 3), (3, 1), (9,))
CALLS = 3

POINTWISE_OF_TWO = (aten.add.Tensor, aten.mul.Tensor, aten.sub.Tensor)
POINTWISE_OF_ONE = (aten.relu.default, aten.tanh.default)
# Operations, with what follows their operand, on matrices of 3 by 3.
OTHERS: tuple[tuple[torch._ops.OpOverload, tuple[Any, ...]], ...] = (
    (aten.sum.dim_IntList, ([0], True)),
    (aten.sum.dim_IntList, ([1], True)),
    (aten.cumsum.default, (0,)),
    (aten.cumsum.default, (1,)),
    (aten.flip.default, ([0],)),
    (aten.flip.default, ([0, 1],)),
    (aten._softmax.default, (1, False)),
    (aten.clone.default, ()),
    (aten.ones_like.default, ()),
    (aten.zeros_like.default, ()),
)
VIEWS: tuple[tuple[tuple[int, ...], torch._ops.OpOverload, tuple[Any, ...]], ...] = (
    ((3, 3), aten.t.default, ()),
    ((3, 3), aten.transpose.int, (0, 1)),
    ((3, 3), aten.slice.Tensor, (0, 1, 2)),
    ((3, 3), aten.slice.Tensor, (1, 0, 1)),
    ((3, 3), aten.select.int, (0, 2)),
    ((3, 3), aten.select.int, (1, 0)),
    ((3, 3), aten.view.default, ([9],)),
    ((3, 3), aten.detach.default, ()),
    ((9,), aten.view.default, ([3, 3],)),
    ((9,), aten.slice.Tensor, (0, 3, 6)),
    ((3,), aten.unsqueeze.default, (0,)),
    ((3,), aten.unsqueeze.default, (1,)),
    ((1, 3), aten.expand.default, ([3, 3],)),
    ((3, 1), aten.expand.default, ([3, 3],)),
)


@dataclass(frozen=True)
class Made:
    """A tensor of a program under way, and whose memory it has."""

    node: fx.Node
    root: fx.Node
    may_be_written: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.node.meta["val"].shape)


def fit(one: Made, other: Made) -> bool:
    try:
        return tuple(torch.broadcast_shapes(one.shape, other.shape)) in SHAPES
    except RuntimeError:
        return False


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Straight lines of operations on small matrices; some write in place."""
    writer = Writer()
    made: list[Made] = []
    for name in ("x", "y"):
        node = writer.given(name, torch.zeros(3, 3))
        made.append(Made(node, node, may_be_written=False))
    for name, held in (("square", torch.zeros(3, 3)), ("flat", torch.zeros(9))):
        node = writer.held(name, held)
        made.append(Made(node, node))
    indices = writer.held("indices", torch.tensor([2, 0, 2]))

    def some(fits: Callable[[Made], bool]) -> Made:
        # The last ones first, for chains.
        return draw(st.sampled_from([one for one in reversed(made) if fits(one)]))

    def square() -> Made:
        return some(lambda one: one.shape == (3, 3))

    def result(operation: torch._ops.OpOverload, *arguments: Any) -> None:
        node = writer(operation, *arguments)
        made.append(Made(node, node))

    for _ in range(draw(st.integers(3, 14))):
        kind = draw(st.sampled_from(("two", "one", "mm", "other", "index", "full", "view", "view", "write", "write")))
        if kind == "two":
            one = some(lambda _: True)
            result(draw(st.sampled_from(POINTWISE_OF_TWO)), one.node, some(partial(fit, one)).node)
        elif kind == "one":
            result(draw(st.sampled_from(POINTWISE_OF_ONE)), some(lambda _: True).node)
        elif kind == "mm":
            result(aten.mm.default, square().node, square().node)
        elif kind == "other":
            operation, more = draw(st.sampled_from(OTHERS))
            result(operation, square().node, *more)
        elif kind == "index":
            result(aten.index_select.default, square().node, draw(st.sampled_from((0, 1))), indices)
        elif kind == "full":
            result(aten.full.default, [3, 3], 0.5)
        elif kind == "view":
            one = some(lambda _: True)
            possible = [
                (operation, more)
                for shape, operation, more in VIEWS
                if shape == one.shape and (operation is not aten.view.default or one.node.meta["val"].is_contiguous())
            ]
            if possible:
                operation, more = draw(st.sampled_from(possible))
                is_spread = operation is aten.expand.default  # torch refuses to write to it
                node = writer(operation, one.node, *more)
                made.append(Made(node, one.root, one.may_be_written and not is_spread))
        else:
            target = some(lambda one: one.may_be_written)
            operation = draw(
                st.sampled_from((aten.copy_.default, aten.add_.Tensor, aten.mul_.Tensor, aten.zero_.default))
            )
            # Torch refuses operands that overlap in part.
            sources = [
                one
                for one in reversed(made)
                if one.root is not target.root
                and fit(one, target)
                and torch.broadcast_shapes(one.shape, target.shape) == target.shape
            ]
            source = (
                () if operation is aten.zero_.default else (draw(st.sampled_from(sources)).node,) if sources else None
            )
            if source is not None:
                node = writer(operation, target.node, *source)
                made.append(Made(node, target.root, target.may_be_written))
    outputs = draw(st.lists(st.sampled_from([one.node for one in reversed(made)]), min_size=1, max_size=3, unique=True))
    return writer.program(outputs)


def one_after_the_other(program: Program, held: dict[fx.Node, Tensor], inputs: list[Tensor]) -> list[Tensor]:
    """What the operations give, each called as it stands; writes to `held`."""
    value: dict[fx.Node, Any] = {**held, **dict(zip(program.inputs, inputs, strict=True))}
    for node in program.operations:
        value[node] = node.target(*fx.node.map_arg(node.args, value.__getitem__), **node.kwargs)
    return [value[node].clone() for node in program.outputs]


def assert_to_the_bit(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


def assert_runs_as_written(program: Program) -> None:
    generator = torch.Generator().manual_seed(0)
    for tensor in program.held.values():
        if tensor.is_floating_point():
            tensor.copy_(torch.randn(tensor.shape, generator=generator))
    start = {node: tensor.clone() for node, tensor in program.held.items()}
    calls = [[torch.randn(3, 3, generator=generator) for _ in program.inputs] for _ in range(CALLS)]
    for backend in BACKENDS:
        for node, tensor in program.held.items():
            tensor.copy_(start[node])
        held = {node: tensor.clone() for node, tensor in start.items()}
        run = backend.build(program)
        kept = []
        for inputs in calls:
            expected = one_after_the_other(program, held, inputs)
            given_inputs = [one.clone() for one in inputs]
            outputs = run(*given_inputs)
            kept.append(([one.clone() for one in outputs], outputs))
            for found, right in zip(outputs, expected, strict=True):
                assert_to_the_bit(found, right)
            for node, tensor in program.held.items():
                assert_to_the_bit(tensor, held[node])
            for found, right in zip(given_inputs, inputs, strict=True):
                assert_to_the_bit(found, right)
        for before, after in kept:
            for one, other in zip(before, after, strict=True):
                assert_to_the_bit(other, one)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs())
def test_any_program_gives_and_writes_what_its_operations_do_one_after_the_other(program: Program) -> None:
    assert_runs_as_written(program)


def sums_of_a_result_that_nobody_else_reads(writer: Writer) -> list[fx.Node]:
    """Sums over rows read what they have written already, if the result is in the operand's memory."""
    x = writer.given("x", torch.zeros(3, 3))
    product = writer(aten.mm.default, x, x)
    again = writer(aten.mm.default, product, product)
    sums = writer(aten.cumsum.default, again, 0)
    return [writer(aten.add.Tensor, sums, x)]


def a_result_that_is_read_twice(writer: Writer) -> list[fx.Node]:
    x = writer.given("x", torch.zeros(3, 3))
    one = writer(aten.tanh.default, x)
    other = writer(aten.mul.Tensor, one, 2.0)
    last = writer(aten.mm.default, one, other)
    return [writer(aten.sub.Tensor, last, one)]


def a_pointwise_result_of_a_transposed_view(writer: Writer) -> list[fx.Node]:
    x = writer.given("x", torch.zeros(3, 3))
    one = writer(aten.mm.default, x, x)
    total = writer(aten.add.Tensor, one, writer(aten.t.default, one))
    return [writer(aten.sub.Tensor, total, x)]


def a_result_that_is_read_through_a_view_later(writer: Writer) -> list[fx.Node]:
    x = writer.given("x", torch.zeros(3, 3))
    view = writer(aten.t.default, writer(aten.mm.default, x, x))
    between = writer(aten.tanh.default, x)
    return [writer(aten.sub.Tensor, view, between)]


def a_destination_that_is_read_before_the_copy(writer: Writer) -> list[fx.Node]:
    x, held = writer.given("x", torch.zeros(3, 3)), writer.held("held", torch.zeros(3, 3))
    new = writer(aten.mm.default, x, x)
    old = writer(aten.add.Tensor, held, 1.0)
    writer(aten.copy_.default, held, new)
    return [old]


def a_destination_that_is_written_before_the_copy(writer: Writer) -> list[fx.Node]:
    x, held = writer.given("x", torch.zeros(3, 3)), writer.held("held", torch.zeros(3, 3))
    new = writer(aten.mm.default, x, x)
    writer(aten.add_.Tensor, writer(aten.select.int, held, 0, 1), 1.0)
    writer(aten.copy_.default, held, new)
    return [held]


def a_destination_that_the_operation_itself_reads(writer: Writer) -> list[fx.Node]:
    x, held = writer.given("x", torch.zeros(3, 3)), writer.held("held", torch.zeros(3, 3))
    writer(aten.copy_.default, held, writer(aten.mm.default, held, x))
    return [writer(aten.add.Tensor, held, x)]


def a_constant_that_is_written_to(writer: Writer) -> list[fx.Node]:
    x = writer.given("x", torch.zeros(3, 3))
    count = writer(aten.full.default, [3, 3], 0.5)
    writer(aten.add_.Tensor, writer(aten.select.int, count, 0, 1), 1.0)
    ones = writer(aten.ones_like.default, x)
    writer(aten.mul_.Tensor, ones, x)
    return [writer(aten.add.Tensor, count, ones), count]


@pytest.mark.parametrize(
    "write",
    [
        sums_of_a_result_that_nobody_else_reads,
        a_result_that_is_read_twice,
        a_pointwise_result_of_a_transposed_view,
        a_result_that_is_read_through_a_view_later,
        a_destination_that_is_read_before_the_copy,
        a_destination_that_is_written_before_the_copy,
        a_destination_that_the_operation_itself_reads,
        a_constant_that_is_written_to,
    ],
)
def test_memory_is_taken_only_where_nobody_notices(write: Callable[[Writer], list[fx.Node]]) -> None:
    writer = Writer()
    assert_runs_as_written(writer.program(write(writer)))
