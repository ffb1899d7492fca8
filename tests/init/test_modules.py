"""`init_module`: which bits each parameter gets, what they depend on, and what is refused before a write."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize

from shaped.init.modules import init_module
from shaped.init.plan import plan_module
from shaped.init.pytorch_defaults import PYTORCH_DEFAULTS
from shaped.init.rule_sets import TORCHLEAN
from shaped.init.rules import ExceptRows, Keep, Rule, RuleError
from shaped.init.schemes import Normal, Ones, Uniform, XavierUniform, Zeros
from shaped.init.seeds import next_seed, parameter_seed
from shaped.init.tensors import tensor

if TYPE_CHECKING:
    from collections.abc import Mapping


def bits(module: nn.Module) -> dict[str, list[int]]:
    """The bits of each float32 parameter."""
    return {name: one.detach().view(torch.int32).flatten().tolist() for name, one in module.named_parameters()}


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5)
        self.head.weight = self.embedding.weight


# The values


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(3, 2)
        self.head = nn.Linear(2, 1)


def test_the_bits_of_a_small_model_stay_as_they_are() -> None:
    """Each is `-L + rand01(s, i)*(2*L)`, rounded to float32, `L = sqrt(6/(in + out))`, where s folds the name in:
    `s = mix(7)`, `s = mix(s ^ block)` for each eight bytes of the name, little-endian, then `mix(s ^ length)`."""
    model = init_module(Small(), XavierUniform(), seed=7)
    assert parameter_seed(7, "fc1.weight") == 0x38F3F11747C55EB5
    assert parameter_seed(7, "head.weight") == 0x46719675B0D669E
    assert [value.hex() for value in model.fc1.weight.flatten().tolist()] == [
        "0x1.2732240000000p-3",
        "-0x1.50d4180000000p-1",
        "0x1.1663f00000000p-3",
        "0x1.89e4160000000p-4",
        "0x1.2019240000000p-2",
        "0x1.0b08ba0000000p-1",
    ]
    assert [value.hex() for value in model.head.weight.flatten().tolist()] == [
        "0x1.277ffc0000000p-1",
        "0x1.2b89280000000p+0",
    ]
    assert not model.fc1.bias.any()


@given(st.integers(-(2**63), 2**64 - 1))
def test_each_parameter_is_the_tensor_of_its_own_seed(seed: int) -> None:
    model = init_module(net(), {"*.weight": Normal(), "*.bias": Uniform(-1, 1)}, seed)
    for name, parameter in model.named_parameters():
        scheme = Normal() if "weight" in name else Uniform(-1, 1)
        assert torch.equal(parameter, tensor(scheme, parameter.shape, parameter_seed(seed, name)))


def test_the_module_itself_is_given_back() -> None:
    model = net()
    parameters = list(model.parameters())
    assert init_module(model, Zeros()) is model
    assert all(one is other for one, other in zip(model.parameters(), parameters))


def test_a_layer_that_is_added_leaves_the_others_as_they_were() -> None:
    class Deeper(Small):
        def __init__(self) -> None:
            super().__init__()
            self.fc1 = nn.Linear(3, 2)
            self.between = nn.Linear(2, 2)
            self.head = nn.Linear(2, 1)

    shallow, deeper = bits(init_module(Small(), Normal())), bits(init_module(Deeper(), Normal()))
    assert {name: deeper[name] for name in shallow} == shallow


def test_other_rules_for_one_parameter_leave_the_others_as_they_were() -> None:
    one = bits(init_module(net(), {"0.weight": Normal(), "*": Uniform()}))
    other = bits(init_module(net(), {"0.weight": Zeros(), "*": Uniform()}))
    assert one.pop("0.weight") != other.pop("0.weight")
    assert one == other


@given(st.integers(0, 2**64 - 2))
def test_models_of_neighbouring_seeds_share_no_weights(seed: int) -> None:
    seeds = {parameter_seed(seed + step, name) for step in (0, 1) for name in bits(net())}
    assert len(seeds) == 8


def test_equal_layers_of_a_model_differ() -> None:
    model = init_module(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), Normal())
    assert not set(bits(model)["0.weight"]) & set(bits(model)["1.weight"])


# TorchLean's stream


def test_the_reference_gives_each_linear_layer_two_seeds_in_order() -> None:
    plan = plan_module(net(), {"*": Uniform()}, seed=5, seeds="reference")
    assert {name: draw.seed for name, draw in plan.items()} == {
        "0.weight": next_seed(5, 0),
        "0.bias": next_seed(5, 1),
        "2.weight": next_seed(5, 2),
        "2.bias": next_seed(5, 3),
    }


def test_a_layer_without_a_bias_takes_two_seeds_as_well() -> None:
    model = nn.Sequential(nn.Linear(3, 4, bias=False), nn.Linear(4, 2))
    plan = plan_module(model, TORCHLEAN, seed=5, seeds="reference")
    assert plan["1.weight"].seed == next_seed(5, 2)


def test_a_layer_that_is_used_twice_takes_its_seeds_once() -> None:
    shared = nn.Linear(3, 3)
    plan = plan_module(nn.Sequential(shared, shared, nn.Linear(3, 2)), TORCHLEAN, seeds="reference")
    assert {name: draw.seed for name, draw in plan.items()} == {
        "0.weight": next_seed(0, 0),
        "0.bias": next_seed(0, 1),
        "2.weight": next_seed(0, 2),
        "2.bias": next_seed(0, 3),
    }


def test_models_of_neighbouring_seeds_share_weights_in_the_reference() -> None:
    """Its weakness, kept: the second seed of one model is the first of the next."""
    one = plan_module(net(), {"*": Uniform()}, seed=0, seeds="reference")
    other = plan_module(net(), {"*": Uniform()}, seed=1, seeds="reference")
    assert one["0.bias"].seed == other["0.weight"].seed


def test_the_reference_has_no_seed_for_other_layers() -> None:
    with pytest.raises(
        RuleError, match=r"1.weight \(Conv1d, .*: the reference's stream has seeds for linear layers only"
    ):
        plan_module(nn.Sequential(nn.Linear(2, 2), nn.Conv1d(2, 2, 1)), Uniform(), seeds="reference")


def test_rows_of_their_own_need_a_seed_too() -> None:
    with pytest.raises(RuleError, match="seeds for linear layers only"):
        plan_module(nn.LSTM(2, 3), {"*": ExceptRows(Zeros(), 0, 3, rows=Uniform())}, seeds="reference")


def test_constants_need_no_seed_of_the_reference() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2), nn.PReLU())
    assert set(plan_module(model, XavierUniform(), seeds="reference")) == set(bits(model))


# Tied weights


def test_tied_weights_are_drawn_once_by_their_first_name() -> None:
    model = Tied()
    assert list(plan_module(model, Normal())) == ["embedding.weight", "head.bias"]
    init_module(model, {nn.Embedding: Normal(), nn.Linear: Ones()}, seed=3)
    assert torch.equal(model.head.weight, tensor(Normal(), (5, 3), parameter_seed(3, "embedding.weight")))
    assert model.head.weight is model.embedding.weight


def test_a_module_that_stands_in_two_places_is_drawn_by_its_first_name() -> None:
    shared = nn.Linear(2, 2)
    model = nn.ModuleDict({"encoder": nn.Sequential(shared), "decoder": nn.Sequential(shared)})
    assert list(plan_module(model, Normal())) == ["encoder.0.weight", "encoder.0.bias"]


def test_a_module_that_knows_its_parent_is_walked_once() -> None:
    class Child(nn.Linear):
        parent: nn.Module

    parent = nn.Sequential(Child(2, 2))
    parent[0].parent = parent
    assert list(plan_module(parent, Normal())) == ["0.weight", "0.bias"]


def test_two_parameters_that_are_the_same_memory_are_tied() -> None:
    model = net()
    model.append(nn.Linear(4, 2))
    model[3].weight = nn.Parameter(model[2].weight.detach())
    init_module(model, Normal(), seed=1)
    assert list(plan_module(model, Normal())) == ["0.weight", "0.bias", "2.weight", "2.bias", "3.bias"]
    assert torch.equal(model[3].weight, tensor(Normal(), (2, 4), parameter_seed(1, "2.weight")))


def test_parameters_that_share_memory_in_part_are_refused() -> None:
    first, second = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
    second.weight = nn.Parameter(first.weight.detach().t())
    model = nn.Sequential(first, second)
    before = bits(model)
    with pytest.raises(RuleError, match=r"0\.weight and 1\.weight share memory in part: give one of them Keep"):
        init_module(model, Normal())
    assert bits(model) == before
    init_module(model, {"0.*": Normal(), "1.*": Keep()})
    assert torch.equal(second.weight, tensor(Normal(), (4, 4), parameter_seed(0, "0.weight")).t())


def test_each_two_that_share_memory_are_named() -> None:
    whole = torch.empty(12)
    model = nn.ParameterDict(
        {
            "whole": nn.Parameter(whole),
            "first": nn.Parameter(whole[:4]),
            "last": nn.Parameter(whole[8:]),
            "bits": nn.Parameter(whole[4:6].view(torch.float16)),
        }
    )
    with pytest.raises(RuleError) as raised:
        init_module(model, {"*": Ones()})
    named = [set(line.split(" share")[0].split(" and ")) for line in str(raised.value).split("\n    ")[1:]]
    assert len(named) == 3
    assert all({"whole", other} in named for other in ("first", "last", "bits"))


def test_parameters_that_are_disjoint_columns_of_one_memory_are_drawn() -> None:
    whole = torch.empty(4, 6)
    model = nn.ParameterDict({"left": nn.Parameter(whole[:, :2]), "right": nn.Parameter(whole[:, 2:])})
    init_module(model, Normal())
    assert torch.equal(whole[:, 2:], tensor(Normal(), (4, 4), parameter_seed(0, "right")))
    assert torch.equal(whole[:, :2], tensor(Normal(), (4, 2), parameter_seed(0, "left")))


# What does not matter, and what stays as it is


def test_torchs_random_state_is_neither_read_nor_changed() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    one = bits(init_module(net(), Normal()))
    torch.manual_seed(1)
    other = net()
    torch.set_rng_state(before)
    assert bits(init_module(other, Normal())) == one
    assert torch.equal(torch.get_rng_state(), before)


def test_buffers_gradients_and_flags_are_left_alone() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    model(torch.ones(2, 3)).sum().backward()
    model[0].bias.requires_grad_(False)
    buffers = copy.deepcopy(dict(model.named_buffers()))
    gradients = {name: one.grad for name, one in model.named_parameters()}
    init_module(model, Normal())
    assert all(torch.equal(one, buffers[name]) for name, one in model.named_buffers())
    assert all(one.grad is gradients[name] for name, one in model.named_parameters())
    assert [one.requires_grad for one in model.parameters()] == [True, False, True, True]
    assert all(one.is_leaf for one in model.parameters())


def test_the_memory_format_of_a_kernel_does_not_matter() -> None:
    plain, last = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    assert not last.weight.is_contiguous()
    assert torch.equal(init_module(plain, Normal()).weight, init_module(last, Normal()).weight)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_each_dtype_is_drawn_in_its_own_precision(dtype: torch.dtype) -> None:
    layer = init_module(nn.Linear(3, 4, dtype=dtype), Normal())
    assert torch.equal(layer.weight, tensor(Normal(), (4, 3), parameter_seed(0, "weight"), dtype))


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_parameters_without_elements_are_no_trouble() -> None:
    init_module(nn.Sequential(nn.Linear(0, 3), nn.Linear(3, 0)), XavierUniform())


def test_wrappers_do_not_change_a_name() -> None:
    model = net()
    compiled = nn.Sequential(nn.DataParallel(torch.compile(copy.deepcopy(model))))
    assert "0.module._orig_mod.0.weight" in dict(compiled.named_parameters())
    assert list(plan_module(compiled, Normal())) == [f"0.{name}" for name, _ in model.named_parameters()]


def test_a_kept_parameter_keeps_its_values() -> None:
    model = net()
    before = bits(model)
    init_module(model, [Rule("0.*", Keep()), Rule("*", Ones())])
    after = bits(model)
    assert after["0.weight"] == before["0.weight"]
    assert after["2.weight"] != before["2.weight"]


def test_rows_may_have_a_scheme_of_their_own() -> None:
    """The forget gate of an LSTM, with a bias of one."""
    lstm = nn.LSTM(2, 3)
    init_module(lstm, {"bias_ih*": ExceptRows(Uniform(), 3, 6, rows=Ones()), "*": Zeros()}, seed=2)
    whole = tensor(Uniform(), (12,), parameter_seed(2, "bias_ih_l0"))
    bias = lstm.get_parameter("bias_ih_l0")
    assert torch.equal(bias[3:6], torch.ones(3))
    assert torch.equal(bias[:3], whole[:3])
    assert torch.equal(bias[6:], whole[6:])


# Parametrizations


@pytest.mark.parametrize("register", [parametrizations.weight_norm, parametrizations.spectral_norm])
def test_a_parametrized_tensor_is_drawn_as_before_it_was_parametrized(register: Any) -> None:
    before = init_module(nn.Sequential(nn.Linear(3, 4)), Normal(), seed=1)
    torch.manual_seed(0)  # spectral_norm draws its first vectors
    register(before[0])
    torch.manual_seed(0)
    after = nn.Sequential(nn.Linear(3, 4))
    register(after[0])
    buffers = copy.deepcopy(dict(after.named_buffers()))
    init_module(after, Normal(), seed=1)
    assert list(plan_module(after, Normal())) == ["0.bias", "0.weight"]
    assert bits(after) == bits(before)
    assert all(torch.equal(one, buffers[name]) for name, one in after.named_buffers())
    assert all(module.training for module in after.modules())


def test_a_parametrization_that_cannot_be_inverted_counts_as_the_identity() -> None:
    class Symmetric(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.shift = nn.Parameter(torch.ones(3))

        def forward(self, x: Tensor) -> Tensor:
            return x.triu() + x.triu(1).T + self.shift

    layer = nn.Linear(3, 3, bias=False)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    init_module(layer, {nn.Linear: Normal(), "parametrizations.weight.0.shift": Zeros()})
    assert torch.equal(layer.weight.triu(), tensor(Normal(), (3, 3), parameter_seed(0, "weight")).triu())
    assert torch.equal(layer.weight, layer.weight.T)


def test_a_parametrization_that_says_it_has_no_inverse_counts_as_the_identity() -> None:
    layer = parametrizations.orthogonal(nn.Linear(3, 3, bias=False), "weight", "cayley", use_trivialization=False)
    init_module(layer, Normal())
    original = layer.get_parameter("parametrizations.weight.original")
    assert torch.equal(original, tensor(Normal(), (3, 3), parameter_seed(0, "weight")))


class Times(nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        return x * self.factor

    def right_inverse(self, x: Tensor) -> Tensor:
        return x / self.factor


class Plus(Times):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.factor

    def right_inverse(self, x: Tensor) -> Tensor:
        return x - self.factor


def test_several_parametrizations_are_inverted_from_the_last() -> None:
    layer = nn.Linear(3, 2)
    parametrize.register_parametrization(layer, "weight", Times(4))
    parametrize.register_parametrization(layer, "weight", Plus(1))
    init_module(layer, {"*": Ones()})
    assert torch.equal(layer.weight, torch.ones(2, 3))
    assert not layer.get_parameter("parametrizations.weight.original").any()


def test_an_inverse_of_another_shape_is_refused() -> None:
    class Half(Times):
        def right_inverse(self, x: Tensor) -> Tensor:
            return x[: len(x) // int(self.factor)]

    layer = nn.Linear(3, 2)
    half = Half(1)
    parametrize.register_parametrization(layer, "weight", half)
    half.factor = 2
    with pytest.raises(
        RuleError, match=r"weight is parametrized by .* \[\(2, 3\)\], and right_inverse gives \[\(1, 3\)\]"
    ):
        init_module(layer, {"*": Ones()})


def test_a_parametrization_that_draws_random_numbers_is_refused() -> None:
    model = nn.Sequential(nn.Linear(2, 2), parametrizations.orthogonal(nn.Linear(3, 4)))
    before = bits(model)
    with pytest.raises(RuleError, match=r"1\.weight is parametrized by orthogonal"):
        init_module(model, Normal())
    assert bits(model) == before


def test_the_lengths_of_the_deprecated_weight_norm_are_no_weights() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        layer = nn.utils.weight_norm(nn.Linear(2, 3))
    with pytest.raises(RuleError, match="no rule decides: weight_g"):
        init_module(layer, Normal())


# Refusals


@pytest.mark.parametrize(
    "module, message",
    [
        (nn.Linear(2, 3, device="meta"), r"weight is on the meta device.*: call module.to_empty\(device=...\) first"),
        (nn.LazyLinear(3), "a lazy module has no shape yet:\n    weight\n    bias\nrun the model once"),
        (
            nn.Linear(2, 3, dtype=torch.complex64),
            r"weight is torch.complex64, one of .* is needed: give it Keep\(\)",
        ),
        (
            nn.ParameterList([nn.Parameter(torch.ones(2, 3).to(torch.float8_e4m3fn), requires_grad=False)]),
            "0 is torch.float8_e4m3fn",
        ),
        (
            nn.ParameterList([nn.Parameter(torch.ones(2, 3, dtype=torch.int64), requires_grad=False)]),
            "0 is torch.int64, one of torch.float64, ",
        ),
        (
            nn.ParameterList([nn.Parameter(torch.eye(3).to_sparse())]),
            r"0 has the layout torch.sparse_coo: make it dense",
        ),
        (nn.ParameterList([nn.Parameter(torch.ones(1, 3).expand(2, 3))]), "0 has several elements that are one"),
        (nn.ParameterList([nn.Parameter(torch.ones(4).as_strided((2, 3), (1, 1)))]), "0 has several elements that are"),
    ],
)
@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_a_parameter_that_cannot_be_drawn_is_refused(module: nn.Module, message: str) -> None:
    with pytest.raises(RuleError, match=message):
        init_module(module, Uniform())


def test_a_parameter_of_inference_mode_is_refused() -> None:
    with torch.inference_mode():
        layer = nn.Linear(2, 3)
    with pytest.raises(RuleError, match="weight was made in inference mode"):
        init_module(layer, Uniform())


@pytest.mark.slow  # importing torch.distributed.tensor takes seconds
def test_a_distributed_parameter_is_refused_and_its_shards_are_planned() -> None:
    from torch import distributed
    from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        layer = nn.Linear(4, 6)
        layer.weight = nn.Parameter(distribute_tensor(layer.weight.detach(), init_device_mesh("cpu", (1,)), [Shard(0)]))
        with pytest.raises(RuleError, match=r"weight is distributed \(DTensor\): .* each shard of `plan_module`"):
            init_module(layer, Normal())
        draw = plan_module(layer, Normal())["weight"]
        assert draw == plan_module(nn.Linear(4, 6), Normal())["weight"]
    finally:
        distributed.destroy_process_group()


def test_integer_parameters_may_be_kept() -> None:
    model = nn.ParameterDict(
        {"codes": nn.Parameter(torch.ones(2, 3, dtype=torch.int8), requires_grad=False), "w": torch.ones(2)}
    )
    init_module(model, {"codes": Keep(), "w": Zeros()})
    assert model["codes"].all()
    assert not model["w"].any()


@pytest.mark.parametrize(
    "rules",
    [{"*.weight": Ones()}, {"*": Ones(), "2.*": Zeros()}, {"*": XavierUniform()}, {"*.wait": Ones(), "*": Ones()}],
)
def test_nothing_is_written_when_something_is_refused(rules: Mapping[Any, Any]) -> None:
    model = net()
    before = bits(model)
    with pytest.raises(RuleError):
        init_module(model, rules)
    assert bits(model) == before


def test_one_parameter_that_cannot_be_drawn_leaves_all_as_they_were() -> None:
    model = net()
    before = bits(model)["0.weight"]
    model[2].to("meta")
    with pytest.raises(RuleError, match=r"2\.weight"):
        init_module(model, Ones())
    assert model[0].weight.detach().view(torch.int32).flatten().tolist() == before


# The plan, and shards of it


def test_a_plan_is_made_without_memory() -> None:
    with torch.device("meta"):
        model = net()
    plan = plan_module(model, Normal(), seed=4)
    model.to_empty(device="cpu")
    init_module(model, Normal(), seed=4)
    assert all(torch.equal(one, plan[name].tensor()) for name, one in model.named_parameters())


@given(st.data())
def test_a_shard_is_a_piece_of_the_whole(data: st.DataObject) -> None:
    start, stop = sorted(data.draw(st.tuples(st.integers(0, 5), st.integers(0, 5))))
    offset, end = sorted(data.draw(st.tuples(st.integers(0, 15), st.integers(0, 15))))
    rules = {"*": ExceptRows(Normal(), start, stop, rows=XavierUniform())}
    draw = plan_module(nn.Embedding(5, 3), rules)["weight"]
    assert torch.equal(draw.shard(offset, end - offset), draw.tensor().flatten()[offset:end])


def test_defaults_of_a_whole_model_in_one_call() -> None:
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    one = bits(init_module(model, PYTORCH_DEFAULTS, seed=1))
    other = bits(init_module(nn.Transformer(8, 2, 1, 1, 16, batch_first=True), PYTORCH_DEFAULTS, seed=1))
    assert one == other
    assert model(torch.ones(1, 2, 8), torch.ones(1, 3, 8)).isfinite().all()
