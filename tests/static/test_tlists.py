"""TLists as the checker follows them, held against the real ones; in what words it refuses items."""

from __future__ import annotations

from tests.static.oracle import agree, check, errors, revealed

IMPORTS = """
from typing import TypeVarTuple
from jaxtyping import Float, Int
from torch import Tensor
from shaped import TList
Ts = TypeVarTuple("Ts")
Layer = TList[Float[Tensor, "out in"], Float[Tensor, "out"]]
"""


def indented(source: str) -> str:
    """A program for the oracle, which takes the indentation of all lines away."""
    return IMPORTS + "\n".join(line[8:] for line in source.splitlines())


def found(source: str) -> list[str]:
    """The errors of a program, without the lines."""
    return [error.partition(": ")[2] for error in errors(check(indented(source)))]


def test_items_are_reached_as_those_of_a_tuple() -> None:
    assert agree(
        indented(
            """
        params = TList(torch.zeros(8, 2), torch.zeros(8), torch.zeros(()))
        weight, *rest = params
        reveal_shape(weight)
        reveal_shape(rest[0])
        reveal_shape(params[-2])
        reveal_shape(params[1:][0])
        reveal_shape((params + params[:1])[3])
        reveal_shape(torch.zeros(len(params)))
        """
        )
    ) == ["8 2", "8", "8", "8", "8 2", "3"]


def test_methods_give_lists_of_the_results() -> None:
    assert agree(
        indented(
            """
        params = TList(torch.zeros(8, 2), torch.zeros(8))
        reveal_shape(params.map(lambda x: x.sum(0))[0])
        reveal_shape(params.map(torch.atleast_2d)[1])
        reveal_shape(params.zeros_like()[0])
        reveal_shape(params.detach().clone().to(torch.float64)[1])
        for a, b in params.zip(params.map(lambda x: x[0])):
            reveal_shape(a)
            reveal_shape(b)
        """
        )
    ) == ["2", "1 8", "8 2", "8", "8 2", "8", "2", ""]


def test_the_dtype_of_items_is_followed() -> None:
    program = """
        params = TList(torch.zeros(2), torch.zeros(2)).to(torch.int64)
        params[0].mean()
        """
    assert any("mean" in error for error in found(program))


def test_a_type_of_lists_gives_its_items_their_sizes() -> None:
    assert revealed(
        indented(
            """
        def f(layer: Layer, x: Float[Tensor, "b in"]):
            weight, bias = layer
            reveal_shape(x @ weight.T + bias)
            reveal_shape(layer[0].sum(0))
        """
        )
    ) == ["b out", "in"]


def test_a_list_is_revealed_by_its_items() -> None:
    program = """
        def f(layer: Layer):
            reveal_shape(layer)
            reveal_shape(layer[1:])
        """
    notes = [one.message for one in check(indented(program)).diagnostics]
    assert notes == ['Revealed shape is ("out in", "out")', 'Revealed shape is ("out",)']


def test_what_is_made_by_a_type_has_one_size_for_each_name() -> None:
    assert found("        Layer(torch.zeros(8, 2), torch.zeros(4))") == [
        'TList item 1: (4,) does not match "out": axis 0 is 4, not out=8'
    ]
    assert found('        TList[Float[Tensor, "a a"]](torch.zeros(8, 2))') == [
        'TList item 0: (8, 2) does not match "a a": axis 1 is 2, not a=8'
    ]


def test_the_names_of_a_type_are_not_those_of_the_function() -> None:
    assert found(
        """
        def f(x: Float[Tensor, "out"]) -> Layer:
            return Layer(x[1:, None], x[1:])
        """
    ) == ['return[0] of f: (out-1, 1) does not match "out in": axis 0 is out-1, not out']


def test_what_a_type_refuses_is_used_as_what_it_promises() -> None:
    program = """
        layer = Layer(torch.zeros(8, 2), torch.zeros(4))
        layer[1] @ torch.zeros(3, 3)
        layer[0].sum(2)
        """
    assert len(found(program)) == 2


def test_another_number_of_items_is_refused() -> None:
    program = """
        def f(layer: Layer) -> Layer:
            return layer[:1]
        f(TList(torch.zeros(2)))
        Layer(torch.zeros(2, 2))
        """
    assert found(program) == [
        "return of f: it has 1 item, not 2",
        "argument layer of f: it has 1 item, not 2",
        "TList: it has 1 item, not 2",
    ]


def test_an_item_that_does_not_fit_a_parameter_is_named_by_its_position() -> None:
    program = """
        def f(x: Float[Tensor, "b in"], layer: Layer): ...
        f(torch.zeros(3, 2), TList(torch.zeros(8, 2), torch.zeros(4)))
        f(torch.zeros(3, 5), Layer(torch.zeros(8, 2), torch.zeros(8)))
        """
    assert found(program) == [
        'argument layer[1] of f: (4,) does not match "out": axis 0 is 4, not out=8',
        'argument layer[0] of f: (8, 2) does not match "out in": axis 1 is 2, not in=5',
    ]


def test_items_that_are_not_known_are_silent() -> None:
    program = """
        def f(params: TList[*Ts], more: TList[Float[Tensor, "a"], *Ts], any: TList, several: list[Tensor]):
            params[0] @ params[1]
            more.map(lambda x: x @ x).zip(params)
            a, b, c = any.detach()
            made = TList(*several)
            made[0] + made[1]
            Layer(*several)[0].sum(1)
            f(TList(*several), any, params, several)
        """
    assert found(program) == []


def test_aliases_of_every_kind_are_types_of_lists() -> None:
    program = """
        from typing import TypeAlias
        import shaped
        A: TypeAlias = shaped.TList[Float[Tensor, "2"]]
        B = A
        class Net:
            State = TList["Float[Tensor, '2']"]
            def f(self, state: "Net.State", a: A, b: B):
                reveal_shape(state[0])
                reveal_shape(a[0])
                reveal_shape(b[0])
        """
    assert revealed(indented(program)) == ["2", "2", "2"]


def test_the_sizes_of_an_item_come_from_its_position() -> None:
    program = """
        def f(layer: Layer):
            return layer[0] @ layer[0]
        """
    (diagnostic,) = check(indented(program)).diagnostics
    assert [note.text for note in diagnostic.notes] == ["in: axis 1 of layer[0]", "out: axis 0 of layer[0]"]


def test_initialised_modules_are_followed() -> None:
    program = """
        from shaped import init
        from shaped.init import XavierUniform, init_module
        model = init_module(nn.Sequential(nn.Linear(2, 8), nn.ReLU()), XavierUniform())
        reveal_shape(model(torch.zeros(5, 2)))
        reveal_shape(init.tensor(XavierUniform(), (4, 3)) @ init.xavier_w(3, 2))
        """
    assert agree(indented(program)) == ["5 8", "4 2"]


def test_the_listing_shows_the_items_beside_the_line() -> None:
    report = check(
        indented("        def f(layer: Layer, one: TList[Float[Tensor, 'n']]):\n            return layer, one")
    )
    assert [f"{shown.source}: {shown}" for shown in report.shapes] == ['layer: ("out in", "out")', 'one: ("n",)']


def test_what_is_no_type_of_a_tensor_is_no_type_of_an_item() -> None:
    program = """
        A = TList[Tensor, int]
        def f(x: TList[Float[Tensor, "a"] | None], y: TList[Tensor, nn.Parameter, "Tensor"]): ...
        """
    assert found(program) == [
        "TList item 1: int is no type of a tensor",
        "TList item 0: Float[Tensor, 'a'] | None is no type of a tensor",
    ]
