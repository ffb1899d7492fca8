"""Every dtype word takes the dtypes that jaxtyping says, of torch's tensors and of numpy's arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
from jaxtyping import AbstractDtype
from torch import Tensor

from shaped.runtime.checked import checked

# A fault of the generated code leaves a function to jaxtyping, with a warning: then nothing is compared here.
pytestmark = pytest.mark.filterwarnings("error:jaxtyping checks:RuntimeWarning")

WORDS = sorted(
    name
    for name in dir(jaxtyping)
    if isinstance(getattr(jaxtyping, name), type)
    and issubclass(getattr(jaxtyping, name), AbstractDtype)
    and name != "AbstractDtype"
)
# torch.empty makes no quantized tensors.
TORCH_DTYPES = sorted(
    {value for value in vars(torch).values() if isinstance(value, torch.dtype) and "torch.q" not in str(value)}, key=str
)
NUMPY_DTYPES = [np.dtype(code) for code in "?bhilqBHILQefdgFDGSUOMmV"]


class Half(AbstractDtype):
    """Dtypes of 16 bits, by name."""

    dtypes = ["float16", "bfloat16"]  # noqa: RUF012


class Word(AbstractDtype):
    """Dtypes of 32 bits, by a pattern."""

    dtypes = re.compile(r".*32$")


class Single(AbstractDtype):
    """One dtype."""

    dtypes = "float32"


OWN_WORDS = {"Half": Half, "Word": Word, "Single": Single}


@cache
def hint(word: str, array: type) -> Any:
    """The annotation of one axis with a dtype word."""
    return (OWN_WORDS.get(word) or getattr(jaxtyping, word))[array, "n"]


@cache
def decorated(word: str, array: type) -> Callable[[Any], Any]:
    """A checked function of one array with this dtype word."""

    def f(x: Any) -> None:
        pass

    f.__annotations__["x"] = hint(word, array)
    return checked(f)


def accepts(word: str, array: type, value: object) -> bool:
    """Whether a checked function takes the value."""
    try:
        decorated(word, array)(value)
    except TypeError:
        return False
    return True


def test_the_words_are_all_that_jaxtyping_has() -> None:
    assert {"Float", "Int", "Bool", "Shaped", "BFloat16", "Float8e5m2", "UInt4", "Key"} <= set(WORDS)
    assert len(WORDS) >= 34


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("dtype", TORCH_DTYPES, ids=str)
def test_a_word_takes_the_tensors_that_jaxtyping_says(dtype: torch.dtype) -> None:
    tensor = torch.empty(2, dtype=dtype)
    for word in [*WORDS, *OWN_WORDS]:
        assert accepts(word, Tensor, tensor) == isinstance(tensor, hint(word, Tensor)), word


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=str)
def test_a_word_takes_the_arrays_that_jaxtyping_says(dtype: np.dtype[Any]) -> None:
    array = np.empty(2, dtype)
    for word in [*WORDS, *OWN_WORDS]:
        assert accepts(word, np.ndarray, array) == isinstance(array, hint(word, np.ndarray)), word


@pytest.mark.parametrize(
    "word, accepted",
    [
        ("Float", {torch.float16, torch.bfloat16, torch.float32, torch.float64}),
        ("Int", {torch.int8, torch.int16, torch.int32, torch.int64}),
        ("Bool", {torch.bool}),
        ("Float32", {torch.float32}),
        ("Complex", {torch.complex64, torch.complex128}),
    ],
)
def test_the_usual_words(word: str, accepted: set[torch.dtype]) -> None:
    usual = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128]
    usual += [torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
    assert {dtype for dtype in usual if accepts(word, Tensor, torch.empty(2, dtype=dtype))} == accepted


def test_a_struct_of_numpy(check: Callable[[Any], Any]) -> None:
    label = np.dtype([("first", np.uint8), ("second", bool)])
    other = np.dtype([("second", bool), ("first", np.uint8)])

    def f(x: Any) -> None:
        pass

    f.__annotations__["x"] = jaxtyping.make_numpy_struct_dtype(label, "Label")[np.ndarray, "n"]
    f = check(f)
    f(np.zeros(3, label))
    for wrong in (np.zeros(3, other), np.zeros((3, 1), label)):
        with pytest.raises(TypeError):
            f(wrong)
