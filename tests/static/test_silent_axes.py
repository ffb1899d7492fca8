"""Axes that change places in whole programs: reported where elements are moved, silent where the order is right."""

from __future__ import annotations

from tests.static.test_silent_broadcast import is_reported_as_marked, is_silent


def test_rows_and_columns_of_a_parameter_are_an_order() -> None:
    assert is_reported_as_marked(
        """
        def as_image(x: Float[Tensor, "b h*w c"], image: Float[Tensor, "b c h w"]) -> Tensor:
            b, c, h, w = image.shape
            return image + x.view(b, w, h, c).permute(0, 3, 2, 1)  # error[shape-axes]: in the order b, h, w, c

        def as_video(x: Float[Tensor, "b t*h*w c"], t: int, mask: Float[Tensor, "b t h w"]) -> Tensor:
            b, t, h, w = mask.shape
            return mask * x.view(b, h, w, t, -1).sum(-1).permute(0, 3, 1, 2)  # error[shape-axes]: in the order
        """
    )


def test_other_products_of_a_parameter_are_sizes() -> None:
    assert is_silent(
        """
        def as_image(x: Float[Tensor, "b h*w c"], image: Float[Tensor, "b c h w"]) -> Tensor:
            b, c, h, w = image.shape
            return image + x.view(b, h, w, c).permute(0, 3, 1, 2)

        def columns_first(x: Float[Tensor, "b w*h c"], image: Float[Tensor, "b c h w"]) -> Tensor:
            b, c, h, w = image.shape
            return image + x.transpose(1, 2).reshape(b, c, h, w)

        def upsampled(x: Float[Tensor, "b c scale*h scale*w"], image: Float[Tensor, "b c h w"], scale: int) -> Tensor:
            b, c, h, w = image.shape
            return x.view(b, c, h, scale, w, scale).mean((3, 5)) + image

        def heads(x: Float[Tensor, "b n d*h"], y: Float[Tensor, "b h n d"]) -> Tensor:
            b, h, n, d = y.shape
            return x.view(b, n, h, d).transpose(1, 2) + y
        """
    )
