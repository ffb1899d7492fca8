from __future__ import annotations

from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

if TYPE_CHECKING:
    from main import Pooler


def pool(pooler: Pooler, tokens: Float[Tensor, "b t d"]) -> Float[Tensor, "b n d"]:
    query = pooler.queries.expand(tokens.shape[0], -1, -1)
    weights = (query @ tokens).softmax(dim=-1)  # error[shape]
    return weights @ tokens  # cause: the sizes of the pooler are not known here
