"""The table of rules, by the name of the operation in aten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from shaped.runtime.compiled.rounding.bounded import Bounded

# None where what is returned means nothing: memory that is not yet written.
Result: TypeAlias = Bounded | Sequence[Bounded | None]
# A rule takes the format of the result, then the operation's arguments under the names that its schema has.
Rule: TypeAlias = Callable[..., Result]
RuleT = TypeVar("RuleT", bound=Rule)

RULES: dict[str, Rule] = {}

# Operations that put entries at other places, or zeros, and compute nothing: done on values and on bounds alike.
MOVEMENTS = frozenset({
    "_reshape_copy", "_unsafe_index", "_unsafe_view", "alias_copy", "as_strided_scatter", "cat",
    "channel_shuffle", "clone", "contiguous", "detach_copy", "diag_embed", "diagonal_backward",
    "diagonal_scatter", "embedding", "expand_copy", "flip", "gather", "im2col", "index", "index_copy",
    "index_select", "lift_fresh_copy", "permute_copy", "pixel_shuffle", "pixel_unshuffle", "repeat",
    "repeat_interleave", "roll", "rot90", "scatter.src", "select_backward", "select_copy", "select_scatter",
    "slice_backward", "slice_copy", "slice_scatter", "split_copy", "split_with_sizes_copy", "squeeze_copy",
    "stack", "t_copy", "take", "take_along_dim", "transpose_copy", "tril", "triu", "unbind_copy",
    "unfold_copy", "unsafe_split", "unsafe_split_with_sizes", "unsqueeze_copy", "upsample_nearest1d",
    "upsample_nearest2d", "upsample_nearest3d", "view_copy",
})  # fmt: skip


def rule(*names: str) -> Callable[[RuleT], RuleT]:
    """Register the rule of operations: of all overloads (`add`), or of one (`sum.dim_IntList`), which goes first."""

    def register(function: RuleT) -> RuleT:
        for name in names:
            assert name not in RULES, name
            RULES[name] = function
        return function

    return register
