"""Lists mapped, paired, sliced, added and gone through."""

import torch
from jaxtyping import Float
from torch import Tensor

from shaped import TList

Params = TList[Float[Tensor, "out in"], Float[Tensor, "out"]]


def moment(params: Params, grads: Params) -> Params:
    old = params.zeros_like()
    pairs = [m + g for m, g in old.zip(grads.map(lambda grad: grad.square()))]
    return Params(*pairs)


def norms(params: Params) -> Float[Tensor, "2"]:
    return torch.stack(list(params.map(lambda p: p.detach().flatten().norm())))


def two_layers(first: Params, second: Params) -> Float[Tensor, "4"]:
    both = first + second
    assert len(both) == 4
    return torch.stack([p.sum() for p in both[:3]] + [both[-1].max()])


def without_bias(params: Params, x: Float[Tensor, "b in"]) -> Float[Tensor, "b out"]:
    return x @ params[:1][0].T


def main() -> None:
    params = Params(torch.randn(3, 2), torch.randn(3))
    moment(params, params)
    norms(params)
    two_layers(params, params)
    without_bias(params, torch.randn(4, 2))


if __name__ == "__main__":
    main()
