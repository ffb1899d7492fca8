"""A model is exported with the signature that its annotations declare, and with its own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from shaped.errors import DtypeError, ShapeError
from shaped.runtime.exported import ExportError, export, load_exported, writing
from tests.equality import same
from tests.runtime.exported.models import Embedded, Net, Pieces, Plain, TreatsOne, seeded

if TYPE_CHECKING:
    from pathlib import Path


def images(b: int = 2, h: int = 8, w: int = 9, d: int = 8) -> tuple[Tensor, Tensor]:
    return torch.randn(b, 3, h, w), torch.randn(b, d)


def test_the_signature_is_that_of_the_annotations(tmp_path: Path) -> None:
    signature = export(tmp_path / "a.pt2", seeded(Net), *images())
    assert str(signature) == (
        'Net(image: Float32[Tensor, "b 3 h w"], code: Float32[Tensor, "b 8"]) -> Float32[Tensor, "b 4"]'
    )
    assert load_exported(tmp_path / "a.pt2").signature == signature


@pytest.mark.parametrize("b, h, w", [(2, 8, 9), (1, 8, 9), (5, 20, 3), (3, 16, 16)])
def test_the_numbers_are_those_of_the_model_bit_for_bit(b: int, h: int, w: int, tmp_path: Path) -> None:
    model = seeded(Net)
    export(tmp_path / "a.pt2", model, *images())
    loaded = load_exported(tmp_path / "a.pt2")
    for _ in range(3):
        arguments = images(b, h, w)
        assert torch.equal(loaded(*arguments), model(*arguments))


def test_the_model_is_left_as_it_was(tmp_path: Path) -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
            self.calls += 1
            return x + self.calls

    model, x = Counting().eval(), torch.ones(3)
    export(tmp_path / "a.pt2", model, x)
    assert model.calls == 0
    assert torch.equal(x, torch.ones(3))
    assert torch.equal(load_exported(tmp_path / "a.pt2")(x), torch.full((3,), 2.0))


def test_containers_constants_and_arguments_by_name_are_part_of_the_signature(tmp_path: Path) -> None:
    arguments = (torch.randn(3, 2), torch.randn(4, 2)), {"weight": torch.randn(3)}, 5
    mask = torch.tensor([True, False, True])
    model = seeded(Pieces)
    signature = export(tmp_path / "a.pt2", model, *arguments, keywords={"mask": mask})
    assert [str(one) for one in (*signature.inputs, *signature.outputs)] == [
        'parts[0]: Float32[Tensor, "n 2"]',
        'parts[1]: Float32[Tensor, "m 2"]',
        "batch['weight']: Float32[Tensor, \"n\"]",
        "factor: Literal[5]",
        'mask: Bool[Tensor, "n"]',
        "return['total']: Float32[Tensor, \"n\"]",
        "return['all']: Float32[Tensor, \"n+m 2\"]",
    ]
    loaded = load_exported(tmp_path / "a.pt2")
    assert same(loaded(*arguments, mask=mask), model(*arguments, mask=mask))


def test_without_annotations_the_shapes_are_those_of_the_example(tmp_path: Path) -> None:
    signature = export(tmp_path / "a.pt2", seeded(Plain), torch.ones(2, 4), torch.ones(2, 3))
    assert str(signature) == 'Plain(x: Float32[Tensor, "2 4"], y: Float32[Tensor, "2 3"]) -> Float32[Tensor, "2 3"]'


def forward(x: Float[Tensor, "rows 4"], y: Float[Tensor, "rows 3"]) -> None: ...


@pytest.mark.parametrize("annotations", [forward, {"x": Float[Tensor, "rows 4"], "y": Float[Tensor, "rows 3"]}])
def test_annotations_may_be_given(annotations: Any, tmp_path: Path) -> None:
    arguments = torch.ones(2, 4), torch.ones(2, 3)
    signature = export(tmp_path / "a.pt2", seeded(Plain), *arguments, signature=annotations)
    assert [value.axes for value in signature.inputs] == ["rows 4", "rows 3"]  # type: ignore[union-attr]  # tensors


def test_annotations_of_what_is_no_parameter_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="the signature names z, which forward of Plain does not take"):
        export(tmp_path / "a.pt2", seeded(Plain), torch.ones(2, 4), torch.ones(2, 3), signature={"z": Tensor})


def test_only_the_named_axes_vary_if_names_are_given(tmp_path: Path) -> None:
    signature = export(tmp_path / "a.pt2", seeded(Net), *images(), dynamic=["b"])
    assert [value.axes for value in signature.inputs] == ["b 3 8 9", "b 8"]  # type: ignore[union-attr]  # tensors
    assert signature.ranges == {"b": (1, None)}
    signature = export(tmp_path / "a.pt2", seeded(Net), *images(), dynamic=[])
    assert [value.axes for value in signature.inputs] == ["2 3 8 9", "2 8"]  # type: ignore[union-attr]  # tensors


@pytest.mark.parametrize(
    "dynamic, problem",
    [
        (["d"], "d is always 8 in this model: leave it out of dynamic"),
        (["t"], "dynamic has 't', which is the name of no axis: the axes with names are b, h, w, d"),
        ("b", r"dynamic is a text: give the names of axes as a list: \['b'\]"),
    ],
)
def test_an_axis_that_cannot_vary_is_refused_by_name(dynamic: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=problem):
        export(tmp_path / "a.pt2", seeded(Net), *images(), dynamic=dynamic)
    assert not list(tmp_path.iterdir())


def test_an_example_of_one_row_is_refused_since_torch_takes_it_for_a_constant(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"b is 1 in the example inputs, .* or say that it is one by dynamic=\['h'"):
        export(tmp_path / "a.pt2", seeded(Net), *images(b=1))
    signature = export(tmp_path / "a.pt2", seeded(Net), *images(b=1), dynamic=["h", "w"])
    assert [value.axes for value in signature.inputs] == ["1 3 h w", "1 8"]  # type: ignore[union-attr]  # tensors


def test_one_row_is_taken_only_where_the_program_is_the_model_there(tmp_path: Path) -> None:
    assert export(tmp_path / "a.pt2", seeded(TreatsOne), torch.ones(4, 3)).ranges == {"b": (2, None)}
    with pytest.raises(ShapeError, match=r"argument x of TreatsOne: .*: b is 1, not at least 2"):
        load_exported(tmp_path / "a.pt2")(torch.ones(1, 3))


def test_the_largest_size_that_the_model_states_is_declared(tmp_path: Path) -> None:
    model = seeded(Embedded)
    assert export(tmp_path / "a.pt2", model, torch.ones(2, 5, dtype=torch.int64)).ranges["t"] == (1, 6)
    loaded = load_exported(tmp_path / "a.pt2")
    ids = torch.randint(11, (3, 6))
    assert torch.equal(loaded(ids), model(ids))
    with pytest.raises(ShapeError, match=r"argument ids of Embedded: .*: t is 7, not at most 6"):
        loaded(torch.ones(2, 7, dtype=torch.int64))


def test_axes_of_a_pack_and_without_a_name_vary_too(tmp_path: Path) -> None:
    class Last(nn.Module):
        def forward(self, x: Float[Tensor, "*batch d"], y: Float[Tensor, "_ 2"]) -> tuple[Tensor, Tensor]:
            return x.sum(-1), y * 2

    export(tmp_path / "a.pt2", Last().eval(), torch.ones(2, 3, 4), torch.ones(5, 2))
    loaded = load_exported(tmp_path / "a.pt2")
    assert str(loaded.signature.inputs[0]) == 'x: Float32[Tensor, "batch_0 batch_1 d"]'
    assert loaded(torch.ones(7, 5, 6), torch.ones(9, 2))[0].shape == (7, 5)
    with pytest.raises(ShapeError, match="argument x of Last"):
        loaded(torch.ones(7, 6), torch.ones(9, 2))


def test_names_that_the_program_makes_equal_are_one(tmp_path: Path) -> None:
    class Sum(nn.Module):
        def forward(self, x: Float[Tensor, "s 2"], y: Float[Tensor, "t 2"]) -> Tensor:
            return x + y

    signature = export(tmp_path / "a.pt2", Sum().eval(), torch.ones(3, 2), torch.ones(3, 2))
    assert [value.axes for value in signature.inputs] == ["s 2", "s 2"]  # type: ignore[union-attr]  # tensors


def test_an_example_that_is_not_what_its_annotation_says_is_refused(tmp_path: Path) -> None:
    image, code = images()
    with pytest.raises(ShapeError, match=r'argument image of Net: \(2, 4, 8, 9\) does not match "b 3 h w"'):
        export(tmp_path / "a.pt2", seeded(Net), torch.ones(2, 4, 8, 9), code)
    with pytest.raises(DtypeError, match="argument code of Net: dtype int64"):
        export(tmp_path / "a.pt2", seeded(Net), image, torch.ones(2, 8, dtype=torch.int64))
    with pytest.raises(ExportError, match="the example inputs of Net: missing a required argument: 'code'"):
        export(tmp_path / "a.pt2", seeded(Net), image)


def test_a_model_in_training_mode_is_refused(tmp_path: Path) -> None:
    model = seeded(Net)
    model.norm.train()
    with pytest.raises(ExportError, match=r"Net is in training mode \(its norm\), .*: call model\.eval\(\) first"):
        export(tmp_path / "a.pt2", model, *images())


def test_a_name_of_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"a\.onnx ends in '\.onnx', not in \.pt2"):
        export(tmp_path / "a.onnx", seeded(Net), *images())


def test_a_program_of_other_numbers_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.pt2"
    export(path, seeded(Plain), torch.ones(2, 4), torch.ones(2, 3))
    before = path.read_bytes()
    right = writing.load_exported

    def wrong(new: Path) -> object:
        loaded = right(new)
        with torch.no_grad():
            next(loaded.program.parameters())[0, 0] += 2**-20  # type: ignore[union-attr]  # an exported one
        return loaded

    monkeypatch.setattr(writing, "load_exported", wrong)
    with pytest.raises(ExportError, match="the program is not Plain: value 0 of its result has other numbers"):
        export(path, seeded(Plain), torch.ones(2, 4), torch.ones(2, 3))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.pt2"]


def test_tied_weights_are_exported_once(tmp_path: Path) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(7, 4)
            self.head = nn.Linear(4, 7, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, ids: Tensor) -> Tensor:
            found: Tensor = self.head(self.embedding(ids))
            return found

    model, ids = Tied().eval(), torch.tensor([1, 2, 3])
    export(tmp_path / "a.pt2", model, ids)
    assert torch.equal(load_exported(tmp_path / "a.pt2")(ids), model(ids))


def test_a_layer_with_a_fast_path_of_its_own_is_exported(tmp_path: Path) -> None:
    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)

        def forward(self, x: Float[Tensor, "b t 8"]) -> Float[Tensor, "b t 8"]:
            found: Tensor = self.layer(x)
            return found

    model = Encoder().eval()
    export(tmp_path / "a.pt2", model, torch.randn(2, 5, 8))
    x = torch.randn(3, 7, 8)
    assert torch.equal(load_exported(tmp_path / "a.pt2")(x), model(x))


def test_any_number_of_arguments_is_exported_as_it_is_in_the_example(tmp_path: Path) -> None:
    class Many(nn.Module):
        def forward(self, *parts: Float[Tensor, "b"], scale: Float[Tensor, "b"]) -> Tensor:
            return sum(parts, scale)

    parts, scale = (torch.ones(3), torch.ones(3)), torch.ones(3)
    signature = export(tmp_path / "a.pt2", Many().eval(), *parts, keywords={"scale": scale})
    assert [one.name for one in signature.inputs] == ["parts_0", "parts_1", "scale"]
    assert torch.equal(load_exported(tmp_path / "a.pt2")(*parts, scale=scale), torch.full((3,), 3.0))


def test_arguments_of_any_name_are_refused(tmp_path: Path) -> None:
    class Named(nn.Module):
        def forward(self, **named: Tensor) -> Tensor:
            return named["x"] * 2

    with pytest.raises(ExportError, match=r"forward of Named takes \*\*named, .*: name the parameters"):
        export(tmp_path / "a.pt2", Named().eval(), keywords={"x": torch.ones(3)})


def test_of_a_compiled_model_the_model_in_it_is_exported(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 2)).eval()
    assert export(tmp_path / "a.pt2", torch.compile(model), torch.ones(3, 4)).operation == "Sequential"  # type: ignore[arg-type]  # it is a module


def test_a_function_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"model is a function: a torch\.nn\.Module is needed"):
        export(tmp_path / "a.pt2", lambda x: x, torch.ones(3))  # type: ignore[arg-type]  # on purpose
