"""A GAN's labels are made for a full batch, the last one of an epoch is smaller.

Kind: batch.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

batch_size = 128


def discriminator_loss(d_real: Float[Tensor, "n 1"], d_fake: Float[Tensor, "n 1"]) -> Float[Tensor, ""]:
    adversarial_loss = nn.BCELoss()
    valid = torch.ones(d_real.size(0), 1)
    fake = torch.zeros(d_fake.size(0), 1)
    real_loss = adversarial_loss(d_real, valid)
    fake_loss = adversarial_loss(d_fake, fake)
    return (real_loss + fake_loss) / 2


def main() -> None:
    for n in (128, 96):
        discriminator_loss(torch.rand(n, 1), torch.rand(n, 1))


if __name__ == "__main__":
    main()
