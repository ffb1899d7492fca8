"""How a spec tensor is used as torch's tensors are: operators, methods, properties, and the functions of torch itself.

Operations are found in the table by their torch names (`spec.calls`); writes in place are followed (`spec.memory`).
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shaped.spec.calls import call_method, call_named, call_torch, has_method, is_torch_tensor, notice, torch_class
from shaped.spec.dims import Dim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shaped.spec.size import Size, Sizes
    from shaped.spec.tensor import Tensor, TensorLike

_OPERATORS = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
]
_COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
_UNARY = {"neg": "torch.neg", "pos": "torch.positive", "abs": "torch.abs", "invert": "torch.bitwise_not"}
_DTYPES = {"float": "float64", "int": "int64", "bool": "bool", "complex": "complex128"}


class TorchProtocol:
    """Operators, methods, properties and `__torch_function__` of a spec tensor."""

    version: int
    # What this tensor is a part of, and its version when the part was taken; for `x[key]` also the key.
    shares: tuple[Tensor, int] | None = None
    key: object = None

    if TYPE_CHECKING:
        sizes: Any
        rank: Any
        kind: Any
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
        def __abs__(self) -> Tensor: ...

    @property  # type: ignore[misc]  # nobody assigns it
    def __class__(self) -> type:
        """torch's class for a program that is read, which may ask `isinstance(x, torch.Tensor)`."""
        return torch_class() or type(self)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or not has_method(name):
            raise AttributeError(f"a spec tensor has no {name}")
        return lambda *args, **kwargs: call_method(name, (self, *args), kwargs)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., object], types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        return call_torch(func, tuple(args), kwargs or {})

    def __getitem__(self, key: object) -> Tensor:
        from shaped.spec.memory import part

        return part(self, key)  # type: ignore[arg-type]  # only `Tensor` has this base

    def __setitem__(self, key: object, value: object) -> None:
        from shaped.spec.memory import assign

        assign(self, key, value)  # type: ignore[arg-type]  # only `Tensor` has this base

    @property
    def shape(self) -> Sizes:
        """The sizes of the axes, as programs see them."""
        from shaped.spec.size import Size, Sizes

        notice("shape")
        return Sizes(Size.of(size) for size in self.sizes)

    def size(self, dim: int | None = None) -> Sizes | Size | int:
        """The shape, or the size of one axis."""
        shape = self.shape
        found: Sizes | Size | int = shape if dim is None else shape[dim]
        return found

    @property
    def ndim(self) -> int:
        """The number of axes."""
        notice("shape")
        return int(self.rank)

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    ndimension = dim

    def numel(self) -> int | Size:
        """The number of elements."""
        return self.shape.numel()

    nelement = numel

    def __len__(self) -> int:
        if not self.rank:
            raise TypeError("len() of a tensor without axes")
        return self.shape[0].__index__()  # type: ignore[no-any-return]  # an int or a Size

    def __iter__(self) -> Iterator[Tensor]:
        return iter([self[place] for place in range(len(self))])

    def __bool__(self) -> bool:
        return bool(self._only("a branch on"))

    def __int__(self) -> int:
        return int(self._only("as an int, "))

    def __float__(self) -> float:
        return float(self._only("as a float, "))

    def __index__(self) -> int:
        if self.kind not in ("int", "bool"):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._only("as an index, "))

    def item(self) -> Tensor:
        """The only element, as a tensor without axes."""
        return call_method("reshape", (self, ()), {})  # type: ignore[no-any-return]  # a Tensor

    def _only(self, use: str) -> Any:
        """The only element, where it is one number for all sizes and inputs.

        Raises:
            NotExpressible: it is not.
        """
        from shaped.spec.expr import Constant, Truth, Whole
        from shaped.spec.index import Lookup
        from shaped.spec.size import SizeNeeded
        from shaped.spec.tensor import NotExpressible

        body = self.item().body
        if isinstance(body, (Truth, Constant)):
            return body.value
        if isinstance(body, Whole) and not any(isinstance(symbol, Lookup) for symbol in body.dim.symbols()):
            raise SizeNeeded(f"{use} the size {body.dim}")
        raise NotExpressible(f"{use} the value of a tensor")

    @property
    def dtype(self) -> Any:
        """The widest dtype of torch that holds its kind of numbers; its name where torch is not imported."""
        name = _DTYPES[self.kind]
        return getattr(sys.modules.get("torch"), name, name)

    @property
    def device(self) -> Any:
        """The CPU."""
        torch = sys.modules.get("torch")
        return "cpu" if torch is None else torch.device("cpu")

    @property
    def layout(self) -> Any:
        """Strided."""
        return getattr(sys.modules.get("torch"), "strided", None)

    requires_grad = False
    is_leaf = True
    is_cuda = is_mps = is_sparse = is_quantized = is_nested = is_meta = is_mkldnn = False
    grad_fn = grad = names = None

    def is_floating_point(self) -> bool:
        """Whether it holds floats."""
        return bool(self.kind == "float")

    def is_complex(self) -> bool:
        """Whether it holds complex numbers."""
        return bool(self.kind == "complex")

    def is_contiguous(self, *args: object, **kwargs: object) -> bool:
        """True: how elements lie in memory is not followed."""
        return True

    def get_device(self) -> int:
        """-1, the CPU."""
        return -1


def _operator(name: str, *, reflected: bool) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        return call_named(f"Tensor.__{name}__", (other, self) if reflected else (self, other), {})

    return operate


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Any:
        from shaped.spec.memory import write

        return write(self, call_named(f"Tensor.__{name}__", (self, other), {}))

    return operate


def _unary(name: str) -> Callable[[Any], Any]:
    return lambda self: call_named(name, (self,), {})


def _property(name: str, document: str) -> property:
    return property(lambda self: call_method(name, (self,), {}), doc=document)


def _is_operand(value: object) -> bool:
    """Whether torch takes the value beside a tensor in an operator."""
    from shaped.spec.size import Size

    return isinstance(value, (TorchProtocol, int, float, complex, Fraction, Dim, Size)) or is_torch_tensor(value)


for _name in _OPERATORS:
    setattr(TorchProtocol, f"__{_name}__", _operator(_name, reflected=False))
    setattr(TorchProtocol, f"__r{_name}__", _operator(_name, reflected=True))
    setattr(TorchProtocol, f"__i{_name}__", _in_place(_name))
for _name in _COMPARISONS:
    setattr(TorchProtocol, f"__{_name}__", _operator(_name, reflected=False))
for _name, _torch_name in _UNARY.items():
    setattr(TorchProtocol, f"__{_name}__", _unary(_torch_name))
for _name, _document in {
    "T": "The axes in reverse order.",
    "H": "The conjugate of the transposed matrix.",
    "mT": "The last two axes exchanged.",
    "mH": "The conjugate, with the last two axes exchanged.",
    "real": "The real part.",
    "imag": "The imaginary part.",
    "data": "The same numbers, without a gradient.",
}.items():
    setattr(TorchProtocol, _name, _property(_name, _document))
