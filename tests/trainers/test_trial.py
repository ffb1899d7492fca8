"""What a trainer finds when it is made: wrong shapes by name, before any number is computed."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from shaped.errors import AnnotationError, DtypeError, Fault, ShapeError
from shaped.runtime.tlist import TList
from shaped.trainers import ScalarTrainer
from tests.trainers.quickstart import NAMES, loss


def times(params: Any, inputs: Any) -> Tensor:
    return (inputs[0] @ params[0]).sum() + sum(bias.sum() for bias in params[1:])


def test_a_parameter_of_another_shape_is_named() -> None:
    params = [torch.ones(2, 8), torch.ones(8), torch.ones(1, 8), torch.ones(1)]
    with pytest.raises(ShapeError, match=re.escape('parameter w1: (2, 8) does not match "8 2": axis 0 is 2, not 8')):
        ScalarTrainer(loss, names=NAMES, params=params)


def test_parameters_share_the_sizes_of_names() -> None:
    ScalarTrainer(times, [("d", "h"), ("h",)], [("b", "d")], params=[torch.ones(3, 2), torch.ones(2)])
    with pytest.raises(ShapeError, match=re.escape('parameter 1: (3,) does not match "h": axis 0 is 3, not h=2')):
        ScalarTrainer(times, [("d", "h"), ("h",)], [("b", "d")], params=[torch.ones(3, 2), torch.ones(3)])


@pytest.mark.parametrize("params", [[torch.ones(3, 2).long()], [[[1j]]], [{}]])
def test_a_parameter_of_no_floats_is_named(params: Any) -> None:
    with pytest.raises(DtypeError, match="parameter weight"):
        ScalarTrainer(times, [(3, 2)], [(3,)], params=params, names=["weight"])


def test_an_operation_that_fails_is_told_with_its_operands() -> None:
    def swapped(params: Any, inputs: Any) -> Tensor:
        (w1, b1, w2, b2), (x, y) = params, inputs
        return F.mse_loss(F.linear(F.relu(F.linear(x, w2, b1)), w1, b2), y)

    shapes = [(8, 2), (8,), (1, 8), (1,)]
    with pytest.raises(
        ShapeError, match=re.escape("linear in the loss: input x (2,), parameter w2 (1, 8), parameter b1 (8,): ")
    ):
        ScalarTrainer(swapped, shapes, [(2,), (1,)], names=NAMES, input_names=("x", "y"))


def test_a_dtype_that_fails_is_told_as_such() -> None:
    def of_tokens(params: Any, inputs: Any, nats: Any) -> Tensor:
        return (nats[0] @ params[0]).sum()

    with pytest.raises(DtypeError, match=re.escape("matmul in the loss: integer input 0 (3,), parameter 0 (3, 2): ")):
        ScalarTrainer(of_tokens, [(3, 2)], [], [(3,)])


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda params, inputs: inputs[0] * params[0], ShapeError, "the loss: (3,): it has 1 axis, a scalar has none"),
        (lambda params, inputs: params[0].sum()[None, None], ShapeError, "(1, 1): it has 2 axes, a scalar has none"),
        (lambda params, inputs: 1.0, ShapeError, "the loss: is a float, no tensor"),
        (lambda params, inputs: params[0].sum().long(), DtypeError, "its dtype is int64, which has no gradient"),
        (lambda params, inputs: params[0].sum() * 1j, DtypeError, "its dtype is complex64, which has no gradient"),
    ],
)
def test_what_is_no_scalar_of_floats_is_refused(wrong: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        ScalarTrainer(wrong, [(3,)], [(3,)])


def test_other_mistakes_of_the_loss_are_raised_as_they_are() -> None:
    with pytest.raises(IndexError, match="tuple index out of range"):
        ScalarTrainer(lambda params, inputs: params[1].sum(), [(3,)], [])


def test_a_call_of_other_sizes_that_fails_is_told_by_name() -> None:
    def of_two(params: Any, inputs: Any) -> Tensor:
        return F.cross_entropy(inputs[0] @ params[0], torch.tensor([0, 1]))

    of = ScalarTrainer(of_two, [(2, 3)], [("b", 2)])
    of.forward(torch.ones(2, 2))
    expected = "cross_entropy in the loss: (3, 3), (2,): Expected input batch_size (3) to match target batch_size (2)."
    with pytest.raises(ShapeError, match=re.escape(expected)):
        of.forward(torch.ones(3, 2))
    with pytest.raises(ShapeError, match=re.escape(expected)):
        of.step(torch.ones(3, 2), lr=0.1)


# Names of axes of inputs stand for any size.


def test_a_name_that_fits_for_some_size_is_no_error() -> None:
    def pooled(params: Any, inputs: Any) -> Tensor:
        return F.max_pool2d(F.max_pool2d(F.conv2d(inputs[0], params[0]), 4), 4).mean()

    of = ScalarTrainer(pooled, [(2, 3, 5, 5)], [("b", 3, "h", "w")], input_names=["image"])
    of.forward(torch.ones(1, 3, 50, 40))
    with pytest.raises(ShapeError, match="max_pool2d in the loss"):
        of.forward(torch.ones(1, 3, 10, 10))


def test_a_mismatch_of_constants_beside_a_name_is_an_error() -> None:
    with pytest.raises(ShapeError, match=re.escape("matmul in the loss: input 0 (2, 4), parameter 0 (3, 2): ")):
        ScalarTrainer(times, [(3, 2)], [("b", 4)])


def test_a_name_that_has_to_be_a_size_of_a_parameter_is_no_error() -> None:
    ScalarTrainer(times, [(97, 2)], [("n",)]).forward(torch.ones(97))


@pytest.mark.parametrize("text", ["...", "*batch d", "b 2*k", "#b 4", "_ 4", "b+1 4"])
def test_any_annotation_of_an_input_is_tried(text: str) -> None:
    def total(params: Any, inputs: TList[Float[Tensor, text]]) -> Tensor:
        return inputs[0].sum() * params[0]

    of = ScalarTrainer(total, [()], TList[Float[Tensor, text]], params=[2.0])
    assert of.forward(torch.ones(3, 4)).item() == 24 if text != "#b 4" else of.forward(torch.ones(1, 4)).item() == 8


# A loss that cannot be tried out is not refused.


def test_a_loss_that_branches_on_values_is_not_refused() -> None:
    def branching(params: Any, inputs: Any) -> Tensor:
        if inputs[0].sum() > 0:
            return (inputs[0] * params[0]).sum()
        return params[0].sum()

    of = ScalarTrainer(branching, [(2,)], [(2,)], params=[[1.0, 2.0]])
    assert (of.forward([1.0, 1.0]).item(), of.forward([-1.0, 0.0]).item()) == (3, 3)


def test_a_loss_that_leaves_torch_is_not_refused() -> None:
    def through_numpy(params: Any, inputs: Any) -> Tensor:
        weight = torch.from_numpy(inputs[0].numpy() * 2)
        return (params[0] * weight).sum()

    of = ScalarTrainer(through_numpy, [(2,)], [(2,)], params=[[1.0, 2.0]])
    assert of.backward([3.0, 4.0]) == TList(torch.tensor([6.0, 8.0]))


def test_constants_of_the_loss_are_tensors_of_their_own() -> None:
    constant = torch.tensor([1.0, 2.0])
    of = ScalarTrainer(lambda params, inputs: (params[0] * constant).sum(), [(2,)], [], params=[[1.0, 1.0]])
    assert of.forward().item() == 3


def test_trying_out_draws_no_random_number_and_computes_nothing() -> None:
    before = torch.random.get_rng_state()
    of = ScalarTrainer(lambda params, inputs: F.dropout(params[0] * 2).sum(), [(3,)], [])
    assert torch.equal(torch.random.get_rng_state(), before)
    assert isinstance(of.step_with_loss(lr=0.1), Tensor)


# Declarations.


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([(3, 2)],), "input_shapes are not given: parameter 1 of the loss is not annotated"),
        ((), "param_shapes are not given: parameter 0 of the loss is not annotated"),
        ((3, []), "shapes of the parameters: 3 is no list of shapes"),
        (([3], []), "parameter 0: 3 is a size, no shape"),
        (([(2.5,)], []), "parameter 0: (2.5,) is no shape"),
        (([(-1,)], []), "parameter 0: (-1,) is no shape"),
        (([("a b",)], []), "parameter 0: ('a b',) is no shape"),
    ],
)
def test_what_is_no_shape_is_told(arguments: Any, message: str) -> None:
    with pytest.raises(AnnotationError, match=re.escape(message)):
        ScalarTrainer(lambda params, inputs: params[0].sum(), *arguments)


def test_a_parameter_to_be_drawn_needs_sizes() -> None:
    with pytest.raises(ShapeError, match=re.escape('parameter w: Float[Tensor, "d 3"] has an axis without a size')):
        ScalarTrainer(times, [("d", 3)], [("d",)], names=["w"])


def test_a_dtype_that_is_declared_is_that_of_the_trainer() -> None:
    from jaxtyping import Float64

    with pytest.raises(DtypeError, match="parameter 0: dtype float32 does not match Float64"):
        ScalarTrainer(times, TList[Float64[Tensor, "3 2"]], [(3,)])
    with pytest.raises(DtypeError, match="input 0: dtype float32 of the trainer does not match Float64"):
        ScalarTrainer(times, [(3, 2)], TList[Float64[Tensor, "3"]])
    ScalarTrainer(times, TList[Float64[Tensor, "3 2"]], TList[Float64[Tensor, "3"]], dtype=torch.float64)


@pytest.mark.parametrize(
    "names, message",
    [(["a"], "1 names (a) for 2 parameters: give one for each"), (["a", "a"], "two parameters have the name a")],
)
def test_names_fit_the_parameters(names: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ScalarTrainer(times, [(3, 2), (1,)], [(3,)], names=names)


def test_names_fit_the_inputs() -> None:
    with pytest.raises(ValueError, match="two inputs have one name in x, x"):
        ScalarTrainer(times, [(3, 2)], [(3,), (1,)], input_names=["x", "x"])
    with pytest.raises(ValueError, match="1 names"):
        ScalarTrainer(times, [(3, 2)], [(3,), (1,)], input_names=["x"])


@pytest.mark.parametrize("wrong", [lambda params: params[0].sum(), lambda: None, lambda a, b, c, d: a[0].sum()])
def test_a_loss_of_other_arguments_is_refused(wrong: Any) -> None:
    with pytest.raises(Fault, match=re.escape("but is called as loss(params, inputs)")):
        ScalarTrainer(wrong, [(3,)], [])
    with pytest.raises(Fault, match=re.escape("but is called as loss(params, inputs, nat_inputs)")):
        ScalarTrainer(wrong, [(3,)], [], [(2,)])


def test_an_annotation_that_cannot_be_read_is_told() -> None:
    def loss(params: Unknown, inputs: Any) -> Tensor:  # type: ignore[name-defined]
        return params[0].sum()  # type: ignore[no-any-return]

    with pytest.raises(AnnotationError, match=r"parameter params of the loss: the annotation 'Unknown' cannot be read"):
        ScalarTrainer(loss, None, [])


# Devices.


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"device": "mps", "dtype": torch.float64}, DtypeError, "device mps: has no float64"),
        ({"device": "nowhere"}, ValueError, "device nowhere: "),
        ({"dtype": torch.int64}, DtypeError, "the trainer: int64 is no float dtype"),
        ({"dtype": torch.complex64}, DtypeError, "the trainer: complex64 is no float dtype"),
    ],
)
def test_a_device_that_cannot_hold_the_tensors_is_named(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ScalarTrainer(times, [(3, 2)], [(3,)], **options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is such a device")
def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match=r"device cuda: .*; here are cpu"):
        ScalarTrainer(times, [(3, 2)], [(3,)], device="cuda")


def test_inputs_are_brought_to_the_device() -> None:
    of = ScalarTrainer(times, [(3, 2)], [(3,)], device="meta")
    assert of.step_with_loss(torch.ones(3), lr=0.1).device.type == "meta"
    assert {param.device.type for param in of.params} == {"meta"}
