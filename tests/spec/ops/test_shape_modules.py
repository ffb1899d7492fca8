"""Flatten, pads and patches as modules, against torch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.values import TensorType
from tests.spec.ops.modules import B, C, H, W, check_module, make, module_message, nearly, several, sizes


@several
@given(st.lists(sizes, min_size=1, max_size=4).map(tuple), st.integers(-3, 3), st.integers(-3, 3))
def test_flatten_agrees_with_torch(shape, start, end):
    check_module("torch.nn.Flatten", start, end, input=shape)
    check_module("torch.nn.Flatten", input=shape)


@several
@given(st.data(), st.integers(-3, 2), sizes)
def test_unflatten_agrees_with_torch(data, axis, part):
    check_module("torch.nn.Unflatten", axis, (2, part), input=data.draw(nearly((2, 4, 6))))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Zero", "Reflection", "Replication", "Circular", "Constant"])
@several
@given(st.data())
def test_pads_agree_with_torch(kind, count, data):
    each = st.integers(0, 3)
    padding = data.draw(st.one_of(each, st.tuples(*[each] * (2 * count))))
    value = (1.5,) if kind == "Constant" else ()
    shape = data.draw(nearly((2, 3, *(data.draw(st.integers(2, 4)) for _ in range(count)))))
    check_module(f"torch.nn.{kind}Pad{count}d", padding, *value, input=shape)


@several
@given(st.data(), st.integers(1, 2), st.integers(0, 1), st.integers(1, 2))
def test_patches_agree_with_torch(data, dilation, padding, stride):
    kernel = data.draw(st.sampled_from([2, (2, 3)]))
    shape = data.draw(nearly((2, 3, 5, 6)))
    check_module("torch.nn.Unfold", kernel, dilation, padding, stride, input=shape)
    check_module("torch.nn.Fold", (4, 5), 2, input=data.draw(nearly((2, 12, 12))))


def test_shapes_are_formulas_of_the_input_sizes():
    image = TensorType.of(B, C, H, W)
    assert str(make("torch.nn.Flatten").call(Context(), [image], {})) == "(b, c*h*w)"
    assert str(make("torch.nn.ZeroPad2d", 1).call(Context(), [image], {})) == "(b, c, h+2, w+2)"
    sides = tuple(map(Dim.of, (1, 0, 2, 0)))
    assert str(make("torch.nn.ConstantPad2d", sides, 0.0).call(Context(), [image], {})) == "(b, c, h+2, w+1)"


def test_the_message_names_the_rank():
    assert module_message(make("torch.nn.ReflectionPad2d", 1), TensorType.of(B, C))[0] == (
        "pad: (b, c): 2 axes, 3 or 4 expected"
    )
