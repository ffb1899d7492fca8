"""A dictionary is filled in a loop by keys that are not known, and read as a whole after it."""

import torch
from torch import Tensor, nn


class Preprocessors(nn.Module):
    def __init__(self, modalities):
        super().__init__()
        self.modalities = nn.ModuleDict(modalities)

    def forward(self, inputs):
        padded, sizes = {}, {}
        for modality, preprocessor in self.modalities.items():
            output, sizes[modality] = preprocessor(inputs[modality])
            padded[modality] = output
        return torch.cat([padded[key] for key in sorted(padded.keys())], dim=1), sizes


def gathered(features: dict[str, Tensor], wanted) -> Tensor:
    found = {}
    for name in wanted:
        if name in features:
            found[name] = features[name]
    return torch.stack(list(found.values()))


def in_one_branch(features, name) -> Tensor:
    found = {}
    if name is not None:
        found[name] = features[name]
    return torch.cat([found[key] for key in found], dim=0)
