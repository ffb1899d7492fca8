"""Special points: each is what its name says, for one input alone."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from shaped.verify.samples import Sampler
from shaped.verify.special_points import float_points, infinite_points, integer_points, joint_points, near_constants
from shaped.verify.subject import Subject
from shaped.verify.trials import samplers


def forward(x: Float[Tensor, "b n"], keep: Bool[Tensor, "b n"], row: Int[Tensor, "b"]) -> Tensor:
    return (x * keep)[:, row]


def sampler() -> Sampler:
    return next(samplers(Subject.without_backward(forward)))


def points(dtype: torch.dtype = torch.float64, constants: tuple[float, ...] = ()) -> dict[str, Tensor]:
    return {name: value for _, (name, value) in float_points(sampler(), constants, dtype)}


def test_points_have_the_shape_of_the_input_and_no_nan() -> None:
    for name, value in points(constants=(2.5,)).items():
        assert value.shape == (2, 3), name
        assert not value.isnan().any(), name


def test_zeros_ties_and_magnitudes_are_what_they_are_called() -> None:
    found = points()
    assert (found["x is all 0"] == 0).all()
    assert (found["x has one entry 0"] == 0).sum() == 1
    assert (found["x has two entries 0"] == 0).sum() == 2
    assert (found["x has one row 0"][0] == 0).all()
    assert (found["x has one constant row"].std(-1) == 0).sum() == 1
    assert (found["x is constant along axis 0"].std(0) == 0).all()
    largest = found["x has its largest entry twice"]
    assert ((largest == largest.amax(-1, keepdim=True)).sum(-1) == 2).all()
    assert (found["x is 1000"] == 1000).all()
    assert (found["x is negative"] < 0).all()
    assert (found["x is about 1e-30"].abs() < 1e-28).all()
    assert (found["x has entries 1 and -1"].abs() == 1).all()


def test_numbers_of_the_code_are_entries() -> None:
    found = points(constants=(2.5, 0.0))
    assert (found["x has one entry 2.5"] == 2.5).sum() == 1
    assert (found["x has all entries 2.5"] == 2.5).all()


def test_half_precision_has_points_in_its_range_only() -> None:
    assert all(value.abs().max() < 40 for value in points(torch.float16).values())


def test_a_class_of_points_with_minus_infinity_has_several_members() -> None:
    classes = {named[0][0]: named for _, named in infinite_points(sampler())}
    assert set(classes) == {"x has one entry -inf", "x has one row -inf", "x is all -inf"}
    assert len(classes["x has one entry -inf"]) > 3


def test_masks_and_indices() -> None:
    found = {sample.point: sample.inputs for sample in integer_points(sampler(), (-1.0,))}
    keep: Any = found["keep has one row of False"][1]
    assert not keep[0].any()
    row: Any = found["row has an index twice"][2]
    assert row[0] == row[-1]
    assert found["row is all 0"][2].tolist() == [0, 0]
    assert {"row has one entry -1", "row has one entry -100"} <= set(found)


def test_generic_values_lie_on_both_sides_of_a_number() -> None:
    (sample,) = near_constants(sampler(), (7.0,))
    x: Any = sample.inputs[0]
    assert (x < 7).any()
    assert (x > 7).any()


def test_two_inputs_may_be_special_together() -> None:
    def f(x: Float[Tensor, "n d"], y: Float[Tensor, "m d"], z: Float[Tensor, "n d"]) -> Tensor:
        return x + z + y.sum(0)

    found = {sample.point: sample.inputs for sample in joint_points(next(samplers(Subject.without_backward(f))))}
    assert all((value == 0).all() for value in found["x and y and z are all 0"])
    x, y, _ = found["x and y have an equal first row"]
    assert torch.equal(x[0], y[0])
    assert torch.equal(found["x and z are equal"][0], found["x and z are equal"][2])
    assert "x and y are equal" not in found


def test_a_vector_and_a_number_have_no_first_row_in_common() -> None:
    def f(x: Float[Tensor, "n"], a: Float[Tensor, ""]) -> Tensor:
        return x * a

    found = [sample.point for sample in joint_points(next(samplers(Subject.without_backward(f))))]
    assert found == ["x and a are all 0"]
