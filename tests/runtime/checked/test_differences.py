"""Where `checked` differs from `jaxtyped(typechecker=beartype)`, and why: nothing here is an accident."""

from __future__ import annotations

import asyncio
import gc
import warnings
from typing import Any

import pytest
import torch
from beartype import beartype
from jaxtyping import Float, TypeCheckError, jaxtyped
from torch import Tensor
from torch import zeros as z

from shaped.errors import ShapeError
from shaped.runtime.checked import checked

reference: Any = jaxtyped(typechecker=beartype)


def test_the_result_of_a_coroutine_function_is_what_it_gives() -> None:
    """jaxtyped holds the coroutine against the annotation of its result, so that no such function can be called."""

    async def same(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x

    assert asyncio.run(checked(same)(z(3))).shape == (3,)
    # The coroutine that was refused is never awaited.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TypeCheckError):
            asyncio.run(reference(same)(z(3)))
        gc.collect()


def test_every_item_of_a_container_is_checked() -> None:
    """beartype looks at one of them, by chance."""

    def f(rows: list[Float[Tensor, "n"]], named: dict[str, Float[Tensor, "n"]]) -> None: ...

    rows = [z(3)] * 50
    checked(f)(rows, {"x": z(3)})
    for i in range(50):
        wrong = [*rows[:i], z(4), *rows[i + 1 :]]
        with pytest.raises(ShapeError, match=rf"argument rows\[{i or 1}\] of .*f: "):
            checked(f)(wrong, {})
    with pytest.raises(ShapeError, match=r"argument named\['y'\] of .*f: "):
        checked(f)(rows, {"x": z(3), "y": z(4)})
    seldom = [*rows, z(4), *rows * 9]
    assert any(accepts(reference(f), seldom, {}) for _ in range(50))


def accepts(function: Any, *arguments: Any) -> bool:
    """Whether a call passes."""
    try:
        function(*arguments)
    except TypeError:
        return False
    return True


def resize(x: Tensor) -> None:
    x.resize_(7)


def test_an_argument_that_another_function_resizes_is_not_checked_again() -> None:
    """jaxtyped checks all arguments again with the result; checked where the body itself may resize them."""

    def f(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        resize(x)
        return y

    assert accepts(checked(f), z(3), z(3))
    assert not accepts(reference(f), z(3), z(3))


def test_in_a_graph_only_tensors_and_instances_of_classes_are_checked() -> None:
    """What beartype alone can judge would break the graph."""

    def f(x: Float[Tensor, "b"], names: list[int], scale: float) -> Float[Tensor, "b"]:
        return x * scale

    torch._dynamo.reset()
    step = torch.compile(checked(f), backend="eager", fullgraph=True)
    assert step(z(3), ["x"], 2.0).shape == (3,)
    with pytest.raises(TypeError):
        checked(f)(z(3), ["x"], 2.0)
    with pytest.raises(TypeError):
        torch.compile(checked(f), backend="eager")(z(3), [1], "x")
    torch._dynamo.reset()


def test_a_function_without_a_name_can_be_checked() -> None:
    """jaxtyped writes a function of the same name, which `<lambda>` is not."""
    function = lambda x: x  # noqa: E731
    function.__annotations__["x"] = Float[Tensor, "b"]
    assert checked(function)(z(3)).shape == (3,)
    with pytest.raises(ShapeError):
        checked(function)(z(3, 3))
    with pytest.raises(SyntaxError):
        reference(function)


def test_a_checked_function_can_be_compiled() -> None:
    def double(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x * 2

    torch._dynamo.reset()
    assert torch.compile(checked(double), backend="eager", fullgraph=True)(z(3)).shape == (3,)
    with pytest.raises(TypeCheckError):
        torch.compile(reference(double), backend="eager")(z(3))
    torch._dynamo.reset()


def test_an_annotation_that_is_no_type_demands_nothing() -> None:
    """beartype refuses the function where it is defined."""

    def f(x: Any, y: Float[Tensor, "b"]) -> None: ...

    f.__annotations__["x"] = 3
    checked(f)("x", z(3))
    with pytest.raises(ShapeError):
        checked(f)("x", z(3, 3))
    with pytest.raises(Exception, match="invalid or unrecognized"):
        reference(f)


@pytest.mark.filterwarnings("ignore:.*nested tensors")
def test_what_a_tensor_raises_when_its_shape_is_asked_for_is_passed_on() -> None:
    """jaxtyped takes it for a refusal. Both fail, but only the tensor knows why."""

    def f(x: Float[Tensor, "b n"]) -> None: ...

    nested = torch.nested.nested_tensor([z(2), z(3)])
    with pytest.raises(RuntimeError, match="NestedTensorImpl"):
        checked(f)(nested)
    with pytest.raises(TypeCheckError):
        reference(f)(nested)


def test_a_name_that_exists_later_is_looked_up_at_the_first_call() -> None:
    """jaxtyped looks once, when it decorates, and does not check what it cannot find then."""
    scope: dict[str, Any] = {"Float": Float, "Tensor": Tensor, "checked": checked, "reference": reference}
    exec(FORWARD, scope)
    for name in ("ours", "theirs"):
        assert scope[name](scope["Later"]()) is None
    with pytest.raises(TypeError, match="argument x of ours: str 'x' is no Later"):
        scope["ours"]("x")
    assert scope["theirs"]("x") is None


FORWARD = """
from __future__ import annotations

@checked
def ours(x: Later) -> None: ...

@reference
def theirs(x: Later) -> None: ...

class Later: ...
"""
