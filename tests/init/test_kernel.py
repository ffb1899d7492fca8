"""The kernel has the specification's bits wherever it is certain, and is certain nearly everywhere."""

from __future__ import annotations

import math
import shutil
from typing import TYPE_CHECKING

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.init import kernel
from shaped.init.correctly_rounded import cos, ln
from shaped.init.rounding import FLOAT32, rounded
from shaped.init.sampling import TWO_PI, radial_number, sample_at
from shaped.init.schemes import KaimingUniform, Normal, Uniform, XavierUniform
from shaped.init.splitmix64 import low_bits
from shaped.runtime import c_kernel

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Iterator

    from torch import Tensor

    from shaped.init.kernel import KernelScheme

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler on this machine"
)


@pytest.fixture(scope="module", autouse=True)
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Libraries are kept in a folder of the test run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("SHAPED_KERNELS", raising=False)
        yield


def filled(scheme: KernelScheme, seed: int, offset: int, count: int) -> tuple[Tensor, list[int]]:
    """What the kernel gives, and the places that it is not certain of."""
    out = torch.full([count], math.nan)
    places = kernel.fill_float32(out, scheme, seed, offset)
    assert places is not None
    return out, places.tolist()


def bits(values: Tensor) -> list[int]:
    """The bits of each float32, so that zeros of different sign differ."""
    return values.view(torch.int32).tolist()


def spec(scheme: KernelScheme, seed: int, offset: int, count: int) -> Tensor:
    """The same elements by the specification."""
    return torch.tensor([rounded(sample_at(scheme, seed, offset + i), FLOAT32) for i in range(count)])


def assert_equals_spec(scheme: KernelScheme, seed: int, offset: int, count: int, uncertain: int = 0) -> None:
    out, places = filled(scheme, seed, offset, count)
    due = spec(scheme, seed, offset, count)
    assert len(places) <= uncertain
    out[places] = due[places]
    assert bits(out) == bits(due)


SCHEMES = [
    (Uniform(), 0, 0),
    (Uniform(-3.5, 1e-3), -1, 2**64 - 5000),
    (Uniform(-1e39, 1e38), 11, 3),
    (XavierUniform(784, 256), 2**63, 10**12),
    (KaimingUniform(0), 2, 0),
    (Normal(), 0, 0),
    (Normal(), 123456789, 2**63 - 5000),
    (Normal(0.1, 0.02), -1, 2**64 - 5000),
    (Normal(-7, 3.0, "clamped"), 3, 10**12),
    (Normal(0, 1e-3, "clamped"), 2**64 - 1, 0),
    (Normal(mode="unmixed"), 4, 0),
    (Normal(1, 2, "unmixed"), 5, 2**63 - 5000),
]


@pytest.mark.parametrize("scheme, seed, offset", SCHEMES)
def test_it_equals_the_specification(scheme: KernelScheme, seed: int, offset: int) -> None:
    assert_equals_spec(scheme, seed, offset, 9001, uncertain=1)


@given(
    mean=st.just(0.0) | st.floats(-1e3, 1e3),
    std=st.floats(2.0**-200, 2.0**200),
    mode=st.sampled_from(["mixed", "clamped", "unmixed"]),
    seed=st.integers(),
    offset=st.integers(0, 2**64),
    count=st.integers(0, 70),
)
def test_it_equals_the_specification_for_any_arguments(
    mean: float, std: float, mode: kernel.NormalMode, seed: int, offset: int, count: int
) -> None:
    assert_equals_spec(Normal(mean, std, mode), seed, offset, count, uncertain=1)


# Element, position of the stream (0 for u1, 1 for u2), and its bits, with seed 0: found by inverting splitmix64.
EDGES = [
    (4599282455718648606, 0, 0),
    (5659834097528200730, 0, 2**32 - 1),
    (4161723730847675871, 0, 4294),
    (6020929598293512532, 0, 4295),
    (3746374817838943910, 1, 0),
    (653825967893281794, 1, 2**30),
    (4243231967133507287, 1, 2**31),
    (8378649987181876739, 1, 3 * 2**30),
    (2411769194325783381, 1, 2**32 - 1),
]


@pytest.mark.parametrize("element, which, edge", EDGES)
@pytest.mark.parametrize("scheme", [Normal(), Normal(mode="clamped"), Normal(-1e-17, 3.0), Normal(1.0, 1e-3)])
def test_it_is_right_where_its_formulas_are_strained(scheme: Normal, element: int, which: int, edge: int) -> None:
    assert low_bits(0, 2 * element + which) == edge
    assert_equals_spec(scheme, 0, element - 20, 41)


def test_the_load_check_covers_the_edges() -> None:
    assert set(kernel._EDGES) <= {element for element, _, _ in EDGES}


def test_where_the_mean_cancels_the_sample_it_is_right_or_uncertain() -> None:
    for element in range(200):
        mean = -sample_at(Normal(), 0, element)
        for near in (mean, math.nextafter(mean, 1), rounded(mean, FLOAT32)):
            assert_equals_spec(Normal(near), 0, element, 1, uncertain=1)
    out, places = filled(Normal(-sample_at(Normal(), 0, 3)), 0, 3, 1)
    assert places == [0], f"{out} is the end of an interval about 0"


@pytest.mark.parametrize("std", [1e-37, 1e-42, 1e-45, 1e-60, 2.0**-900, 1e38, 1e39, 1e200, 2.0**1000])
def test_results_beyond_float32_become_what_rounding_makes_of_them(std: float) -> None:
    assert_equals_spec(Normal(0, std), 1, 0, 1000)


@pytest.mark.parametrize("std", [5e-324, 1e-300, 1e305, 1.7e308])
def test_there_is_no_kernel_where_float64_loses_digits(std: float) -> None:
    assert kernel.fill_float32(torch.empty(100), Normal(0, std), 0, 0) is None


@pytest.mark.parametrize("mean", [0.0, -0.0, 0.1, 1 + 2.0**-24, 1e-46, 1e39])
@pytest.mark.parametrize("std", [0.0, 1e-30])
def test_next_to_no_deviation_gives_the_mean_even_if_it_is_a_tie(mean: float, std: float) -> None:
    assert_equals_spec(Normal(mean, std), 0, 0, 1000)


def test_small_numbers_are_kept_where_the_thread_flushes_them_to_zero() -> None:
    due = bits(spec(Normal(0, 1e-40), 0, 0, 100))
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor flushes nothing")
    try:
        out, _ = filled(Normal(0, 1e-40), 0, 0, 100)
        assert (out * 1).count_nonzero() == 0, "the thread's own arithmetic still flushes"
    finally:
        torch.set_flush_denormal(False)
    assert bits(out) == due


def test_few_elements_are_uncertain() -> None:
    _, places = filled(Normal(), 0, 0, 1 << 22)
    assert 0 < len(places) < 10
    assert places == sorted(places)


@pytest.mark.parametrize("scheme", [Uniform(), Normal()])
def test_shards_and_threads_give_the_same_bits(scheme: KernelScheme) -> None:
    count = 2 * kernel.BLOCK + 12345
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        whole, places = filled(scheme, 7, 2**64 - 1000, count)
        torch.set_num_threads(3)
        again, same_places = filled(scheme, 7, 2**64 - 1000, count)
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(whole, again)
    assert places == same_places
    start = kernel.BLOCK - 777
    shard, shard_places = filled(scheme, 7, start - 1000, kernel.BLOCK)
    assert torch.equal(whole[start : start + kernel.BLOCK], shard)
    assert [place + start for place in shard_places] == [p for p in places if start <= p < start + kernel.BLOCK]


def test_the_uncertain_are_found_in_every_block() -> None:
    _, places = filled(Normal(), 0, 0, 8 * kernel.BLOCK)
    found = []
    for start in range(0, 8 * kernel.BLOCK, kernel.BLOCK // 2):
        found += [start + place for place in filled(Normal(), 0, start, kernel.BLOCK // 2)[1]]
    assert places == found


def test_there_is_no_kernel_for_other_tensors() -> None:
    for out in (
        torch.empty(4, dtype=torch.float64),
        torch.empty(8)[::2],
        torch.empty(2, 2),
        torch.empty(4, device="meta"),
        torch.nn.Parameter(torch.empty(4)),
    ):
        assert kernel.fill_float32(out, Uniform(), 0, 0) is None
    with torch._subclasses.FakeTensorMode():
        assert kernel.fill_float32(torch.empty(4), Uniform(), 0, 0) is None


def test_inside_of_vmap_there_is_no_kernel() -> None:
    def is_filled(row: Tensor) -> Tensor:
        return row + (kernel.fill_float32(row, Uniform(), 0, 0) is not None)

    assert torch.equal(torch.func.vmap(is_filled)(torch.zeros(2, 3)), torch.zeros(2, 3))


def test_the_default_device_is_not_meant() -> None:
    out = torch.empty(kernel.BLOCK)
    with torch.device("meta"):
        places = kernel.fill_float32(out, Normal(), 0, 0)
    assert places is not None
    assert places.device.type == "cpu"


def test_autograd_sees_the_change() -> None:
    weight, x = torch.ones(4), torch.ones(4, requires_grad=True)
    loss = (weight * x).sum()
    assert kernel.fill_float32(weight, Uniform(), 0, 0) is not None
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    with torch.inference_mode():
        assert kernel.fill_float32(torch.empty(4), Uniform(), 0, 0) is not None


def test_kernels_switched_off_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAPED_KERNELS", "0")
    assert kernel.fill_float32(torch.empty(4), Uniform(), 0, 0) is None


def changed(old: str, new: str) -> ctypes.CDLL:
    """The kernel of a source in which something else stands."""
    assert old in kernel._source()
    library = c_kernel.load(kernel._source().replace(old, new))
    assert library is not None
    kernel.declare(library)
    return library


@pytest.mark.parametrize(
    "old, new",
    [
        ("0x94d049bb133111eb", "0x94d049bb133111ed"),
        ("x - x * (1 / 4294967297.0)", "x"),
        ("fabs(past_half) - QUARTER) + (past_half < 0 ? LOW : -3 * LOW)", "fabs(past_half) - QUARTER)"),
        ("LOW : -3 * LOW", "LOW : -LOW"),
        ("4.0 / 5", "4.0001 / 5"),
        ("u > 1e-6 ? u : 1e-6", "u"),
        ("LOW = 0x1.a39ef35793c76p-32", "LOW = 0"),
        ("1 / 355687428096000.0", "0"),
        ("uint64_t position = 2 * i", "uint64_t position = 2 * (i & 0x7fffffff)"),
        ("mode == UNMIXED ?", "mode == CLAMPED ?"),
        ("(float)(low + scaled)", "(float)__builtin_fma(u, width, low)"),
        ("ERROR = 0x1p-47", "ERROR = 0x1p-20"),
    ],
)
def test_a_kernel_that_is_wrong_is_refused(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    library = changed(old, new)
    assert kernel.disagreement(library)
    monkeypatch.setattr(c_kernel, "load", lambda _: library)
    assert kernel.fill_float32(torch.empty(4), Uniform(), 0, 0) is None


def test_too_many_uncertain_elements_are_no_result() -> None:
    library = changed("ERROR = 0x1p-47", "ERROR = 0x1p-30")
    out = torch.empty(1 << 20)
    assert kernel._fill(library, out.data_ptr(), 1 << 20, Normal(), 0, 0) is None
    places = kernel._fill(library, out.data_ptr(), 1 << 10, Normal(), 0, 0)
    assert places is not None
    assert 1 < len(places) < 100


EXPORTED = """
double exported_log(double u) { return minus_two_log(u); }
double exported_cosine(double u) { return cosine_of_turns(u); }
"""


def test_the_polynomials_are_as_near_as_their_comments_say() -> None:
    library = c_kernel.load(kernel._source() + EXPORTED)
    assert library is not None
    for function in (library.exported_log, library.exported_cosine):
        function.argtypes, function.restype = [kernel.ctypes.c_double], kernel.ctypes.c_double
    near = 2.0**-53  # of what they are compared with
    turns = [i / 2**32 for q in range(5) for i in range(q * 2**30 - 50, q * 2**30 + 50) if 0 <= i < 2**32]
    for u in [*turns, *(i / 4001 // 2.0**-32 * 2.0**-32 for i in range(4001))]:
        due = cos(TWO_PI * u)
        assert abs(library.exported_cosine(u) - due) <= (2.0**-50 + near) * abs(due)
    uniform = [(i + 1) / 4001 for i in range(4000)] + [2.0**-e for e in range(1, 33)] + [1e-6]
    for u in [*uniform, *(1 - i / 2**32 for i in range(1, 100)), *(radial_number("mixed", 0, i) for i in range(500))]:
        due = -2 * ln(u)
        assert abs(library.exported_log(u) - due) <= (2.0**-49 + near) * due


EXHAUSTIVE = """
int digits_of_long_double(void) { return LDBL_MANT_DIG; }

/* How many of the 2^32 numbers u1 are not the quotient that defines them. */
int64_t wrong_quotients(void) {
    int64_t wrong = 0;
    for (int64_t bits = 0; bits < (int64_t)1 << 32; bits++) {
        double x = (double)(bits + 1) * 0x1p-32;
        wrong += x - x * (1 / 4294967297.0) != (double)(bits + 1) / 4294967297.0;
    }
    return wrong;
}

/* The greatest relative errors of both functions, at every `step`th number. */
void greatest_errors(uint64_t step, double *of_log, double *of_cosine) {
    long double worst_log = 0, worst_cosine = 0;
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += step) {
        double u = (double)(bits + 1) / 4294967297.0, turns = (double)bits * 0x1p-32;
        long double log_error = fabsl(minus_two_log(u) / (-2 * logl(u)) - 1);
        long double cosine_error = fabsl(cosine_of_turns(turns) / cosl(6.283185307179586 * turns) - 1);
        worst_log = log_error > worst_log ? log_error : worst_log;
        worst_cosine = cosine_error > worst_cosine ? cosine_error : worst_cosine;
    }
    *of_log = (double)worst_log, *of_cosine = (double)worst_cosine;
}
"""


@pytest.mark.slow
def test_all_quotients_are_exact_and_the_errors_of_many_logarithms_and_cosines_are_within_their_bounds() -> None:
    library = c_kernel.load(kernel._source() + EXHAUSTIVE)
    assert library is not None
    library.wrong_quotients.restype = kernel.ctypes.c_int64
    assert library.wrong_quotients() == 0
    if library.digits_of_long_double() < 64:
        pytest.skip("long double has no more digits than float64 here")
    of_log, of_cosine = kernel.ctypes.c_double(), kernel.ctypes.c_double()
    library.greatest_errors(kernel.ctypes.c_uint64(97), kernel.ctypes.byref(of_log), kernel.ctypes.byref(of_cosine))
    assert 2.0**-52 < of_log.value < 2.0**-49
    assert 2.0**-52 < of_cosine.value < 2.0**-50


@pytest.mark.slow
@pytest.mark.parametrize("scheme, seed, offset", SCHEMES)
def test_it_equals_the_specification_on_many_elements(scheme: KernelScheme, seed: int, offset: int) -> None:
    assert_equals_spec(scheme, seed, offset, 200_000, uncertain=5)
