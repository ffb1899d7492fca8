"""The modules of losses: each keeps what its function takes besides tensors, and calls the function."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from shaped.spec.op import Module, module
from shaped.spec.ops.activation_modules import call_function

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.values import Value


class Loss(Module):
    """A loss. `function` is its function, `given` what its constructor was given."""

    function: str
    given: dict[str, Value]

    def forward(self, context: Context, *inputs: Value, **named: Value) -> Value:
        """The function of the inputs."""
        return call_function(context, self.function, *inputs, **named, **self.given)


def _declare_loss(name: str, function: str, parameters: tuple[str, ...], *, keyword_only: bool) -> None:
    kind = inspect.Parameter.KEYWORD_ONLY if keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD

    def initialize(self: Loss, context: Context, *args: Value, **kwargs: Value) -> None:
        self.given = {**dict(zip(parameters, args, strict=False)), **kwargs}
        self.reduction = self.given.get("reduction", "mean")  # type: ignore[attr-defined]  # users read it

    own = inspect.signature(initialize)
    more = [inspect.Parameter(each, kind, default=None) for each in parameters]
    first = list(own.parameters.values())[:2]
    initialize.__signature__ = own.replace(parameters=[*first, *more])  # type: ignore[attr-defined]  # read by inspect
    body = {"__init__": initialize, "function": function, "__doc__": f"The module of `{function}`."}
    module(f"torch.nn.{name}")(type(name, (Loss,), body))


_OLD = ("size_average", "reduce", "reduction")
_LOSSES: dict[str, tuple[str, tuple[str, ...]]] = {
    "L1Loss": ("l1_loss", _OLD),
    "MSELoss": ("mse_loss", _OLD),
    "SmoothL1Loss": ("smooth_l1_loss", (*_OLD, "beta")),
    "HuberLoss": ("huber_loss", ("reduction", "delta")),
    "KLDivLoss": ("kl_div", (*_OLD, "log_target")),
    "PoissonNLLLoss": ("poisson_nll_loss", ("log_input", "full", "size_average", "eps", "reduce", "reduction")),
    "GaussianNLLLoss": ("gaussian_nll_loss", ("full", "eps", "reduction")),
    "BCELoss": ("binary_cross_entropy", ("weight", *_OLD)),
    "BCEWithLogitsLoss": ("binary_cross_entropy_with_logits", ("weight", *_OLD, "pos_weight")),
    "CrossEntropyLoss": (
        "cross_entropy",
        ("weight", "size_average", "ignore_index", "reduce", "reduction", "label_smoothing"),
    ),
    "NLLLoss": ("nll_loss", ("weight", "size_average", "ignore_index", "reduce", "reduction")),
    "CTCLoss": ("ctc_loss", ("blank", "reduction", "zero_infinity")),
    "SoftMarginLoss": ("soft_margin_loss", _OLD),
    "HingeEmbeddingLoss": ("hinge_embedding_loss", ("margin", *_OLD)),
    "MarginRankingLoss": ("margin_ranking_loss", ("margin", *_OLD)),
    "CosineEmbeddingLoss": ("cosine_embedding_loss", ("margin", *_OLD)),
    "TripletMarginLoss": ("triplet_margin_loss", ("margin", "p", "eps", "swap", *_OLD)),
    "TripletMarginWithDistanceLoss": (
        "triplet_margin_with_distance_loss",
        ("distance_function", "margin", "swap", "reduction"),
    ),
    "MultiMarginLoss": ("multi_margin_loss", ("p", "margin", "weight", *_OLD)),
    "MultiLabelMarginLoss": ("multilabel_margin_loss", _OLD),
    "MultiLabelSoftMarginLoss": ("multilabel_soft_margin_loss", ("weight", *_OLD)),
}
_KEYWORD_ONLY = {"GaussianNLLLoss", "TripletMarginWithDistanceLoss"}

for _name, (_function, _parameters) in _LOSSES.items():
    _declare_loss(_name, _function, _parameters, keyword_only=_name in _KEYWORD_ONLY)
