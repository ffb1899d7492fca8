"""What a refused call says: the static checker's sentence, and where each size comes from; and of what kind it is."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import jaxtyping
import numpy as np
import pytest
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch import zeros as z

from shaped.errors import AnnotationError, DtypeError, Fault, ShapeError
from shaped.runtime.checked import checked, lowering


def refusal(call: Callable[[], object]) -> Any:
    """The error of a call, which is a fault of this package and a `TypeError`."""
    with pytest.raises(Fault) as caught:
        call()
    return caught.value


def notes(error: BaseException) -> list[str]:
    return getattr(error, "__notes__", [])


@checked
def mix(x: Float[Tensor, "b d"], w: Float[Tensor, "d e"]) -> Float[Tensor, "b e"]:
    return x @ w


def test_a_size_is_refused_with_the_sentence_of_the_static_checker() -> None:
    error = refusal(lambda: mix(z(3, 4), z(5, 2)))
    assert str(error) == 'argument w of mix: (5, 2) does not match "d e": axis 0 is 5, not d=4'
    assert notes(error) == ["b = 3: axis 0 of x", "d = 4: axis 1 of x"]
    assert (error.operation, error.reason) == ("argument w of mix", "axis 0 is 5, not d=4")


def test_a_number_of_axes_is_refused() -> None:
    error = refusal(lambda: mix(z(3), z(5, 2)))
    assert str(error) == 'argument x of mix: (3,) does not match "b d": it has 1 axis, not 2'


def test_a_dtype_is_refused() -> None:
    error = refusal(lambda: mix(z(3, 4).long(), z(4, 2)))
    assert str(error) == 'argument x of mix: dtype int64 does not match Float[Tensor, "b d"]'
    assert isinstance(error, DtypeError)
    assert isinstance(error, TypeError)
    assert error.code == "dtype"


def test_a_value_that_is_no_tensor_is_refused() -> None:
    error = refusal(lambda: mix([1.0], z(4, 2)))
    assert str(error) == 'argument x of mix: list [1.0] is no Float[Tensor, "b d"]'
    assert isinstance(error, TypeError)
    assert not isinstance(error, ShapeError)


def test_a_result_is_refused() -> None:
    @checked
    def swap(x: Float[Tensor, "b d"]) -> Float[Tensor, "d b"]:
        return x

    error = refusal(lambda: swap(z(3, 4)))
    assert str(error) == 'return of swap: (3, 4) does not match "d b": axis 0 is 3, not d=4'
    assert notes(error) == ["b = 3: axis 0 of x", "d = 4: axis 1 of x"]


def test_an_error_is_of_all_kinds_that_handlers_ask_for() -> None:
    error = refusal(lambda: mix(z(3, 4), z(5, 2)))
    for kind in (ShapeError, Fault, TypeError, jaxtyping.TypeCheckError):
        assert isinstance(error, kind)


def test_errors_can_be_pickled_with_their_notes() -> None:
    for call in (lambda: mix(z(3, 4), z(5, 2)), lambda: mix(z(3, 4).long(), z(4, 2)), lambda: mix(1, 2)):
        error = refusal(call)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), notes(again)) == (type(error), str(error), notes(error))
        assert (again.operation, again.dims, again.code) == (error.operation, error.dims, error.code)


def test_a_method_is_named_with_its_class() -> None:
    class Mlp(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.d = 4

        @checked
        def forward(self, x: Float[Tensor, "b {self.d}"]) -> Float[Tensor, "b 2*{self.d}"]:
            return x

    error = refusal(lambda: Mlp()(z(3, 5)))
    assert str(error) == 'argument x of Mlp.forward: (3, 5) does not match "b {self.d}": axis 1 is 5, not {self.d}=4'
    assert notes(error) == ["self.d = 4"]
    error = refusal(lambda: Mlp()(z(3, 4)))
    assert str(error) == ('return of Mlp.forward: (3, 4) does not match "b 2*{self.d}": axis 1 is 4, not 2*{self.d}=8')


def test_arithmetic_is_refused_with_its_value() -> None:
    @checked
    def heads(x: Float[Tensor, "b h d"], y: Float[Tensor, "b h*d"]) -> None: ...

    error = refusal(lambda: heads(z(3, 2, 4), z(3, 9)))
    assert str(error) == 'argument y of heads: (3, 9) does not match "b h*d": axis 1 is 9, not h*d=8'


def test_axes_of_packs_have_their_origin() -> None:
    @checked
    def f(x: Float[Tensor, "*batch d"], y: Float[Tensor, "*batch"]) -> None: ...

    error = refusal(lambda: f(z(2, 3, 4), z(2, 5)))
    assert str(error) == 'argument y of f: (2, 5) does not match "*batch": *batch is (2, 5), not (2, 3)'
    assert notes(error) == ["d = 4: axis 2 of x", "*batch = (2, 3): axes of x"]


def test_a_size_that_the_body_has_bound_says_so() -> None:
    @checked
    def f(x: Float[Tensor, "b"], y: Float[Tensor, "c"]) -> Float[Tensor, "k"]:
        assert isinstance(x, Float[Tensor, "k"])
        return y

    error = refusal(lambda: f(z(3), z(4)))
    assert "k = 3: bound in the body" in notes(error)


def test_the_item_of_a_container_is_named() -> None:
    @checked
    def f(xs: list[Float[Tensor, "b"]], ys: dict[str, Float[Tensor, "b"]]) -> None: ...

    assert str(refusal(lambda: f([z(3), z(4)], {}))).startswith('argument xs[1] of f: (4,) does not match "b"')
    assert str(refusal(lambda: f([z(3)], {"a": z(4)}))).startswith("argument ys['a'] of f: (4,)")
    assert str(refusal(lambda: f([z(3)], {1: z(3)}))) == "key 1 of argument ys of f: int 1 is no str"


def test_further_arguments_are_named() -> None:
    @checked
    def f(*xs: Float[Tensor, "b"], **ys: Float[Tensor, "b"]) -> None: ...

    assert str(refusal(lambda: f(z(3), z(4)))).startswith("argument xs[1] of f: (4,)")
    assert str(refusal(lambda: f(z(3), y=z(4)))).startswith("argument ys['y'] of f: (4,)")


def test_the_option_of_a_union_that_is_about_a_tensor_says_why() -> None:
    @checked
    def f(x: Float[Tensor, "3"] | None, y: Float[Tensor, "3"] | Int[Tensor, "4"] | None = None) -> None: ...

    assert str(refusal(lambda: f(z(4)))) == 'argument x of f: (4,) does not match "3": axis 0 is 4, not 3'
    assert str(refusal(lambda: f("a"))) == "argument x of f: str 'a' is none of Float[Tensor, \"3\"] | None"
    assert str(refusal(lambda: f(None, z(5)))).startswith("argument y of f: Tensor (5,) is none of")


def test_what_beartype_refuses_has_its_reason_and_its_error() -> None:
    @checked
    def f(n: int, names: tuple[int, str]) -> None: ...

    assert str(refusal(lambda: f("a", (1, "b")))) == "argument n of f: str 'a' is no int"
    error = refusal(lambda: f(1, (1, 2)))
    assert str(error).startswith("argument names of f: tuple (1, 2) is no tuple[int, str]: ")
    assert "2 not instance of" in str(error)
    assert type(error.__cause__).__name__ == "BeartypeCallHintParamViolation"


def test_beartype_is_asked_again_until_it_sees_what_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks at one item by chance: a call that it refuses is refused, not let through by a second look."""
    looks = iter([None, None, TypeError("passed, as 3 is no str"), None, TypeError("passed, as 3 is no str")])
    monkeypatch.setattr(lowering, "_compile_judge", lambda hint: lambda value: next(looks))

    @checked
    def f(names: list[str]) -> None: ...

    f([])
    f([])
    assert str(refusal(lambda: f([]))) == "argument names of f: list [] is no list[str]: 3 is no str"


def test_an_axis_that_nothing_has_bound() -> None:
    @checked
    def f(x: Float[Tensor, "b"], y: Float[Tensor, "b+k"]) -> None: ...

    error = refusal(lambda: f(z(3), z(4)))
    assert str(error) == "argument y of f: the axis \"b+k\" uses a name that is not bound: name 'k' is not defined"
    assert isinstance(error, AnnotationError)
    assert isinstance(error, jaxtyping.AnnotationError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_arithmetic_that_fails_refuses_the_value() -> None:
    @checked
    def f(n: object, x: Float[Tensor, "b"], y: Float[Tensor, "b//{n.d}"]) -> None: ...

    error = refusal(lambda: f(3, z(4), z(2)))
    assert "has no value: AttributeError: 'int' object has no attribute 'd'" in str(error)
    assert isinstance(error.__cause__, AttributeError)


def test_a_division_by_zero_refuses_the_value() -> None:
    @checked
    def f(x: Float[Tensor, "b"], y: Float[Tensor, "3//b"]) -> None: ...

    f(z(1), z(3))
    assert "ZeroDivisionError" in str(refusal(lambda: f(z(0), z(3))))


def test_arrays_of_numpy_have_the_same_sentence() -> None:
    @checked
    def f(x: Shaped[np.ndarray, "b 3"]) -> None: ...

    assert str(refusal(lambda: f(np.zeros((2, 4))))) == (
        'argument x of f: (2, 4) does not match "b 3": axis 1 is 4, not 3'
    )


def test_a_value_that_cannot_be_shown_is_refused_all_the_same() -> None:
    class Secret:
        def __repr__(self) -> str:
            raise ValueError

    @checked
    def f(x: int) -> None: ...

    assert "is no int" in str(refusal(lambda: f(Secret())))


def test_the_one_change_that_would_fit_is_offered() -> None:
    assert refusal(lambda: mix(z(3, 4), z(5, 4))).hint == "w.mT?"
    assert notes(refusal(lambda: mix(z(3, 4), z(5, 4))))[0] == "hint: w.mT?"
    assert refusal(lambda: mix(z(3, 4), z(5, 6))).hint == ""
    assert refusal(lambda: mix(z(3, 4), z(1, 4, 5))).hint == "w.squeeze(0)?"
    assert refusal(lambda: mix(z(3, 4), z(4))).hint == "w[..., None]?"
    assert refusal(lambda: mix(z(3, 4).long(), z(4, 2))).hint == "x.float()?"
    # Both x[None] and x[..., None] would fit.
    assert refusal(lambda: mix(z(4), z(4, 2))).hint == ""
