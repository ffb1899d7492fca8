"""The corners of jaxtyping's grammar."""

from typing import Optional, Union

import torch
from jaxtyping import Float, Shaped
from torch import Tensor


def anonymous(x: Float[Tensor, "_ d"], y: Float[Tensor, "_ d"]) -> Float[Tensor, "d"]:
    return x.sum(0) + y.sum(0)


def stretch(x: Float[Tensor, "#b d"], y: Float[Tensor, "#b d"]) -> Tensor:
    return x + y


def named_constant(x: Float[Tensor, "rgb=3 h w"]) -> Float[Tensor, "h w"]:
    return x.mean(0)


def arithmetic(x: Float[Tensor, "b n"], y: Float[Tensor, "b m"]) -> Float[Tensor, "b n+m"]:
    return torch.cat([x, y], dim=1)


def either(x: Union[Float[Tensor, "b d"], Float[Tensor, "d"]]) -> Float[Tensor, "b2 d"]:
    return x if x.ndim == 2 else x[None]


def maybe(x: Float[Tensor, "b d"], w: Optional[Float[Tensor, "d"]] = None) -> Float[Tensor, "b d"]:
    return x if w is None else x * w


def nested(x: Float[Float[Tensor, "b"], "3"]) -> Float[Tensor, "b"]:
    return x.sum(0)


def scalar(x: Float[Tensor, "..."]) -> Float[Tensor, ""]:
    return x.sum()


def quoted(x: "Float[Tensor, 'b d']") -> "Float[Tensor, 'd b']":
    return x.T


def any_dtype(x: Shaped[Tensor, "b ..."]) -> Shaped[Tensor, "... b"]:
    return x.movedim(0, -1)


def main() -> None:
    anonymous(torch.ones(2, 3), torch.ones(4, 3))
    stretch(torch.ones(1, 3), torch.ones(4, 3))
    named_constant(torch.ones(3, 4, 5))
    assert arithmetic(torch.ones(2, 3), torch.ones(2, 4)).shape == (2, 7)
    either(torch.ones(3))
    maybe(torch.ones(2, 3), torch.ones(3))
    nested(torch.ones(3, 2))
    scalar(torch.ones(2, 3))
    quoted(torch.ones(2, 3))
    assert any_dtype(torch.ones(2, 3, 4)).shape == (3, 4, 2)


if __name__ == "__main__":
    main()
