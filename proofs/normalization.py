"""Normalisations: over trailing axes, a batch, groups of channels and single samples."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_AFFINE = {"weight": "c", "bias": "c"}

THEOREMS = [
    Theorem("layer_norm", {"input": "b d", "normalized_shape": (1,)}),
    Theorem("layer_norm", {"input": "b d", "normalized_shape": (1,), "weight": "d", "bias": "d"}),
    Theorem("layer_norm", {"input": "b t d", "normalized_shape": (1,), "weight": "d", "bias": "d"}),
    Theorem("layer_norm", {"input": "b c h w", "normalized_shape": (1, 1, 1), "weight": "c h w", "bias": "c h w"}),
    Theorem("layer_norm", {"input": "b d", "normalized_shape": (1,), "weight": "d", "eps": 0.1}),
    Theorem("rms_norm", {"input": "b d", "normalized_shape": (1,), "eps": 1e-6}),
    Theorem("rms_norm", {"input": "b t d", "normalized_shape": (1,), "weight": "d", "eps": 1e-6}),
    Theorem("batch_norm", {"input": "b c", "running_mean": None, "running_var": None, "training": True}),
    Theorem("batch_norm", {"input": "b c", "running_mean": None, "running_var": None, "training": True} | _AFFINE),
    Theorem("batch_norm", {"input": "b c h w", "running_mean": None, "running_var": None, "training": True} | _AFFINE),
    Theorem("batch_norm", {"input": "b c h w", "running_mean": "c", "running_var": "c"} | _AFFINE),
    Theorem("group_norm", {"input": "b g*k", "num_groups": "size: g"}),
    Theorem("group_norm", {"input": "b g*k h w", "num_groups": "size: g", "weight": "g*k", "bias": "g*k"}),
    Theorem("group_norm", {"input": "b 2*k w", "num_groups": 2, "weight": "2*k", "bias": "2*k"}),
    Theorem("instance_norm", {"input": "b c w"}),
    Theorem("instance_norm", {"input": "b c h w"} | _AFFINE),
    Theorem("instance_norm", {"input": "b c w", "running_mean": "c", "running_var": "c", "use_input_stats": False}),
]
