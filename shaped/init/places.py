"""Where the parameters of a module stand: by what a rule chooses them, and which are the same parameter twice."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn.utils import parametrize

# Wrappers of torch that hold a model as their child. A parameter has the same name, so the same seed, without them.
_WRAPPED = ("_orig_mod", "_checkpoint_wrapped_module", "_fsdp_wrapped_module")
_DATA_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel)


@dataclass(frozen=True, eq=False)
class Place:
    """Where a parameter stands in a model; what a rule decides by.

    Attributes:
        name: the full name, `blocks.0.fc1.weight`, as `named_parameters` gives it; for tied weights the first name.
            `torch.compile` and data parallel wrappers leave it as it is, and so does a parametrization.
        own_name: the name in its module, `weight`.
        module: the module that holds it.
        shape: its shape.
        ancestors: the modules around `module`, the outermost first.
    """

    name: str
    own_name: str
    module: nn.Module
    shape: tuple[int, ...]
    ancestors: tuple[nn.Module, ...] = ()

    def within(self, kind: type[nn.Module]) -> bool:
        """Whether the parameter's module is one of this type, or stands in one."""
        return any(isinstance(module, kind) for module in (*self.ancestors, self.module))


@dataclass(eq=False)
class Slot:
    """A place with what is to be written there.

    `parameters` are several, or one of another shape, for a tensor that is computed from them by `parametrizations`.
    `aliases` are the other names of the same parameter.
    """

    place: Place
    parameters: tuple[nn.Parameter, ...]
    parametrizations: parametrize.ParametrizationList | None = None
    aliases: list[Place] = field(default_factory=list)


def slots(module: nn.Module) -> list[Slot]:
    """The parameters of a module in the order of `named_parameters`, each once.

    Tied weights are one: the same `Parameter` in two places, or two that are the same elements of the same memory.
    """
    found: dict[Hashable, Slot] = {}
    for slot in _walk(module, "", ()):
        first = found.setdefault(tuple(map(_identity, slot.parameters)), slot)
        if first is not slot:
            first.aliases.append(slot.place)
    return list(found.values())


def _walk(module: nn.Module, prefix: str, ancestors: tuple[nn.Module, ...]) -> Iterator[Slot]:
    """The parameters under all of their names."""
    for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
        shape = () if isinstance(parameter, nn.UninitializedParameter) else tuple(parameter.shape)
        yield Slot(Place(prefix + name, name, module, shape, ancestors), (parameter,))
    around = (*ancestors, module)
    parametrized: object = getattr(module, "parametrizations", None) if parametrize.is_parametrized(module) else None
    if isinstance(parametrized, nn.ModuleDict):
        yield from _parametrized(module, parametrized, prefix, ancestors)
    for name, child in module.named_children():
        if child in around or child is parametrized:
            continue
        is_wrapped = name in _WRAPPED or (name == "module" and isinstance(module, _DATA_PARALLEL))
        yield from _walk(child, prefix if is_wrapped else f"{prefix}{name}.", around)


def _parametrized(
    module: nn.Module, parametrized: nn.ModuleDict, prefix: str, ancestors: tuple[nn.Module, ...]
) -> Iterator[Slot]:
    """The tensors of a module that are computed, under their own names, then the parameters of what computes them."""
    for name, one in parametrized.items():
        assert isinstance(one, parametrize.ParametrizationList)
        originals = tuple(parameter for _, parameter in one.named_parameters(recurse=False))
        if originals:
            yield Slot(Place(prefix + name, name, module, _computed_shape(one), ancestors), originals, one)
        for index, inner in one.named_children():
            yield from _walk(inner, f"{prefix}parametrizations.{name}.{index}.", (*ancestors, module))


def _computed_shape(parametrizations: parametrize.ParametrizationList) -> tuple[int, ...]:
    """The shape of the tensor that is computed, which in evaluation mode changes no buffer of the parametrizations."""
    modes = {module: module.training for module in parametrizations.modules()}
    try:
        parametrizations.eval()
        with torch.no_grad():
            return tuple(parametrizations().shape)
    finally:
        for module, training in modes.items():
            module.training = training


def _identity(parameter: nn.Parameter) -> Hashable:
    """What two parameters have in common that are the same elements."""
    has_memory = type(parameter) is nn.Parameter and parameter.layout == torch.strided and not parameter.is_meta
    if not has_memory or not parameter.numel():
        return id(parameter)
    return parameter.data_ptr(), parameter.device, parameter.dtype, tuple(parameter.shape), parameter.stride()
