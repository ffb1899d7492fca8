"""Broadcasts that run and mean something else: what is reported, and what keeps the rules silent."""

from __future__ import annotations

from shaped.errors import Origin
from shaped.spec.broadcast import broadcast, broadcast_shape
from shaped.spec.context import Context
from shaped.spec.dims import ONE, Dim
from shaped.spec.provenance import Counted, Reduced, Row
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import TensorType

b, d, t, n = map(Dim.name, "bdtn")
LEFT = ONE.at(Origin("out_features"))
BATCH = Pack("batch")


def found(*tensors: TensorType, operation: str = "mul") -> list[str]:
    """The codes of what is reported of a broadcast, without those that are off by default."""
    context = Context()
    broadcast(context, operation, *tensors)
    return [fault.code for fault in context.found if fault.code != "shape-promotion"]


def test_a_size_left_over_and_stretched_to_a_name_that_the_tensor_has_is_reported() -> None:
    assert found(TensorType.of(b, LEFT), TensorType.of(b)) == ["shape-broadcast"]
    assert found(TensorType.of(b), TensorType.of(b, LEFT)) == ["shape-broadcast"]
    assert found(TensorType.of(b, LEFT, t, d), TensorType.of(b, t, d)) == ["shape-broadcast"]
    assert found(TensorType.of(b), TensorType.of(b), TensorType.of(b, LEFT)) == ["shape-broadcast"]
    assert found(TensorType.of(BATCH, LEFT), TensorType.of(BATCH)) == ["shape-broadcast"]


def test_a_new_axis_is_stretched_on_purpose() -> None:
    assert found(TensorType.of(b, 1), TensorType.of(b)) == []


def test_other_names_numbers_and_ints_of_a_caller_are_no_pairs() -> None:
    q = Dim.quantity("q")
    assert found(TensorType.of(b, LEFT), TensorType.of(t)) == []
    assert found(TensorType.of(8, LEFT), TensorType.of(8)) == []
    assert found(TensorType.of(q, LEFT), TensorType.of(q)) == []
    assert found(TensorType.of(2 * b, LEFT), TensorType.of(2 * b)) == []


def test_equal_ranks_are_no_pairs_by_accident() -> None:
    assert found(TensorType.of(b, LEFT), TensorType.of(LEFT, b)) == []
    assert found(TensorType.of(b, LEFT), TensorType.of(b, b)) == []


def test_a_name_that_an_operand_has_twice_is_meant_twice() -> None:
    assert found(TensorType.of(b, LEFT), TensorType.of(b), TensorType.of(b, b)) == []


def test_a_joined_tensor_says_nothing() -> None:
    assert found(TensorType(Shape.of(b, LEFT), joined=True), TensorType.of(b)) == []


def test_numbers_of_an_axis_are_compared_with_each() -> None:
    assert found(TensorType.of(b, LEFT), TensorType(Shape.of(b), made=Counted())) == []


def test_what_is_known_to_be_one_is_no_pair() -> None:
    context = Context()
    context.facts = context.facts.with_equal(b, ONE)
    broadcast(context, "mul", TensorType.of(b, LEFT), TensorType.of(b))
    assert not [fault for fault in context.found if fault.code == "shape-broadcast"]


def test_a_size_one_of_two_operands_is_left_over_only_if_none_made_it_anew() -> None:
    def origin(*tensors: TensorType) -> Origin | None:
        return broadcast(Context(), "add", *tensors).dims[-1].origin

    assert origin(TensorType.of(b, LEFT), TensorType.of(b, LEFT)) is not None
    assert origin(TensorType.of(b, LEFT), TensorType.of(b, 1)) is None
    assert origin(TensorType.of(b, 1), TensorType.of(b, LEFT)) is None
    assert origin(TensorType.of(b, LEFT), TensorType.of(1)) is not None


def test_a_call_that_asks_for_a_shape_is_not_judged() -> None:
    context = Context()
    assert broadcast_shape(context, "broadcast_tensors", TensorType.of(b, LEFT), TensorType.of(b)) == Shape.of(b, b)
    assert context.found == []


def test_a_row_is_reported_where_its_slice_would_have_fitted() -> None:
    def row(*sliced: Dim | int) -> TensorType:
        shape = Shape.of(*sliced)
        return TensorType(shape.replace(shape.axes.index(t)), made=Row(Shape.of(1, 512, d), t, shape))

    assert found(TensorType.of(b, t, d), row(1, t, d)) == ["shape-broadcast"]
    assert found(TensorType.of(b, t, d), row(t, d)) == ["shape-broadcast"]
    assert found(TensorType.of(t, b, d), row(t, 1, d)) == ["shape-broadcast"]
    assert found(TensorType.of(b, 1, d), row(1, t, d)) == []
    assert found(TensorType.of(b, n, d), row(1, t, d)) == []


def test_a_scalar_of_losses_is_reported_beside_what_it_was_taken_over() -> None:
    loss = TensorType(Shape(()), made=Reduced("mse_loss", (Shape.of(b, t), Shape.of(b, t)), is_loss=True))
    assert found(loss, TensorType.of(b)) == ["shape-reduce"]
    assert found(TensorType.of(b, t), loss) == ["shape-reduce"]
    assert found(loss, TensorType.of(b), operation="div") == ["shape-reduce"]
    assert found(TensorType.of(b), loss, operation="div") == []
    assert found(loss, TensorType.of(b), operation="add") == []
    assert found(loss, TensorType.of(n)) == []
    assert found(loss, TensorType.of(4)) == []


def test_a_sum_is_reported_beside_the_first_axes_of_what_was_summed() -> None:
    total = TensorType(Shape(()), made=Reduced("sum", (Shape.of(b, t, d),), is_loss=False))
    assert found(total, TensorType.of(b, t)) == ["shape-reduce"]
    assert found(total, TensorType.of(b)) == ["shape-reduce"]
    assert found(total, TensorType.of(b, t, d)) == []
    assert found(total, TensorType.of(t)) == []
    assert found(total, TensorType.of(b), operation="div") == []
    of_no_batch = TensorType(Shape(()), made=Reduced("sum", (Shape.of(n, d),), is_loss=False))
    assert found(of_no_batch, TensorType.of(n)) == []


def test_a_tensor_repeated_along_names_is_a_promotion() -> None:
    context = Context()
    broadcast(context, "add", TensorType.of(b, t, d), TensorType.of(d))
    (fault,) = context.found
    assert (fault.code, fault.reason) == ("shape-promotion", "(d,) is repeated along b, t")
    assert fault.hint == "[None, None] on (d,)?"
