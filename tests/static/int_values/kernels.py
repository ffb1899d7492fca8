"""Kernels, pools, patches and sizes of images."""

from __future__ import annotations

from tests.static.int_values.pair import IMAGE, ROW, Pair

PAIRS = [
    Pair(
        "conv2d",
        IMAGE,
        "return nn.Conv2d(3, 8, 7)(x)",
        "return nn.Conv2d(3, 8, 7, padding=2)(x)",
    ),
    Pair(
        "conv2d dilated",
        IMAGE,
        "return nn.Conv2d(3, 8, 3, dilation=2)(x)",
        "return nn.Conv2d(3, 8, 3, dilation=2, padding=1)(x)",
    ),
    Pair(
        "conv1d",
        'x: Float[Tensor, "b 3 4"]',
        "return nn.Conv1d(3, 8, 5)(x)",
        "return nn.Conv1d(3, 8, 4)(x)",
    ),
    Pair(
        "conv3d",
        'x: Float[Tensor, "b 1 2 8 8"]',
        "return nn.Conv3d(1, 8, 3)(x)",
        "return nn.Conv3d(1, 8, (2, 3, 3))(x)",
    ),
    Pair(
        "functional conv",
        IMAGE,
        "return F.conv2d(x, torch.zeros(8, 3, 5, 5))",
        "return F.conv2d(x, torch.zeros(8, 3, 4, 4))",
    ),
    Pair(
        "transposed conv",
        IMAGE,
        "return nn.ConvTranspose2d(3, 8, 1, padding=2)(x)",
        "return nn.ConvTranspose2d(3, 8, 2, padding=2)(x)",
    ),
    Pair(
        "output padding",
        IMAGE,
        "return nn.ConvTranspose2d(3, 8, 3, stride=2, output_padding=2)(x)",
        "return nn.ConvTranspose2d(3, 8, 3, stride=2, output_padding=1)(x)",
    ),
    Pair(
        "max pool",
        IMAGE,
        "return nn.MaxPool2d(5)(x)",
        "return nn.MaxPool2d(5, padding=1)(x)",
    ),
    Pair(
        "max pool padding",
        IMAGE,
        "return nn.MaxPool2d(2, padding=2)(x)",
        "return nn.MaxPool2d(2, padding=1)(x)",
    ),
    Pair(
        "avg pool padding",
        IMAGE,
        "return F.avg_pool2d(x, 3, padding=2)",
        "return F.avg_pool2d(x, 3, padding=1)",
    ),
    Pair(
        "avg pool",
        IMAGE,
        "return F.avg_pool2d(x, 8)",
        "return F.avg_pool2d(x, 4)",
    ),
    Pair(
        "pools in a chain",
        IMAGE,
        """
            for _ in range(3):
                x = F.max_pool2d(x, 2)
            return x
        """,
        """
            for _ in range(2):
                x = F.max_pool2d(x, 2)
            return x
        """,
    ),
    Pair(
        "pools in Sequential",
        IMAGE,
        "return nn.Sequential(*[nn.MaxPool2d(2) for _ in range(3)])(x)",
        "return nn.Sequential(*[nn.MaxPool2d(2) for _ in range(2)])(x)",
    ),
    Pair(
        "unfold of images",
        IMAGE,
        "return F.unfold(x, 5)",
        "return F.unfold(x, 3)",
    ),
    Pair(
        "unfold of an axis",
        ROW,
        "return x.unfold(1, 4, 1)",
        "return x.unfold(1, 3, 1)",
    ),
    Pair(
        "fold",
        'x: Float[Tensor, "b 12 9"]',
        "return F.fold(x, (3, 3), 2)",
        "return F.fold(x, (4, 4), 2)",
    ),
    Pair(
        "fold of channels",
        'x: Float[Tensor, "b 10 9"]',
        "return F.fold(x, (4, 4), 2)",
        "return F.fold(x, (4, 4), (1, 2), stride=(1, 1), padding=(0, 0)) if x.shape[2] == 12 else x",
    ),
    Pair(
        "lp pool",
        IMAGE,
        "return F.lp_pool2d(x, 2, 5)",
        "return F.lp_pool2d(x, 2, 3)",
    ),
    Pair(
        "glu of an odd axis",
        ROW,
        "return F.glu(x)",
        "return F.glu(x.repeat(1, 2))",
    ),
    Pair(
        "interpolate to nothing",
        IMAGE,
        "return F.interpolate(x, scale_factor=0.1)",
        "return F.interpolate(x, scale_factor=0.25)",
    ),
    Pair(
        "interpolate to a size of 0",
        IMAGE,
        "return F.interpolate(x, size=(4 // 8, 4))",
        "return F.interpolate(x, size=(8 // 4, 4))",
    ),
    Pair(
        "interpolate sizes",
        IMAGE,
        "return F.interpolate(x, size=(2, 2, 2))",
        "return F.interpolate(x, size=(2, 2))",
    ),
]
