"""What is in a file of torch.export, looked at before torch opens it: torch would run pickles that are in it."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Iterator

import torch

from shaped.runtime.checkpoint import FORMAT as CHECKPOINT_FORMAT
from shaped.runtime.torch_file import LoadError, damage, kind_of, read_plain

# Where torch.export.save puts them, in the one folder of the archive (torch/export/pt2_archive/constants.py).
_CONFIGS = ("data/weights/", "data/constants/")
_CONFIG_SUFFIX = "_config.json"
_CUSTOM_OBJECTS = ("custom_obj_", "opaque_obj_")


class ExportedError(LoadError):
    """A file that is no program, or one that is not safe to load: `path`, and `problems`."""


def require_program(path: str | os.PathLike[str]) -> str:
    """Refuse a file that is no program, or that is damaged; gives `exported` or `script`.

    Raises:
        ExportedError: says what it is instead, if that is known, and which function loads it.
        OSError: there is no such file, or it cannot be read.
    """
    kind = kind_of(path)
    if kind not in ("exported", "script"):
        raise ExportedError(path, [f"it is neither an exported nor a scripted model{_what_instead(path, kind)}"])
    with open(path, "rb") as file:  # noqa: PTH123  # a path of any kind
        if problem := damage(file):
            raise ExportedError(path, [problem.replace("torch.save", "torch")])
    if kind == "exported" and (problems := list(_unsafe(path))):
        raise ExportedError(path, problems)
    return kind


def _what_instead(path: str | os.PathLike[str], kind: str) -> str:
    weights = "shaped.runtime.weights.load_weights loads them into a model"
    if kind == "git lfs":
        return ", but a pointer of Git LFS: git lfs pull fetches the file itself"
    if kind == "safetensors":
        return f", but weights: {weights}"
    if kind in ("torch", "legacy torch"):
        try:
            contents = read_plain(path, legacy=True)
        except LoadError as error:
            return f": {error.problems[0]}"
        if isinstance(contents, dict) and contents.get("format") == CHECKPOINT_FORMAT:
            return ", but a checkpoint: shaped.runtime.checkpoint.load loads it into a model"
        return f", but what torch.save wrote: if it is weights, {weights}"
    return ", or not all of one"


def _unsafe(path: str | os.PathLike[str]) -> Iterator[str]:
    """What torch would load by running code of the file's."""
    with zipfile.ZipFile(path) as archive:
        records = {name.partition("/")[2]: name for name in archive.namelist()}
        if "archive_format" not in records:
            yield "it was written by a torch before 2.8, in a format that is pickles: export it again"
            return
        if any(name.startswith("data/aotinductor/") for name in records):
            yield "it holds compiled code (AOTInductor): torch._inductor.aoti_load_package loads it"
        pickles = [name for name in records if name.endswith(".pt")]
        for name in records:
            if not name.startswith(_CONFIGS) or not name.endswith(_CONFIG_SUFFIX):
                continue
            folder = name.rpartition("/")[0]
            for entry, payload in json.loads(archive.read(records[name]))["config"].items():
                if payload["path_name"].startswith(_CUSTOM_OBJECTS):
                    yield f"{entry} is an object of a class of its own, which is loaded only by running its code"
                elif payload.get("use_pickle"):
                    pickles.append(f"{folder}/{payload['path_name']}")
        for name in pickles:
            if name not in records:
                yield f"{name} is missing"
            elif not _is_plain(archive.read(records[name])):
                yield f"{name} holds more than plain data, which is loaded only by running its code"


def _is_plain(record: bytes) -> bool:
    """Whether torch reads a record without running code of its own; an empty one is not read at all."""
    try:
        torch.load(io.BytesIO(record), map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, OSError, EOFError, LookupError, ValueError, AttributeError):
        return not record
    return True
