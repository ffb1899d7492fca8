"""What the kernel is not certain of is computed again, also where its float32 is rounded to 16 bits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from shaped.init import compiled, vectorised_chunks
from shaped.init.compiled import halfway_between
from shaped.init.rounding import rounded
from shaped.init.sampling import sample_at
from shaped.init.schemes import Normal, Scheme, Uniform, Zeros
from shaped.init.tensors import fill_, tensor
from shaped.init.vectorised_rounding import BITS, FORMATS

SIXTEEN_BITS = [torch.float16, torch.bfloat16]


def specified(scheme: Scheme, seed: int, dtype: torch.dtype, first: int, count: int) -> Tensor:
    """The elements by the specification."""
    values = [rounded(sample_at(scheme, seed, first + i), FORMATS[dtype]) for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).to(dtype)


class FakeKernel:
    """A kernel that gives the same number everywhere, and is not certain of some positions; None: it gives none."""

    def __init__(self, value: float, uncertain: list[int] | None) -> None:
        self.value = value
        self.uncertain = uncertain
        self.calls: list[tuple[int, Scheme, int, int]] = []

    def fill_float32(self, out: Tensor, scheme: Scheme, seed: int, offset: int) -> Tensor | None:
        self.calls.append((out.numel(), scheme, seed, offset))
        out.fill_(self.value)
        if self.uncertain is None:
            return None
        return torch.tensor([position for position in self.uncertain if position < out.numel()], dtype=torch.int64)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def with_kernel(monkeypatch: pytest.MonkeyPatch, value: float, uncertain: list[int] | None) -> FakeKernel:
    """Put a fake kernel in place, for small tensors too."""
    kernel = FakeKernel(value, uncertain)
    monkeypatch.setattr(compiled, "kernel", kernel)
    monkeypatch.setattr(compiled, "LEAST_ELEMENTS", 10)
    return kernel


def test_elements_that_the_kernel_is_not_certain_of_are_those_of_the_specification(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = with_kernel(monkeypatch, 7, [0, 5, 11])
    drawn = tensor(Normal(), [3, 8], 8, offset=2, count=12)
    with torch.inference_mode():
        drawn_for_inference = tensor(Normal(), [3, 4], 8)
    assert kernel.calls == [(12, Normal(), 8, 2), (12, Normal(), 8, 0)]
    for values, first in [(drawn, 2), (drawn_for_inference.view(-1), 0)]:
        expected = torch.full([12], 7.0)
        expected[[0, 5, 11]] = specified(Normal(), 8, torch.float32, first, 12)[[0, 5, 11]]
        assert values.equal(expected)


@pytest.mark.parametrize("dtype", SIXTEEN_BITS)
def test_in_a_16_bit_dtype_the_kernel_is_asked_chunk_by_chunk(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype
) -> None:
    kernel = with_kernel(monkeypatch, 7, [2])
    monkeypatch.setattr(vectorised_chunks, "CHUNK_OF_CPU", 16)
    drawn = tensor(Uniform(), [40], 8, dtype, offset=3)
    assert kernel.calls == [(16, Uniform(), 8, 3), (16, Uniform(), 8, 19), (5, Uniform(), 8, 35)]
    expected = torch.full([37], 7.0, dtype=dtype)
    for position in (2, 18, 34):
        expected[position] = specified(Uniform(), 8, dtype, 3 + position, 1)[0]
    assert drawn.equal(expected)


@pytest.mark.parametrize("dtype", SIXTEEN_BITS)
def test_where_the_kernels_number_is_half_way_it_is_computed_again(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype
) -> None:
    middle = 1 + 2.0 ** -FORMATS[dtype].digits
    with_kernel(monkeypatch, middle, [])
    assert tensor(Normal(), [12], 8, dtype).equal(specified(Normal(), 8, dtype, 0, 12))


def test_where_many_are_half_way_torch_draws_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with_kernel(monkeypatch, 1 + 2.0**-8, [])
    monkeypatch.setattr(compiled, "MOST_UNCERTAIN", 11)
    monkeypatch.delattr(compiled, "redo")
    scheme = Uniform(1 + 2.0**-8, 1 + 2.0**-8)
    assert tensor(scheme, [12], 8, torch.bfloat16).equal(specified(scheme, 8, torch.bfloat16, 0, 12))


@pytest.mark.parametrize("dtype", [torch.float32, *SIXTEEN_BITS])
def test_without_a_kernel_torch_draws(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype) -> None:
    kernel = with_kernel(monkeypatch, 7, None)
    assert tensor(Uniform(), [12], dtype=dtype).equal(specified(Uniform(), 0, dtype, 0, 12))
    assert len(kernel.calls) == 1


def test_the_kernel_is_for_large_contiguous_tensors_of_at_most_32_bits_on_the_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = with_kernel(monkeypatch, 7, [])
    tensor(Uniform(), [9])
    tensor(Uniform(), [20], dtype=torch.float64)
    tensor(Zeros(), [20])
    fill_(torch.empty(5, 4).T, Uniform())
    assert not kernel.calls
    assert fill_(torch.empty(5, 4, dtype=torch.bfloat16).T, Uniform()).eq(7).all()
    assert (tensor(Uniform(), [20]) == 7).all()


def as_float32(bits: int) -> float:
    """The float32 with these bits."""
    return torch.tensor([bits], dtype=torch.int32).view(torch.float32).item()


@given(st.sampled_from(SIXTEEN_BITS), st.integers(0, 2**31 - 1), st.integers(-2, 2), st.booleans())
def test_all_numbers_half_way_are_found(dtype: torch.dtype, bits: int, step: int, negative: bool) -> None:
    # From any float32 to the middle after its rounding, and some steps from there.
    number = torch.tensor([as_float32(bits)]).to(dtype)
    after = (number.view(BITS[dtype]) + 1).view(dtype)
    middle = number.double() / 2 + after.double() / 2
    if not middle.isfinite():
        return
    near = (middle.float().view(torch.int32) + step).view(torch.float32) * (-1 if negative else 1)
    found = halfway_between(near, dtype).tolist()
    # Others are found only where a neighbour is no number, at the largest ones.
    assert found == ([0] if step == 0 else []) or near.abs() >= torch.finfo(dtype).max


@pytest.mark.parametrize("dtype, middle", [(torch.float16, 65520.0), (torch.bfloat16, (2 - 2.0**-8) * 2.0**127)])
def test_so_is_the_number_from_which_on_all_become_infinite(dtype: torch.dtype, middle: float) -> None:
    assert halfway_between(torch.tensor([middle, -middle]), dtype).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", SIXTEEN_BITS)
@pytest.mark.parametrize("scheme", [Uniform(-1, 1), Normal(), Normal(0, 1e-6), Normal(0, 1e-39)], ids=str)
def test_a_large_tensor_is_the_one_that_torch_draws(
    monkeypatch: pytest.MonkeyPatch, scheme: Scheme, dtype: torch.dtype
) -> None:
    # Some hundred elements are half way in float32.
    by_kernel = tensor(scheme, [2**20], 4, dtype)
    monkeypatch.setattr(compiled, "LEAST_ELEMENTS", 2**21)
    by_torch = tensor(scheme, [2**20], 4, dtype)
    assert torch.equal(by_kernel.view(torch.int16), by_torch.view(torch.int16))


@pytest.mark.parametrize("scheme", [Uniform(-1, 1), Normal(), Normal(0.5, 0.02)], ids=str)
def test_the_kernel_and_torch_draw_one_tensor(monkeypatch: pytest.MonkeyPatch, scheme: Scheme) -> None:
    monkeypatch.setattr(compiled, "LEAST_ELEMENTS", 2**12)
    by_kernel = tensor(scheme, [3, 5000], 4)
    monkeypatch.setattr(compiled, "LEAST_ELEMENTS", 2**21)
    assert torch.equal(by_kernel, tensor(scheme, [3, 5000], 4))
