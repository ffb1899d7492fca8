"""A signature is kept as text that runs nothing, and checks the same before and after."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Float
from torch import Tensor

from shaped.errors import ShapeError
from shaped.runtime.checked.failure import TypeRefusal
from shaped.runtime.exported.annotations import annotations_of, arrays_of, leaves_of, structure
from shaped.runtime.exported.signature import ConstantValue, Signature, TensorValue, is_safe_axis

AXES = st.sampled_from(["2", "3", "a", "b", "a+1", "2*b"])
TENSORS = st.builds(
    TensorValue,
    st.sampled_from(["x", "y"]),
    st.sampled_from(["float32", "int64", "bool", "bfloat16"]),
    st.lists(AXES, max_size=3).map(" ".join),
)
CONSTANTS = st.builds(ConstantValue, st.just("n"), st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3))
RANGES = st.dictionaries(st.sampled_from("ab"), st.tuples(st.integers(0, 3), st.none() | st.integers(3, 9)), max_size=2)


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    inputs = tuple(draw(st.lists(TENSORS | CONSTANTS, max_size=3)))
    names = tuple(f"p{i}" for i in range(len(inputs)))
    return Signature("Net", names, (), inputs, (), draw(RANGES))


@given(signatures())
def test_a_signature_is_the_same_after_it_was_kept(signature: Signature) -> None:
    assert Signature.from_json(signature.to_json()) == signature


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.builds(
        lambda shape, dtype: torch.zeros(shape, dtype=dtype),
        st.lists(st.integers(0, 4), max_size=3),
        st.sampled_from([torch.float32, torch.int64]),
    )
)


@given(signatures(), st.data())
def test_the_fast_check_never_lets_pass_what_the_plain_one_refuses(signature: Signature, data: st.DataObject) -> None:
    leaves = data.draw(st.lists(LEAVES, min_size=len(signature.inputs), max_size=len(signature.inputs)))
    plain = Signature(*(getattr(signature, name) for name in Signature.__dataclass_fields__))
    object.__setattr__(plain, "_fit", lambda leaves, device: False)

    def passes(one: Signature) -> bool:
        try:
            one.check_inputs(leaves)
        except TypeError:
            return False
        return True

    assert passes(signature) == passes(plain)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=2), st.lists(st.integers(0, 4), min_size=2, max_size=2))
def test_a_name_is_one_size_in_all_inputs(first: list[int], second: list[int]) -> None:
    values = TensorValue("x", "float32", "b 3"), TensorValue("y", "float32", "b c")
    signature = Signature("Net", ("x", "y"), (), values, (), {"c": (2, 3)})
    fits = first[0] == second[0] and first[1] == 3 and 2 <= second[1] <= 3
    leaves = [torch.zeros(first), torch.zeros(second)]
    if fits:
        signature.check_inputs(leaves)
    else:
        with pytest.raises(ShapeError, match=r"^argument [xy] of Net: "):
            signature.check_inputs(leaves)


@pytest.mark.parametrize(
    "text",
    [
        "{x}",
        "x.y",
        "__import__('os')",
        "exit()",
        "max(exit())",
        "a**9",
        "'a'",
        "a;b",
        "a if b else c",
        "_a",
        "*a",
        "...",
    ],
)
def test_only_sizes_names_and_arithmetic_are_read_from_a_file(text: str) -> None:
    assert not is_safe_axis(text)


@pytest.mark.parametrize(
    "text", ["4", "b", "batch_0", "_", "(h-1)//2+1", "2*b", "max(b,2)", "min(a,b)-c%2", "1+(((-1)+h)//2)"]
)
def test_what_torch_export_finds_out_is_read_from_a_file(text: str) -> None:
    assert is_safe_axis(text)


def test_arithmetic_over_names_is_computed() -> None:
    values = TensorValue("x", "float32", "b"), TensorValue("y", "float32", "2*b")
    signature = Signature("Net", ("x", "y"), (), values, ())
    signature.check_inputs([torch.zeros(2), torch.zeros(4)])
    with pytest.raises(ShapeError, match=r"argument y of Net: \(5,\) does not match"):
        signature.check_inputs([torch.zeros(2), torch.zeros(5)])


@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_a_constant_is_of_its_own_type(value: object) -> None:
    signature = Signature("Net", ("n",), (), (ConstantValue("n", 1),), ())
    signature.check_inputs([1])
    with pytest.raises(TypeRefusal, match="is not 1, which the program was exported with"):
        signature.check_inputs([value])


def test_arguments_are_bound_by_position_and_by_name() -> None:
    signature = Signature("Net", ("x", "y"), ("mask",), (), ())
    assert signature.bind((1,), {"mask": 3, "y": 2}) == ((1, 2), {"mask": 3})
    with pytest.raises(TypeRefusal, match=r"Net: missing a required argument: 'mask'; it takes \(x, y, mask=\)"):
        signature.bind((1, 2), {})


def test_the_parts_of_a_value_have_paths() -> None:
    value = ({"a": 1}, [2, 3])
    assert leaves_of(value, "x") == [("x[0]['a']", 1), ("x[1][0]", 2), ("x[1][1]", 3)]
    assert structure(value) == "({'a': int}, [int, int])"


def test_the_annotation_of_each_tensor_in_a_value_is_found() -> None:
    x, y, z = torch.zeros(2), torch.zeros(2, 3), torch.zeros(4)
    hints = annotations_of(
        {"a": tuple[Float[Tensor, "n"], dict[str, Float[Tensor, "n m"]]], "b": list[Float[Tensor, "k"]] | None}
    )
    found = {**arrays_of(hints["a"], (x, {"k": y})), **arrays_of(hints["b"], [z])}
    assert {key: array.hint.dim_str for key, array in found.items()} == {id(x): "n", id(y): "n m", id(z): "k"}
    assert arrays_of(hints["b"], None) == {}


def test_a_method_gives_the_annotations_of_its_parameters() -> None:
    class Net:
        def forward(self, x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
            return x

    assert set(annotations_of(Net.forward)) == {"x", "return"}


def test_a_text_is_no_annotation() -> None:
    with pytest.raises(TypeError, match=r'the signature of x is the text .b 4.: .* such as Float\[Tensor, "b 4"\]'):
        annotations_of({"x": "b 4"})
