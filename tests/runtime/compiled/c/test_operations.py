"""Each operation that there is C for gives what torch gives, on traps too."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor, fx

from shaped.runtime.compiled import c
from shaped.runtime.compiled.c.elementwise import FORMULAS
from shaped.runtime.compiled.c.kernels import KERNELS
from shaped.runtime.compiled.writing import Writer

aten = torch.ops.aten
pytestmark = pytest.mark.skipif(
    c.c_kernel.load("int one(void) { return 1; }\n") is None, reason="there is no C compiler on this machine"
)


@dataclass
class Sample:
    """A call of an operation: tensors are inputs of the program, all else is fixed."""

    operation: torch._ops.OpOverload
    arguments: tuple[Any, ...]
    named: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.operation.overloadpacket.__name__)

    def __str__(self) -> str:
        shown = [str(tuple(one.shape)) if isinstance(one, Tensor) else str(one) for one in self.arguments]
        return f"{self.operation.name()}({', '.join(shown)}, {self.named})"


TRAPS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 20.5, -20.5, 1e-6, 88.0, -104.0, math.inf, -math.inf, math.nan]


def traps(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """All pairs of traps but the last: torch treats what is left over from whole vectors by other code, which may do
    otherwise on NaN (hardtanh_backward)."""
    pairs = torch.tensor(list(itertools.product(TRAPS, TRAPS)), dtype=dtype)[:-1]
    return pairs[:, 0].clone(), pairs[:, 1].clone()


def elementwise(dtype: torch.dtype) -> list[Sample]:
    x, y = traps(dtype)
    near = torch.linspace(-6, 6, 224, dtype=dtype)
    positive = torch.linspace(0.01, 9, 224, dtype=dtype)
    wide, row, column = torch.randn(3, 4, dtype=dtype), torch.randn(4, dtype=dtype), torch.randn(3, 1, dtype=dtype)
    empty, scalar = torch.randn(0, 4, dtype=dtype), torch.randn((), dtype=dtype)
    flags = x > y
    one = [
        "neg abs sign sgn reciprocal sqrt rsqrt floor ceil exp exp2 expm1 log log2 log1p sin cos erf",
        "relu sigmoid tanh silu gelu elu softplus hardtanh leaky_relu isnan logical_not",
        "clone zeros_like ones_like _to_copy lift_fresh_copy zero fill_",
    ]
    samples = []
    for name in " ".join(one).split():
        if name in ("fill_", "zero"):
            continue
        for given in (x, near, positive, wide.t(), empty, scalar):
            if name == "gelu" and given is x:
                continue  # torch gives NaN for inf, unless there is one element alone: that gives inf, as C does
            samples.append(Sample(getattr(aten, name).default, (given,)))
    two = "add sub rsub mul div maximum minimum eq ne lt le gt ge logical_and logical_or"
    for name in two.split():
        packet = getattr(aten, name)
        overload = packet.Tensor if "Tensor" in packet.overloads() else packet.default
        for pair in ((x, y), (wide, row), (column, row), (wide, wide.clone()), (empty, row), (scalar, wide)):
            samples.append(Sample(overload, pair))
    samples += [
        Sample(aten.add.Tensor, (x, y), {"alpha": 0.3}),
        Sample(aten.add.Scalar, (x, 0.1)),
        Sample(aten.sub.Tensor, (x, y), {"alpha": -2}),
        Sample(aten.rsub.Scalar, (x, 1.5)),
        Sample(aten.div.Scalar, (x, 3.0)),
        *(Sample(aten.pow.Tensor_Scalar, (x, p)) for p in (0.5, 1, 2, 3, -0.5, -1, -2, 1.7)),
        Sample(aten.pow.Tensor_Tensor, (x, y)),
        Sample(aten.clamp.default, (x, -1.0, 2.0)),
        Sample(aten.clamp.default, (x, None, 2.0)),
        Sample(aten.clamp.Tensor, (x, y, torch.ones(1, dtype=dtype))),
        Sample(aten.clamp_min.default, (x, 0.25)),
        Sample(aten.clamp_max.default, (x, 0.25)),
        Sample(aten.lerp.Scalar, (wide, row, 0.1)),
        Sample(aten.lerp.Scalar, (wide, row, 0.9)),
        Sample(aten.lerp.Tensor, (wide, row, torch.rand(3, 1, dtype=dtype))),
        Sample(aten.addcmul.default, (wide, row, column), {"value": 0.7}),
        Sample(aten.addcdiv.default, (wide, row, column), {"value": -0.7}),
        Sample(aten.threshold.default, (x, 0.5, 7.0)),
        Sample(aten.threshold_backward.default, (x, y, 0)),
        Sample(aten.leaky_relu_backward.default, (x, y, 0.01, False)),
        Sample(aten.hardtanh_backward.default, (x, y, -1.0, 1.0)),
        Sample(aten.sigmoid_backward.default, (x, y)),
        Sample(aten.tanh_backward.default, (x, y)),
        Sample(aten.silu_backward.default, (x, near)),
        Sample(aten.gelu.default, (near,), {"approximate": "tanh"}),
        Sample(aten.gelu_backward.default, (near, near.flip(0).contiguous())),
        Sample(aten.gelu_backward.default, (near, near.flip(0).contiguous()), {"approximate": "tanh"}),
        Sample(aten.elu.default, (near, 0.7, 1.1, 1.2)),
        Sample(aten.elu_backward.default, (near, 0.7, 1.1, 1.2, False, near.flip(0).contiguous())),
        Sample(aten.elu_backward.default, (near, 0.7, 1.1, 1.2, True, torch.linspace(-0.7, 3, 224, dtype=dtype))),
        Sample(aten.softplus_backward.default, (near, near.flip(0).contiguous() * 5, 1.5, 20.0)),
        Sample(aten.where.self, (flags, x, y)),
        Sample(aten.where.self, (flags[:4], row, column)),
        Sample(aten.masked_fill.Scalar, (x, flags, -math.inf)),
        Sample(aten.masked_fill.Tensor, (x, flags, scalar)),
        Sample(aten._to_copy.default, (near,), {"dtype": torch.float64}),
        Sample(aten._to_copy.default, (near,), {"dtype": torch.float32}),
        Sample(aten._to_copy.default, (near,), {"dtype": torch.int64}),
        Sample(aten._to_copy.default, (near,), {"dtype": torch.bool}),
        Sample(aten._to_copy.default, (flags,), {"dtype": dtype}),
        Sample(aten.mul.Tensor, (near, flags)),
        Sample(aten.add.Tensor, (torch.arange(5), 3)),
        Sample(aten.mul.Tensor, (torch.arange(5), 0.5)),
        Sample(aten.div.Tensor, (torch.arange(5), torch.arange(1, 6))),
        Sample(aten.maximum.default, (torch.arange(5), torch.tensor(2))),
        Sample(aten.eq.Scalar, (torch.arange(5), 2)),
        Sample(aten.eq.Tensor, (flags, ~flags)),
        Sample(aten.copy.default, (wide, row)),
        Sample(aten.fill.Scalar, (wide, 0.1)),
        Sample(aten.zero.default, (wide,)),
        Sample(aten.full_like.default, (wide, 2.5)),
        Sample(aten.new_zeros.default, (wide, [2])),
        Sample(aten.new_ones.default, (wide, [2])),
        Sample(aten.new_full.default, (wide, [2], 0.1)),
        Sample(aten.zeros.default, ([2, 3],), {"dtype": dtype}),
        Sample(aten.ones.default, ([2, 3],), {"dtype": dtype}),
        Sample(aten.full.default, ([], math.inf), {"dtype": dtype}),
        Sample(aten.scalar_tensor.default, (0.3,), {"dtype": dtype}),
    ]
    for loss, own in (("mse_loss", ()), ("smooth_l1_loss", (0.8,)), ("huber_loss", (0.8,))):
        for reduction in (0, 1, 2):
            slope = near if reduction == 0 else scalar
            pair = (near, near.flip(0).contiguous())
            samples.append(Sample(getattr(aten, loss).default, (*pair, reduction, *own)))
            backward = getattr(aten, f"{loss}_backward").default
            samples.append(Sample(backward, (slope, *pair, reduction, *own)))
    return samples


def kernels(dtype: torch.dtype) -> list[Sample]:
    wide, cube = torch.randn(3, 4, dtype=dtype), torch.randn(2, 3, 4, dtype=dtype)
    long, broken = torch.randn(5, 700, dtype=dtype), torch.tensor([[1.0, math.nan], [math.inf, 2.0]], dtype=dtype)
    classes, weights = torch.tensor([0, 3, -100, 1]), torch.rand(5, dtype=dtype)
    scores, examples = torch.randn(4, 5, dtype=dtype), torch.randn(4, dtype=dtype)
    table, rows = torch.randn(6, 3, dtype=dtype), torch.tensor([[5, 0], [2, 2]])
    total = torch.tensor(2.3, dtype=dtype)
    samples = []
    for given in (wide, cube, cube.permute(2, 0, 1), long, long.t(), broken, torch.randn(0, 3, dtype=dtype)):
        rank = given.dim()
        for dims in ([0], [rank - 1], list(range(rank)), [0, rank - 1]):
            for keep in (False, True):
                samples.append(Sample(aten.sum.dim_IntList, (given, dims, keep)))
                samples.append(Sample(aten.mean.dim, (given, dims, keep)))
                if given.numel():
                    samples.append(Sample(aten.amax.default, (given, dims, keep)))
                    samples.append(Sample(aten.amin.default, (given, dims, keep)))
        samples += [Sample(aten.sum.default, (given,)), Sample(aten.mean.default, (given,))]
    for given in (wide, cube, cube.transpose(1, 2), long, broken, torch.randn((), dtype=dtype)):
        for dim in {0, -1}:
            other = torch.randn_like(given)
            samples += [Sample(aten._softmax.default, (given, dim, False))]
            samples += [Sample(aten._log_softmax.default, (given, dim, False))]
            samples += [Sample(aten._softmax_backward_data.default, (given, other, dim, dtype))]
            samples += [Sample(aten._log_softmax_backward_data.default, (given, other, dim, dtype))]
    for given, shape in ((wide, [4]), (cube, [3, 4]), (cube, [2, 3, 4]), (long, [700])):
        scale, shift = torch.randn(shape, dtype=dtype), torch.randn(shape, dtype=dtype)
        for pair in ((None, None), (scale, shift), (scale, None), (None, shift)):
            samples.append(Sample(aten.native_layer_norm.default, (given, shape, *pair, 1e-5)))
            _, mean, reciprocal = aten.native_layer_norm(given, shape, *pair, 1e-5)
            wanted = [True, pair[0] is not None, pair[1] is not None]
            slope = torch.randn_like(given)
            backward = (slope, given, shape, mean, reciprocal, *pair, wanted)
            samples.append(Sample(aten.native_layer_norm_backward.default, backward))
    for weight in (None, weights):
        for reduction in (0, 1, 2):
            slope = examples if reduction == 0 else torch.tensor(0.7, dtype=dtype)
            samples.append(Sample(aten.nll_loss_forward.default, (scores, classes, weight, reduction, -100)))
            backward = (slope, scores, classes, weight, reduction, -100, total)
            samples.append(Sample(aten.nll_loss_backward.default, backward))
    samples += [
        Sample(aten.nll_loss_forward.default, (scores[0], torch.tensor(2), None, 1, -100)),
        Sample(aten.index_select.default, (table, 0, torch.tensor([5, 0, 0]))),
        Sample(aten.index_select.default, (table.t(), 1, torch.tensor([5, 0, 0]))),
        Sample(aten.index_select.default, (cube, -2, torch.tensor([2], dtype=torch.int32))),
        Sample(aten.embedding.default, (table, rows)),
        Sample(aten.embedding.default, (table, torch.tensor(3))),
        Sample(aten.embedding_dense_backward.default, (torch.randn(2, 2, 3, dtype=dtype), rows, 6, 5, False)),
        Sample(aten.index.Tensor, (table, [torch.tensor([-1, 0, 5])])),
        Sample(aten.index.Tensor, (cube, [None, rows[:, 1] - 3])),
        Sample(aten.gather.default, (wide, 1, torch.tensor([[3, 0], [1, 1]]))),
        Sample(aten.gather.default, (wide, 0, torch.tensor([[2, 0, 1, 1]]))),
        Sample(aten.index_add.default, (table, 0, torch.tensor([1, 1, 5]), torch.randn(3, 3, dtype=dtype))),
        Sample(aten.index_add.default, (wide, 1, torch.tensor([3]), torch.randn(3, 1, dtype=dtype)), {"alpha": 0.5}),
        Sample(aten.cat.default, ([wide, wide + 1, torch.randn(0, 4, dtype=dtype)],)),
        Sample(aten.cat.default, ([cube, cube[:, :1]], 1)),
        Sample(aten.cat.default, ([wide, torch.arange(12).view(3, 4)], -1)),
        Sample(aten.stack.default, ([wide, wide + 1], 1)),
        Sample(aten.slice_backward.default, (torch.randn(2, 4, dtype=dtype), [7, 4], 0, 1, 5, 2)),
        Sample(aten.slice_backward.default, (torch.randn(3, 4, dtype=dtype), [3, 4], 1, 0, 2**63 - 1, 1)),
        Sample(aten.select_backward.default, (torch.randn(3, dtype=dtype), [3, 4], 1, -1)),
    ]
    for m, k, n in ((1, 1, 1), (2, 3, 4), (1, 64, 9), (3, 0, 2), (7, 33, 17), (13, 40, 70), (40, 300, 33), (64, 16, 1)):
        left, right = torch.randn(m, k, dtype=dtype), torch.randn(k, n, dtype=dtype)
        sides = [(a, b) for a in (left, left.t().contiguous().t()) for b in (right, right.t().contiguous().t())]
        for a, b in sides:
            samples.append(Sample(aten.mm.default, (a, b)))
            samples.append(Sample(aten.addmm.default, (torch.randn(n, dtype=dtype), a, b)))
        samples += [
            Sample(aten.addmm.default, (torch.randn(m, 1, dtype=dtype), left, right)),
            Sample(aten.addmm.default, (torch.randn(m, n, dtype=dtype), left, right), {"beta": 0.5, "alpha": 2}),
            Sample(aten.addmm.default, (torch.full((n,), math.nan, dtype=dtype), left, right), {"beta": 0}),
            Sample(aten.bmm.default, (left.expand(3, m, k), right.expand(3, k, n).contiguous())),
            Sample(
                aten.baddbmm.default, (torch.randn(3, 1, n, dtype=dtype), left.expand(3, m, k), right.expand(3, k, n))
            ),
            Sample(aten.mv.default, (left, right[:, 0].contiguous())),
            Sample(aten.addmv.default, (torch.randn(m, dtype=dtype), left, right[:, 0].contiguous())),
            Sample(aten.dot.default, (left[0].contiguous(), right[:, 0].contiguous())),
        ]
    return samples


def results_in_c(samples: Sequence[Sample]) -> list[list[Tensor]]:
    """What one program of all samples gives."""
    writer, given, counts, outputs = Writer(), [], [], []

    def node(value: Any) -> Any:
        if isinstance(value, Tensor):
            given.append(value)
            return writer.given(f"x{len(given)}", value)
        return [node(one) for one in value] if isinstance(value, list) else value

    written = [tuple(node(one) for one in sample.arguments) for sample in samples]
    for sample, arguments in zip(samples, written):
        result = writer(sample.operation, *arguments, **sample.named)
        several = result.meta["val"] if isinstance(result.meta["val"], tuple | list) else None
        found = (
            [result]
            if several is None
            else [_part(writer, result, number) for number, one in enumerate(several) if isinstance(one, Tensor)]
        )
        counts.append(len(found))
        outputs += found
    flat = iter(c.build(writer.program(outputs))(*given))
    return [[next(flat) for _ in range(count)] for count in counts]


def _part(writer: Writer, result: fx.Node, number: int) -> fx.Node:
    node = writer.graph.call_function(operator.getitem, (result, number))
    node.meta["val"] = result.meta["val"][number]
    return node


def results_of_torch(sample: Sample) -> list[Tensor]:
    found = sample.operation(*sample.arguments, **sample.named)
    return [found] if isinstance(found, Tensor) else [one for one in found if isinstance(one, Tensor)]


# Functions round within one unit in the last place (2^-23), and a formula has some five of them and four sums and
# products. Sums here have up to 700 terms of size one, in any order: 700 roundings of 2^-24 are 4e-5, and of 2^-53
# 8e-14. A wrong formula is off by far more.
TOLERANCE = {torch.float32: (1e-5, 5e-5), torch.float64: (1e-12, 1e-12)}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("samples", [elementwise, kernels], ids=["elementwise", "kernels"])
@pytest.mark.parametrize("part", [pytest.param(1, marks=pytest.mark.slow, id="all"), pytest.param(7, id="some")])
def test_operations_give_what_torch_gives(
    samples: Callable[[torch.dtype], list[Sample]], dtype: torch.dtype, part: int
) -> None:
    torch.manual_seed(0)
    relative, absolute = TOLERANCE[dtype]
    wrong = []
    made = samples(dtype)[::part]
    got_in_c = [got for first in range(0, len(made), 40) for got in results_in_c(made[first : first + 40])]
    for sample, got in zip(made, got_in_c, strict=True):
        for one, other in zip(got, results_of_torch(sample), strict=True):
            assert one.dtype == other.dtype, sample
            assert one.shape == other.shape, sample
            try:
                torch.testing.assert_close(one, other, rtol=relative, atol=absolute, equal_nan=True)
            except AssertionError as error:
                wrong.append(f"{sample}: {' '.join(str(error).split())}")
    assert not wrong, "\n".join(wrong)


def test_every_operation_has_a_sample() -> None:
    made = {sample.name for sample in [*elementwise(torch.float32), *kernels(torch.float32)]}
    in_place = {"index_add_"}
    assert made >= (set(FORMULAS) | set(KERNELS)) - in_place
