"""Random tensors and random fillings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.broadcast import broadcast, is_joined
from shaped.spec.dims import Dim
from shaped.spec.dtype_demands import FLOATING, require_allowed, takes
from shaped.spec.dtypes import BOOL, COMPLEX, FLOAT32, INT64, INTEGERS
from shaped.spec.op import op
from shaped.spec.ops.creation import created, like_input, size_shape
from shaped.spec.ops.scan import require_size
from shaped.spec.pointwise import as_tensor, pointwise_op
from shaped.spec.promotion import common_device, excluding, is_number
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.dtype_demands import Call, Demands


@op("randint", "torch.randint", formula="y uniform in low, ..., high - 1")
def randint(
    context: Context,
    *bounds: Value,
    low: Value = None,
    high: Value = None,
    size: Value = None,
    generator: Value = None,
    out: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
) -> Value:
    if size is None:
        # The size is the last of (high, size) and (low, high, size).
        if not bounds:
            return context.unknown_tensor()
        size = bounds[-1]
    return created(size_shape(context, "randint", (size,)), dtype, INT64, device)


@op("randint_like", "torch.randint_like", formula="y uniform in low, ..., high - 1, of the shape of x")
def randint_like(
    context: Context,
    input: TensorType,
    low: Value = None,
    high: Value = None,
    *,
    generator: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    memory_format: Value = None,
    pin_memory: Value = False,
) -> Value:
    return like_input(input, dtype, device)


@op("randperm", "torch.randperm", formula="y = the ints below n in random order")
def randperm(
    context: Context,
    n: Value,
    *,
    generator: Value = None,
    out: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
) -> Value:
    return created(
        size_shape(context, "randperm", (n,)) if isinstance(n, Dim) else Shape.of(context.fresh()), dtype, INT64, device
    )


@op("normal", "torch.normal", formula="y normal with mean and std", dtypes=takes(mean=FLOATING))
def normal(
    context: Context,
    mean: Value,
    std: Value = None,
    size: Value = None,
    *,
    generator: Value = None,
    out: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
) -> Value:
    if size is not None:
        return created(size_shape(context, "normal", (size,)), dtype, FLOAT32, device)
    tensors = [as_tensor(context, value) for value in (mean, std) if value is not None and not is_number(value)]
    if not tensors:
        return context.unknown_tensor()
    # torch lets a mean and a std of equal numbers of elements pass; that is an old exception, not one to rely on.
    shape = broadcast(context, "normal", *tensors)
    return TensorType(shape, tensors[0].dtype, common_device(tensors), is_joined(*tensors))


def _is_probability(call: Call) -> None:
    if call.arguments.get("p") is None:
        require_allowed(call.name, "input", call.arguments.get("input"), FLOATING)


@op("bernoulli", "torch.bernoulli", "Tensor.bernoulli", formula="y = 1 with probability x", dtypes=(_is_probability,))
def bernoulli(
    context: Context, input: TensorType, p: Value = None, *, generator: Value = None, out: Value = None
) -> Value:
    return input


@op("poisson", "torch.poisson", formula="y Poisson with mean x", dtypes=takes(input=FLOATING))
def poisson(context: Context, input: TensorType, generator: Value = None) -> Value:
    return input


@op(
    "multinomial",
    "torch.multinomial",
    "Tensor.multinomial",
    formula="indices drawn with weights x",
    dtypes=takes(input=FLOATING),
)
def multinomial(
    context: Context,
    input: TensorType,
    num_samples: Value,
    replacement: Value = False,
    *,
    generator: Value = None,
    out: Value = None,
) -> Value:
    excluding("multinomial", input.dtype, INTEGERS | BOOL | COMPLEX, "tensors are not allowed, use a float dtype")
    if input.shape.rank == 0 or input.shape.least_rank > 2:
        raise ShapeError("multinomial", "the weights have 1 or 2 axes", str(input))
    count = num_samples if isinstance(num_samples, Dim) else context.fresh()
    if count.constant is not None and count.constant < 1:
        raise ShapeError("multinomial", f"{count} samples are asked for, at least 1 is needed", str(input))
    if replacement is False:
        require_size(context, "multinomial", input, -1, count, "num_samples without replacement")
    if input.shape.rank is None:
        return context.unknown_tensor(INT64)
    return input.with_shape(Shape((*input.shape.dims[:-1], count))).with_dtype(INT64)


# The methods that fill a tensor with random numbers.
_FILLINGS: dict[str, Demands] = {
    **dict.fromkeys(("normal_", "uniform_", "log_normal_", "cauchy_"), takes(input=FLOATING)),
    **dict.fromkeys(("exponential_", "geometric_", "random_"), ()),
}


def _declare_filling(name: str, dtypes: Demands) -> None:
    @op(name, in_place=(f"Tensor.{name}",), formula=f"y {name[:-1].replace('_', '-')}", dtypes=dtypes)
    def rule(
        context: Context,
        input: TensorType,
        a: Value = None,
        b: Value = None,
        *,
        generator: Value = None,
        **options: Value,
    ) -> Value:
        return input


for _row in _FILLINGS.items():
    _declare_filling(*_row)


@pointwise_op(
    "bernoulli_with", formula="y = 1 with probability p", in_place=("Tensor.bernoulli_",), dtypes=takes(p=FLOATING)
)
def bernoulli_(context: Context, input: TensorType, p: Value = None, *, generator: Value = None) -> Value:
    if not isinstance(p, TensorType):
        return input
    return TensorType(broadcast(context, "bernoulli_", input, p), input.dtype, input.device, is_joined(input, p))
