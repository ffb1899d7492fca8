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

        def as_map(x: Float[Tensor, "b h*w c"], h: int, w: int) -> Tensor:
            return x.reshape(x.size(0), x.size(2), h, w)  # error[shape-axes]: in the order b, h, w, c

        def heads(x: Float[Tensor, "b t heads*d"], heads: int) -> Float[Tensor, "b heads t d"]:
            b, t, _ = x.shape
            return x.view(b, heads, t, -1)  # error[shape-axes]: in the order b, t, heads, d
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

        def as_map(x: Float[Tensor, "b h*w c"], h: int, w: int) -> Tensor:
            return x.transpose(1, 2).reshape(x.size(0), x.size(2), h, w)

        def split(x: Float[Tensor, "b t heads*d"], heads: int) -> Float[Tensor, "b heads t d"]:
            b, t, _ = x.shape
            return x.view(b, t, heads, -1).transpose(1, 2)

        def resized(x: Float[Tensor, "b c h w"], h: int, w: int) -> Float[Tensor, "b c {h} {w}"]:
            return F.interpolate(x, (h, w))
        """
    )


def test_two_samples_for_each_meet_in_one_order() -> None:
    assert is_reported_as_marked(
        """
        def guided(x: Float[Tensor, "b c h w"], t: Float[Tensor, "b"]) -> Tensor:
            return torch.cat([x, x]) * t.repeat_interleave(2)[:, None, None, None]  # error[shape-axes]: of size 2*b

        def right(x: Float[Tensor, "b c h w"], t: Float[Tensor, "b"], n: int) -> Tensor:
            each = x.repeat_interleave(n, 0) * t.repeat_interleave(n)[:, None, None, None]
            return torch.cat([x, x]) * t.repeat(2)[:, None, None, None] + each.mean()
        """
    )


def test_a_batch_is_no_number_of_features() -> None:
    assert is_reported_as_marked(
        """
        class Encoder(nn.Module):
            def __init__(self, hidden: int, latent_dim: int) -> None:
                super().__init__()
                self.encode, self.mix = nn.Linear(784, latent_dim), nn.Linear(hidden, hidden)

            def norm(self, x: Float[Tensor, "batch 784"]) -> Float[Tensor, "batch"]:
                return self.encode(x).square().sum(0)  # error[shape]: axis 0 is latent_dim, not batch

            def mixed(self, x: Float[Tensor, "b hidden"]) -> Float[Tensor, "b hidden"]:
                return self.mix(x.t())  # error[shape]: b and hidden differ

            def right(self, x: Float[Tensor, "batch 784"]) -> Float[Tensor, "batch"]:
                return self.encode(x).square().sum(1)

            def of_one_size(self, batch_dim: int, x: Float[Tensor, "batch d"]) -> Float[Tensor, "batch d"]:
                return x + torch.zeros(batch_dim, 1)
        """
    )
