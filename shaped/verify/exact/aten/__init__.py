"""Rules of ATen operations by family; importing this package fills the table."""

from shaped.verify.exact.aten import (  # noqa: F401  # each declares rules
    attention,
    comparison,
    complex_numbers,
    convolution,
    creation,
    distance,
    elementwise,
    fourier,
    indexing,
    kernel,
    linear_algebra,
    matrix,
    movement,
    pooling,
    reduction,
)
