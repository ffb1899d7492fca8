"""TList: a tuple of tensors, checked by `TList[...]`, that torch and pickle take for one of their own."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Generic, TypeVar, TypeVarTuple

import pytest
import torch
from beartype import beartype
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Float, Int, Shaped, TypeCheckError, jaxtyped
from torch import Tensor
from torch.utils import _pytree as pytree

import shaped
from shaped.errors import AnnotationError, DtypeError, ShapeError
from shaped.runtime.tlist import TList

if TYPE_CHECKING:
    from collections.abc import Callable

Layer = TList[Float[Tensor, "out in"], Float[Tensor, "out"]]
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def layer(out: int = 8, inputs: int = 2) -> TList[Tensor, Tensor]:
    return Layer(torch.arange(out * inputs).reshape(out, inputs).float(), torch.ones(out))


def test_it_is_a_public_name() -> None:
    assert shaped.TList is TList


# A tuple of tensors


def test_it_is_a_tuple() -> None:
    weight, bias = params = layer()
    assert isinstance(params, tuple)
    assert params[0] is weight
    assert params[-1] is bias
    assert len(params) == 2
    assert list(params)[1] is bias


def test_slices_and_sums_of_lists_are_lists() -> None:
    params = layer()
    assert type(params[1:]) is TList
    assert type(params + params[:1]) is TList
    assert [item.shape for item in params + params[:1]] == [(8, 2), (8,), (8, 2)]


def test_a_sum_with_a_plain_tuple_is_a_plain_tuple() -> None:
    other = (1,)
    assert type(layer() + other) is tuple


@pytest.mark.parametrize("item", [1, None, [torch.ones(1)], (torch.ones(1),)])
def test_what_is_no_tensor_is_refused(item: object) -> None:
    with pytest.raises(ShapeError, match=rf"TList item 1: {type(item).__name__} is not a tensor") as caught:
        TList(torch.ones(1), item)
    assert isinstance(caught.value, TypeError)


def test_symbolic_tensors_are_tensors() -> None:
    from shaped.spec.tensor import variable

    x = variable("x", ("b", 3))
    assert TList(x)[0] is x


def test_items_cannot_be_assigned() -> None:
    params = layer()
    with pytest.raises(TypeError):
        params[0] = params[1]  # type: ignore[index]
    with pytest.raises(AttributeError):
        params.bias = params[1]  # type: ignore[attr-defined]


def test_map_and_the_methods_made_of_it_keep_the_number_of_items() -> None:
    params = TList(torch.ones(2, requires_grad=True), torch.ones(3))
    assert params.map(lambda item: item * 2) == TList(torch.full((2,), 2.0), torch.full((3,), 2.0))
    assert [item.requires_grad for item in params.detach()] == [False, False]
    assert params.clone() == params
    assert params.clone()[0] is not params[0]
    assert params.zeros_like() == TList(torch.zeros(2), torch.zeros(3))
    assert [item.dtype for item in params.to(torch.float64)] == [torch.float64, torch.float64]


def test_map_gives_a_list_of_tensors_or_an_error() -> None:
    with pytest.raises(ShapeError, match="TList item 0: int is not a tensor"):
        layer().map(lambda item: item.dim())


def test_zip_pairs_what_belongs_together() -> None:
    params = layer()
    assert params.zip(params) == ((params[0], params[0]), (params[1], params[1]))


def test_zip_refuses_lists_of_other_lengths() -> None:
    with pytest.raises(ShapeError, match=r"TList\.zip: 2 items and 1 item are no pairs"):
        layer().zip(layer()[:1])


def test_lists_are_equal_if_their_items_are() -> None:
    params = layer()
    assert params == layer()
    assert hash(params) == hash(layer())
    assert params != params[:1]
    assert params != params.zeros_like()
    assert params != params.to(torch.float64)
    assert params != tuple(params)
    assert TList(torch.tensor([float("nan")])) != TList(torch.tensor([float("nan")]))


def test_an_item_is_found_by_the_equality_of_lists() -> None:
    params = layer()
    assert params[1] in params  # tensors themselves cannot compare a bias with the weight before it
    assert params[1].clone() in params
    assert torch.zeros(5) not in params
    assert "weight" not in params


def test_it_is_shown_by_dtypes_and_shapes() -> None:
    params = TList(torch.ones(8, 2), torch.ones(8).bfloat16(), torch.ones((), dtype=torch.uint8), torch.tensor([True]))
    assert repr(params) == "TList(Float32 (8, 2), BFloat16 (8,), UInt8 (), Bool (1,))"
    assert repr(TList()) == "TList()"


# TList[...]


def test_a_type_knows_the_types_of_its_items() -> None:
    assert [item.dim_str for item in Layer.types] == ["out in", "out"]
    assert repr(Layer) == 'TList[Float[Tensor, "out in"], Float[Tensor, "out"]]'
    assert TList[()].types == ()


def test_types_that_are_written_alike_are_the_same() -> None:
    assert TList[Float[Tensor, "out in"], Float[Tensor, "out"]] is Layer
    assert TList[Float[Tensor, "out in"], Float[Tensor, "in"]] is not Layer
    assert TList[Float[Tensor, "out in"], Int[Tensor, "out"]] is not Layer
    assert TList[Float[Tensor, "a"] | Int[Tensor, "a"]] is TList[Float[Tensor, "a"] | Int[Tensor, "a"]]


def test_a_type_makes_plain_lists() -> None:
    assert type(layer()) is TList


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        ((torch.ones(8, 2), torch.ones(4)), 'TList item 1: (4,) does not match "out": axis 0 is 4, not out=8'),
        ((torch.ones(8, 2), torch.ones(8, 1)), 'TList item 1: (8, 1) does not match "out": it has 2 axes, not 1'),
        ((torch.ones(8, 2),), "TList: it has 1 item, not 2"),
        ((torch.ones(8, 2), 8), "TList item 1: int is not a tensor"),
    ],
)
def test_a_type_refuses_other_items(items: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(ShapeError) as caught:
        Layer(*items)
    assert str(caught.value) == sentence
    assert isinstance(caught.value, TypeError)


def test_a_type_refuses_other_dtypes() -> None:
    with pytest.raises(DtypeError, match=r'TList item 1: dtype int64 does not match Float\[Tensor, "out"\]') as caught:
        Layer(torch.ones(8, 2), torch.ones(8, dtype=torch.int64))
    assert isinstance(caught.value, TypeError)


sizes = st.integers(0, 3)


@given(st.lists(sizes, max_size=3), st.lists(sizes, max_size=3))
def test_a_type_accepts_what_jaxtyping_accepts_for_the_arguments_of_a_call(first: list[int], second: list[int]) -> None:
    annotations = (Shaped[Tensor, "a *rest"], Shaped[Tensor, "*rest a+1"])

    @jaxtyped(typechecker=beartype)
    def takes(a: Shaped[Tensor, "a *rest"], b: Shaped[Tensor, "*rest a+1"]) -> None: ...

    items = (torch.ones(first), torch.ones(second))
    accepted = accepts(lambda: takes(*items))
    assert accepts(lambda: TList[annotations](*items)) == accepted
    assert isinstance(TList(*items), TList[annotations]) == accepted


def accepts(action: Callable[[], object]) -> bool:
    try:
        action()
    except TypeError:
        return False
    return True


def test_plain_tensors_and_unions_of_tensors_are_types_of_items() -> None:
    some = TList[Tensor, torch.nn.Parameter, Float[Tensor, "a"] | Int[Tensor, "a a"]]
    parameter = torch.nn.Parameter(torch.ones(1))
    for third in (torch.ones(2), torch.ones(2, 2, dtype=torch.int64)):
        assert isinstance(some(torch.ones(1), parameter, third), some)
    with pytest.raises(ShapeError, match=r"TList item 1: Float32 \(1,\) does not match Parameter"):
        some(torch.ones(1), torch.ones(1), torch.ones(2))
    with pytest.raises(ShapeError, match=r"TList item 2: Float32 \(2, 2\) does not match"):
        some(torch.ones(1), parameter, torch.ones(2, 2))


@pytest.mark.parametrize("annotation", [int, None, Any, "Float[Tensor, 'a']", list[Tensor], Tensor | None])
def test_what_is_no_type_of_a_tensor_is_no_type_of_an_item(annotation: object) -> None:
    with pytest.raises(AnnotationError, match=r"TList item 1: .* is no type of a tensor") as caught:
        TList[Tensor, annotation]
    assert caught.value.hint == 'Float[Tensor, "b d"]'


def test_isinstance_checks_the_items() -> None:
    assert isinstance(layer(), Layer)
    assert not isinstance(layer()[:1], Layer)
    assert not isinstance(TList(torch.ones(8, 2), torch.ones(4)), Layer)
    assert not isinstance(tuple(layer()), Layer)
    assert not isinstance(None, Layer)
    assert issubclass(Layer, TList)


def test_names_of_one_question_mean_nothing_to_the_next() -> None:
    assert isinstance(layer(8, 2), Layer)
    assert isinstance(layer(4, 3), Layer)


# Inside functions whose annotations are checked


@jaxtyped(typechecker=beartype)
def linear(x: Float[Tensor, "b in"], params: Layer) -> Float[Tensor, "b out"]:
    weight, bias = params
    return x @ weight.T + bias


def test_names_are_those_of_the_call_that_jaxtyping_checks() -> None:
    assert linear(torch.ones(3, 2), layer()).shape == (3, 8)
    with pytest.raises(TypeCheckError):
        linear(torch.ones(3, 5), layer())  # `in` is 5 in x
    with pytest.raises(TypeCheckError):
        linear(torch.ones(3, 2), TList(torch.ones(8, 2), torch.ones(4)))
    with pytest.raises(TypeCheckError):
        linear(torch.ones(3, 2), tuple(layer()))


@shaped.checked
def scaled(x: Float[Tensor, "b in"], params: Layer) -> Float[Tensor, "b out"]:
    weight, bias = params
    return x @ weight.T * bias


def test_checked_functions_say_which_item_does_not_fit() -> None:
    assert scaled(torch.ones(3, 2), layer()).shape == (3, 8)
    with pytest.raises(ShapeError) as caught:
        scaled(torch.ones(3, 5), layer())
    assert str(caught.value) == ('argument params[0] of scaled: (8, 2) does not match "out in": axis 1 is 2, not in=5')
    with pytest.raises(ShapeError) as caught:
        scaled(torch.ones(3, 2), TList(torch.ones(8, 2), torch.ones(4)))
    assert str(caught.value) == 'argument params[1] of scaled: (4,) does not match "out": axis 0 is 4, not out=8'


def test_a_list_that_does_not_fit_binds_no_names() -> None:
    @jaxtyped(typechecker=beartype)
    def either(params: TList[Float[Tensor, "a"], Float[Tensor, "a"]] | TList[Float[Tensor, "b"], Float[Tensor, "a"]]):
        return params

    either(TList(torch.ones(2), torch.ones(3)))  # a is 3


def test_a_list_that_is_made_inside_a_call_has_names_of_its_own() -> None:
    @jaxtyped(typechecker=beartype)
    def narrower(x: Float[Tensor, "out"]) -> Any:
        return Layer(x[1:, None], x[1:])

    assert len(narrower(torch.ones(3))) == 2


def test_a_type_of_unknown_items_takes_any_list() -> None:
    @beartype
    def first(params: TList[T, *Ts]) -> Any:
        return params[0]

    assert first(layer()).shape == (8, 2)
    with pytest.raises(Exception, match="not instance of"):
        first((1,))


def test_a_generic_alias_becomes_a_type_with_its_items() -> None:
    class Trainer(Generic[*Ts]):
        params: TList[*Ts]

    with_bias = TList[*Ts, Float[Tensor, "out"]]
    assert with_bias[Float[Tensor, "out in"]] is Layer
    assert Trainer[int, str]


# Copies, files


def test_copies_and_pickles_are_equal() -> None:
    params = layer()
    for copied in (copy.copy(params), copy.deepcopy(params), pickle.loads(pickle.dumps(params))):
        assert type(copied) is TList
        assert copied == params
    assert copy.deepcopy(params)[0] is not params[0]


def test_types_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps((TList, Layer))) == (TList, Layer)


def test_torch_loads_it_as_weights() -> None:
    buffer = io.BytesIO()
    torch.save(layer(), buffer)
    buffer.seek(0)
    assert torch.load(buffer, weights_only=True) == layer()


# pytree


def test_it_is_a_pytree_with_keys() -> None:
    leaves, spec = pytree.tree_flatten_with_path(layer())
    assert [pytree.keystr(path) for path, _ in leaves] == ["[0]", "[1]"]
    assert pytree.tree_unflatten([leaf for _, leaf in leaves], spec) == layer()
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec


def test_leaves_need_not_be_tensors() -> None:
    shapes = pytree.tree_map(lambda item: item.dim(), layer())
    assert repr(shapes) == "TList(2, 1)"
    assert shapes == pytree.tree_map(lambda item: item.dim(), layer())


def test_it_is_a_pytree_of_optree() -> None:
    pytest.importorskip("optree")
    script = (
        "import torch; from shaped import TList; from torch.utils import _cxx_pytree as pytree;"
        "assert pytree.tree_map(torch.zeros_like, TList(torch.ones(2))) == TList(torch.zeros(2))"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# torch.func


def loss(params: TList[Tensor, Tensor], x: Tensor) -> Tensor:
    weight, bias = params
    return (x @ weight.T + bias).square().mean()


def test_gradients_are_lists() -> None:
    grads, value = torch.func.grad_and_value(loss)(layer(), torch.ones(3, 2))
    assert type(grads) is TList
    assert [grad.shape for grad in grads] == [(8, 2), (8,)]
    assert value == loss(layer(), torch.ones(3, 2))


def test_lists_are_vectorised() -> None:
    stacked = layer().map(lambda item: torch.stack([item, item * 2]))
    values = torch.func.vmap(loss, in_dims=(0, None))(stacked, torch.ones(3, 2))
    assert torch.equal(
        values, torch.stack([loss(layer(), torch.ones(3, 2)), loss(layer().map(lambda i: i * 2), torch.ones(3, 2))])
    )
    twice = torch.func.vmap(lambda params: params.map(lambda item: item * 2))(stacked)
    assert twice == stacked.map(lambda item: item * 2)


def test_jacobians_are_lists() -> None:
    jacobian = torch.func.jacrev(lambda params: params[0].sum(1) * params[1])(layer())
    assert type(jacobian) is TList
    assert [item.shape for item in jacobian] == [(8, 8, 2), (8, 8)]


def test_the_slope_along_the_parameters_is_the_gradient_times_them() -> None:
    params = layer()
    _, slope = torch.func.jvp(lambda p: loss(p, torch.ones(1, 2)), (params,), (params,))
    grads = torch.func.grad(loss)(params, torch.ones(1, 2))
    assert torch.allclose(slope, sum((g * p).sum() for g, p in grads.zip(params)))


# torch.compile, torch.export


def unpacks(params: TList[Tensor, Tensor]) -> object:
    weight, bias = params
    return weight.T + bias


def indexes(params: TList[Tensor, Tensor]) -> object:
    return params[0].T + params[-1], params[1:], len(params)


def makes(params: TList[Tensor, Tensor]) -> object:
    return TList(params[0] * 2, params[1]), [TList()], Layer(params[0] + 1, params[1])


def calls_methods(params: TList[Tensor, Tensor]) -> object:
    return params.map(torch.sin) + params.detach().clone().to(torch.float64), params.zip(params.zeros_like())


def goes_through(params: TList[Tensor, Tensor]) -> object:
    return [a * b for a, b in zip(params, params)], sum(item.sum() for item in params), tuple(params)


def maps_a_tree(params: TList[Tensor, Tensor]) -> object:
    return pytree.tree_map(torch.cos, params), isinstance(params, TList)


def asks(params: TList[Tensor, Tensor]) -> object:
    return params[0] if isinstance(params, Layer) else params[1], isinstance(params, TList[Float[Tensor, "a"], Tensor])


def differentiates(params: TList[Tensor, Tensor]) -> object:
    return torch.func.grad(loss)(params, torch.ones(3, 2))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    "function", [unpacks, indexes, makes, calls_methods, goes_through, maps_a_tree, asks, differentiates]
)
def test_compiled_functions_take_and_give_lists(function: Callable[..., object], backend: str) -> None:
    torch.compiler.reset()
    compiled = torch.compile(function, backend=backend, fullgraph=True)
    expected, found = function(layer()), compiled(layer())
    assert pytree.tree_structure(found) == pytree.tree_structure(expected)
    assert repr(found) == repr(expected)
    for a, b in zip(pytree.tree_leaves(found), pytree.tree_leaves(expected)):
        assert torch.equal(a, b) if isinstance(b, Tensor) else a == b


def test_exported_modules_take_and_give_lists() -> None:
    class Doubles(torch.nn.Module):
        def forward(self, params: TList[Tensor, Tensor]) -> TList[Tensor, Tensor]:
            return params.map(lambda item: item * 2)

    buffer = io.BytesIO()
    torch.export.save(torch.export.export(Doubles(), (layer(),)), buffer)
    buffer.seek(0)
    assert torch.export.load(buffer).module()(layer()) == layer().map(lambda item: item * 2)
