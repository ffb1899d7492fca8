"""Sizes of layers, one after the other."""

from __future__ import annotations

from tests.static.int_values.pair import IMAGE, SEQUENCE, Pair

PAIRS = [
    Pair(
        "positions of a module",
        'x: Float[Tensor, "b 128 8"]',
        """
            class Model(nn.Module):
                def __init__(self, longest: int = 64) -> None:
                    super().__init__()
                    self.positions = nn.Embedding(longest, 8)
                def forward(self, x):
                    return x + self.positions(torch.arange(x.size(1)))
            return Model()(x)
        """,
        """
            class Model(nn.Module):
                def __init__(self, longest: int = 64) -> None:
                    super().__init__()
                    self.positions = nn.Embedding(longest, 8)
                def forward(self, x):
                    return x + self.positions(torch.arange(x.size(1)))
            return Model(128)(x)
        """,
    ),
    Pair(
        "conv chain",
        'x: Float[Tensor, "b 3 32 32"]',
        """
            net = nn.Sequential(*[nn.Conv2d(c, 8, 5, stride=2) for c in (3, 8, 8)], nn.Conv2d(8, 8, 5))
            return net(x)
        """,
        """
            net = nn.Sequential(*[nn.Conv2d(c, 8, 5, stride=2) for c in (3, 8, 8)])
            return net(x)
        """,
    ),
    Pair(
        "flattened size in a formula",
        'x: Float[Tensor, "b 3 32 32"]',
        """
            size = (32 - 5) // 2 + 1
            net = nn.Sequential(nn.Conv2d(3, 8, 5, stride=2), nn.Flatten(), nn.Linear(8 * (size + 1) ** 2, 10))
            return net(x)
        """,
        """
            size = (32 - 5) // 2 + 1
            net = nn.Sequential(nn.Conv2d(3, 8, 5, stride=2), nn.Flatten(), nn.Linear(8 * size**2, 10))
            return net(x)
        """,
    ),
    Pair(
        "group norm of widths",
        'x: Float[Tensor, "b 3 8 8"]',
        """
            for width in (8, 12, 20):
                x = nn.GroupNorm(8, width)(nn.Conv2d(x.shape[1], width, 1)(x))
            return x
        """,
        """
            for width in (8, 16, 24):
                x = nn.GroupNorm(8, width)(nn.Conv2d(x.shape[1], width, 1)(x))
            return x
        """,
    ),
    Pair(
        "widths in a list",
        'x: Float[Tensor, "b 3 8 8"]',
        """
            widths = [3, 8, 16]
            for i in range(len(widths) - 1):
                x = nn.Conv2d(widths[i], widths[i + 1], 3)(x)
            return nn.Conv2d(widths[-2], 4, 1)(x)
        """,
        """
            widths = [3, 8, 16]
            for i in range(len(widths) - 1):
                x = nn.Conv2d(widths[i], widths[i + 1], 3)(x)
            return nn.Conv2d(widths[-1], 4, 1)(x)
        """,
    ),
    Pair(
        "widths that double",
        'x: Float[Tensor, "b 3 32 32"]',
        """
            width, layers = 8, [nn.Conv2d(3, 8, 3)]
            for i in range(2):
                layers.append(nn.Conv2d(width * 2**i, width * 2 ** (i + 1), 3))
            return nn.Sequential(*layers, nn.Conv2d(width * 2, 1, 1))(x)
        """,
        """
            width, layers = 8, [nn.Conv2d(3, 8, 3)]
            for i in range(2):
                layers.append(nn.Conv2d(width * 2**i, width * 2 ** (i + 1), 3))
            return nn.Sequential(*layers, nn.Conv2d(width * 4, 1, 1))(x)
        """,
    ),
    Pair(
        "dense block",
        'x: Float[Tensor, "b 8 4 4"]',
        """
            growth = 4
            for i in range(3):
                x = torch.cat([x, nn.Conv2d(8 + i * growth, growth, 1)(x)], dim=1)
            return nn.Conv2d(8 + 2 * growth, 1, 1)(x)
        """,
        """
            growth = 4
            for i in range(3):
                x = torch.cat([x, nn.Conv2d(8 + i * growth, growth, 1)(x)], dim=1)
            return nn.Conv2d(8 + 3 * growth, 1, 1)(x)
        """,
    ),
    Pair(
        "mlp loop of a caller's sizes",
        'x: Float[Tensor, "b 6"], dims: list[int]',
        """
            width = 6
            for size in dims:
                x = nn.Linear(width, size)(x)
                width = size
            return nn.Linear(dims[-1], 4)(x) + torch.zeros(3)
        """,
        """
            width = 6
            for size in dims:
                x = nn.Linear(width, size)(x)
                width = size
            return nn.Linear(dims[-1], 4)(x) + torch.zeros(4)
        """,
    ),
    Pair(
        "padding to a length",
        SEQUENCE,
        "return F.pad(x, (0, 0, 0, 3)) + torch.zeros(x.shape[1] + 2, 8)",
        "return F.pad(x, (0, 0, 0, 3)) + torch.zeros(x.shape[1] + 3, 8)",
    ),
    Pair(
        "upsample then add",
        'x: Float[Tensor, "b 3 7 7"]',
        "return F.interpolate(F.max_pool2d(x, 2), scale_factor=2) + x",
        "return F.interpolate(F.max_pool2d(x, 2), size=x.shape[-2:]) + x",
    ),
    Pair(
        "adaptive pool",
        IMAGE,
        "return nn.Linear(3 * 4, 2)(F.adaptive_avg_pool2d(x, 3).flatten(1))",
        "return nn.Linear(3 * 9, 2)(F.adaptive_avg_pool2d(x, 3).flatten(1))",
    ),
    Pair(
        "stride of a pool",
        'x: Float[Tensor, "b 3 9 9"]',
        "return F.max_pool2d(x, 3, 2) + torch.zeros(3, 3)",
        "return F.max_pool2d(x, 3, 2) + torch.zeros(4, 4)",
    ),
    Pair(
        "ceil mode",
        'x: Float[Tensor, "b 3 8 8"]',
        "return F.max_pool2d(x, 3, 2, ceil_mode=True) + torch.zeros(3, 3)",
        "return F.max_pool2d(x, 3, 2, ceil_mode=True) + torch.zeros(4, 4)",
    ),
    Pair(
        "same padding",
        'x: Float[Tensor, "b 3 8 8"]',
        "return nn.Conv2d(3, 3, 4, padding=2)(x) + x",
        "return nn.Conv2d(3, 3, 4, padding='same')(x) + x",
    ),
    Pair(
        "same padding with a stride",
        'x: Float[Tensor, "b 3 8 8"]',
        "return nn.Conv2d(3, 3, 3, stride=2, padding='same')(x)",
        "return nn.Conv2d(3, 3, 3, stride=2, padding=1)(x)",
    ),
    Pair(
        "dilated receptive field",
        'x: Float[Tensor, "b 3 10"]',
        """
            for i in range(4):
                x = nn.Conv1d(3, 3, 3, dilation=2**i)(x)
            return x
        """,
        """
            for i in range(4):
                x = nn.Conv1d(3, 3, 3, dilation=2**i, padding=2**i)(x)
            return x
        """,
    ),
    Pair(
        "pool of a name",
        'x: Float[Tensor, "b c 8"]',
        "return F.avg_pool1d(x, 9)",
        "return F.avg_pool1d(x, 8)",
    ),
    Pair(
        "kernel of a linear pool",
        'x: Float[Tensor, "b c t"]',
        "return F.max_pool1d(x, x.shape[2] + 1)",
        "return F.max_pool1d(x, x.shape[2])",
    ),
    Pair(
        "stft",
        'x: Float[Tensor, "b 100"]',
        "return torch.stft(x, 64, hop_length=16, return_complex=True, window=x[0, :64]).abs() + torch.zeros(32, 1)",
        "return torch.stft(x, 64, hop_length=16, return_complex=True, window=x[0, :64]).abs() + torch.zeros(33, 1)",
    ),
    Pair(
        "rfft",
        'x: Float[Tensor, "b 10"]',
        "return torch.fft.rfft(x).abs() + x",
        "return torch.fft.irfft(torch.fft.rfft(x)) + x",
    ),
    Pair(
        "irfft of an odd size",
        'x: Float[Tensor, "b 7"]',
        "return torch.fft.irfft(torch.fft.rfft(x)) + x",
        "return torch.fft.irfft(torch.fft.rfft(x), n=7) + x",
    ),
    Pair(
        "class targets",
        'x: Float[Tensor, "2 3"]',
        "return F.cross_entropy(x, torch.tensor([0, 3]))",
        "return F.cross_entropy(x, torch.tensor([0, 2]))",
    ),
    Pair(
        "nll targets",
        'x: Float[Tensor, "2 3"]',
        "return F.nll_loss(x, torch.arange(2) + 2)",
        "return F.nll_loss(x, torch.arange(2))",
    ),
    Pair(
        "one_hot of a range",
        'x: Float[Tensor, "2 3"]',
        "return F.one_hot(torch.arange(3)) * torch.zeros(4)",
        "return F.one_hot(torch.arange(3)) * torch.zeros(3)",
    ),
    Pair(
        "caller's width",
        'x: Float[Tensor, "b t 8"], n: int',
        "return nn.Linear(n, n)(x.new_zeros(2, n + 1))",
        "return nn.Linear(n, n)(x.new_zeros(2, n))",
    ),
    Pair(
        "caller's kernel",
        'x: Float[Tensor, "b c t"], n: int',
        "return F.max_pool1d(x.new_zeros(1, 1, n), n + 1)",
        "return F.max_pool1d(x.new_zeros(1, 1, n), n)",
    ),
    Pair(
        "caller's padding",
        'x: Float[Tensor, "b 3 t"], n: int',
        "return nn.Conv1d(3, 3, 2 * n + 1, padding=n)(x) + x[:, :, 1:]",
        "return nn.Conv1d(3, 3, 2 * n + 1, padding=n)(x) + x",
    ),
]
