"""A model is moved, its input is not.

Kind: device. (The meta device stands for an accelerator.)
"""

import torch
from torch import nn


def main() -> None:
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    model.to(torch.device("meta"))
    model(torch.zeros(3, 8))  # error[device]: devices cpu and meta differ


if __name__ == "__main__":
    main()
