"""`torch.nn.init`: fillings of parameters, which some take only with enough axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import product
from shaped.spec.dtype_demands import FLOATING, takes
from shaped.spec.op import op

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.values import TensorType, Value

# (name, formula, least axes, most axes)
_SCHEMES: list[tuple[str, str, int, int | None]] = [
    ("uniform_", "w uniform in [a, b]", 0, None),
    ("normal_", "w normal with mean and std", 0, None),
    ("trunc_normal_", "w normal, cut to [a, b]", 0, None),
    ("constant_", "w = val", 0, None),
    ("ones_", "w = 1", 0, None),
    ("zeros_", "w = 0", 0, None),
    ("eye_", "w = the identity", 2, 2),
    ("dirac_", "w = the identity of a convolution", 3, 5),
    ("xavier_uniform_", "w uniform with variance 2/(fan_in + fan_out)", 2, None),
    ("xavier_normal_", "w normal with variance 2/(fan_in + fan_out)", 2, None),
    ("kaiming_uniform_", "w uniform with variance gain^2/fan", 2, None),
    ("kaiming_normal_", "w normal with variance gain^2/fan", 2, None),
    ("orthogonal_", "w with orthogonal rows or columns", 2, None),
    ("sparse_", "w with some zeros in each column", 2, 2),
]
_OF_ANY_DTYPE = {"constant_", "ones_", "zeros_", "eye_", "dirac_"}
_OLD_NAMES = {
    *("uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal"),
    *("kaiming_uniform", "kaiming_normal", "orthogonal"),
}


def _declare(name: str, formula: str, least: int, most: int | None) -> None:
    names = [f"torch.nn.init.{name}"]
    if name[:-1] in _OLD_NAMES:
        names.append(f"torch.nn.init.{name[:-1]}")

    dtypes = () if name in _OF_ANY_DTYPE else takes(tensor=FLOATING)

    @op(f"nn.init.{name}", formula=formula, in_place=names, dtypes=dtypes)
    def rule(context: Context, tensor: TensorType, *args: Value, **options: Value) -> Value:
        rank = tensor.shape.rank
        if rank is not None and (rank < least or (most is not None and rank > most)):
            wanted = f"{least}" if most == least else f"{least} to {most}" if most else f"at least {least}"
            raise ShapeError(f"nn.init.{name}", f"{wanted} axes are needed, not {rank}", str(tensor))
        return tensor


@op(
    "nn.init.fans",
    "torch.nn.init._calculate_fan_in_and_fan_out",
    formula="how many inputs an output has, how many outputs an input",
)
def fans(context: Context, tensor: TensorType) -> Value:
    shape = tensor.shape
    if shape.rank is None:
        return context.fresh(), context.fresh()
    if shape.rank < 2:
        raise ShapeError("nn.init._calculate_fan_in_and_fan_out", "at least 2 axes are needed", str(tensor))
    outputs, inputs, *places = shape.dims
    return product((inputs, *places)), product((outputs, *places))


for _row in _SCHEMES:
    _declare(*_row)
