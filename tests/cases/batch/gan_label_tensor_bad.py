"""A GAN's labels are made for a full batch, the last one of an epoch is smaller.

Kind: batch.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

batch_size = 128


def discriminator_loss(d_real: Float[Tensor, "n 1"], d_fake: Float[Tensor, "n 1"]) -> Float[Tensor, ""]:
    adversarial_loss = nn.BCELoss()
    valid = torch.ones(batch_size, 1)
    fake = torch.zeros(batch_size, 1)
    real_loss = adversarial_loss(d_real, valid)  # error[shape]
    fake_loss = adversarial_loss(d_fake, fake)  # error[shape]
    return (real_loss + fake_loss) / 2


def main() -> None:
    for n in (128, 96):
        discriminator_loss(torch.rand(n, 1), torch.rand(n, 1))


if __name__ == "__main__":
    main()
