"""The table of operations, one file a family; importing this declares them all."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

FAMILIES = (
    "movement",
    "reshape",
    "expansion",
    "splitting",
    "joining",
    "padding",
    "diagonal",
    "scatter",
    "contraction",
    "products",
    "einsum",
    "linear_algebra",
    "linear_systems",
    "fft",
    "einops",
    "elementwise",
    "arithmetic",
    "comparison",
    "blend",
    "activation",
    "reduction",
    "scan",
    "statistics",
    "sorting",
    "creation",
    "from_data",
    "random",
    "conversion",
    "initialization",
    "seeded",
    "spectral",
    "foreach",
    "linear",
    "convolution",
    "convolution_modules",
    "pooling",
    "pooling_modules",
    "normalization",
    "normalization_modules",
    "embedding",
    "losses",
    "distances",
    "class_losses",
    "vision",
    "attention",
    "recurrent",
    "recurrent_cells",
    "sequences",
    "transformer",
    "activation_modules",
    "loss_modules",
    "shape_modules",
    "parameters",
    "wrappers",
)

for _family in FAMILIES:
    if find_spec(f"{__name__}.{_family}") is not None:
        import_module(f"{__name__}.{_family}")
