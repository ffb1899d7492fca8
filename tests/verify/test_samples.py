"""Samples have the shapes of the annotations, are the same on every run, and lie where the forward is finite."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Complex, Float, Int, Int32
from torch import Tensor

from shaped.verify.layouts import Layout, empty_layouts, given_layout, layouts, small_layouts
from shaped.verify.samples import Sampler, draw_upstream
from shaped.verify.subject import Subject, SubjectError
from shaped.verify.trials import generic_samples, samplers


def sampler(forward: Any) -> Sampler:
    return next(samplers(Subject.without_backward(forward)))


def sizes(forward: Any) -> list[dict[str, int]]:
    return [dict(layout.sizes) for layout in layouts(Subject.without_backward(forward).signature)]


def test_different_dims_have_different_sizes_first_then_equal_ones_then_1() -> None:
    def f(x: Float[Tensor, "b t d"]) -> Tensor:
        return x

    found = sizes(f)
    assert found[0] == {"b": 2, "t": 3, "d": 5}
    assert {"b": 4, "t": 4, "d": 4} in found
    assert {"b": 1, "t": 1, "d": 1} in found
    assert {"b": 2, "t": 1, "d": 5} in found


def test_small_layouts_grow_and_empty_ones_have_one_dim_of_0() -> None:
    def f(x: Float[Tensor, "b n"]) -> Tensor:
        return x

    signature = Subject.without_backward(f).signature
    elements = [layout.elements for layout in small_layouts(signature)]
    assert elements == sorted(elements)
    assert elements[0] == 1
    assert [dict(layout.sizes) for layout in empty_layouts(signature)] == [{"b": 0, "n": 2}, {"b": 2, "n": 0}]


def test_a_stretched_axis_is_1_in_some_layouts_and_an_optional_tensor_absent() -> None:
    def f(x: Float[Tensor, "b d"], y: Float[Tensor, "#b d"], z: Float[Tensor, "d"] | None = None) -> Tensor:
        return x * y

    found = list(layouts(Subject.without_backward(f).signature))
    assert {layout.slots[1].shape[0] == layout.slots[0].shape[0] for layout in found} == {True, False}
    assert {layout.slots[2].kind for layout in found} == {"float", None}


def test_sizes_that_the_forward_refuses_are_searched_for() -> None:
    def f(x: Float[Tensor, "b c"]) -> Tensor:
        return x.reshape(x.shape[0], 8, x.shape[1] // 8).sum(1)

    assert sampler(f).layout.sizes["c"] == 8


def test_a_parameter_without_a_shape_is_refused_with_what_to_write() -> None:
    def f(x: Tensor) -> Tensor:
        return x

    with pytest.raises(SubjectError, match=r'parameter x of f has no shape: write x: Float\[Tensor, "n"\]'):
        sampler(f)


def test_a_forward_that_takes_nothing_is_told_with_its_reason() -> None:
    def f(x: Float[Tensor, "n"]) -> Tensor:
        raise ValueError("never")

    with pytest.raises(
        SubjectError, match="f takes none of the inputs that its annotations describe: ValueError: never"
    ):
        sampler(f)


@pytest.mark.parametrize(
    "function", [torch.log, torch.sqrt, torch.acos, torch.atanh, torch.acosh, torch.erfinv, lambda x: (-x).log()]
)
def test_values_lie_where_the_forward_is_finite(function: Any) -> None:
    def f(x: Float[Tensor, "n"]) -> Tensor:
        return function(x)

    found = sampler(f)
    assert all(f(found.draw(number).inputs[0]).isfinite().all() for number in range(9))


def test_only_the_input_that_needs_it_is_positive() -> None:
    def f(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Tensor:
        return x * y.log()

    x, y = (torch.cat([sampler(f).draw(k).inputs[i] for k in range(5)]) for i in (0, 1))
    assert (x < 0).any()
    assert (y > 0).all()


def test_classes_are_below_their_number_and_all_occur() -> None:
    def f(z: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Tensor:
        return F.cross_entropy(z, y)

    found = sampler(f)
    classes = torch.cat([found.draw(number).inputs[1] for number in range(20)])
    assert set(classes.tolist()) == set(range(found.layout.sizes["c"]))


def test_lengths_may_reach_the_size() -> None:
    def f(x: Float[Tensor, "b n"], length: Int[Tensor, "b"]) -> Tensor:
        assert int(length.max()) <= x.shape[1]
        return x * (torch.arange(x.shape[1]) < length[:, None])

    found = sampler(f)
    assert found.tops[1] == found.layout.sizes["n"] + 1


def test_a_mask_has_both_values_in_each_row() -> None:
    def f(x: Float[Tensor, "b n"], keep: Bool[Tensor, "b n"]) -> Tensor:
        return x * keep

    for number in range(9):
        keep: Any = sampler(f).draw(number).inputs[1]
        assert (keep.any(-1) & ~keep.all(-1)).all()


def test_equal_seeds_draw_equal_inputs_and_numbers_are_short() -> None:
    def f(x: Float[Tensor, "n"], z: Complex[Tensor, "n"]) -> Tensor:
        return x * z

    x, z = sampler(f).draw(3).inputs
    assert torch.equal(x, sampler(f).draw(3).inputs[0])
    assert torch.equal(z, sampler(f).draw(3).inputs[1])
    assert isinstance(x, Tensor)
    assert all(len(str(value)) <= 5 for value in x.tolist())
    assert (x != 0).all()


def test_inputs_of_the_user_give_the_layout() -> None:
    def f(x: Float[Tensor, "b n"], y: Any, k: int = 3) -> Tensor:
        return x

    x, y = torch.zeros(2, 3), torch.tensor([0, 4])
    layout = given_layout(Subject.without_backward(f).signature, (x, y))
    assert isinstance(layout, Layout)
    assert dict(layout.sizes) == {"b": 2, "n": 3}
    assert [slot.kind for slot in layout.slots] == ["float", "int", None]
    with pytest.raises(SubjectError, match="f takes x, y, k: 1 inputs are given for 3"):
        given_layout(Subject.without_backward(f).signature, (x,))


def test_upstream_gradients_are_drawn_for_outputs_of_floats_only() -> None:
    outputs = (torch.zeros(2), torch.zeros(3, dtype=torch.int64), torch.zeros(2, dtype=torch.complex64))
    a, b, c = draw_upstream(outputs, 0)
    assert a is not None
    assert a.shape == (2,)
    assert b is None
    assert c is not None
    assert c.is_complex()


def test_generic_samples_respect_the_domain() -> None:
    def f(x: Float[Tensor, "n"]) -> Tensor:
        return x

    subject = Subject.without_backward(f)
    found = list(generic_samples(subject, 3, domain=lambda x: bool(x.sum() > 0)))
    assert found
    assert all(sample.inputs[0].sum() > 0 for sample in found)


def test_integers_have_a_dtype_that_the_annotation_allows() -> None:
    def f(x: Float[Tensor, "n"], index: Int32[Tensor, "k"]) -> Tensor:
        return x[index.long()]

    assert sampler(f).draw(0).inputs[1].dtype is torch.int32
