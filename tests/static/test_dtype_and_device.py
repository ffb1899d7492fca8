"""What is said of dtypes and devices, beside torch: a program that torch refuses is reported, one that runs is not.

The programs stand in `dtype_and_device`, divided by `---`. torch runs those for the CPU and the meta device; those for
accelerators say in their first line what torch's documentation says of them.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch

from shaped.static.check import Checker

PROGRAMS = Path(__file__).parent / "dtype_and_device"
IMPORTS = "import numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"

# Programs that torch refuses and the checker does not, by what is in them, with the reason.
SILENT = {
    "x += 1j": "complex numbers of Python are not followed",
    "nn.Dropout(0.5)(torch.arange(4))": "a module in evaluation drops nothing",
    "requires_grad=True).numpy()": "whether a tensor has gradients is not followed",
    "requires_grad=True) * 2).numpy()": "whether a tensor has gradients is not followed",
    "nn.Parameter(torch.rand(3)).numpy()": "whether a tensor has gradients is not followed",
    "nn.Linear(3, 2).weight.numpy()": "whether a tensor has gradients is not followed",
    "with torch.autocast": "what autocast casts is not followed",
    "with torch.device": "nothing is known in a program that sets a default device",
    "self.w = torch.rand(3, 2)": "what is no parameter may be made one elsewhere",
    "self.scale = torch.ones(3)": "what is no parameter may be made one elsewhere",
}


def programs(*names: str) -> list[object]:
    """The programs of files, each as a test's parameter."""
    return [
        pytest.param(program, id=f"{name}-{number}")
        for name in names
        for number, program in enumerate((PROGRAMS / f"{name}.txt").read_text().split("---\n"), start=1)
    ]


def is_refused(program: str) -> bool:
    """Whether torch refuses a program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(IMPORTS + program, "program.py", "exec"), {"__name__": "program"})
    except Exception:
        return True
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)  # a device, the CPU too, would go on to intercept every call
    return False


def is_reported(program: str) -> bool:
    """Whether the checker finds a fault in it, which has to be one of a dtype or device."""
    found = Checker(show_traceback=True).check(Path("program.py").absolute(), IMPORTS + program).diagnostics
    codes = {one.code for one in found if one.severity == "error"}
    assert codes <= {"dtype", "device"}
    return bool(codes)


@pytest.mark.parametrize(
    "program", programs("integers_expected", "floats_expected", "widths", "masks", "numpy_and_meta", "idioms")
)
def test_what_torch_refuses_is_reported_and_what_runs_is_not(program: str) -> None:
    refused = is_refused(program)
    if refused and any(part in program for part in SILENT):
        assert not is_reported(program)
    else:
        assert is_reported(program) == refused


@pytest.mark.parametrize("program", programs("accelerators"))
def test_what_an_accelerator_refuses_is_reported_and_what_runs_is_not(program: str) -> None:
    assert is_reported(program) == program.startswith("# raises")
