"""Weights alone, for others to read: `.safetensors` or a file of `torch.save`, loaded whole or not at all.

Both hold what `model.state_dict()` gives, so any program that knows the format reads them. What a training run needs
beside weights is in a checkpoint (`shaped.runtime.checkpoint`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from shaped.runtime.arguments import require_module
from shaped.runtime.atomic import replacing
from shaped.runtime.checkpoint import FORMAT as CHECKPOINT_FORMAT
from shaped.runtime.model_state import load_model_state, model_problems, tied_names
from shaped.runtime.plain_data import require_plain
from shaped.runtime.tensor_types import dtype_name
from shaped.runtime.torch_file import NOT_OF_TORCH, LoadError, kind_of, read_plain, write_plain

# https://github.com/huggingface/safetensors, "Format": those that torch has too.
_SAFETENSORS_DTYPES = frozenset(
    [
        "bool",
        "uint8",
        "int8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
    ]
)
_TORCH_SUFFIXES = (".pt", ".pth", ".bin")


class WeightsError(LoadError):
    """A file that holds no weights, or those of something else: `path`, and `problems`, every difference."""


@dataclass(frozen=True)
class Weights:
    """Weights that were read, and are not loaded into anything yet.

    Args:
        path: the file.
        tensors: parameters and buffers by name, on the CPU, as `state_dict()` has them.
        metadata: the texts in the file, the other names of tied parameters among them; a file of `torch.save` has none.
    """

    path: Path
    tensors: Mapping[str, Any]
    metadata: Mapping[str, str]

    def problems(self, model: nn.Module) -> list[str]:
        """Every difference between the weights and the model that they would be loaded into."""
        return model_problems(model, self._for(model))

    def load(self, model: nn.Module) -> None:
        """Load them, all or nothing: see `load_weights`."""
        if found := self.problems(model):
            raise WeightsError(self.path, found)
        load_model_state(model, self._for(model))

    def part(self, prefix: str) -> Weights:
        """Those whose names begin with a prefix, without it: what is in a wrapper, or the base of a larger model.

        Raises:
            ValueError: no name begins with it.

        >>> whole = Weights(Path("model.pt"), {"bert.weight": torch.ones(2), "head": torch.zeros(1)}, {})
        >>> dict(whole.part("bert.").tensors)
        {'weight': tensor([1., 1.])}
        """
        tensors = {name.removeprefix(prefix): one for name, one in self.tensors.items() if name.startswith(prefix)}
        if not tensors:
            names = ", ".join(list(self.tensors)[:5])
            raise ValueError(f"no name in {self.path} begins with {prefix!r}: they are {names} ...")
        # The other name of a tied tensor, and the one that it is saved by, lose the prefix together.
        metadata = {
            key.removeprefix(prefix): text.removeprefix(prefix) if text in self.tensors else text
            for key, text in self.metadata.items()
        }
        return Weights(self.path, tensors, metadata)

    def _for(self, model: nn.Module) -> Mapping[str, Any]:
        """The weights with all names of tied ones: a file may have one of them, and the others in its metadata."""
        own = model.state_dict(keep_vars=True)
        found = dict(self.tensors)
        for name, other in tied_names(own).items():
            present, absent = (name, other) if name in found else (other, name)
            if present in found:
                found.setdefault(absent, found[present])
        for name in own:
            if name not in found and self.metadata.get(name) in self.tensors:
                found[name] = self.tensors[self.metadata[name]]
        return found


def save_weights(path: str | os.PathLike[str], model: nn.Module, metadata: Mapping[str, str] | None = None) -> None:
    """Write the parameters and buffers of a model. Whoever reads the file finds the one before or this one, whole.

    Args:
        path: ends in `.safetensors`, or in `.pt`, `.pth` or `.bin` for a file of `torch.save`.
        metadata: texts to keep beside them, in `.safetensors` only.

    Raises:
        ValueError: the file would be of no known format, or cannot hold what the model has; says what.
        ImportError: the package safetensors is not installed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_weights(f"{folder}/model.pt", nn.Linear(2, 3))
    ...     read_weights(f"{folder}/model.pt").problems(nn.Linear(2, 4, bias=False))
    ['weight is (3, 2) float32 in the file, (4, 2) float32 in the model', 'bias is in the file alone: (3,) float32']
    """
    suffix = Path(path).suffix
    require_module("model", model)
    if suffix == ".safetensors":
        _write_safetensors(path, model.state_dict(keep_vars=True), metadata or {})
    elif suffix not in _TORCH_SUFFIXES:
        raise ValueError(f"{os.fspath(path)} ends in {suffix!r}, not in .safetensors, {', '.join(_TORCH_SUFFIXES)}")
    elif metadata:
        raise ValueError(f"{os.fspath(path)}: metadata is kept in .safetensors only")
    else:
        state = model.state_dict()
        require_plain(dict(state), "state_dict()")
        write_plain(path, state)


def load_weights(path: str | os.PathLike[str], model: nn.Module) -> dict[str, str]:
    """Load the parameters and buffers of a model; gives the metadata that was saved beside them.

    All names, shapes and dtypes are compared first: where anything differs nothing is changed. The format is told by
    what is in the file. A parameter with two names in the model may have one of them in the file.

    Raises:
        WeightsError: with every difference, by name.
        ImportError: the file is of safetensors, and the package is not installed.
        FileNotFoundError: there is no such file.
    """
    require_module("model", model)
    found = read_weights(path)
    found.load(model)
    names = model.state_dict()
    return {key: text for key, text in found.metadata.items() if key not in names}


def read_weights(path: str | os.PathLike[str]) -> Weights:
    """Read weights into memory: those of `save_weights`, of `torch.save(model.state_dict())`, of safetensors.

    Raises:
        WeightsError: the file holds no weights; says what it is instead, if that is known.
        ImportError: the file is of safetensors, and the package is not installed.
        FileNotFoundError: there is no such file.
    """
    kind = kind_of(path)
    if kind == "git lfs":
        raise WeightsError(path, ["it is a pointer of Git LFS, not the file itself: git lfs pull fetches it"])
    if kind == "safetensors" or (not kind and Path(path).suffix == ".safetensors"):
        return _read_safetensors(path)
    if kind in ("exported", "script"):
        raise WeightsError(path, ["it is a whole program: shaped.runtime.exported.load_exported runs it"])
    if kind == "":
        raise WeightsError(path, [f"{NOT_OF_TORCH}, nor one of safetensors"])
    contents = read_plain(path, WeightsError, legacy=True)
    if problem := _no_state(contents):
        raise WeightsError(path, [problem])
    assert isinstance(contents, Mapping)
    return Weights(Path(path), contents, {})


def _no_state(contents: object) -> str:
    """Why the contents of a file are not what `state_dict()` gives; empty if they may be."""
    if not isinstance(contents, Mapping):
        return f"it holds a {type(contents).__name__}, not a dict of tensors"
    if contents.get("format") == CHECKPOINT_FORMAT:
        return "it is a checkpoint: shaped.runtime.checkpoint.load loads it"
    if any(isinstance(value, Tensor) for value in contents.values()) or not contents:
        return ""
    inner = [name for name, value in contents.items() if isinstance(value, Mapping) and not _no_state(value) and value]
    kinds = f"it is a dict of {', '.join(map(repr, contents))}, not of tensors"
    if not inner:
        return kinds
    return f"{kinds}; the weights seem to be in {inner[0]!r}: torch.load(path, weights_only=True)[{inner[0]!r}]"


def _safetensors(path: str | os.PathLike[str]) -> ModuleType:
    try:
        return import_module("safetensors.torch")
    except ImportError as error:
        raise ImportError(
            f"{os.fspath(path)} needs safetensors, which is not installed: pip install 'shaped[safetensors]'"
        ) from error


def _write_safetensors(
    path: str | os.PathLike[str], state: Mapping[str, object], metadata: Mapping[str, object]
) -> None:
    """Write a state: a tensor with two names once, the other name in the metadata, as safetensors' own save_model."""
    library = _safetensors(path)
    for key, text in metadata.items():
        if not isinstance(text, str):
            raise ValueError(f"metadata is of texts, but {key!r} is {text!r}")
        if key in state:
            raise ValueError(f"metadata has {key!r}, the name of a parameter: safetensors keep other names there")
    for name, value in state.items():
        if problem := _no_safetensor(value):
            raise ValueError(f"{name} {problem}, which safetensors do not hold: save to .pt")
    tied = tied_names(state)
    tensors = {}
    storages = set()
    for name, value in state.items():
        if name in tied:
            continue
        assert isinstance(value, Tensor)
        tensor = value.detach().contiguous()
        storage = tensor.untyped_storage().data_ptr()
        # Views of one memory, such as a part of a larger weight, are refused: each is written on its own.
        tensors[name] = tensor.clone() if storage in storages else tensor
        storages.add(storage)
    with replacing(path) as new:
        library.save_file(tensors, new, metadata={**metadata, **tied} or None)


def _no_safetensor(value: object) -> str:
    """Why safetensors do not hold a value; empty if they do."""
    if not isinstance(value, Tensor):
        return f"is a {type(value).__name__}, no tensor"
    if is_lazy(value):
        return "is not initialised"
    if value.device.type == "meta":
        return "has no data (device meta)"
    if value.layout is not torch.strided:
        return f"has the layout {value.layout}"
    return "" if dtype_name(value.dtype) in _SAFETENSORS_DTYPES else f"is {dtype_name(value.dtype)}"


def _read_safetensors(path: str | os.PathLike[str]) -> Weights:
    library = _safetensors(path)
    try:
        with library.safe_open(path, framework="pt", device="cpu") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is no dict
            return Weights(Path(path), tensors, file.metadata() or {})
    except FileNotFoundError:
        raise
    except Exception as error:  # the library's own error, and those of dtypes that this torch does not have
        problem = f"it is not a file of safetensors, or not all of it: {error}"
        raise WeightsError(path, [problem]) from error
