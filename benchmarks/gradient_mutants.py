"""Which wrong backwards the exact gradient check finds, and which `torch.autograd.gradcheck` does.

The backward graphs of real functions are changed in one place each: a constant by a millionth, a sign, an operand, a
dim. A mutant counts if its gradients differ from the right ones at some random inputs by more than float noise.
"""

from __future__ import annotations

import argparse
import copy
import math
import operator
import random
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, fx

from benchmarks.measure import table
from shaped.verify.exact import exact_gradcheck
from shaped.verify.exact.samples import samples
from shaped.verify.exact.trace import differentiable, joint, trace
from shaped.verify.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

aten = torch.ops.aten
_NOISE = 1e-9  # of the norm of a gradient: float64 rounding of these small functions is below 1e-12


def functions() -> dict[str, tuple[Callable[..., Tensor], list[Tensor]]]:
    """Functions with inputs, by name: small enough for finite differences of every entry."""
    generator = torch.Generator().manual_seed(0)

    def r(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    target = torch.randint(0, 5, (4,), generator=generator)
    soft = torch.rand(4, 5, dtype=torch.float64, generator=generator)
    bits = torch.rand(4, 5, dtype=torch.float64, generator=generator)

    def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v

    def normalized(x: Tensor) -> Tensor:
        return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)

    def swiglu(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
        return F.silu(x @ w) * (x @ v)

    return {
        "matmul": (torch.matmul, [r(4, 4), r(4, 4)]),
        "linear, relu": (lambda x, w, b: F.relu(F.linear(x, w, b)), [r(4, 5), r(3, 5), r(3)]),
        "softmax": (lambda x: F.softmax(x, -1), [r(4, 4)]),
        "log_softmax": (lambda x: F.log_softmax(x, -1), [r(4, 4)]),
        "layer_norm": (lambda x, w, b: F.layer_norm(x, (5,), w, b), [r(4, 5), r(5), r(5)]),
        "rms_norm": (lambda x, w: F.rms_norm(x, (5,), w, 1e-6), [r(4, 5), r(5)]),
        "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), [r(6, 3), r(3), r(3)]),
        "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), [r(2, 4, 3), r(4), r(4)]),
        "cross_entropy": (lambda z: F.cross_entropy(z, target), [r(4, 5)]),
        "cross_entropy, soft": (lambda z: F.cross_entropy(z, soft), [r(4, 5)]),
        "cross_entropy, smoothed": (lambda z: F.cross_entropy(z, target, label_smoothing=0.1), [r(4, 5)]),
        "bce_with_logits": (lambda z: F.binary_cross_entropy_with_logits(z, bits), [r(4, 5)]),
        "mse_loss": (F.mse_loss, [r(4, 5), r(4, 5)]),
        "smooth_l1_loss": (F.smooth_l1_loss, [2 * r(4, 5), r(4, 5)]),
        "huber_loss": (lambda x, y: F.huber_loss(x, y, delta=0.7), [2 * r(4, 5), r(4, 5)]),
        "kl_div": (lambda x: F.kl_div(F.log_softmax(x, -1), soft, reduction="batchmean"), [r(4, 5)]),
        "conv2d": (lambda x, w: F.conv2d(x, w, stride=2, padding=1), [r(1, 2, 5, 5), r(3, 2, 3, 3)]),
        "gelu": (F.gelu, [r(5)]),
        "gelu, tanh": (lambda x: F.gelu(x, approximate="tanh"), [r(5)]),
        "silu": (F.silu, [r(5)]),
        "softplus": (lambda x: F.softplus(x, beta=2.0), [r(5)]),
        "elu": (lambda x: F.elu(x, 0.7), [r(5)]),
        "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), [r(5)]),
        "hardswish": (F.hardswish, [3 * r(8)]),
        "clamp": (lambda x: x.clamp(-1, 0.5) ** 3, [r(8)]),
        "sigmoid": (torch.sigmoid, [r(5)]),
        "tanh": (torch.tanh, [r(5)]),
        "var": (lambda x: x.var(-1), [r(4, 5)]),
        "std": (lambda x: x.std(-1), [r(4, 5)]),
        "norm": (lambda x: torch.linalg.vector_norm(x, dim=-1), [r(4, 5)]),
        "logsumexp": (lambda x: torch.logsumexp(x, -1), [r(4, 5)]),
        "amax": (lambda x: x.amax(-1), [r(4, 5)]),
        "prod": (lambda x: x.prod(-1), [r(3, 4)]),
        "cumsum": (lambda x: (x.cumsum(-1) ** 2).cumsum(0), [r(4, 4)]),
        "where": (lambda x, y: torch.where(x > y, x * y, x / (2 + y * y)), [r(6), r(6)]),
        "attention": (attention, [r(2, 4, 4), r(2, 4, 4), r(2, 4, 4)]),
        "normalized": (normalized, [r(4, 5)]),
        "swiglu": (swiglu, [r(3, 4), r(4, 4), r(4, 4)]),
        "cosine_similarity": (lambda x, y: F.cosine_similarity(x, y), [r(4, 5), r(4, 5)]),
        "powers": (lambda x: (1 + x * x) ** 1.5 / (2 + x.sin()), [r(5)]),
        "logs": (lambda x: torch.log1p(x * x) * torch.sqrt(1 + x * x), [r(5)]),
    }


@dataclass(frozen=True)
class Mutant:
    """One changed backward.

    Args:
        function: the name of the function.
        kind: what was changed.
        change: where and how.
        module: the backward graph: takes the upstream gradient and the inputs, gives the gradients.
    """

    function: str
    kind: str
    change: str
    module: fx.GraphModule


def backward_graph(function: Callable[..., Tensor], inputs: list[Tensor]) -> fx.GraphModule:
    """The backward of a function of one result, which computes anew what it needs of the forward."""
    upstreams = [torch.randn_like(one) for one in _results(function, inputs)]
    graph = trace(joint(function, None), upstreams, inputs)
    module = graph.module
    constants = [one.clone() for one in graph.constants]
    output = next(node for node in module.graph.nodes if node.op == "output")
    output.args = (list(output.args[0][graph.upstreams :]),)
    # Constants become attributes, so that the graph takes nothing but the upstream gradient and the inputs.
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    for k, (node, constant) in enumerate(zip(placeholders[len(placeholders) - len(constants) :], constants)):
        module.register_buffer(f"held_{k}", constant)
        with module.graph.inserting_before(node):
            held = module.graph.get_attr(f"held_{k}")
        node.replace_all_uses_with(held)
        module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    module.recompile()
    return module


def _results(function: Callable[..., Tensor], inputs: list[Tensor]) -> list[Tensor]:
    return [one.detach() for one in differentiable(function(*[one.clone().requires_grad_() for one in inputs]))]


_SWAPS = {
    aten.add.Tensor: aten.sub.Tensor,
    aten.sub.Tensor: aten.add.Tensor,
    aten.gt.Scalar: aten.lt.Scalar,
    aten.lt.Scalar: aten.gt.Scalar,
    aten.le.Scalar: aten.ge.Scalar,
    aten.ge.Scalar: aten.le.Scalar,
    aten.gt.Tensor: aten.lt.Tensor,
    aten.exp.default: aten.expm1.default,
    aten.sin.default: aten.cos.default,
    aten.cos.default: aten.sin.default,
    aten.sigmoid.default: aten.tanh.default,
    aten.tanh.default: aten.sigmoid.default,
}


def changes(node: fx.Node) -> Iterator[tuple[str, str, Callable[[fx.Node], None]]]:
    """The ways to change a node: kind, description, and the change."""
    target, arguments = node.target, node.args
    name = f"{node.name} = {target}"

    def edit(position: int, value: Any) -> Callable[[fx.Node], None]:
        return lambda one: one.update_arg(position, value)

    def bypass(position: int) -> Callable[[fx.Node], None]:
        return lambda one: one.replace_all_uses_with(one.args[position])

    def swap_arguments(first: int, second: int) -> Callable[[fx.Node], None]:
        def change(one: fx.Node) -> None:
            swapped = list(one.args)
            swapped[first], swapped[second] = swapped[second], swapped[first]
            one.args = tuple(swapped)

        return change

    for position, argument in enumerate(arguments):
        if isinstance(argument, (int, float)) and not isinstance(argument, bool) and _takes_number(target, position):
            yield "constant off by 1e-6", f"{name}: {argument}", edit(position, argument * (1 + 1e-6) or 1e-6)
    if target in _SWAPS:
        yield "another operation", f"{name}: {_SWAPS[target]}", lambda one: setattr(one, "target", _SWAPS[target])
    if target in (aten.div.Tensor, aten.sub.Tensor) and all(isinstance(one, fx.Node) for one in arguments[:2]):
        yield "operands swapped", name, swap_arguments(0, 1)
    if target in (aten.mul.Tensor, aten.div.Tensor):
        yield "factor dropped", f"{name}: second", bypass(0)
        if target is aten.mul.Tensor and isinstance(arguments[1], fx.Node):
            yield "factor dropped", f"{name}: first", bypass(1)
    if target in (aten.add.Tensor, aten.sub.Tensor) and isinstance(arguments[0], fx.Node):
        yield "term dropped", f"{name}: second", bypass(0)
        if isinstance(arguments[1], fx.Node):
            yield "term dropped", f"{name}: first", bypass(1)
    if target is aten.neg.default:
        yield "sign dropped", name, bypass(0)
    if target is aten.where.self:
        yield "branches swapped", name, swap_arguments(1, 2)
    if target in (aten.mm.default, aten.bmm.default):
        for position in (0, 1):
            yield "operand transposed", f"{name}: {position}", _transpose(position)
    if target in (aten.sum.dim_IntList, aten.mean.dim, aten.amax.default) and len(arguments) > 1:
        yield "another dim", name, edit(1, [-1 - dim for dim in arguments[1]])
        keepdim = arguments[2] if len(arguments) > 2 else False
        yield "keepdim flipped", name, lambda one: setattr(one, "args", (*one.args[:2], not keepdim))
    if target in (aten.cumsum.default, aten.flip.default):
        dim = arguments[1]
        yield "another dim", name, edit(1, [-1 - one for one in dim] if isinstance(dim, list) else -1 - dim)


def _takes_number(target: Any, position: int) -> bool:
    """Whether an argument is a number that computations use, not a dim or a size."""
    if not isinstance(target, torch._ops.OpOverload):
        return False
    parameters = target._schema.arguments
    return position < len(parameters) and str(parameters[position].type) in ("number", "float", "Tensor")


def _transpose(position: int) -> Callable[[fx.Node], None]:
    def change(one: fx.Node) -> None:
        with one.graph.inserting_before(one):
            turned = one.graph.call_function(aten.transpose.int, (one.args[position], -2, -1))
        one.update_arg(position, turned)

    return change


def mutants(name: str, function: Callable[..., Tensor], inputs: list[Tensor], most: int) -> Iterator[Mutant]:
    """Wrong backwards of a function, at most so many, drawn evenly from the kinds of change."""
    module = backward_graph(function, inputs)
    by_kind = defaultdict(list)
    for node in module.graph.nodes:
        if node.op == "call_function" and node.target is not operator.getitem:
            for k, (kind, change, _) in enumerate(changes(node)):
                by_kind[kind].append((node.name, k, change))
    draw = random.Random(name)
    for listed in by_kind.values():
        draw.shuffle(listed)
    found = 0
    while by_kind and found < most:
        for kind in list(by_kind):
            node_name, k, change = by_kind[kind].pop()
            if not by_kind[kind]:
                del by_kind[kind]
            changed = copy.deepcopy(module)
            node = next(one for one in changed.graph.nodes if one.name == node_name)
            list(changes(node))[k][2](node)
            changed.graph.eliminate_dead_code()
            changed.recompile()
            if is_wrong(module, changed, function, inputs):
                yield Mutant(name, kind, change, changed)
                found += 1
                if found == most:
                    return


def is_wrong(
    right: fx.GraphModule, changed: fx.GraphModule, function: Callable[..., Tensor], inputs: list[Tensor]
) -> bool:
    """Whether a changed backward gives another gradient of the right shape at some of the samples of ordinary size."""
    generator = torch.Generator().manual_seed(5)
    wrong = False
    for sample in samples(inputs, generator):
        if not sample.ordinary:
            continue
        upstream = [
            torch.randn(one.shape, dtype=one.dtype, generator=generator) for one in _results(function, sample.inputs)
        ]
        try:
            expected, actual = right(*upstream, *sample.inputs), changed(*upstream, *sample.inputs)
        except (RuntimeError, IndexError):
            return False
        for one, other, given in zip(expected, actual, sample.inputs):
            if (one is None) != (other is None) or (other is not None and _kind(other) != _kind(given)):
                return False
            if one is not None and bool(torch.isfinite(one).all()) and bool(torch.isfinite(other).all()):
                wrong = wrong or bool((one - other).norm() > _NOISE * one.norm())
    return wrong


def _kind(value: Tensor) -> tuple[torch.Size, torch.dtype]:
    return value.shape, value.dtype


@dataclass
class Score:
    """How many mutants each check found."""

    total: int = 0
    exact: int = 0
    default: int = 0
    fast: int = 0
    missed: list[str] = field(default_factory=list)


def by_gradcheck(function: Callable[..., Tensor], mutant: Mutant, inputs: list[Tensor], *, fast: bool) -> bool:
    """Whether `torch.autograd.gradcheck` refuses a mutant."""

    class Changed(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *given: Tensor) -> Tensor:
            ctx.save_for_backward(*given)
            return function(*given)

        @staticmethod
        def backward(ctx: Any, upstream: Tensor) -> Any:
            return tuple(mutant.module(upstream, *ctx.saved_tensors))

    leaves = [one.clone().requires_grad_() for one in inputs]
    return not torch.autograd.gradcheck(Changed.apply, leaves, raise_exception=False, fast_mode=fast)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=8, help="mutants of a function")
    parser.add_argument("--missed", action="store_true", help="print the mutants that the exact check misses")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    scores: dict[str, Score] = defaultdict(Score)
    spent = {"exact": 0.0, "gradcheck": 0.0, "fast": 0.0}
    for name, (function, inputs) in functions().items():
        if exact_gradcheck(function, *inputs).level is not Level.EXACT:
            print(f"{name} itself is not exact")
        for mutant in mutants(name, function, inputs, options.each):
            score = scores[mutant.kind]
            score.total += 1
            start = time.perf_counter()
            verdict = exact_gradcheck(function, *inputs, backward=lambda g, *xs, m=mutant.module: m(g, *xs))
            spent["exact"] += time.perf_counter() - start
            score.exact += verdict.level is Level.REFUTED
            if verdict.level is not Level.REFUTED:
                score.missed.append(f"{mutant.function}: {mutant.change}: {verdict.explain()}")
            start = time.perf_counter()
            score.default += by_gradcheck(function, mutant, inputs, fast=False)
            spent["gradcheck"] += time.perf_counter() - start
            start = time.perf_counter()
            score.fast += by_gradcheck(function, mutant, inputs, fast=True)
            spent["fast"] += time.perf_counter() - start
    rows = [[kind, one.total, one.exact, one.default, one.fast] for kind, one in sorted(scores.items())]
    totals = [sum(row[k] for row in rows) for k in range(1, 5)]
    rows.append(["all", *totals])
    rows.append(["of all, %", "", *(f"{100 * one / totals[0]:.1f}" for one in totals[1:])])
    unit = spent["exact"] or 1.0
    rows.append(["time, as a ratio", "", "1.0", *(f"{spent[key] / unit:.1f}" for key in ("gradcheck", "fast"))])
    print(table(["change", "mutants", "exact", "gradcheck", "fast mode"], rows))
    if options.missed:
        print("\n".join(text for one in scores.values() for text in one.missed))


if __name__ == "__main__":
    main()
