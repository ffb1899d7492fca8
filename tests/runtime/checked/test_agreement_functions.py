"""Every kind of function, method and class is checked as `jaxtyped(typechecker=beartype)` checks it."""

from __future__ import annotations

import abc
import contextlib
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Generic, TypeVar, no_type_check

import pytest
import torch
from beartype import beartype
from jaxtyping import Float, Int, Shaped, jaxtyped
from torch import Tensor, nn
from torch import zeros as z

from tests.runtime.checked.agreement import MALFORMED

# A fault of the generated code leaves a function to jaxtyping, with a warning: then nothing is compared here.
pytestmark = pytest.mark.filterwarnings("error:jaxtyping checks:RuntimeWarning")

Check = Callable[[Any], Any]
T = TypeVar("T")


def refused() -> contextlib.AbstractContextManager[Any]:
    return pytest.raises(TypeError)


def test_defaults_bind_as_arguments_do(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"], k: int = 3) -> Float[Tensor, "b {k}"]:
        return z(x.shape[0], 3)

    assert f(z(2)).shape == (2, 3)
    f(z(2), k=3)
    with refused():
        f(z(2), 4)


def test_a_default_that_is_not_what_its_annotation_says_is_let_pass(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"], y: Float[Tensor, "b"] = None) -> None:  # type: ignore[assignment]
        pass

    f(z(2))
    f(z(2), z(2))
    with refused():
        f(z(2), None)
    with refused():
        f(z(2), z(3))


def test_a_tensor_that_is_a_default_does_not_bind(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"] = torch.zeros(3), y: Float[Tensor, "b"] = torch.zeros(4)) -> None:  # noqa: B008
        pass

    f()
    f(z(5))
    f(y=z(6))
    with refused():
        f(z(5), z(6))


def test_positional_only_and_keyword_only_parameters(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"], /, y: Float[Tensor, "b"], *, k: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x + y + k

    f(z(3), z(3), k=z(3))
    f(z(3), y=z(3), k=z(3))
    with refused():
        f(z(3), z(3), k=z(4))
    with refused():
        f(x=z(3), y=z(3), k=z(3))
    with refused():
        f(z(3), z(3), z(3))
    with refused():
        f(z(3), z(3))
    with refused():
        f(z(3), z(3), k=z(3), m=z(3))


def test_every_argument_of_a_star_parameter_is_checked(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"], *more: Float[Tensor, "b"], **named: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x

    f(z(3))
    f(z(3), z(3), z(3), y=z(3))
    with refused():
        f(z(3), z(4))
    with refused():
        f(z(3), z(3), z(4))
    with refused():
        f(z(3), y=z(4))


def test_star_parameters_without_annotations(check: Check) -> None:
    @check
    def f(*args, k: int = 3, **kwargs) -> int:  # type: ignore[no-untyped-def]
        return len(args) + len(kwargs) + k

    assert f(1, "x", y=2) == 6
    with refused():
        f(1, k="x")


def test_a_function_without_annotations_is_called_as_it_is(check: Check) -> None:
    @check
    def f(x, y=2):  # type: ignore[no-untyped-def]
        return x, y

    assert f("x") == ("x", 2)
    with refused():
        f()


def test_wrong_arguments_are_python_s_own_error(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"]) -> None:
        pass

    for wrong in (lambda: f(), lambda: f(z(3), z(3)), lambda: f(y=z(3)), lambda: f(z(3), x=z(3))):
        with refused():
            wrong()


def test_a_function_that_returns_nothing(check: Check) -> None:
    @check
    def f(x: int) -> None:
        return x or None  # type: ignore[return-value]

    assert f(0) is None
    with refused():
        f(1)


def test_bindings_last_for_one_call(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x + y

    f(z(3), z(3))
    f(z(4), z(4))
    with refused():
        f(z(3), z(4))
    f(z(5), z(5))


def test_a_call_inside_a_call_has_bindings_of_its_own(check: Check) -> None:
    @check
    def outer(x: Float[Tensor, "b c"], turn: bool) -> Float[Tensor, "c b"]:
        return inner(x, turn)

    @check
    def inner(x: Float[Tensor, "c b"], turn: bool) -> Float[Tensor, "b c"]:
        return x.T if turn else x

    outer(z(2, 3), True)
    outer(z(3, 3), False)
    with refused():
        outer(z(2, 3), False)


def test_recursion(check: Check) -> None:
    @check
    def halve(x: Float[Tensor, "n"]) -> Float[Tensor, "m"]:
        return x if len(x) < 2 else halve(x[: len(x) // 2])

    assert halve(z(17)).shape == (1,)


def test_isinstance_in_the_body_takes_part_in_the_bindings_of_the_call(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b c"], size: int) -> Float[Tensor, "d"]:
        y = x.T
        assert isinstance(y, Float[Tensor, "c b"])
        assert not isinstance(y, Float[Tensor, "b d"])
        assert isinstance(z(5), Float[Tensor, "d"])
        return z(size)

    f(z(2, 3), 5)
    with refused():
        f(z(2, 3), 6)


def test_arithmetic_of_the_result_sees_the_names_that_the_body_bound(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"], axis: str, size: int = 3) -> Float[Tensor, "a+1 {axis}"]:
        assert isinstance(z(2, 4), Float[Tensor, "a c"])
        return z(size, 4)

    f(z(1), "c")
    f(z(1), "a+a")
    f(z(1), "c*b")
    with refused():
        f(z(1), "c", 4)
    with refused():
        f(z(1), "a")
    with pytest.raises(MALFORMED):
        f(z(1), "d")


def test_isinstance_in_the_body_of_a_function_without_annotations(check: Check) -> None:
    @check
    def f(x, y):  # type: ignore[no-untyped-def]
        assert isinstance(x, Float[Tensor, "b"])
        return isinstance(y, Float[Tensor, "b"])

    assert f(z(3), z(3))
    assert not f(z(3), z(4))


def test_a_local_annotation_in_the_body_asks_nothing(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        y: Float[Tensor, "7 7"] = x
        return y

    f(z(3))


def test_a_function_that_beartype_alone_checks_shares_the_bindings_of_its_caller(check: Check) -> None:
    @beartype
    def inner(x: Float[Tensor, "c b"]) -> None:
        pass

    @check
    def outer(x: Float[Tensor, "b c"]) -> None:
        inner(x)

    outer(z(3, 3))
    with pytest.raises(Exception, match="inner"):
        outer(z(2, 3))


def test_a_function_of_jaxtyping_inside_has_bindings_of_its_own(check: Check) -> None:
    @jaxtyped(typechecker=beartype)
    def inner(x: Float[Tensor, "c b"]) -> None:
        pass

    @check
    def outer(x: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
        inner(x)
        return x

    outer(z(2, 3))


def test_an_argument_that_the_body_changed_is_checked_again_with_the_result(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        x.resize_(7)
        return y

    with refused():
        f(z(3), z(3))


def test_a_field_of_an_axis_may_be_any_text(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "a b"], axis: str, *rest: int, size: int = 3, **named: int) -> Float[Tensor, "{axis}"]:
        return z(size)

    f(z(2, 3), "b")
    f(z(2, 3), "a+1")
    f(z(2, 3), "3")
    with refused():
        f(z(2, 3), "a")
    with refused():
        f(z(2, 3), "a b")
    with pytest.raises(MALFORMED):
        f(z(2, 3), "c")

    @check
    def g(*rest: int, size: int = 3, **named: int) -> Float[Tensor, '{len(rest)} {size} {named["k"]+1}']:
        return z(2, 3, 4)

    g(1, 2, k=3)
    with refused():
        g(1, 2, k=4)
    with refused():
        g(1, k=3)
    with refused():
        g(1, 2)


def test_a_field_of_an_axis_is_evaluated_when_the_axis_is_checked(check: Check) -> None:
    @check
    def f(sizes: list[int], x: Float[Tensor, "{len(sizes)}"]) -> Float[Tensor, "{sizes[-1]}"]:
        sizes[-1] = 5
        return z(5)

    f([1, 2], z(2))
    with refused():
        f([1, 2], z(3))


def test_a_field_of_an_axis_that_is_not_checked_is_not_evaluated(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "{1/0} 3"] | None, y: Float[Tensor, "#{1/0}"]) -> None:
        pass

    f(None, z(1))
    with refused():
        f(None, z(2))
    with refused():
        f(z(3), z(1))


def test_methods_of_all_kinds(check: Check) -> None:
    class Model:
        size = 5
        rows: ClassVar[int] = 2

        def __init__(self) -> None:
            self.stored = z(3)

        @check
        def method(self, x: Float[Tensor, "b"]) -> Float[Tensor, "b {self.size}"]:
            return z(len(x), 5)

        @classmethod
        @check
        def of_class(cls, x: Float[Tensor, "b"]) -> Float[Tensor, "b {cls.rows}"]:
            return z(len(x), 2)

        @check
        @classmethod
        def of_class_above(cls, x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
            return x

        @staticmethod
        @check
        def static(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
            return x + y

        @check
        @staticmethod
        def static_above(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
            return x

        @property
        @check
        def below(self) -> Float[Tensor, "3"]:
            return self.stored

        @check
        @property
        def above(self) -> Float[Tensor, "3"]:
            return self.stored

        @below.setter
        @check
        def below(self, value: Float[Tensor, "3"]) -> None:
            self.stored = value

        @functools.cached_property
        @check
        def cached(self) -> Float[Tensor, "3"]:
            return self.stored

        @check
        def __call__(self, x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
            return x

    model = Model()
    assert model.method(z(4)).shape == (4, 5)
    model.size = 6
    with refused():
        model.method(z(4))
    with refused():
        Model.method(model, z(4, 4))
    assert Model.of_class(z(3)).shape == model.of_class(z(3)).shape == (3, 2)
    assert Model.of_class_above(z(3)).shape == (3,)
    assert Model.static(z(3), z(3)).shape == Model.static_above(z(3)).shape == model.static(z(3), z(3)).shape
    assert model.below is model.above is model.cached is model.stored
    model.below = torch.ones(3)
    for wrong in (
        lambda: Model.of_class(z(3, 3)),
        lambda: Model.of_class_above(z(3, 3)),
        lambda: Model.static(z(3), z(4)),
        lambda: Model.static_above(3),
        lambda: setattr(model, "below", z(4)),
        lambda: model(z(3, 3)),
    ):
        with refused():
            wrong()
    model.stored = z(4)
    for wrong in (lambda: model.below, lambda: model.above):
        with refused():
            wrong()


def test_an_abstract_method_stays_abstract(check: Check) -> None:
    class Base(abc.ABC):
        @abc.abstractmethod
        @check
        def below(self, x: Float[Tensor, "b"]) -> None: ...

        @check
        @abc.abstractmethod
        def above(self, x: Float[Tensor, "b"]) -> None: ...

    assert Base.__abstractmethods__ == {"below", "above"}


def test_special_methods_that_python_makes_class_methods(check: Check) -> None:
    class Base:
        @check
        def __new__(cls, x: int) -> Any:
            return super().__new__(cls)

        @check
        def __init_subclass__(cls, size: int = 3) -> None:
            cls.size = size

        @check
        def __class_getitem__(cls, item: int) -> tuple[type, int]:
            return cls, item

    class Derived(Base, size=4):
        pass

    assert Derived.size == 4
    assert Derived[3] == (Derived, 3)
    Derived(3)
    with refused():
        Derived("x")
    with refused():

        class Wrong(Base, size="x"):
            pass


def test_the_forward_of_a_module(check: Check) -> None:
    class Linear(nn.Module):
        def __init__(self, n: int, m: int) -> None:
            super().__init__()
            self.n, self.m = n, m
            self.inner = nn.Linear(n, m)

        @check
        def forward(self, x: Float[Tensor, "*b {self.n}"]) -> Float[Tensor, "*b {self.m}"]:
            return self.inner(x)

    model = Linear(3, 4)
    assert model(z(3)).shape == (4,)
    assert model(z(2, 5, 3)).shape == (2, 5, 4)
    with refused():
        model(z(2, 4))


def test_a_dataclass_is_checked_where_it_is_made(check: Check) -> None:
    @check
    @dataclass
    class Batch:
        x: Float[Tensor, "b c"]
        y: Int[Tensor, "b"]
        name: str = "batch"
        more: list[int] = field(default_factory=list)

        @property
        def rows(self) -> int:
            return len(self.x)

    labels = torch.zeros(3, dtype=torch.int64)
    batch = Batch(z(3, 4), labels)
    assert batch.rows == 3
    assert batch == batch
    batch.x = z(5, 5)
    for wrong in (
        lambda: Batch(z(4, 4), labels),
        lambda: Batch(z(3, 4), z(3)),
        lambda: Batch(z(3, 4), labels, name=3),
        lambda: Batch(z(3, 4), labels, "batch", ["x"]),
        lambda: Batch(z(3, 4)),
    ):
        with refused():
            wrong()


def test_a_dataclass_of_sizes(check: Check) -> None:
    @check
    @dataclass
    class Sized:
        size: int
        x: Float[Tensor, "{size}"]

    Sized(3, z(3))
    with refused():
        Sized(3, z(4))


def test_dataclasses_that_are_frozen_or_have_slots(check: Check) -> None:
    for options in ({"frozen": True}, {"slots": True}, {"frozen": True, "slots": True}, {"kw_only": True}):

        @check
        @dataclass(**options)
        class Point:
            x: Float[Tensor, "n"]
            y: Float[Tensor, "n"]

        assert Point(x=z(3), y=z(3)).x.shape == (3,)
        with refused():
            Point(x=z(3), y=z(4))


def test_a_dataclass_that_inherits(check: Check) -> None:
    @check
    @dataclass
    class Base:
        x: Float[Tensor, "n"]

    @check
    @dataclass
    class Derived(Base):
        y: Float[Tensor, "n"]
        seen: ClassVar[int] = 3

    @check
    class Plain(Base):
        """No dataclass of its own."""

    Derived(z(3), z(3))
    Plain(z(3))
    with refused():
        Derived(z(3), z(4))
    with refused():
        Plain(z(3, 3))


def test_a_dataclass_with_more_than_fields(check: Check) -> None:
    @check
    @dataclass
    class Scaled:
        x: Float[Tensor, "n"]
        scale: InitVar[int]
        total: Float[Tensor, ""] = field(init=False)

        def __post_init__(self, scale: int) -> None:
            self.total = self.x.sum() * scale

    assert Scaled(torch.ones(3), 2).total == 6
    with refused():
        Scaled(torch.ones(3, 3), 2)
    with refused():
        Scaled(torch.ones(3), "x")


def test_a_dataclass_with_an_init_of_its_own(check: Check) -> None:
    @check
    @dataclass(init=False)
    class Own:
        x: Float[Tensor, "n"]

        def __init__(self, n: int) -> None:
            self.x = z(n, n)

    Own(3)
    with refused():
        Own("x")


def test_a_generic_dataclass(check: Check) -> None:
    @check
    @dataclass
    class Box(Generic[T]):
        x: Float[Tensor, "n"]
        item: T

    Box(z(3), "x")
    Box[int](z(3), 3)
    with refused():
        Box(z(3, 3), 3)


def test_a_class_that_is_no_dataclass_is_left_as_it_is(check: Check) -> None:
    class Plain:
        def __init__(self, x: int) -> None:
            self.x = x

        def f(self, x: Float[Tensor, "b"]) -> Float[Tensor, "c d"]:
            return x

    init, method = Plain.__init__, Plain.f
    assert check(Plain) is Plain
    assert Plain.__init__ is init
    assert Plain.f is method
    Plain("x").f(3)


def test_no_type_check_takes_the_checks_away(check: Check) -> None:
    @check
    @no_type_check
    def below(x: Float[Tensor, "b"]) -> int:
        return x

    @no_type_check
    @check
    def above(x: Float[Tensor, "b"]) -> int:
        return x

    @check
    @no_type_check
    @dataclass
    class Below:
        x: Float[Tensor, "b"]

    @no_type_check
    @check
    @dataclass
    class Above:
        x: Float[Tensor, "b"]

    assert below("x") == above("x") == Below("x").x == Above("x").x == "x"


def test_the_arguments_of_a_generator_are_checked_at_the_call(check: Check) -> None:
    @check
    def rows(x: Float[Tensor, "b c"], y: Float[Tensor, "c"]) -> Iterator[Float[Tensor, "c"]]:
        for row in x:
            yield row + y

    assert [row.shape for row in rows(z(2, 3), z(3))] == [(3,), (3,)]
    with refused():
        rows(z(2, 3), z(4))


def test_a_generator_without_an_annotated_result(check: Check) -> None:
    @check
    def rows(x: Shaped[Tensor, "b c"]):  # type: ignore[no-untyped-def]
        yield from x

    assert len(list(rows(z(2, 3)))) == 2
    with refused():
        rows(z(3))


def test_a_generator_takes_what_is_sent_thrown_and_closed(check: Check) -> None:
    @check
    def echo(x: Float[Tensor, "b"]):  # type: ignore[no-untyped-def]
        heard = []
        try:
            while True:
                heard.append((yield len(heard)))
        except KeyError:
            return heard

    talk = echo(z(3))
    assert next(talk) == 0
    assert talk.send("x") == 1
    with pytest.raises(StopIteration) as stop:
        talk.throw(KeyError())
    assert stop.value.value == ["x"]
    talk = echo(z(3))
    next(talk)
    talk.close()


def test_the_arguments_of_an_async_generator_are_checked_at_the_call(check: Check) -> None:
    @check
    async def rows(x: Float[Tensor, "b c"]) -> AsyncIterator[Float[Tensor, "c"]]:
        for row in x:
            yield row

    rows(z(2, 3))
    with refused():
        rows(z(3))


def test_a_context_manager_that_is_a_generator(check: Check) -> None:
    @contextlib.contextmanager
    @check
    def using(x: Float[Tensor, "b"]) -> Iterator[Float[Tensor, "b"]]:
        yield x

    with using(z(3)) as x:
        assert x.shape == (3,)
    with refused(), using(z(3, 3)):
        pass


def test_what_the_function_is_stays_to_be_seen(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "b"], k: int = 3) -> Float[Tensor, "b"]:
        """What it does."""
        return x

    assert (f.__name__, f.__doc__, f.__module__) == ("f", "What it does.", __name__)
    assert f.__qualname__.endswith("<locals>.f")
    assert list(inspect.signature(f).parameters) == ["x", "k"]
    assert inspect.signature(f).parameters["k"].default == 3
    assert set(f.__annotations__) == {"x", "k", "return"}
    assert f.__wrapped__(3) == 3
    assert "What it does." in inspect.getsource(f)
    assert inspect.isfunction(f)


def test_attributes_of_a_function_are_kept(check: Check) -> None:
    def f(x: int) -> int:
        return x

    f.note = "kept"  # type: ignore[attr-defined]
    assert check(f).note == "kept"


def test_an_exception_of_the_body_is_the_exception_of_the_call(check: Check) -> None:
    wrong = ValueError("of the body")

    @check
    def f(x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        raise wrong

    with pytest.raises(ValueError, match="of the body") as caught:
        f(z(3))
    assert caught.value is wrong
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_type_error_of_the_body_is_passed_on(check: Check) -> None:
    wrong = TypeError("of the body")

    @check
    def f(x: Float[Tensor, "b"]) -> int:
        raise wrong

    with pytest.raises(TypeError) as caught:
        f(z(3))
    assert caught.value is wrong


def test_a_partial_of_a_checked_function(check: Check) -> None:
    def f(x: Float[Tensor, "b"], y: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
        return x + y

    half = functools.partial(check(f), z(3))
    assert half(z(3)).shape == (3,)
    with refused():
        half(z(4))


def test_a_function_above_which_is_a_cache(check: Check) -> None:
    calls = []

    @functools.lru_cache
    @check
    def f(k: int) -> Float[Tensor, "{k}"]:
        calls.append(k)
        return z(k)

    assert f(3) is f(3)
    assert calls == [3]
    with refused():
        f("x")


def test_a_name_that_is_only_known_where_it_was_written_is_not_checked(check: Check) -> None:
    class Local:
        pass

    @check
    def f(x: Local, y: Float[Tensor, "b"]) -> Local:
        return x

    local = Local()
    assert f(local, z(3)) is local
    with refused():
        f(local, z(3, 3))


def test_a_written_annotation_that_says_nothing_is_not_checked(check: Check) -> None:
    @check
    def f(x: Float[Tensor, "*a *b"], y: Float[Tensor, "b"]) -> Float[Tensor, "a, b"]:
        return x

    f(3, z(3))
    with refused():
        f(3, z(3, 3))


def test_parameter_names_that_a_generated_function_might_use(check: Check) -> None:
    @check
    def f(
        args: Float[Tensor, "b"],
        kwargs: Float[Tensor, "b"],
        fn: Float[Tensor, "b"],
        result: Float[Tensor, "b"],
        shape: Float[Tensor, "b"],
        isinstance: Float[Tensor, "b"],  # noqa: A002
        len: Float[Tensor, "b"],  # noqa: A002
        b: Float[Tensor, "b"],
        Tensor: Float[Tensor, "b"],
        value: int = 3,
        size: int = 3,
        check: int = 3,
    ) -> Float[Tensor, "b"]:
        return args

    f(*[z(3)] * 9)
    for i in range(9):
        with refused():
            f(*[z(4) if i == j else z(3) for j in range(9)])


def test_axis_names_that_a_generated_function_might_use(check: Check) -> None:
    @check
    def f(
        x: Float[Tensor, "x y shape len isinstance"], y: Float[Tensor, "y shape len isinstance x"]
    ) -> Float[Tensor, "class def lambda None True"]:
        return z(1, 2, 3, 4, 5)

    f(z(3, 3, 3, 3, 3), z(3, 3, 3, 3, 3))
    with refused():
        f(z(3, 4, 5, 6, 7), z(4, 5, 6, 7, 4))


def test_many_parameters(check: Check) -> None:
    scope: dict[str, Any] = {"hint": Float[Tensor, "b"]}
    exec(f"def f({', '.join(f'x{i}: hint' for i in range(60))}) -> hint:\n    return x0", scope)
    f = check(scope["f"])
    f(*[z(3)] * 60)
    with refused():
        f(*[z(3)] * 59, z(4))
