"""The meanings agree with torch on the sample inputs that torch tests its own operations with."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from shaped.spec.meaning import find_meaning
from shaped.spec.tensor import NotExpressible
from tests.spec.meanings.three_ways import Fixed, compare

_MOST_SAMPLES, _MOST_ELEMENTS = 12, 600
_OTHERWISE = {
    "nn.functional.hardsigmoid": "torch takes the sixth of its gradient in float32",
    "logcumsumexp": "torch takes the logarithm of the upstream gradient, which costs digits",
    "special.log_ndtr": "1 + erf(x) loses its digits in float64 far below 0",
    "special.erfcx": "1 - erf(x) loses its digits in float64 far above 0",
    **dict.fromkeys(
        ["where", "polygamma", "special.polygamma", "nn.functional.embedding"], "its samples are given in another order"
    ),
    **dict.fromkeys(["take", "take_along_dim", "put"], "its samples hold negative indices, which are not followed"),
    **dict.fromkeys(["empty", "empty_like", "new_empty"], "it has no values"),
    "flip": "its samples name `dims`, which a call through `spec.calls` spreads",
    "zero_": "it writes to its argument",
}


def _samples() -> Iterator[tuple[str, str, tuple[Any, ...], dict[str, Any]]]:
    """Name, torch name and arguments of calls of small tensors, not of lists of them."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        name = f"torch.{info.name}"
        if torch.float64 not in info.supported_dtypes("cpu") or find_meaning(name) is None or info.name in _OTHERWISE:
            continue
        samples = info.sample_inputs("cpu", torch.float64, requires_grad=info.supports_autograd)
        for sample in itertools.islice(samples, _MOST_SAMPLES):
            args, kwargs = (sample.input, *sample.args), sample.kwargs
            if _is_followed([*args, *kwargs.values()]):
                yield info.name, name, tuple(map(_given, args)), {key: _given(each) for key, each in kwargs.items()}


def _is_followed(values: list[Any]) -> bool:
    """Whether arguments hold no list of tensors, and tensors that are small, not empty and finite."""
    inside = [each for value in values if isinstance(value, (list, tuple)) for each in value]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    return (
        not any(isinstance(each, torch.Tensor) for each in inside)
        and sum(each.numel() for each in tensors) <= _MOST_ELEMENTS
        and all(each.numel() > 0 and bool(each.isfinite().all()) for each in tensors)
    )


def _given(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    is_number = value.is_floating_point() or value.is_complex()
    return Fixed(value.detach()) if is_number and not value.requires_grad else value.detach()


def _fault(torch_name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """How a meaning disagrees, empty if it agrees or is not followed."""
    try:
        comparison = compare(torch_name, *args, symbolic=False, **kwargs)
        comparison.values_agree()
        outputs = comparison.wanted if isinstance(comparison.wanted, (tuple, list)) else [comparison.wanted]
        if any(isinstance(each, torch.Tensor) and each.requires_grad for each in outputs):
            comparison.gradients_agree()
    except (NotExpressible, NotImplementedError):
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""


@pytest.mark.slow
def test_values_and_gradients_agree_on_torchs_own_samples() -> None:
    faults, count = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of operations that torch is about to rename
        for name, torch_name, args, kwargs in _samples():
            count += 1
            fault = _fault(torch_name, args, kwargs)
            if fault:
                faults.append(f"{name}: {fault}")
    assert count > 800
    assert not faults, "\n".join(faults)
