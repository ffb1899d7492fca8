"""A program is run again with every call checked before anything runs."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from shaped.errors import DeviceError, DtypeError, Fault, ShapeError
from shaped.runtime.exported import ExportedError, export, load_exported
from shaped.runtime.exported.loading import SIGNATURE_FILE, ExportedModel
from tests.runtime.exported.models import Net, Pieces, Plain, seeded

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> ExportedModel:
    path = tmp_path_factory.mktemp("net") / "a.pt2"
    export(path, seeded(Net), torch.randn(2, 3, 8, 9), torch.randn(2, 8))
    return silent(load_exported(path))


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> ExportedModel:
    path = tmp_path_factory.mktemp("pieces") / "a.pt2"
    parts = torch.randn(3, 2), torch.randn(4, 2)
    export(path, seeded(Pieces), parts, {"weight": torch.randn(3)}, 2, keywords={"mask": None})
    return silent(load_exported(path))


def silent(loaded: Any) -> ExportedModel:
    """The model with a program that must not run."""
    assert isinstance(loaded, ExportedModel)
    loaded.program = Silent()
    return loaded


class Silent(nn.Module):
    def forward(self, *args: object, **kwargs: object) -> None:
        pytest.fail("the program was run")


IMAGE, CODE = torch.randn(2, 3, 8, 9), torch.randn(2, 8)


@pytest.mark.parametrize(
    "args, kwargs, kind, message",
    [
        (
            (IMAGE, CODE[:1]),
            {},
            ShapeError,
            r'code of Net: \(1, 8\) does not match "b 8": axis 0 is 1, not b=2',
        ),
        ((IMAGE, torch.randn(2, 7)), {}, ShapeError, r"argument code of Net: \(2, 7\) .* axis 1 is 7, not 8"),
        ((IMAGE[0], CODE), {}, ShapeError, r'argument image of Net: \(3, 8, 9\) does not match "b 3 h w"'),
        ((IMAGE, CODE.double()), {}, DtypeError, r"argument code of Net: dtype float64 does not match Float32"),
        ((IMAGE, CODE.to("meta")), {}, DeviceError, "argument code of Net: it is on meta, the program on cpu"),
        ((IMAGE, 3), {}, Fault, r"argument code of Net: int 3 is no Float32\[Tensor"),
        ((IMAGE, None), {}, Fault, r"argument code of Net: None is no Float32\[Tensor"),
        ((IMAGE, [CODE]), {}, Fault, r"argument code of Net: it is \[Tensor\], not made as Tensor"),
        ((IMAGE,), {}, Fault, r"Net: missing a required argument: 'code'; it takes \(image, code\)"),
        ((IMAGE, CODE, CODE), {}, Fault, "Net: too many positional arguments; it takes"),
        ((IMAGE, CODE), {"mask": 1}, Fault, "Net: got an unexpected keyword argument 'mask'; it takes"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_before_anything_runs(
    net: ExportedModel, args: tuple[Any, ...], kwargs: dict[str, Any], kind: type[Fault], message: str
) -> None:
    with pytest.raises(kind, match=message) as raised:
        net(*args, **kwargs)
    assert isinstance(raised.value, TypeError)


PARTS = torch.randn(3, 2), torch.randn(4, 2)
WEIGHT = {"weight": torch.randn(3)}


@pytest.mark.parametrize(
    "args, mask, message",
    [
        (
            (PARTS, {"weight": torch.randn(4)}, 2),
            None,
            r"batch\['weight'\] of Pieces: .* axis 0 is 4, not n=3",
        ),
        (((PARTS[0], PARTS[1][:, :1]), WEIGHT, 2), None, r"argument parts\[1\] of Pieces: .* axis 1 is 1, not 2"),
        (
            (PARTS, {"weights": WEIGHT["weight"]}, 2),
            None,
            r"batch of Pieces: it is {'weights': Tensor}, not made",
        ),
        ((PARTS, WEIGHT, 3), None, "argument factor of Pieces: int 3 is not 2, which the program was exported with"),
        ((PARTS, WEIGHT, True), None, "argument factor of Pieces: bool True is not 2"),
        ((PARTS, WEIGHT, 2), torch.ones(3) > 0, r"argument mask of Pieces: Tensor \(3,\) is not None"),
    ],
)
def test_what_is_in_a_container_is_named(pieces: ExportedModel, args: Any, mask: Any, message: str) -> None:
    with pytest.raises(Fault, match=message):
        pieces(*args, mask=mask)


def test_arguments_may_be_given_by_name(tmp_path: Path) -> None:
    model = seeded(Net)
    export(tmp_path / "a.pt2", model, IMAGE, CODE)
    assert torch.equal(load_exported(tmp_path / "a.pt2")(code=CODE, image=IMAGE), model(IMAGE, CODE))


def test_sizes_that_torch_assumed_are_refused_as_a_shape_too(tmp_path: Path) -> None:
    class Halves(nn.Module):
        def forward(self, x: Float[Tensor, "n"]) -> Tensor:
            return x * 2 if x.shape[0] % 4 == 0 else x * 3

    export(tmp_path / "a.pt2", Halves().eval(), torch.ones(8))
    loaded = load_exported(tmp_path / "a.pt2")
    assert torch.equal(loaded(torch.ones(12)), torch.full((12,), 2.0))
    with pytest.raises(ShapeError, match=r"argument x of Halves|Halves: it was exported for sizes with"):
        loaded(torch.ones(7))


def test_an_exception_of_the_program_arrives_as_it_is(tmp_path: Path) -> None:
    class Looks(nn.Module):
        def forward(self, x: Float[Tensor, "n 2"], rows: Tensor) -> Tensor:
            return x[rows]

    export(tmp_path / "a.pt2", Looks().eval(), torch.ones(3, 2), torch.tensor([0, 1]))
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        load_exported(tmp_path / "a.pt2")(torch.ones(3, 2), torch.tensor([0, 9]))


def plain_file(path: Path, dim: Any = None) -> None:
    """What torch.export itself writes."""
    dim = dim or torch.export.Dim("rows")
    arguments = torch.ones(2, 4), torch.ones(2, 3)
    program = torch.export.export(seeded(Plain), arguments, dynamic_shapes={"x": {0: dim}, "y": {0: dim}})
    torch.export.save(program, path)


@pytest.mark.parametrize("dim", [torch.export.Dim("rows"), torch.export.Dim.AUTO], ids=["named", "auto"])
def test_a_program_that_torch_wrote_has_the_signature_that_torch_found_out(dim: Any, tmp_path: Path) -> None:
    plain_file(tmp_path / "a.pt2", dim)
    loaded, model = load_exported(tmp_path / "a.pt2"), seeded(Plain)
    for rows in (1, 2, 5):
        arguments = torch.randn(rows, 4), torch.randn(rows, 3)
        assert torch.equal(loaded(*arguments), model(*arguments))
    with pytest.raises(ShapeError, match=r"argument y of the program: \(3, 3\) .* axis 0 is 3, not \w+=2"):
        loaded(torch.ones(2, 4), torch.ones(3, 3))
    with pytest.raises(DtypeError, match="argument x of the program"):
        loaded(torch.ones(2, 4, dtype=torch.float64), torch.ones(2, 3))


def test_a_signature_may_be_given_for_a_program_too(tmp_path: Path) -> None:
    plain_file(tmp_path / "a.pt2")
    loaded = load_exported(tmp_path / "a.pt2", signature={"x": Float[Tensor, "b 4"], "return": Float[Tensor, "b 2"]})
    with pytest.raises(ShapeError, match=r'return of the program: \(2, 3\) does not match "b 2"'):
        loaded(torch.ones(2, 4), torch.ones(2, 3))
    with pytest.raises(ValueError, match="the signature names z, which the program does not take"):
        load_exported(tmp_path / "a.pt2", signature={"z": Tensor})


def rewritten(path: Path, change: dict[str, bytes]) -> None:
    """The archive with some of its records replaced or added."""
    with zipfile.ZipFile(path) as archive:
        root = archive.namelist()[0].partition("/")[0]
        records = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, contents in {**records, **change}.items():
            archive.writestr(f"{root}/{name}", contents)


@pytest.mark.parametrize(
    "spoil, problem",
    [
        (lambda found: found.update(format="shaped signature 9"), "its format is 'shaped signature 9', not"),
        (lambda found: found.pop("inputs"), "it is no signature: KeyError"),
        (lambda found: found["inputs"].pop(), "its signature is that of another program"),
        (lambda found: found["inputs"][0].update(axes="{exit(3)}"), "is no axis of a signature"),
        (lambda found: found["inputs"][0].update(axes="exit(3)"), "is no axis of a signature"),
        (lambda found: found["inputs"][0].update(axes="x.__class__"), "is no axis of a signature"),
        (lambda found: found["inputs"][0].update(dtype="load"), "torch has no dtype 'load'"),
    ],
)
def test_a_signature_that_is_none_is_refused_and_never_run(spoil: Any, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "a.pt2"
    signature = export(path, seeded(Plain), torch.ones(2, 4), torch.ones(2, 3))
    found = json.loads(signature.to_json())
    spoil(found)
    rewritten(path, {f"extra/{SIGNATURE_FILE}": json.dumps(found).encode()})
    with pytest.raises(ExportedError, match=problem):
        load_exported(path)


def test_the_model_shows_its_signature(net: ExportedModel) -> None:
    assert repr(net).startswith('<exported Net(image: Float32[Tensor, "b 3 h w"], code:')
