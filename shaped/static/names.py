"""The one name under which the op table knows a library's function that has several."""

from __future__ import annotations

_PREFIXES = {
    "torch.nn.modules.": "torch.nn.",
    "torch.functional.": "torch.",
    "torch.special.": "torch.special.",
    "torch._C._nn.": "torch.nn.functional.",
    "einops.einops.": "einops.",
    "shaped.init.tensors.": "shaped.init.",
    "shaped.init.modules.": "shaped.init.",
    "shaped.runtime.tlist.": "shaped.",
}
_NAMES = {
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.nn.parameter.Buffer": "torch.nn.Buffer",
    "torch.nn.functional.sigmoid": "torch.sigmoid",
    "torch.nn.functional.tanh": "torch.tanh",
    "torch.nn.attention.scaled_dot_product_attention": "torch.nn.functional.scaled_dot_product_attention",
}
_CONTAINER_FILES = (
    "container",
    "linear",
    "conv",
    "activation",
    "batchnorm",
    "normalization",
    "pooling",
    "rnn",
    "dropout",
)


def canonical(name: str) -> str:
    """The name by which an operation is found: `torch.nn.modules.linear.Linear` is `torch.nn.Linear`.

    >>> canonical("torch.nn.modules.linear.Linear")
    'torch.nn.Linear'
    """
    if name in _NAMES:
        return _NAMES[name]
    for prefix, short in _PREFIXES.items():
        if name.startswith(prefix):
            rest = name[len(prefix) :]
            first, _, last = rest.rpartition(".")
            return short + (last if first in _CONTAINER_FILES or prefix == "torch.nn.modules." else rest)
    return name
