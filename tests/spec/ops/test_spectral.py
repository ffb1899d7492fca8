"""Short-time Fourier transforms and windows against torch."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.dtypes import FLOAT32
from shaped.spec.op import find_op
from shaped.spec.values import TensorType
from tests.spec.ops.against_torch import check, check_exact, check_refused


@given(st.sampled_from([(), (2,)]), st.integers(1, 20), st.integers(1, 8), st.integers(1, 5), st.booleans())
@settings(max_examples=80)
def test_a_transform_has_a_frame_for_each_hop(
    batch: tuple[int, ...], length: int, n_fft: int, hop: int, center: bool
) -> None:
    signal = torch.ones(*batch, length)
    options = {"center": center, "pad_mode": "constant", "return_complex": True}
    check_exact("torch.stft", signal, n_fft, hop, **options)
    check_exact("torch.stft", signal, n_fft, hop, **options, onesided=False)


def test_an_inverse_transform_has_a_length_that_is_not_known() -> None:
    spectrum = torch.stft(torch.ones(2, 20), 4, 2, return_complex=True, window=torch.ones(4))
    check("torch.istft", spectrum, 4, 2)
    check_exact("torch.istft", spectrum, 4, 2, length=20)


def test_windows_have_their_length() -> None:
    check_exact("torch.signal.windows.hann", 5)
    check_exact("torch.signal.windows.gaussian", 5, std=2.0, dtype=torch.float64)


def test_a_window_longer_than_the_signal_is_refused() -> None:
    check_refused("torch.stft", torch.ones(3), 4, center=False, return_complex=True)


def test_the_frames_of_a_named_length() -> None:
    operation = find_op("torch.stft")
    assert operation is not None
    arguments = {"n_fft": Dim.of(400), "hop_length": Dim.of(160), "return_complex": True}
    result = operation.apply(Context(), [TensorType.of(Dim.name("b"), Dim.name("t"), dtype=FLOAT32)], arguments)
    assert str(result) == "(b, 201, t//160+1)"
