"""A run that is killed in the middle goes on from its checkpoint, and ends as if it had never stopped, to the bit."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from shaped.runtime.data import Batches, digits
from shaped.trainers import Epoch, WarmupCosine, accuracy, fit, supervised

EPOCHS = 6
KILLED_AFTER = 3


class Perceptron(nn.Module):
    """Images of 8x8 pixels in, one score for each class out; dropout draws random numbers on the way."""

    def __init__(self, hidden: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, hidden)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(hidden, classes)

    def forward(self, images: Float[Tensor, "batch 1 8 8"]) -> Float[Tensor, "batch classes"]:
        return self.head(self.dropout(F.relu(self.hidden(images.flatten(1)))))


def train(checkpoint: Path, weights: Path, *, is_killed: bool) -> None:
    """Train, from the checkpoint if there is one, and write the weights in the end."""

    def kill(epoch: Epoch) -> None:
        if is_killed and epoch.number > KILLED_AFTER:
            os.kill(os.getpid(), signal.SIGKILL)  # no goodbye, in the middle of the run

    torch.manual_seed(0)
    training, held_out = digits(seed=0)
    model = Perceptron(hidden=32, classes=10)
    batches = Batches(training, batch_size=32, seed=0)
    history = fit(
        model,
        supervised(nn.CrossEntropyLoss(), accuracy=accuracy),
        batches,
        validation=Batches(held_out, batch_size=360, shuffle=False),
        epochs=EPOCHS,
        optimizer=lambda parameters: torch.optim.AdamW(parameters, lr=3e-3),
        scheduler=lambda optimizer: WarmupCosine(optimizer, warmup=len(batches), t_max=EPOCHS * len(batches)),
        scheduler_every="batch",
        checkpoint=checkpoint,
        on_epoch=kill,
        progress=False,
    )
    torch.save({"weights": model.state_dict(), "losses": history["training loss"]}, weights)


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="resume-"))
    train(folder / "whole.pt", folder / "whole-weights.pt", is_killed=False)

    stopped = subprocess.run([sys.executable, __file__, str(folder)], check=False)
    assert stopped.returncode == -signal.SIGKILL
    train(folder / "run.pt", folder / "weights.pt", is_killed=False)

    whole, resumed = torch.load(folder / "whole-weights.pt"), torch.load(folder / "weights.pt")
    assert whole["losses"] == resumed["losses"], "the curve is the same, epoch by epoch"
    assert all(torch.equal(value, resumed["weights"][name]) for name, value in whole["weights"].items())
    print(f"killed after {KILLED_AFTER} epochs of {EPOCHS}, and the same to the bit: loss {whole['losses'][-1]:.4f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        train(Path(sys.argv[1]) / "run.pt", Path(sys.argv[1]) / "weights.pt", is_killed=True)
    else:
        main()
