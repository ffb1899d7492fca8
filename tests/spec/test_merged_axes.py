"""Merged axes through operations: which keep their order, where two orders meet, what an annotation says of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import shaped.spec.ops  # noqa: F401  (importing declares the operations)
from shaped.spec.annotation import parse
from shaped.spec.axis_order import factors_of, remembered
from shaped.spec.binding import Bindings, instantiate
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.dtypes import DType
from shaped.spec.matching import match
from shaped.spec.op import MODULES, OPS, Module
from shaped.spec.ops.indexing import FULL, index
from shaped.spec.values import TensorType, Value

b, t, h, d = map(Dim.name, "bthd")
n = Dim.quantity("n")
MERGED = (b * t, d)


def merged(*axes: Dim | int, order: tuple[Dim, ...] = (b, t)) -> TensorType:
    return remembered(TensorType.of(*axes), (order,))


def order_after(name: str, *args: Value, **kwargs: Value) -> tuple[Dim, ...]:
    result = OPS[name].apply(Context(), args, kwargs)
    assert isinstance(result, TensorType)
    return factors_of(result, b * t)


def said(name: str, *args: Value, certain: bool = True) -> list[str]:
    context = Context(certain=certain)
    OPS[name].apply(context, args, {})
    return [fault.reason for fault in context.found]


def test_operations_that_take_the_axis_place_by_place_keep_its_order() -> None:
    x = merged(*MERGED)
    assert order_after("relu", x) == (b, t)
    assert order_after("add", TensorType.of(d), x) == (b, t)
    assert order_after("transpose", x, Dim.of(0), Dim.of(1)) == (b, t)
    assert order_after("linear", x, TensorType.of(5, d)) == (b, t)
    assert order_after("matmul", x, TensorType.of(d, 5)) == (b, t)
    assert order_after("mean", x, Dim.of(1)) == (b, t)
    assert order_after("unsqueeze", x, Dim.of(0)) == (b, t)
    assert order_after("cat", (x, x), Dim.of(1)) == (b, t)
    assert order_after("conv2d", merged(b * t, 3, 8, 8), TensorType.of(3, 3, 3, 3), padding=Dim.of(1)) == (b, t)


def test_a_module_keeps_it_as_its_operation_does() -> None:
    context = Context()
    make: Callable[..., Module] = MODULES["torch.nn.Linear"]
    found = make(context, d, d).apply(context, (merged(*MERGED),), {})
    assert isinstance(found, TensorType)
    assert factors_of(found, b * t) == (b, t)


def test_the_parts_of_a_split_keep_it() -> None:
    parts = OPS["chunk"].apply(Context(), (merged(b * t, 8), Dim.of(2), Dim.of(1)), {})
    assert isinstance(parts, tuple)
    assert [factors_of(part, b * t) for part in parts if isinstance(part, TensorType)] == [(b, t)] * 2


def test_operations_that_make_the_axis_anew_forget_its_order() -> None:
    assert order_after("linear", merged(d, b * t), TensorType.of(b * t, b * t)) == (b * t,)
    assert order_after("msort", merged(*MERGED)) == (b * t,)
    assert order_after("conv1d", merged(2, b * t, 9), TensorType.of(b * t, b * t, 1)) == (b * t,)
    assert order_after("gather", merged(*MERGED), Dim.of(0), TensorType.of(b * t, d)) == (b * t,)


def test_an_index_tensor_may_bring_elements_into_another_order() -> None:
    x, places = merged(*MERGED), TensorType.of(b * t)
    assert factors_of(index(Context(), x, (FULL, Dim.of(0))), b * t) == (b, t)
    assert factors_of(index(Context(), x, (places,)), b * t) == (b * t,)


def test_tensors_of_one_size_that_are_joined_stand_outside_of_it() -> None:
    x = TensorType.of(b, d)
    joined = OPS["cat"].apply(Context(), ((x, x, x),), {})
    assert isinstance(joined, TensorType)
    assert factors_of(joined, 3 * b) == (Dim.of(3), b)
    unequal = OPS["cat"].apply(Context(), ((TensorType.of(2 * b, d), x),), {})
    assert isinstance(unequal, TensorType)
    assert unequal.merged == ()


ONE_ORDER, OTHER_ORDER = merged(b * t, d, d), merged(b * t, d, d, order=(t, b))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("add", (ONE_ORDER, OTHER_ORDER)),
        ("masked_fill", (ONE_ORDER, OTHER_ORDER.with_dtype(DType.named("bool")), 0.0)),
        ("bmm", (ONE_ORDER, OTHER_ORDER)),
        ("einsum", ("bij,bjk->bik", ONE_ORDER, OTHER_ORDER)),
        ("scaled_dot_product_attention", (ONE_ORDER, ONE_ORDER, OTHER_ORDER)),
        ("cat", ((ONE_ORDER, OTHER_ORDER), Dim.of(1))),
    ],
)
def test_two_orders_of_one_axis_do_not_go_together(name: str, args: tuple[Value, ...]) -> None:
    assert said(name, *args) == ["the axes of size b*t lie in the order b, t here and t, b there"]
    assert said(name, *args, certain=False) == []


def test_two_orders_that_do_not_meet_say_nothing() -> None:
    one, other = merged(b * t, d), merged(b * t, d, order=(t, b))
    assert not said("cat", (one, other), Dim.of(0))
    assert not said("add", one, merged(b * t, d))
    assert not said("add", one, TensorType.of(b * t, d))


@pytest.mark.parametrize(("pattern", "fault"), [("(b t) d -> b t d", False), ("(t b) d -> b t d", True)])
def test_einops_takes_apart_what_was_merged(pattern: str, fault: bool) -> None:
    context = Context()
    OPS["rearrange"].apply(context, (merged(*MERGED), pattern), {"b": b})
    assert bool(context.found) is fault


def test_einops_merges_in_the_order_of_its_pattern() -> None:
    found = OPS["rearrange"].apply(Context(), (TensorType.of(b, t, d), "b t d -> (t b) d"), {})
    assert isinstance(found, TensorType)
    assert factors_of(found, b * t) == (t, b)


def test_a_product_in_front_of_an_annotation_is_read_as_an_order() -> None:
    bindings = Bindings()
    front = instantiate(parse("Float", "t*b d"), bindings, Context())
    assert [str(factor) for factor in front.merged[0]] == ["t", "b"]
    assert instantiate(parse("Float", "b scale*h"), bindings, Context()).merged == ()
    assert instantiate(parse("Float", "b+1 d"), bindings, Context()).merged == ()


def heads_found(text: str, order: tuple[Dim, ...], *axes: Dim) -> list[str]:
    context, names = Context(), ("b", "h", "kv_heads", "t", "w", "d")
    bindings = Bindings(dims={name: Dim.name(name) for name in names})
    match(parse("Float", text), merged(*axes, order=order), bindings, context, evaluate=lambda text: n, what="return")
    return [f"{fault.reason}; {fault.hint}" for fault in context.found]


def test_heads_that_are_tiled_are_not_those_that_the_annotation_says() -> None:
    kv = Dim.name("kv_heads")
    assert heads_found("b kv_heads*{n} t d", (n, kv), b, kv * n, t, d) == [
        "axis 1 is merged as n*kv_heads, not as kv_heads*{n}; repeat_interleave(n, 1)?"
    ]
    assert heads_found("b h*{n} t d", (n, h), b, h * n, t, d)


def test_products_that_are_no_heads_are_written_in_any_order() -> None:
    kv, w = map(Dim.name, ("kv_heads", "w"))
    assert not heads_found("b kv_heads*{n} t d", (kv, n), b, kv * n, t, d)
    assert not heads_found("b {n}*kv_heads t d", (kv, n), b, kv * n, t, d)
    assert not heads_found("b*{n} t d", (n, b), b * n, t, d)
    assert not heads_found("b t h*{n} w", (n, h), b, t, h * n, w)
    assert not heads_found("b {n}*t d", (t, n), b, n * t, d)
    assert not heads_found("b 2*t d", (t, Dim.of(2)), b, 2 * t, d)


def test_dim_names_that_an_annotation_multiplies_stand_in_its_order() -> None:
    w = Dim.name("w")
    assert heads_found("b h*w d", (w, h), b, h * w, d) == [
        "axis 1 is merged as w*h, not as h*w; transpose before the axes are merged?"
    ]
    assert heads_found("h*t*d", (t, h, d), h * t * d)
    assert not heads_found("b h*w d", (h, w), b, h * w, d)
    assert not heads_found("h*t*d", (t, h * d), h * t * d)  # d may stand anywhere


def test_losses_compare_elements_of_one_order() -> None:
    classes, targets = merged(b * t, d), merged(b * t, order=(t, b))
    assert said("cross_entropy", classes, targets) == ["the axes of size b*t lie in the order b, t here and t, b there"]
    assert said("mse_loss", merged(b * t), targets)
    assert not said("cross_entropy", classes, merged(b * t))
