"""What is drawn for a signature satisfies its annotations, agrees on sizes, and shrinks to the smallest sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pytest
import torch
from beartype import beartype
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from jaxtyping import Bool, Complex, Float, Float32, Float64, Int, Num, Shaped, UInt8, jaxtyped
from torch import Tensor, nn

from shaped.errors import AnnotationError
from shaped.testing import Wanted, entries, from_annotation, from_signature, indices, tensors

DRAW = settings(max_examples=1000, phases=[Phase.generate], database=None, derandomize=True)
SHRINK = settings(max_examples=1000, phases=[Phase.generate, Phase.shrink], database=None, derandomize=True)


def drawn(strategy: st.SearchStrategy[Any], condition: Callable[[Any], object] = lambda x: True) -> Any:
    """The first drawn value that meets the condition."""
    return find(strategy, lambda x: bool(condition(x)), settings=DRAW)


def shrunk(strategy: st.SearchStrategy[Any], condition: Callable[[Any], object]) -> Any:
    """The simplest value that meets the condition."""
    return find(strategy, lambda x: bool(condition(x)), settings=SHRINK)


# Every drawn tensor passes jaxtyping's own check.


def plain(x: Float[Tensor, "b t d"], y: Float[Tensor, "t d"], w: Float[Tensor, "d 3"]) -> None: ...
def dtypes(x: Float32[Tensor, "n"], y: Float64[Tensor, "n"], i: Int[Tensor, "n"], j: UInt8[Tensor, "n"]) -> None: ...
def kinds(m: Bool[Tensor, "n"], c: Complex[Tensor, "n"], a: Num[Tensor, "n"], s: Shaped[Tensor, "n"]) -> None: ...
def packs(x: Float[Tensor, "*s d"], y: Float[Tensor, "d *s"], z: Float[Tensor, "... d"]) -> None: ...
def stretched(x: Float[Tensor, "b d"], y: Float[Tensor, "#b #d"], z: Float[Tensor, "*s #3"]) -> None: ...
def stretched_packs(x: Float[Tensor, "*#s d"], y: Float[Tensor, "*#s d"], z: Float[Tensor, "*s"]) -> None: ...
def arithmetic(
    n: Float[Tensor, "n d h"], x: Float[Tensor, "2*n n+1 n-1"], y: Float[Tensor, "d//h min(n,d)"]
) -> None: ...
def quotient(x: Float[Tensor, "d h"], y: Float[Tensor, "d/h"], z: Float[Tensor, "#2*h"]) -> None: ...
def unnamed(x: Float[Tensor, "_ _k 4 heads=2"], y: Float[Tensor, ""]) -> None: ...
def fields(x: Float[Tensor, "b {k}"], k: int, y: Float[Tensor, "{k}*b {k+1}"]) -> None: ...
def optional(x: Float[Tensor, "n"] | None, y: Float[Tensor, "n"] | None, z: Float[Tensor, "n"]) -> None: ...
def default(x: Float[Tensor, "n"], mask: Bool[Tensor, "n"] | None = None, eps: float = 1e-5) -> None: ...
def tuples(xy: tuple[Float[Tensor, "n"], Int[Tensor, "m"]], z: Float[Tensor, "n m"]) -> None: ...
def nested(x: Float[Float[Tensor, "b"], "3"], p: Float[nn.Parameter, "b"]) -> None: ...


SIGNATURES = [
    *(plain, dtypes, kinds, packs, stretched, stretched_packs, arithmetic, quotient),
    *(unnamed, fields, optional, default, tuples, nested),
]


def checked(function: Callable[..., object]) -> Callable[..., object]:
    """The function with jaxtyping's check of its arguments."""
    return jaxtyped(typechecker=beartype)(function)


@pytest.mark.parametrize("function", SIGNATURES, ids=lambda function: function.__name__)
@pytest.mark.parametrize("options", [{}, {"min_size": 0, "max_size": 2}, {"max_rank": 3, "special": False}], ids=str)
def test_what_is_drawn_passes_the_check_of_jaxtyping(function: Callable[..., object], options: dict[str, Any]) -> None:
    call = checked(function)

    @settings(max_examples=25)
    @given(from_signature(function, **options))
    def law(arguments: dict[str, Any]) -> None:
        call(**arguments)

    law()


def test_jaxtypings_check_refuses_what_is_wrong() -> None:
    with pytest.raises(Exception, match="Type-check error"):
        checked(plain)(x=torch.zeros(1, 2, 3), y=torch.zeros(2, 4), w=torch.zeros(3, 3))


def test_sizes_are_between_their_bounds_and_reach_them() -> None:
    strategy = from_signature(plain, min_size=2, max_size=5)

    @given(strategy)
    def law(arguments: dict[str, Any]) -> None:
        assert all(2 <= size <= 5 for size in arguments["x"].shape)

    law()
    drawn(strategy, lambda one: one["x"].shape == (2, 5, 2))


@pytest.mark.parametrize("size", [1, 2, 4])
def test_each_size_is_drawn(size: int) -> None:
    drawn(from_signature(plain), lambda one: one["x"].shape[1] == size)


def test_an_empty_tensor_is_drawn_on_request_only() -> None:
    drawn(from_signature(plain, min_size=0), lambda one: 0 in one["x"].shape)

    @given(from_signature(arithmetic))
    def law(arguments: dict[str, Any]) -> None:
        assert all(value.numel() for value in arguments.values())

    law()


def test_every_number_of_axes_of_a_pack_is_drawn() -> None:
    for rank in range(4):
        drawn(from_signature(packs, max_rank=3), lambda one, rank=rank: one["x"].ndim == 1 + rank)


def test_a_stretched_axis_is_drawn_both_ways() -> None:
    strategy = from_signature(stretched)
    drawn(strategy, lambda one: one["y"].shape[0] == 1 < one["x"].shape[0])
    drawn(strategy, lambda one: one["y"].shape == one["x"].shape and 1 not in one["x"].shape)


def test_a_stretched_pack_may_have_fewer_axes() -> None:
    drawn(from_signature(stretched_packs), lambda one: one["x"].ndim < one["y"].ndim)


def test_a_dtype_is_one_in_a_call_and_each_is_drawn() -> None:
    wanted = (torch.float32, torch.float64, torch.bfloat16)
    strategy = from_signature(plain, dtypes=wanted)

    @given(strategy)
    def law(arguments: dict[str, Any]) -> None:
        assert len({value.dtype for value in arguments.values()}) == 1

    law()
    for dtype in wanted:
        drawn(strategy, lambda one, dtype=dtype: one["x"].dtype is dtype)


# Parameters that are no tensors


def test_an_integer_tensor_holds_indices_of_every_named_axis() -> None:
    def embed(weight: Float[Tensor, "v d"], tokens: Int[Tensor, "b t"]) -> None: ...

    @given(from_signature(embed))
    def law(arguments: dict[str, Any]) -> None:
        weight, tokens = arguments["weight"], arguments["tokens"]
        assert tokens.min() >= 0
        assert tokens.max() < min(*weight.shape, *tokens.shape)

    law()


def test_an_int_with_the_name_of_an_axis_is_its_size() -> None:
    def view(x: Float[Tensor, "n d"], d: int, other: int) -> None: ...

    @given(from_signature(view))
    def law(arguments: dict[str, Any]) -> None:
        assert arguments["d"] == arguments["x"].shape[1]

    law()
    drawn(from_signature(view), lambda one: one["other"] > 1000)


def test_a_default_with_the_name_of_an_axis_is_its_size() -> None:
    def view(x: Float[Tensor, "n d"], d: int = 7) -> None: ...

    assert drawn(from_signature(view))["x"].shape[1] == 7


def test_other_types_are_left_to_hypothesis() -> None:
    def f(x: Float[Tensor, "n"], flag: bool, mode: Literal["a", "b"], scale: float) -> None: ...

    drawn(from_signature(f), lambda one: one["flag"] and one["mode"] == "b" and one["scale"] > 1)


def test_a_device_and_a_dtype_are_drawn() -> None:
    def f(x: Float[Tensor, "n"], device: torch.device, dtype: torch.dtype) -> None: ...

    assert drawn(from_signature(f))["device"].type == "cpu"
    drawn(from_signature(f), lambda one: one["dtype"] is torch.float64)


def test_a_default_is_kept_unless_a_strategy_is_given() -> None:
    assert "eps" not in drawn(from_signature(default))
    assert drawn(from_signature(default, eps=st.just(0.5)))["eps"] == 0.5


def test_three_dots_draw_a_parameter_by_its_type_in_place_of_its_default() -> None:
    drawn(from_signature(default, eps=...), lambda one: one["eps"] < 0)


def test_three_dots_for_a_type_that_cannot_be_drawn_are_refused() -> None:
    def f(x: Float[Tensor, "n"], model: Model | None = None) -> None: ...

    assert "model" not in drawn(from_signature(f))
    assert "Model is nothing that can be drawn" in failing(f, model=...)


def test_a_flag_with_the_name_of_an_axis_is_no_size() -> None:
    def f(x: Float[Tensor, "causal n"], causal: bool = True) -> None: ...

    drawn(from_signature(f), lambda one: one["x"].shape[0] == 3)


def test_an_optional_tensor_is_drawn_both_ways() -> None:
    strategy = from_signature(default)
    drawn(strategy, lambda one: one["mask"] is None)
    drawn(strategy, lambda one: one["mask"] is not None and one["mask"].all())


@dataclasses.dataclass
class Batch:
    tokens: Int[Tensor, "b t"]
    mask: Bool[Tensor, "b t"] | None = None
    name: str = "train"
    count: int = dataclasses.field(default=0, init=False)


class Pair(NamedTuple):
    low: Float[Tensor, "n"]
    high: Float[Tensor, "n"]


def test_a_dataclass_shares_the_sizes_of_the_call() -> None:
    def loss(batch: Batch, weight: Float[Tensor, "v t"]) -> None: ...

    strategy = from_signature(loss, **{"batch.tokens": indices("v")})  # type: ignore[arg-type]  # names with a dot

    @given(strategy)
    def law(arguments: dict[str, Any]) -> None:
        batch, weight = arguments["batch"], arguments["weight"]
        assert batch.tokens.shape[1] == weight.shape[1]
        assert batch.name == "train"
        assert batch.mask is None or batch.mask.shape == batch.tokens.shape

    law()
    drawn(strategy, lambda one: one["batch"].tokens.max() == 3)
    drawn(strategy, lambda one: one["batch"].mask is not None)


def test_lists_dicts_and_named_tuples_of_tensors_are_drawn() -> None:
    def f(
        xs: list[Float[Tensor, "n"]],
        ys: Sequence[Float[Tensor, "n"]],
        zs: tuple[Float[Tensor, "n"], ...],
        named: dict[str, Float[Tensor, "n"]],
        mapping: Mapping[str, Float[Tensor, "n"]],
        pair: Pair,
    ) -> None: ...

    one = drawn(from_signature(f), lambda one: all(one.values()))
    leaves = [*one["xs"], *one["ys"], *one["zs"], *one["named"].values(), *one["mapping"].values(), *one["pair"]]
    assert len({leaf.shape for leaf in leaves}) == 1
    assert isinstance(one["pair"], Pair)
    assert isinstance(one["zs"], tuple)


def test_a_tensor_without_a_shape_has_any() -> None:
    def f(x: Tensor) -> None: ...

    for rank in range(3):
        drawn(from_signature(f), lambda one, rank=rank: one["x"].ndim == rank)


def test_a_parameter_is_drawn_as_one() -> None:
    assert isinstance(drawn(from_signature(nested))["p"], nn.Parameter)


class Scale(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Float[Tensor, "b {self.width}"]) -> Float[Tensor, "b {self.width}"]:
        return 2 * x


def test_a_module_is_drawn_for_by_its_forward() -> None:
    assert drawn(from_signature(Scale(5)))["x"].shape[1] == 5
    assert drawn(from_signature(Scale(6).forward))["x"].shape[1] == 6


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * x


def test_an_autograd_function_is_drawn_for_by_its_forward() -> None:
    assert list(drawn(from_signature(Square))) == ["x"]


def test_a_checked_function_is_read_through_its_check() -> None:
    assert list(drawn(from_signature(checked(plain)))) == ["x", "y", "w"]


def test_there_is_no_index_into_an_empty_axis() -> None:
    def embed(weight: Float[Tensor, "v"], tokens: Int[Tensor, "b"]) -> None: ...

    strategy = from_signature(embed, min_size=0)

    @given(strategy)
    def law(arguments: dict[str, Any]) -> None:
        assert arguments["weight"][arguments["tokens"]].shape == arguments["tokens"].shape

    law()
    drawn(strategy, lambda one: not one["weight"].numel())
    drawn(strategy, lambda one: not one["tokens"].numel() and one["weight"].numel())


# What the caller gives


def test_given_sizes_are_used() -> None:
    one = drawn(from_signature(plain, sizes={"b": 7, "d": st.just(6)}))
    assert (one["x"].shape[0], one["w"].shape[0]) == (7, 6)
    assert drawn(from_signature(packs, sizes={"s": (2, 3)}))["y"].shape[1:] == (2, 3)
    assert drawn(from_signature(unnamed, sizes={"x[0]": 9}))["x"].shape[0] == 9


def test_given_sizes_bind_the_names_of_arithmetic() -> None:
    one = drawn(from_signature(quotient, sizes={"d": 6}, max_size=6), lambda one: one["x"].shape[1] == 3)
    assert one["y"].shape == (2,)


def test_indices_stay_below_an_axis_and_reach_its_end() -> None:
    def loss(logits: Float[Tensor, "b c"], target: Int[Tensor, "b"]) -> None: ...

    strategy = from_signature(loss, target=indices("c"))

    @given(strategy)
    def law(arguments: dict[str, Any]) -> None:
        nn.functional.cross_entropy(*arguments.values())  # raises for an index that is out of range

    law()
    drawn(strategy, lambda one: one["logits"].shape[1] == 4 and one["target"].max() == 3)


def test_entries_and_functions_of_the_shape() -> None:
    def f(p: Float[Tensor, "n"], q: Float[Tensor, "n m"]) -> None: ...

    def doubled(wanted: Wanted) -> st.SearchStrategy[Tensor]:
        assert wanted.shape == (wanted.sizes["n"], wanted.sizes["m"])
        return tensors((2, *wanted.shape), wanted.dtype)

    one = drawn(from_signature(f, p=entries(st.integers(1, 9)), q=doubled))
    assert one["p"].min() >= 1
    assert one["q"].shape[:2] == (2, one["p"].shape[0])


def test_minus_infinity_is_drawn_on_request_only() -> None:
    drawn(from_signature(plain, minus_infinity=True), lambda one: one["x"].isneginf().any())

    @given(from_signature(plain))
    def law(arguments: dict[str, Any]) -> None:
        assert all(value.isfinite().all() for value in arguments.values())

    law()


# Shrinking


def test_a_signature_shrinks_to_the_smallest_sizes_and_zeros() -> None:
    one = shrunk(from_signature(plain), lambda one: True)
    assert {name: value.tolist() for name, value in one.items()} == {
        "x": [[[0.0]]],
        "y": [[0.0]],
        "w": [[0.0, 0.0, 0.0]],
    }


def test_one_axis_and_one_entry_shrink_alone() -> None:
    def f(x: Float[Tensor, "n d"], w: Float[Tensor, "d"]) -> None: ...

    one = shrunk(from_signature(f), lambda one: one["x"].shape[0] >= 2 and (one["x"] != 0).any())
    assert (one["x"].tolist(), one["w"].tolist()) == ([[0], [1]], [0])


def test_names_of_arithmetic_shrink_to_the_smallest_sizes_that_fit() -> None:
    one = shrunk(from_signature(arithmetic), lambda one: one["y"].shape[0] == 2)
    assert one["n"].shape == (2, 2, 1)


def test_what_may_be_none_shrinks_to_none_and_a_pack_to_no_axes() -> None:
    assert shrunk(from_signature(default), lambda one: True)["mask"] is None
    assert shrunk(from_signature(packs), lambda one: True)["x"].shape == (1,)


# One annotation


def test_one_annotation_is_drawn() -> None:
    x = shrunk(from_annotation(Float[Tensor, "n 2*n"]), lambda x: x.shape[0] > 1)
    assert x.tolist() == [[0] * 4] * 2
    pair = drawn(from_annotation(tuple[Float[Tensor, "n"], Int[Tensor, "n"]]))
    assert pair[0].shape == pair[1].shape
    assert isinstance(drawn(from_annotation(Batch, sizes={"b": 2})), Batch)


# Errors


def failing(function: Callable[..., object], **options: Any) -> str:
    with pytest.raises(AnnotationError) as caught:
        drawn(from_signature(function, **options))
    return f"{caught.value}: {caught.value.hint}" if caught.value.hint else str(caught.value)


def test_a_parameter_that_cannot_be_drawn_is_named() -> None:
    def f(x: Float[Tensor, "n"], y) -> None: ...  # type: ignore[no-untyped-def]  # what is tested

    assert failing(f) == (
        'f: parameter y has no annotation that says what to draw: write y: Float[Tensor, "b n"], or pass y=strategy'
    )


class Model:
    def __init__(self, width):  # type: ignore[no-untyped-def]  # nothing says what to draw
        raise NotImplementedError


def test_a_type_that_hypothesis_cannot_draw_is_named() -> None:
    def f(x: Float[Tensor, "n"], model: Model) -> None: ...

    text = failing(f)
    assert text.startswith("f: parameter model: Model is nothing that can be drawn")
    assert text.endswith("pass model=strategy")


def test_a_strategy_for_no_parameter_is_refused() -> None:
    assert failing(plain, z=st.none()) == "plain: has no parameter z: the parameters are x, y, w"


def test_a_value_in_place_of_a_strategy_is_refused() -> None:
    assert failing(plain, y=3) == "plain: y=3 is no strategy: y=st.just(3)"


def test_a_size_for_no_name_is_refused() -> None:
    assert failing(plain, sizes={"z": 3}) == "sizes of z: no axis has that name: the names are b, t, d"


def test_sizes_that_arithmetic_does_not_allow_are_refused() -> None:
    text = failing(arithmetic, sizes={"n": 1})
    assert "no sizes from 1 to 4 make it a size, n = 1: raise max_size, or give sizes={...}" in text


def test_a_negative_size_and_an_empty_range_are_refused() -> None:
    assert failing(plain, sizes={"b": -1}) == "sizes of b: -1 is no size: sizes={'b': 3}"
    with pytest.raises(ValueError, match="there is no size from 3 to 2: give 0 <= min_size <= max_size"):
        from_signature(plain, min_size=3, max_size=2)


def test_indices_of_an_unknown_axis_are_refused() -> None:
    def f(x: Float[Tensor, "n"], i: Int[Tensor, "m"]) -> None: ...

    assert failing(f, i=indices("c")) == "indices('c') for i: no axis has that name: the names are n, m"


def test_a_field_without_a_value_is_refused() -> None:
    def f(x: Float[Tensor, "{self.width}"]) -> None: ...

    assert failing(f).startswith("{self.width}: the field has no value: name 'self' is not defined")
