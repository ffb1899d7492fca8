"""Rules: which parameters a pattern matches, which rule decides, and what is said of rules that fit no model."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from shaped.init.plan import plan_module
from shaped.init.rule_sets import TORCHLEAN, gpt2, weights
from shaped.init.rules import ExceptRows, Keep, Rule, RuleError, Rules, constant
from shaped.init.schemes import KaimingUniform, Normal, Ones, Scheme, Uniform, XavierUniform, Zeros


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(4, 4)
        self.out = nn.Linear(4, 4, bias=False)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attn = Attention()
        self.norm = nn.LayerNorm(4)


class Model(nn.Module):
    """`blocks.0.attn.q.weight` and so on, with an embedding that is tied to the head."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embedding.weight


def schemes(module: nn.Module, rules: Rules) -> dict[str, Scheme]:
    return {name: draw.scheme for name, draw in plan_module(module, rules).items()}


def chosen(module: nn.Module, rule: Rule) -> set[str]:
    """The parameters that a rule decides about."""
    return set(plan_module(module, [rule, Rule("*", Keep())]))


QUERIES = {"blocks.0.attn.q.weight", "blocks.1.attn.q.weight"}
OUTPUTS = {"blocks.0.attn.out.weight", "blocks.1.attn.out.weight"}
NORM_BIASES = {"blocks.0.norm.bias", "blocks.1.norm.bias"}
QUERY_BIASES = {"blocks.0.attn.q.bias", "blocks.1.attn.q.bias"}


@pytest.mark.parametrize(
    "rule, matched",
    [
        (Rule("blocks.*.attn.*.weight", Ones()), QUERIES | OUTPUTS),
        (Rule("blocks.1.*.q.weight", Ones()), {"blocks.1.attn.q.weight"}),
        (Rule("*.bias", Ones()), NORM_BIASES | QUERY_BIASES),
        (Rule("embedding.weight", Ones()), {"embedding.weight"}),
        (Rule(nn.LayerNorm, Ones()), NORM_BIASES | {"blocks.0.norm.weight", "blocks.1.norm.weight"}),
        (Rule((nn.Linear, "b*"), Ones()), QUERY_BIASES),
        (Rule(lambda place: place.within(Attention) and len(place.shape) == 1, Ones()), QUERY_BIASES),
    ],
)
def test_a_pattern_matches_by_name_type_or_function(rule: Rule, matched: set[str]) -> None:
    assert chosen(Model(), rule) == matched


def test_a_type_matches_what_its_subclasses_hold_but_not_what_their_children_hold() -> None:
    class Wide(nn.Linear):
        pass

    assert chosen(Wide(2, 3), Rule(nn.Linear, Ones())) == {"weight", "bias"}
    with pytest.raises(RuleError, match="Block matches no parameter"):
        plan_module(Model(), [Rule(Block, Ones()), Rule("*", Keep())])


def test_a_star_and_a_dot_at_the_start_match_a_single_layer_too() -> None:
    assert chosen(nn.Linear(2, 3), Rule("*.bias", Ones())) == {"bias"}
    bilinear = nn.Module()
    bilinear.register_parameter("my_bias", nn.Parameter(torch.ones(3)))
    with pytest.raises(RuleError, match="matches no parameter"):
        chosen(bilinear, Rule("*.bias", Ones()))


def test_case_matters_in_a_glob() -> None:
    with pytest.raises(RuleError, match="'FC' matches no parameter"):
        plan_module(nn.Sequential(nn.Linear(2, 3)), [Rule("FC", Ones()), Rule("*", Keep())])


def test_the_first_rule_that_matches_decides() -> None:
    layer = nn.Linear(2, 3)
    assert schemes(layer, {"bias": Zeros(), nn.Linear: constant(2)}) == {"weight": constant(2), "bias": Zeros()}
    assert schemes(layer, {"weight": Ones(), "*": Zeros()}) == {"weight": Ones(), "bias": Zeros()}
    with pytest.raises(RuleError, match="'weight' matches weight, but an earlier rule decides: put it first"):
        plan_module(layer, {"*": Zeros(), "weight": Ones()})


def test_a_function_decides_by_the_place_or_leaves_the_decision_to_later_rules() -> None:
    model = Model()
    rules = [Rule("*", lambda place: Ones() if place.shape == (4, 4) else None), Rule("*", Zeros())]
    found = schemes(model, rules)
    assert {name for name, scheme in found.items() if scheme == Ones()} == QUERIES | OUTPUTS
    assert set(found.values()) == {Ones(), Zeros()}


def test_a_function_that_always_leaves_the_decision_is_no_typo() -> None:
    layer = nn.Linear(2, 3)
    assert schemes(layer, {"weight": lambda place: None, nn.Linear: Zeros()}) == {"weight": Zeros(), "bias": Zeros()}


def test_a_place_says_where_the_parameter_stands() -> None:
    model, places = Model(), []
    plan_module(model, [Rule("*.q.bias", lambda place: places.append(place) or Zeros()), Rule("*", Keep())])
    first = places[0]
    block = model.blocks[0]
    assert isinstance(block, Block)
    assert (first.name, first.own_name, first.shape) == ("blocks.0.attn.q.bias", "bias", (4,))
    assert first.module is block.attn.q
    assert first.ancestors == (model, model.blocks, block, block.attn)


def test_fans_are_those_of_the_shape_unless_they_are_given() -> None:
    layer = nn.Conv2d(3, 8, 5, bias=False)
    assert schemes(layer, XavierUniform()) == {"weight": XavierUniform(75, 200)}
    assert schemes(layer, {"*": KaimingUniform(fan_in=4)}) == {"weight": KaimingUniform(4)}


# Faults


def test_all_parameters_without_a_rule_are_named() -> None:
    with pytest.raises(RuleError) as raised:
        plan_module(Model(), {"*.bias": Zeros(), "embedding.*": Ones(), "*.attn.*": Ones()})
    assert str(raised.value) == (
        "init_module: no rule decides:\n"
        "    blocks.0.norm.weight (LayerNorm, shape (4,))\n"
        "    blocks.1.norm.weight (LayerNorm, shape (4,))\n"
        "add rules for them; Rule('*', Keep()) as the last one leaves them as they are"
    )


def test_all_rules_that_match_nothing_are_named() -> None:
    with pytest.raises(RuleError) as raised:
        plan_module(Model(), {"*.bais": Zeros(), nn.Conv2d: Zeros(), (nn.Linear, "wieght"): Zeros(), "*": Ones()})
    assert str(raised.value) == (
        "init_module: a rule decides nothing:\n"
        "    '*.bais' matches no parameter\n"
        "    Conv2d matches no parameter\n"
        "    (Linear, 'wieght') matches no parameter"
    )


def test_a_typo_is_told_beside_the_parameter_that_it_left_without_a_rule() -> None:
    with pytest.raises(RuleError) as raised:
        plan_module(nn.Linear(2, 3), {"wieght": Ones(), "bias": Zeros()})
    assert str(raised.value) == (
        "init_module: no rule decides: weight (Linear, shape (3, 2)); "
        "add rules for them; Rule('*', Keep()) as the last one leaves them as they are\n"
        "init_module: a rule decides nothing: 'wieght' matches no parameter: is 'weight' meant?"
    )


def test_a_rule_about_the_second_name_of_tied_weights_is_told_the_first() -> None:
    with pytest.raises(RuleError, match=r"'head\.\*' matches head.weight, which is embedding.weight: tied weights"):
        plan_module(Model(), {"head.*": Zeros(), "*": Ones()})


def test_a_scheme_that_does_not_fit_a_shape_is_told_with_the_name() -> None:
    with pytest.raises(RuleError, match=r"bias \(Linear, shape \(3,\)\): fans: the shape \(3,\) has 1 axis"):
        plan_module(nn.Linear(2, 3), {"*": XavierUniform()})
    with pytest.raises(RuleError, match=r"weight \(Embedding, shape \(5, 2\)\): ExceptRows: rows 4 to 6 of 5"):
        plan_module(nn.Embedding(5, 2), {"*": ExceptRows(Ones(), 4, 6)})


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Rule("*", Zeros), r"Rule\('\*'\): the class Zeros is no scheme: Zeros\(\) is"),
        (lambda: Rule("*", 0.0), r"Rule\('\*'\): 0.0 is none of Zeros, Ones,"),
        (lambda: Rule(3, Zeros()), "Rule: the pattern is 3: a glob on names"),
        (lambda: Rule(int, Zeros()), "Rule: the pattern is <class 'int'>"),
        (lambda: Rule((nn.Linear, nn.Conv2d), Zeros()), "Rule: the pattern is"),
        (lambda: ExceptRows(Zeros, 0, 1), r"ExceptRows: the class Zeros is no scheme"),
        (lambda: ExceptRows(Keep(), 0, 1), r"ExceptRows: Keep\(\) is none of"),
        (lambda: ExceptRows(Zeros(), 2, 1), "ExceptRows: start is 2, stop is 1"),
        (lambda: ExceptRows(Zeros(), 0, 1.0), "ExceptRows: stop is 1.0: an int is needed"),
        (lambda: Rule(nn.Linear(1, 1), Zeros()), "Rule: the pattern is a module of type Linear: give the type, Linear"),
        (lambda: gpt2(0), "gpt2: layers is 0: 1 or more is needed"),
        (lambda: gpt2("12"), "gpt2: layers is '12': an int is needed"),
        (lambda: plan_module(nn.Linear, Zeros()), "init_module: module is a type: a torch.nn.Module is needed"),
        (lambda: plan_module([nn.Linear(1, 1)], Zeros()), "init_module: module is a list: a torch.nn.Module"),
        (lambda: plan_module(nn.Linear(1, 1), Zeros), r"rules is the class Zeros: Zeros\(\) is needed"),
        (lambda: plan_module(nn.Linear(1, 1), [Zeros()]), "rules is .*: a scheme, a mapping"),
        (lambda: plan_module(nn.Linear(1, 1), "*"), "rules is '\\*': a scheme, a mapping"),
        (
            lambda: plan_module(nn.Linear(1, 1), {"*": lambda place: 0}),
            "the function's answer for weight: 0 is none",
        ),
        (lambda: plan_module(nn.Linear(1, 1), Zeros(), seed=0.5), "seed is 0.5: an int"),
        (lambda: plan_module(nn.Linear(1, 1), Zeros(), seed=True), "seed is True: an int"),
        (lambda: plan_module(nn.Linear(1, 1), Zeros(), seeds="name"), "seeds is 'name': one of names, reference"),
    ],
)
def test_what_is_no_rule_is_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "rules", [{"*": nn.init.xavier_uniform_}, {lambda place: place.dim() > 1: Zeros()}], ids=["scheme", "pattern"]
)
def test_what_a_function_of_the_user_raises_says_which_parameter_it_was_given(rules) -> None:
    with pytest.raises(AttributeError) as raised:
        plan_module(nn.Linear(1, 1), rules)
    assert "its function was given the `Place` of weight" in raised.value.__notes__[0]


# Rule sets


class Mixed(nn.Module):
    """A parameter of every kind that a single scheme has an answer for."""

    def __init__(self) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.empty(1, 6, 4))
        self.embedding = nn.Embedding(5, 4, padding_idx=0)
        self.bag = nn.EmbeddingBag(5, 4, padding_idx=2)
        self.conv = nn.Conv1d(4, 4, 3)
        self.activation = nn.PReLU(4, init=0.125)
        self.norm = nn.LayerNorm((6, 4))
        self.rnn = nn.GRU(4, 4)
        self.head = nn.Linear(4, 2)


def test_a_single_scheme_is_for_weights_and_leaves_norms_and_biases_neutral() -> None:
    plan = plan_module(Mixed(), Normal(0, 0.02))
    drawn = {name for name, draw in plan.items() if draw.scheme == Normal(0, 0.02)}
    assert drawn == {
        "positions",
        "embedding.weight",
        "bag.weight",
        "conv.weight",
        "rnn.weight_ih_l0",
        "rnn.weight_hh_l0",
        "head.weight",
    }
    assert {name for name, draw in plan.items() if draw.scheme == Ones()} == {"norm.weight"}
    assert plan["activation.weight"].scheme == constant(0.125)
    assert all(draw.scheme == Zeros() for name, draw in plan.items() if "bias" in name)
    assert plan["embedding.weight"].rows == (0, 1, Zeros())
    assert plan["bag.weight"].rows == (2, 3, Zeros())


def test_a_single_scheme_does_not_guess_about_a_scale_of_ones_own() -> None:
    model = nn.Module()
    model.register_parameter("gain", nn.Parameter(torch.ones(3)))
    with pytest.raises(RuleError, match=r"no rule decides: gain \(Module, shape \(3,\)\)"):
        plan_module(model, Normal())
    assert set(plan_module(model, [Rule("gain", Ones()), *weights(Normal())])) == {"gain"}


def test_gpt2_scales_the_weights_that_end_a_residual_branch() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.c_fc = nn.Linear(4, 16)
            self.c_proj = nn.Linear(16, 4)

    found = schemes(nn.ModuleList([Block() for _ in range(8)]), gpt2(layers=8))
    assert found["3.c_proj.weight"] == Normal(0.0, 0.02 / 4)
    assert found["3.c_fc.weight"] == Normal(0.0, 0.02)
    assert found["3.c_proj.bias"] == Zeros()
    with pytest.raises(RuleError, match=r"'\*.c_proj.weight' matches no parameter"):
        plan_module(nn.Linear(2, 2), gpt2(layers=8))


def test_torchlean_knows_linear_layers_only() -> None:
    found = schemes(nn.Linear(2, 3), TORCHLEAN)
    assert found == {"weight": XavierUniform(2, 3), "bias": Zeros()}
    with pytest.raises(RuleError, match=r"weight \(Conv1d, shape \(3, 2, 1\)\)"):
        plan_module(nn.Conv1d(2, 3, 1), TORCHLEAN)


def test_a_constant_is_its_value_at_every_position() -> None:
    assert constant(math.pi) == Uniform(math.pi, math.pi)
