"""How a spec tensor is used as torch's tensors are: operators, methods, and the functions of torch itself.

An operation is looked up under its torch name in the table and its meaning called with the same arguments. torch is
never imported: where its functions are called, it is there.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shaped.spec.meaning import Meaning
    from shaped.spec.tensor import Tensor, TensorLike

_OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"]
_COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


class TorchProtocol:
    """Operators, methods and `__torch_function__` of a spec tensor."""

    if TYPE_CHECKING:
        # Set below, one for each operator.
        __hash__ = object.__hash__

        def _binary(self, other: TensorLike) -> Tensor: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _binary
        __matmul__ = __rmatmul__ = __pow__ = __rpow__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _binary
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = _binary

        def __eq__(self, other: TensorLike) -> Tensor: ...  # type: ignore[override]  # as torch's
        def __ne__(self, other: TensorLike) -> Tensor: ...  # type: ignore[override]  # as torch's
        def __neg__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        found = None if name.startswith("__") else _method(name)
        if found is None:
            raise AttributeError(f"a spec tensor has no {name}")
        return lambda *args, **kwargs: found(self, *args, **kwargs)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., object], types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        found = _functions().get(func)
        if found is None:
            from shaped.spec.tensor import NotExpressible

            raise NotExpressible(getattr(func, "__name__", str(func)))
        return found(*args, **(kwargs or {}))

    def __getitem__(self, key: object) -> Tensor:
        from shaped.spec.meanings.indexing import getitem

        return getitem(self, key)  # type: ignore[arg-type]  # only `Tensor` has this base

    def __setitem__(self, key: object, value: object) -> None:
        from shaped.spec.meanings.indexing import setitem

        setitem(self, key, value)  # type: ignore[arg-type]  # only `Tensor` has this base


@cache
def _method(name: str) -> Callable[..., Any] | None:
    """What a method does, None if it has no meaning."""
    from shaped.spec.meaning import find_meaning

    found = find_meaning(f"Tensor.{name}") or find_meaning(f"torch.{name}")
    return None if found is None else found.entry


@cache
def _functions() -> Mapping[Callable[..., object], Callable[..., Any]]:
    """The meaning of each function of torch that has one."""
    from shaped.spec.meaning import MEANINGS, load
    from shaped.spec.op import OPS

    load()
    table: dict[Callable[..., object], Callable[..., Any]] = {}
    for name, declared in MEANINGS.items():
        for torch_name in OPS[name].torch:
            function = _resolve(torch_name)
            if function is not None:
                table[function] = declared.entry
    return table


def _resolve(torch_name: str) -> Callable[..., object] | None:
    """The object with this name in torch, where torch is imported."""
    path = torch_name.replace("Tensor.", "torch.Tensor.", 1) if torch_name.startswith("Tensor.") else torch_name
    found: Any = sys.modules.get("torch")
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found if callable(found) else None


def _operator(name: str, *, reflected: bool) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Any:
        from shaped.spec.meaning import find_meaning

        found: Meaning | None = find_meaning(f"Tensor.__{name}__")
        if found is None:
            return NotImplemented
        return found.entry(other, self) if reflected else found.entry(self, other)

    return operate


for _name in _OPERATORS:
    setattr(TorchProtocol, f"__{_name}__", _operator(_name, reflected=False))
    setattr(TorchProtocol, f"__r{_name}__", _operator(_name, reflected=True))
for _name in _COMPARISONS:
    setattr(TorchProtocol, f"__{_name}__", _operator(_name, reflected=False))
