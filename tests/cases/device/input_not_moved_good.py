"""Model and input are moved together; or it is not known where to.

Kind: device. (The meta device stands for an accelerator.)
"""

import torch
from torch import nn


def main() -> None:
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    model.to(torch.device("meta"))
    model(torch.zeros(3, 8, device="meta"))

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    other = nn.Linear(8, 4).to(device)
    other(torch.zeros(3, 8).to(device))
    if device.type == "cpu":
        other(torch.zeros(3, 8))


if __name__ == "__main__":
    main()
