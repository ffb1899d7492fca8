"""Rules and constructors of networks take torch's parameters: the same names, the same order, the same defaults."""

from __future__ import annotations

import inspect
import math

import pytest
import torch

import shaped.spec.ops  # noqa: F401 - declares the operations
from shaped.spec.op import MODULES, OPS, find_op
from shaped.spec.values import UNKNOWN
from tests.spec.ops.against_torch import resolve
from tests.spec.ops.modules import parameters_of, plain

FUNCTIONS = sorted(
    name for operation in OPS.values() for name in operation.torch if name.startswith("torch.nn.functional.")
)
TORCH_MODULES = sorted(name for name in MODULES if name.startswith("torch."))
FREE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def own(function):
    """The parameters of a rule or constructor without the context; None if it takes any."""
    signature = inspect.signature(function)
    if any(parameter.kind in FREE for parameter in signature.parameters.values()):
        return None
    return [(name, default) for name, default in parameters_of(function) if name not in ("context", "self")]


def assert_same(rule, real, real_name):
    """The rule's parameters are torch's; behind them it may take more, which another name of it has."""
    assert [name for name, _ in rule[: len(real)]] == [name for name, _ in real], real_name
    for (name, default), (_, wanted) in zip(rule, real, strict=False):
        found = plain(default)
        if found is UNKNOWN or found is None or wanted is inspect.Parameter.empty:
            continue  # a default that has no say in the shape
        same = math.isclose(found, wanted) if isinstance(wanted, float) else found == wanted
        assert same, f"{real_name}: {name} is {found}, torch has {wanted}"


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if parameters_of(resolve(name))])
def test_a_function_has_torchs_parameters(name):
    real = parameters_of(resolve(name))
    rule = own(find_op(name).rule)
    # `*args, **kwargs` is a wrapper of torch's own that hides what it takes.
    if rule is not None and not {"args", "kwargs"} & {parameter for parameter, _ in real}:
        assert_same(rule, real, name)


@pytest.mark.parametrize("name", TORCH_MODULES)
def test_a_module_has_torchs_parameters(name):
    rule = own(MODULES[name].__init__)
    if rule is not None and rule:
        real = parameters_of(resolve(name).__init__)[1:]
        if not {"args", "kwargs"} & {parameter for parameter, _ in real}:
            assert_same(rule, real, name)


@pytest.mark.parametrize("name", TORCH_MODULES)
def test_a_module_is_torchs_class(name):
    assert issubclass(resolve(name), torch.nn.Module)
