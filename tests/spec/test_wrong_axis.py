"""Operations along an axis that cannot be meant: what is said of them, and of programs that only look like them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
import torch

import shaped.spec.ops  # noqa: F401  (importing declares the operations)
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import MODULES, find_op
from shaped.spec.shape import Pack
from shaped.spec.values import TensorType, Value

EACH_SOFTMAX = [
    *("torch.softmax", "torch.log_softmax", "torch.special.softmax", "torch.special.log_softmax"),
    *("Tensor.softmax", "Tensor.log_softmax"),
    *(f"torch.nn.functional.{name}" for name in ("softmax", "log_softmax", "softmin", "gumbel_softmax")),
]
EACH_RUNNING = [
    f"{owner}.{name}"
    for owner in ("torch", "Tensor")
    for name in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
]


def tensor(axes: str) -> TensorType:
    """The tensor of an annotation: names, numbers and one `*name`."""
    return TensorType.of(
        *(
            Pack(axis[1:]) if axis.startswith("*") else int(axis) if axis.isdigit() else Dim.name(axis)
            for axis in axes.split()
        )
    )


def said(name: str, axes: str | TensorType, *args: Value, context: Context | None = None, **kwargs: Value) -> str:
    """What is said of an operation on a tensor with these axes, empty if nothing is."""
    context = context or Context()
    operation = find_op(name)
    assert operation is not None
    operation.apply(context, (tensor(axes) if isinstance(axes, str) else axes, *args), kwargs)
    assert {fault.code for fault in context.found} <= {"shape-reduce"}
    return "; ".join(f"{fault.reason}; {fault.hint}" for fault in context.found)


def along(name: str, axes: str, dim: int) -> str:
    return said(name, axes, dim=Dim.of(dim))


def called(name: str, options: dict[str, Value], *inputs: str) -> str:
    """What is said of a module made with these options and called with these tensors."""
    context = Context()
    module = cast("Any", MODULES[f"torch.nn.{name}"])(context, **options)
    module.apply(context, tuple(map(tensor, inputs)), {})
    return "; ".join(f"{fault.reason}; {fault.hint}" for fault in context.found)


@pytest.mark.parametrize("name", EACH_SOFTMAX)
def test_a_softmax_over_the_batch_is_reported_under_each_name(name: str) -> None:
    assert along(name, "t b k", -2) == "it goes along axis 1, b, the batch; dim=-1?"
    assert not along(name, "t b k", -1)


@pytest.mark.parametrize(
    ("axes", "dim", "axis"),
    [
        ("b classes", 0, "axis 0, b, the batch"),
        ("batch_size classes", 0, "axis 0, batch_size"),
        ("views b c", 1, "axis 1, b, the batch"),
        ("*other batch classes", -2, "axis -2, batch"),
        ("b heads q k", 1, "axis 1, heads"),
        ("b h q k", 1, "axis 1, h, the heads"),
        ("b t heads d", 2, "axis 2, heads"),
        ("b pos d_vocab", 1, "axis 1, pos, the sequence"),
    ],
)
def test_a_softmax_over_batch_or_heads_names_the_axis(axes: str, dim: int, axis: str) -> None:
    assert along("torch.softmax", axes, dim) == f"it goes along {axis}; dim=-1?"


def test_a_softmax_over_the_heads_of_scores_is_reported_whatever_their_number_is() -> None:
    scores = TensorType.of(Dim.name("b"), Dim.quantity("n"), Dim.name("t"), Dim.name("t"))
    assert said("torch.softmax", scores, Dim.of(1)) == "it goes along axis 1, n; dim=-1?"
    assert said("torch.nn.functional.softmax", scores) == "without a dim it goes along axis 1, n; dim=-1?"
    assert not said("torch.softmax", scores, Dim.of(-2))
    assert not said("torch.nn.functional.softmax", "b c s s")  # a square image
    assert not said("torch.nn.functional.softmax", "b c f t")


def test_a_softmax_over_a_batch_that_stands_last_is_reported_beside_a_sequence() -> None:
    assert along("torch.softmax", "t b", 1) == "it goes along axis 1, b, the batch; dim=-2?"
    assert said("torch.nn.functional.softmax", "t b") == "it goes along axis 1, b, the batch; dim=-2?"


@pytest.mark.parametrize(
    ("axes", "dim"),
    [
        ("b", 0),  # weights of samples
        ("b 1", 0),
        ("b b", 0),  # the logits of a contrastive loss
        ("queries b", 1),  # the logits of a retrieval
        ("views n c", 1),
        ("n classes", 0),
        ("a b", 0),
        ("a b c", 1),  # letters in a row
        ("4 classes", 0),
        ("b t 1", 1),  # attention pooling over tokens
        ("b t classes", 1),  # where each class is heard
        ("t vocab", 1),
        ("b n t d", -2),  # the keys of linear attention
        ("b c h w", 1),
        ("b slots tokens", 1),  # slots compete
        ("t heads", 1),  # a gate
        ("b heads t 1", 1),
        ("b branches c", 1),
        ("*batch classes", -1),
    ],
)
def test_a_softmax_that_may_be_meant_says_nothing(axes: str, dim: int) -> None:
    assert not along("torch.softmax", axes, dim)
    assert not along("torch.nn.functional.log_softmax", axes, dim)


@pytest.mark.parametrize(
    ("axes", "axis"),
    [
        ("b t k", "axis 0, b, the batch"),
        ("b k t", "axis 0, b, the batch"),
        ("time b k", "axis 0, time, the sequence"),
        ("heads q k", "axis 0, heads"),
        ("b heads q k", "axis 1, heads"),
        ("b heads q t", "axis 1, heads"),
        ("b t n c", "axis 1, t, the sequence"),
    ],
)
def test_a_softmax_without_a_dim_is_reported_where_torch_takes_another_axis(axes: str, axis: str) -> None:
    assert said("torch.nn.functional.softmax", axes) == f"without a dim it goes along {axis}; dim=-1?"
    for name in ("Softmax", "LogSoftmax", "Softmin"):
        assert called(name, {}, axes) == f"without a dim it goes along {axis}; dim=-1?"


@pytest.mark.parametrize("axes", ["b", "b classes", "b c h w", "n t", "n m k", "3 b 4", "b 2 h w"])
def test_a_softmax_without_a_dim_that_takes_the_right_axis_says_nothing(axes: str) -> None:
    assert not said("torch.nn.functional.softmax", axes)


@pytest.mark.parametrize("rank", range(5))
def test_the_axis_that_torch_takes_without_a_dim_is_the_one_that_is_checked(rank: int) -> None:
    scores = torch.randn((2,) * rank)
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        found = torch.nn.functional.softmax(scores)
    assert torch.equal(found, torch.softmax(scores, 0 if rank in (0, 1, 3) else 1))


@pytest.mark.parametrize("name", EACH_RUNNING)
def test_a_running_sum_along_the_batch_is_reported_beside_what_it_should_follow(name: str) -> None:
    assert along(name, "b t", 0) == "it goes along axis 0, b, the batch; dim=-1?"
    assert along(name, "t b", 1) == "it goes along axis 1, b, the batch; dim=-2?"
    assert along(name, "batch vocab", 0) == "it goes along axis 0, batch; dim=-1?"
    assert not along(name, "b t", 1)


@pytest.mark.parametrize(
    ("axes", "dim"), [("b", 0), ("b experts", 0), ("b classes", 0), ("t experts", 0), ("n t", 0), ("b b t", 0)]
)
def test_a_running_sum_that_may_be_meant_says_nothing(axes: str, dim: int) -> None:
    assert not along("torch.cumsum", axes, dim)


def test_a_token_chosen_along_the_batch_is_reported() -> None:
    assert along("torch.argmax", "b vocab_size", 0) == "it goes along axis 0, b, the batch; dim=-1?"
    assert along("Tensor.argmin", "b t d_vocab", 0) == "it goes along axis 0, b, the batch; dim=-1?"
    assert along("torch.logsumexp", "b t vocab", 0) == "it goes along axis 0, b, the batch; dim=-1?"
    assert not along("torch.logsumexp", "b t d", 0)


@pytest.mark.parametrize(
    ("axes", "dim"),
    [
        ("models b", 0),  # a vote
        ("b", 0),
        ("b features", 0),  # the sample that excites a feature most
        ("batch pos d_sae", 0),
        ("b vocab", 1),
        ("t vocab", 0),
    ],
)
def test_a_search_that_may_be_meant_says_nothing(axes: str, dim: int) -> None:
    assert not along("torch.argmax", axes, dim)


@pytest.mark.parametrize(
    ("axes", "axis"),
    [
        ("b t d", "axis 1, t, the sequence"),
        ("b t 6", "axis 1, t, the sequence"),
        ("batch heads d_head", "axis 1, heads"),
        ("t b d", "axis 1, b, the batch"),
        ("b n d", "axis 1, n"),
        ("b patches embed_dim", "axis 1, patches"),
        ("b h w c", "axis 1, h"),
    ],
)
def test_vectors_that_a_default_dim_misses_are_reported(axes: str, axis: str) -> None:
    wanted = f"without a dim it goes along {axis}; dim=-1?"
    assert said("torch.nn.functional.normalize", axes) == wanted
    assert said("torch.nn.functional.cosine_similarity", axes, tensor(axes)) == wanted
    assert said("torch.cosine_similarity", axes, tensor(axes)) == wanted
    assert called("CosineSimilarity", {}, axes, axes) == wanted


@pytest.mark.parametrize(
    "axes",
    [
        "d",
        "b d",
        "b c h w",
        "b c t",
        "b d t",
        "b c d",
        "b n t",
        "out in 3",
        "n k d",
        "b t mel",
        "b t 1",
        "b 3 d",
        "*b d",
    ],
)
def test_vectors_that_a_default_dim_may_meet_say_nothing(axes: str) -> None:
    if axes != "d":
        assert not said("torch.nn.functional.normalize", axes)
        assert not said("torch.nn.functional.cosine_similarity", axes, tensor(axes))


@pytest.mark.parametrize("axes", ["b t d", "b n d", "b h w c"])
def test_a_dim_that_somebody_wrote_is_no_default(axes: str) -> None:
    assert not along("torch.nn.functional.normalize", axes, 1)
    assert not said("torch.nn.functional.cosine_similarity", axes, tensor(axes), Dim.of(1))
    assert not called("CosineSimilarity", {"dim": Dim.of(1)}, axes, axes)


def test_all_pairs_in_a_batch_compared_along_the_second_sample_are_reported() -> None:
    context = Context()
    pairs = said("torch.cosine_similarity", "b 1 d", tensor("1 b d"), context=context)
    assert pairs == "without a dim it goes along axis 1, b, the batch; dim=-1?"


def test_vectors_normalized_along_the_batch_are_reported_where_they_have_more_axes() -> None:
    assert along("torch.nn.functional.normalize", "b t d", 0) == "it goes along axis 0, b, the batch; dim=-1?"
    assert not along("torch.nn.functional.normalize", "b d", 0)  # features are decorrelated so
    assert not along("torch.nn.functional.normalize", "b t d", 1)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_tokens_that_are_normalized_together_are_reported(name: str) -> None:
    wanted = "the last axis is normalized together with axis {}; x.shape[-1:]?"
    for axes, axis in [
        ("b t d", "1, t, the sequence"),
        ("t b d", "1, b, the batch"),
        ("b heads t d", "2, t, the sequence"),
    ]:
        sizes = tensor(axes).shape.dims[1:]
        assert said(f"torch.nn.functional.{name}", axes, sizes) == wanted.format(axis)
        module = {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm"}[name]
        assert called(module, {"normalized_shape": sizes}, axes) == wanted.format(axis)


@pytest.mark.parametrize(
    ("axes", "count"),
    [
        ("b t d", 1),
        ("b t", 1),  # a signal
        ("b c t", 2),  # as a group norm of one group
        ("b c h w", 3),
        ("b t c h w", 4),  # a video as a whole
        ("b t mel", 2),  # a spectrogram as a whole
        ("b t", 2),  # advantages as a whole
        ("b t heads d", 2),
        ("b n d", 2),
    ],
)
def test_trailing_axes_that_may_be_meant_say_nothing(axes: str, count: int) -> None:
    assert not said("torch.nn.functional.layer_norm", axes, tensor(axes).shape.dims[-count:])


def test_a_layer_made_for_steps_and_features_says_nothing() -> None:
    sizes = (Dim.quantity("seq_len"), Dim.quantity("width"))
    assert not called("LayerNorm", {"normalized_shape": sizes}, "b t d")
    assert not called("LayerNorm", {"normalized_shape": (Dim.of(16), Dim.of(64))}, "b 16 64")


def test_nothing_is_said_where_the_shape_is_not_certain() -> None:
    assert not said("torch.softmax", "b k", Dim.of(0), context=Context(certain=False))
    assert not said("torch.softmax", replace(tensor("b k"), joined=True), Dim.of(0))


@pytest.mark.parametrize("size", [Dim.quantity("batch"), Context().fresh(name="batch"), Dim.name("b") * 2])
def test_only_names_of_annotations_say_what_an_axis_stands_for(size: Dim) -> None:
    assert not said("torch.softmax", TensorType.of(size, Dim.name("k")), Dim.of(0))


def test_a_dim_that_is_not_followed_says_nothing() -> None:
    context = Context()
    assert not said("torch.softmax", "b t k", context.fresh(), context=context)
    assert not said("torch.nn.functional.normalize", "b t d", dim=context.fresh(), context=context)
    assert not along("torch.softmax", "*batch t k", 0)


def test_nothing_is_said_beside_an_axis_that_may_be_one() -> None:
    features = Context().fresh(name="#d")
    assert said("torch.softmax", TensorType.of(Dim.name("batch"), features), dim=Dim.of(0)) == ""
    assert "batch" in along("torch.softmax", "batch d", 0)
