"""The modules of pools against torch, over symbolic sizes, and their messages."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.modules import B, C, H, W, check_module, make, module_message, nearly, several

small = st.integers(1, 3)


@st.composite
def inputs(draw, count):
    """A shape with `count` spatial axes, mostly."""
    batch = draw(st.sampled_from([(), (2,)]))
    return draw(nearly((*batch, draw(small), *(draw(st.integers(1, 8)) for _ in range(count)))))


def windows(count):
    """A window for all axes, or one for each."""
    return st.one_of(small, st.tuples(*[small] * count))


@pytest.mark.parametrize("count", [1, 2, 3])
@several
@given(st.data(), st.integers(0, 1), st.integers(1, 2), st.booleans(), st.booleans())
def test_max_pools_agree_with_torch(count, data, padding, dilation, with_indices, ceil_mode):
    kernel, stride = data.draw(windows(count)), data.draw(st.one_of(st.none(), windows(count)))
    options = (kernel, stride, padding, dilation, with_indices, ceil_mode)
    check_module(f"torch.nn.MaxPool{count}d", *options, input=data.draw(inputs(count)))


@pytest.mark.parametrize("count", [1, 2, 3])
@several
@given(st.data(), st.integers(0, 1), st.booleans())
def test_mean_pools_agree_with_torch(count, data, padding, ceil_mode):
    kernel, stride = data.draw(windows(count)), data.draw(st.one_of(st.none(), windows(count)))
    check_module(f"torch.nn.AvgPool{count}d", kernel, stride, padding, ceil_mode, input=data.draw(inputs(count)))


@pytest.mark.parametrize("count", [1, 2, 3])
@several
@given(st.data(), st.booleans())
def test_norm_pools_agree_with_torch(count, data, ceil_mode):
    kernel = data.draw(small if count == 1 else windows(count))
    stride = data.draw(st.one_of(st.none(), small))
    check_module(f"torch.nn.LPPool{count}d", 2.0, kernel, stride, ceil_mode, input=data.draw(inputs(count)))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Avg", "Max"])
@several
@given(st.data())
def test_adaptive_pools_agree_with_torch(count, kind, data):
    each = small if count == 1 else st.one_of(st.none(), small)
    wanted = data.draw(st.one_of(small, st.tuples(*[each] * count)))
    check_module(f"torch.nn.Adaptive{kind}Pool{count}d", wanted, input=data.draw(inputs(count)))


@pytest.mark.parametrize("count", [1, 2, 3])
@several
@given(st.data(), st.integers(2, 4), small)
def test_unpools_agree_with_torch(count, data, size, kernel):
    shape = (2, 3, *(size,) * count)
    indices = torch.zeros(data.draw(nearly(shape)), dtype=torch.int64)
    check_module(f"torch.nn.MaxUnpool{count}d", kernel, input=(torch.zeros(shape), indices))


@several
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2), st.integers(1, 2), st.integers(1, 12))
def test_a_symbolic_size_rounded_up_is_torchs_for_every_size(kernel, stride, padding, dilation, size):
    padding = min(padding, kernel // 2)
    window = [Dim.of(number) for number in (kernel, stride, padding, dilation)]
    made = make("torch.nn.MaxPool1d", *window, ceil_mode=True)
    result = made.call(Context(), [TensorType.of(3, W)], {})
    real = torch.nn.MaxPool1d(kernel, stride, padding, dilation, ceil_mode=True)
    try:
        expected = real(torch.zeros(3, size)).shape[1]
    except RuntimeError:
        return
    assert result.shape.dims[1].evaluate({W.symbol: size}) == expected


def test_output_sizes_are_formulas_of_the_input_sizes():
    image = TensorType.of(B, C, H, W)
    assert str(make("torch.nn.MaxPool2d", 2).call(Context(), [image], {})) == "(b, c, h//2, w//2)"
    assert str(make("torch.nn.AdaptiveAvgPool2d", 1).call(Context(), [image], {})) == "(b, c, 1, 1)"
    kept = make("torch.nn.AdaptiveAvgPool2d", (None, Dim.of(7))).call(Context(), [image], {})
    assert str(kept) == "(b, c, h, 7)"


def test_a_window_that_was_not_followed_is_the_same_in_every_call():
    made, context = make("torch.nn.MaxPool2d", UNKNOWN), Context()
    first, second = (made.call(context, [TensorType.of(B, C, 8, 8)], {}) for _ in range(2))
    assert first == second


def test_the_messages_name_window_and_input():
    made = make("torch.nn.MaxPool2d", 3)
    assert module_message(made, TensorType.of(B, C, 2, 2))[0] == (
        "max_pool2d: (b, c, 2, 2) with window (3, 3): the window spans 3, the padded input has 2"
    )
    assert module_message(made, TensorType.of(B, C))[0] == "max_pool2d: (b, c): 2 axes, 3 or 4 expected"
    wide = make("torch.nn.MaxPool2d", 3, padding=2)
    assert module_message(wide, TensorType.of(B, C, 8, 8))[0] == (
        "max_pool2d: padding is 2, from 0 to half of the window 3 expected"
    )
