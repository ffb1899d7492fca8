"""Pairs of functions in which a shape depends on the value of an int: one that torch refuses, one that it runs."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

PRELUDE = """\
import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

"""


@dataclass(frozen=True)
class Pair:
    """A body that torch refuses, and its repair.

    Args:
        name: what the pair is about.
        signature: the arguments, tensors by shapes: `x: Float[Tensor, "b t"], n: int`.
        bad: what torch refuses for the sizes of `SIZES`.
        good: what it runs.
    """

    name: str
    signature: str
    bad: str
    good: str

    def program(self, body: str) -> str:
        """The module that defines the function with this body."""
        return (
            f"{PRELUDE}\ndef f({self.signature}) -> object:\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
        )


IMAGE = 'x: Float[Tensor, "b 3 4 4"]'
ROW = 'x: Float[Tensor, "b 3"]'
SEQUENCE = 'x: Float[Tensor, "b t 8"]'
THREE = 'x: Float[Tensor, "3 d"]'
