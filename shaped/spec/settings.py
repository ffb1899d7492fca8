"""What a program sets for all of its tensors: the default dtype and device, autocast."""

from __future__ import annotations

from dataclasses import dataclass

from shaped.spec.dtypes import FLOAT32, DType

CAST_BY_AUTOCAST = frozenset(["float16", "bfloat16", "float32"])  # float64 is left as it is


@dataclass(frozen=True)
class Settings:
    """The settings of a program.

    Args:
        default_device: where tensors are made that are given no device; None if that is not known.
        alike: float dtypes that may stand for one another, since autocast or another default dtype makes one of the
            other: a tensor of one of them may be of all.
        follows_parameters: whether the dtype and device of a module's parameters are what the calls that are seen make
            them: not in a program that writes to `parameter.data`.
    """

    default_device: str | None = "cpu"
    alike: frozenset[str] = frozenset()
    follows_parameters: bool = True

    @property
    def default_dtype(self) -> DType:
        """The dtypes that parameters may have that are given none."""
        return self.widened(FLOAT32)

    def widened(self, dtype: DType) -> DType:
        """The dtypes that a tensor of a dtype may have.

        >>> from shaped.spec.dtypes import FLOATS
        >>> print(Settings(alike=FLOATS).widened(FLOAT32), Settings().widened(FLOAT32))
        Float float32
        """
        return DType(dtype.names | self.alike) if dtype.names & self.alike else dtype
