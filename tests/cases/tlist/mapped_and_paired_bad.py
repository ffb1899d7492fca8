"""The gradients of two layers are zipped with the parameters of one; a map is over rows that not all items have."""

import torch
from jaxtyping import Float
from torch import Tensor

from shaped import TList

Params = TList[Float[Tensor, "out in"], Float[Tensor, "out"]]


def moment(params: Params, grads: Params) -> list[Tensor]:
    both = grads + grads
    return [p + g for p, g in params.zip(both)]  # error[shape]: TList.zip: 2 items and 4 items are no pairs


def rows(params: Params) -> Params:
    return params.map(lambda p: p.sum(1))  # error[shape]: sum


def main() -> None:
    params = Params(torch.randn(3, 2), torch.randn(3))
    for function in (lambda: moment(params, params), lambda: rows(params)):
        try:
            function()
        except (IndexError, TypeError):
            continue
        raise AssertionError("it runs")
    raise ValueError("none runs")


if __name__ == "__main__":
    main()
