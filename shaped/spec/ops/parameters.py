"""What gives its tensor or module back: `nn.Parameter`, `nn.Buffer`, weight norms; and what cuts gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.dtype_demands import require_differentiable
from shaped.spec.dtypes import FLOAT
from shaped.spec.op import op
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


@op("Parameter", "torch.nn.Parameter", "torch.nn.parameter.Parameter", formula="y = x")
def parameter(context: Context, data: Value = None, requires_grad: Value = True) -> Value:
    """The tensor itself; without one, an empty tensor."""
    if data is None:
        return TensorType(Shape.of(0), FLOAT)
    if requires_grad is True:
        require_differentiable("Parameter", data)
    return data


@op("Buffer", "torch.nn.Buffer", "torch.nn.parameter.Buffer", formula="y = x")
def buffer(context: Context, data: Value = None, *, persistent: Value = True) -> Value:
    """The tensor itself; without one, an empty tensor."""
    return parameter(context, data, requires_grad=False)


def _declare_lazy(name: str) -> None:
    @op(name, f"torch.nn.{name}", f"torch.nn.parameter.{name}", formula="y of any shape")
    def lazy(context: Context, *args: Value, **kwargs: Value) -> Value:
        return context.unknown_tensor(FLOAT)


for _name in ("UninitializedParameter", "UninitializedBuffer"):
    _declare_lazy(_name)


def _declare_identity(*torch: str) -> None:
    """A function that gives its module back."""

    @op(torch[0].rpartition(".")[2], *torch, formula="y = module")
    def same(context: Context, module: Value, *args: Value, **kwargs: Value) -> Value:
        return module


_UTILS = "torch.nn.utils"
_declare_identity(f"{_UTILS}.weight_norm", f"{_UTILS}.parametrizations.weight_norm")
_declare_identity(f"{_UTILS}.spectral_norm", f"{_UTILS}.parametrizations.spectral_norm")
_declare_identity(f"{_UTILS}.parametrizations.orthogonal")
_declare_identity(f"{_UTILS}.remove_weight_norm")
_declare_identity(f"{_UTILS}.remove_spectral_norm")
_declare_identity(f"{_UTILS}.parametrize.register_parametrization")
_declare_identity(f"{_UTILS}.parametrize.remove_parametrizations")
_declare_identity(f"{_UTILS}.fusion.fuse_conv_bn_eval")
_declare_identity(f"{_UTILS}.fusion.fuse_linear_bn_eval")


def _declare_gradient_norm(name: str) -> None:
    @op(name, f"{_UTILS}.{name}", formula="the norm of all gradients")
    def norm(context: Context, *args: Value, **kwargs: Value) -> Value:
        return TensorType(Shape(()), FLOAT)


for _name in ("clip_grad_norm_", "get_total_norm"):
    _declare_gradient_norm(_name)


def _declare_nothing(name: str) -> None:
    @op(name, f"{_UTILS}.{name}", formula="gradients cut in place")
    def cut(context: Context, *args: Value, **kwargs: Value) -> Value:
        return None


for _name in ("clip_grad_value_", "clip_grads_with_norm_", "vector_to_parameters"):
    _declare_nothing(_name)


@op("parameters_to_vector", f"{_UTILS}.parameters_to_vector", formula="all parameters, one after another")
def parameters_to_vector(context: Context, parameters: Value) -> Value:
    """All parameters as one vector."""
    return TensorType(Shape.of(context.fresh()), FLOAT) if parameters is not None else UNKNOWN
