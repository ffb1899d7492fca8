"""`PYTORCH_DEFAULTS` draws from the distributions that torch draws from when it makes a module, for each module of
`torch.nn`: what torch asks its generator for is recorded, and compared with the plan."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from shaped.init.fans import interval
from shaped.init.modules import init_module
from shaped.init.plan import plan_module
from shaped.init.pytorch_defaults import PYTORCH_DEFAULTS
from shaped.init.rules import RuleError
from shaped.init.schemes import Normal, Ones, Scheme, Zeros

if TYPE_CHECKING:
    from collections.abc import Callable

Distribution: TypeAlias = tuple[str, float, float]  # its name, its bounds or its mean and deviation

# Each module of torch.nn that has parameters, in all the ways that change how they are made.
MODULES: dict[str, Callable[[], nn.Module]] = {
    "AdaptiveLogSoftmaxWithLoss": lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], head_bias=True),
    "BatchNorm1d": lambda: nn.BatchNorm1d(3),
    "BatchNorm2d": lambda: nn.BatchNorm2d(3),
    "BatchNorm3d": lambda: nn.BatchNorm3d(3),
    "Bilinear": lambda: nn.Bilinear(3, 5, 2),
    "Conv1d": lambda: nn.Conv1d(4, 6, 3),
    "Conv1d in groups": lambda: nn.Conv1d(4, 6, 3, groups=2),
    "Conv2d": lambda: nn.Conv2d(4, 6, (3, 5)),
    "Conv2d of no channels": lambda: nn.Conv2d(0, 6, 3),
    "Conv3d": lambda: nn.Conv3d(2, 3, (1, 2, 3)),
    "ConvTranspose1d": lambda: nn.ConvTranspose1d(4, 6, 3),
    "ConvTranspose2d": lambda: nn.ConvTranspose2d(4, 6, (3, 5)),
    "ConvTranspose2d in groups": lambda: nn.ConvTranspose2d(4, 6, 3, groups=2),
    "ConvTranspose3d": lambda: nn.ConvTranspose3d(2, 3, (1, 2, 3)),
    "Embedding": lambda: nn.Embedding(5, 3),
    "Embedding with a padding row": lambda: nn.Embedding(5, 3, padding_idx=-2),
    "EmbeddingBag": lambda: nn.EmbeddingBag(5, 3),
    "EmbeddingBag with a padding row": lambda: nn.EmbeddingBag(5, 3, padding_idx=2),
    "GRU": lambda: nn.GRU(3, 5, num_layers=2, bidirectional=True),
    "GRUCell": lambda: nn.GRUCell(3, 5),
    "GroupNorm": lambda: nn.GroupNorm(2, 4),
    "InstanceNorm1d": lambda: nn.InstanceNorm1d(3, affine=True),
    "InstanceNorm2d": lambda: nn.InstanceNorm2d(3, affine=True),
    "InstanceNorm3d": lambda: nn.InstanceNorm3d(3, affine=True),
    "LSTM": lambda: nn.LSTM(3, 5, proj_size=2),
    "LSTMCell": lambda: nn.LSTMCell(3, 5),
    "LayerNorm": lambda: nn.LayerNorm((3, 4)),
    "Linear": lambda: nn.Linear(3, 5),
    "Linear of no inputs": lambda: nn.Linear(0, 5),
    "LinearCrossEntropyLoss": lambda: nn.LinearCrossEntropyLoss(3, 5, bias=True),
    "MultiheadAttention": lambda: nn.MultiheadAttention(4, 2, add_bias_kv=True),
    "MultiheadAttention without biases": lambda: nn.MultiheadAttention(4, 2, bias=False),
    "MultiheadAttention of other keys": lambda: nn.MultiheadAttention(4, 2, kdim=3, vdim=5),
    "PReLU": lambda: nn.PReLU(3, init=0.125),
    "RMSNorm": lambda: nn.RMSNorm((3, 4)),
    "RNN": lambda: nn.RNN(3, 5, nonlinearity="relu"),
    "RNNBase": lambda: nn.RNNBase("GRU", 3, 5),
    "RNNCell": lambda: nn.RNNCell(3, 5),
    "RNNCellBase": lambda: nn.RNNCellBase(3, 5, bias=True, num_chunks=2),
    "SyncBatchNorm": lambda: nn.SyncBatchNorm(3),
    "Transformer": lambda: nn.Transformer(4, 2, 2, 1, 8, batch_first=True),
    "TransformerDecoder": lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 2),
    "TransformerDecoderLayer": lambda: nn.TransformerDecoderLayer(4, 2, 8),
    "TransformerEncoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2),
    "TransformerEncoderLayer": lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
}
PRESENT = [name for name in MODULES if hasattr(nn, name.split()[0])]  # older versions of torch lack some
# Arguments for the modules without parameters.
ARGUMENTS: list[tuple[Any, ...]] = [(), (1,), (1, 1), (1, (1,)), (0.1, 0.2), (nn.Identity(), 1), (1, 1, 1)]


class Recorder(TorchDispatchMode):
    """The distribution of each tensor that is filled, by the memory of its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: dict[tuple[int, int], Distribution] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        aten = torch.ops.aten
        match func:
            case aten.uniform_.default:
                self.drawn[place(args[0])] = ("uniform", *map(float, args[1:3]))
            case aten.normal_.default:
                mean, std, *_ = (*args[1:3], *(0.0, 1.0)[len(args) - 1 :])
                self.drawn[place(args[0])] = ("normal", mean, std)
            case aten.fill_.Scalar:
                self.drawn[place(args[0])] = ("uniform", args[1], args[1])
            case aten.zero_.default:
                self.drawn[place(args[0])] = ("uniform", 0.0, 0.0)
            case aten.clone.default if place(args[0]) in self.drawn:  # the layers of an encoder are copies of one
                self.drawn[place(result)] = self.drawn[place(args[0])]
        return result


def place(tensor: Tensor) -> tuple[int, int]:
    return tensor.data_ptr(), tensor.numel()


def distribution(scheme: Scheme) -> Distribution:
    match scheme:
        case Zeros():
            return "uniform", 0.0, 0.0
        case Ones():
            return "uniform", 1.0, 1.0
        case Normal(mean=mean, std=std):
            return "normal", mean, std
    low, width = interval(scheme)
    return "uniform", low, low + width


def assert_equal(ours: Distribution, theirs: Distribution) -> None:
    assert ours[0] == theirs[0]
    # torch computes 1/sqrt(fan) as sqrt(3)*sqrt(2/(1 + sqrt(5)^2))/sqrt(fan): six roundings more than ours has.
    assert ours[1:] == pytest.approx(theirs[1:], rel=8 * 2**-53, abs=0)


@pytest.mark.parametrize("name", PRESENT)
@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors", "ignore:enable_nested_tensor")
def test_the_distribution_is_torchs(name: str) -> None:
    with Recorder() as recorder:
        module = MODULES[name]()
    plan = plan_module(module, PYTORCH_DEFAULTS)
    parameters = dict(module.named_parameters())
    assert list(plan) == list(parameters)
    for key, parameter in parameters.items():
        if parameter.numel():
            assert_equal(distribution(plan[key].scheme), recorder.drawn[place(parameter)])
        assert plan[key].shape == parameter.shape


@pytest.mark.parametrize("name", ["Embedding with a padding row", "EmbeddingBag with a padding row"])
def test_the_padding_row_is_zero_and_no_other(name: str) -> None:
    theirs = MODULES[name]()
    ours = init_module(MODULES[name](), PYTORCH_DEFAULTS)
    zero_rows = (ours.get_parameter("weight") == 0).all(dim=1)
    assert zero_rows.tolist() == (theirs.get_parameter("weight") == 0).all(dim=1).tolist()
    assert zero_rows.sum() == 1


def test_each_module_of_torch_with_parameters_is_in_the_table() -> None:
    listed = {name.split()[0] for name in MODULES}
    for name, kind in vars(nn).items():
        if not (inspect.isclass(kind) and issubclass(kind, nn.Module)) or name in listed:
            continue
        if name.startswith("Lazy") or name == "Container":  # become another class; deprecated and the same as Module
            continue
        assert not parameters_of_any(kind), f"nn.{name} has parameters"


def parameters_of_any(kind: type[nn.Module]) -> list[nn.Parameter]:
    """The parameters of a module that is made with the first arguments that it takes."""
    for arguments in ARGUMENTS:
        try:
            return list(kind(*arguments).parameters())
        except (TypeError, ValueError):
            continue
    raise AssertionError(f"no arguments for nn.{kind.__name__}")


def test_a_model_of_layers_has_their_defaults() -> None:
    """A parameter's distribution is its layer's, wherever it stands."""
    model = nn.Sequential(nn.Linear(3, 5), nn.ModuleDict({"norm": nn.LayerNorm(5)}))
    plan = plan_module(model, PYTORCH_DEFAULTS)
    assert distribution(plan["0.weight"].scheme) == ("uniform", -1 / math.sqrt(3), 1 / math.sqrt(3))
    assert plan["1.norm.weight"].scheme == Ones()


def test_a_module_that_torch_does_not_know_has_no_default() -> None:
    model = nn.ParameterList([nn.Parameter(torch.ones(2, 2))])
    with pytest.raises(RuleError, match=r"no rule decides: 0 \(ParameterList, shape \(2, 2\)\)"):
        init_module(model, PYTORCH_DEFAULTS)


def test_values_are_spread_over_the_interval_of_torch() -> None:
    layer = init_module(nn.Linear(100, 100), PYTORCH_DEFAULTS, seed=3)
    extreme = layer.weight.abs().max().item()
    # Of 10,000 draws the largest is below 0.999 of the bound with probability 0.999^10000, less than 1 in 20,000.
    assert 0.0999 < extreme <= 0.1
    assert layer.bias.abs().max().item() <= 0.1
