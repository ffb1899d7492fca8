"""What the rules of `shaped.spec` read of run-time objects: jaxtyping's annotations and torch's tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from shaped.errors import DtypeError, Fault
from shaped.runtime.checked.failure import DtypeRefusal, ShapeRefusal
from shaped.spec.annotation import ArrayAnnotation, is_dtype_word, parse
from shaped.spec.dtypes import ANY, DType
from shaped.spec.values import TensorType


def as_refusal(fault: Fault) -> Fault:
    """The fault as a refusal of a value, which is a `TypeError` too.

    >>> from shaped.errors import ShapeError
    >>> raise as_refusal(ShapeError("TList item 1", "axis 0 is 4, not 8", '(4,) does not match "8"'))
    Traceback (most recent call last):
    shaped.runtime.checked.failure.ShapeRefusal: TList item 1: (4,) does not match "8": axis 0 is 4, not 8
    """
    kind = DtypeRefusal if isinstance(fault, DtypeError) else ShapeRefusal
    return kind(fault.operation, fault.reason, fault.operands, fault.hint, fault.dims, fault.sizes, fault.code)


def is_array_annotation(hint: object) -> bool:
    """Whether an annotation is one of jaxtyping's, for a torch tensor.

    >>> from jaxtyping import Float
    >>> is_array_annotation(Float[torch.Tensor, "b d"]), is_array_annotation(torch.Tensor)
    (True, False)
    """
    if not all(hasattr(hint, name) for name in ("dim_str", "dtypes", "dtype", "array_type")):
        return False
    array = getattr(hint, "array_type", None)
    return array is Any or (isinstance(array, type) and issubclass(array, torch.Tensor))


def array_annotation(hint: Any) -> ArrayAnnotation:
    """One of jaxtyping's annotations, as the rules read it.

    >>> from jaxtyping import Float
    >>> print(array_annotation(Float[torch.Tensor, "b  3 h w"]))
    Float[Tensor, "b 3 h w"]
    """
    word = hint.dtype.__name__
    annotation = parse(
        word if is_dtype_word(word) else "Shaped", hint.dim_str, getattr(hint.array_type, "__name__", "Any")
    )
    # A dtype word of the user's own, or of a newer jaxtyping.
    dtypes = hint.dtypes if isinstance(hint.dtypes, (tuple, list)) else ()
    allowed = frozenset(dtype for dtype in dtypes if isinstance(dtype, str)) & ANY
    if allowed and allowed != annotation.dtype.names:
        annotation = replace(annotation, dtype_word=word, dtype=DType(allowed))
    return annotation


def type_of(tensor: torch.Tensor) -> TensorType:
    """The shape and dtype of a tensor.

    >>> print(type_of(torch.ones(2, 3)))
    (2, 3)
    """
    return TensorType.of(*map(int, tensor.shape), dtype=DType.named(dtype_name(tensor.dtype)))


def dtype_name(dtype: torch.dtype) -> str:
    """The name of a dtype as the rules know it: `float32`."""
    return str(dtype).removeprefix("torch.")
